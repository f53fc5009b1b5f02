//! Agents and their commits.

use agentic_api::verb::{
    ListCommits, LogTraces, PendingHolds, Show, ShowBriefing, TracePending, TraceShow, Tree,
};
use agentic_api::view::ShowView;
use agentic_api::{Caller, Refusal, Verb as _};
use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;

use crate::gate::Visitor;
use crate::page::PageFrame;
use crate::page::agents::{self, AgentSight, CommitSight, ROWS_MAX};
use crate::route::reply::{html, refused};
use crate::site::SharedSite;
use crate::status::RequestAim;

/// Where a list goes on.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListPageQuery {
    #[serde(default)]
    after: usize,
}

/// After which commit a log goes on.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogPageQuery {
    after: Option<String>,
}

/// From which entry on a trace is shown.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TracePageQuery {
    #[serde(default)]
    from: usize,
}

/// Shows all agents.
pub async fn list(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    Query(place): Query<ListPageQuery>,
) -> Response {
    match site.read(|caller| Ok(Tree {}.run(caller)?.answer)).await {
        Ok(families) => {
            let frame = PageFrame::new(&site, &visitor, "Agents").with_command("agentic tree");
            html(StatusCode::OK, agents::list(&frame, &families, place.after))
        }
        Err(refusal) => refused(&site, &visitor, &refusal, RequestAim::Show),
    }
}

/// Shows one agent.
pub async fn one(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    Path(agent): Path<String>,
    Query(place): Query<LogPageQuery>,
) -> Response {
    let command = format!("agentic log {agent}");
    match site.read(move |caller| look_at_agent(caller, agent, place.after)).await {
        Ok(sight) => {
            let frame = PageFrame::new(&site, &visitor, &sight.agent).with_command(&command);
            html(StatusCode::OK, agents::one(&frame, &sight))
        }
        Err(refusal) => refused(&site, &visitor, &refusal, RequestAim::Show),
    }
}

fn look_at_agent(
    caller: &Caller<'_>,
    agent: String,
    after: Option<String>,
) -> Result<AgentSight, Refusal> {
    let named = Some(agent.clone());
    let verb = ListCommits { agent: named.clone(), ..ListCommits::default() };
    let mut commits = verb.commits(caller, LogTraces::Left)?;
    if let Some(after) = after {
        // One that is not of this agent ends the list.
        let is_other = |commit: &Result<_, _>| {
            commit
                .as_ref()
                .is_ok_and(|commit: &agentic_api::verb::LoggedCommit| commit.view.commit != after)
        };
        commits.find(|commit| !is_other(commit)).transpose()?;
    }
    let mut views: Vec<_> = commits
        .take(ROWS_MAX + 1)
        .map(|commit| Ok(commit?.view))
        .collect::<Result<_, Refusal>>()?;
    let has_more = views.len() > ROWS_MAX;
    views.truncate(ROWS_MAX);
    let next = views.last().filter(|_| has_more).map(|commit| commit.commit.clone());
    // An agent without a readable briefing is shown all the same.
    let briefing = ShowBriefing { agent: named.clone() }.read(caller);
    let holds =
        PendingHolds { agent: named.clone(), ..PendingHolds::default() }.run(caller)?.answer;
    Ok(AgentSight {
        briefing: briefing.and_then(|briefing| briefing.text()).ok(),
        commits: views,
        next,
        pending: TracePending { agent: named }
            .run(caller)
            .map_or_else(|_| Vec::new(), |reply| reply.answer),
        holds: holds.into_iter().filter(|hold| hold.agent == agent).collect(),
        agent,
    })
}

/// Shows one commit.
pub async fn commit(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    Query(place): Query<TracePageQuery>,
) -> Response {
    let command = format!("agentic show {id}");
    match site.read(move |caller| look_at_commit(caller, id, place.from)).await {
        Ok(sight) => {
            let frame = PageFrame::new(&site, &visitor, "Commit").with_command(&command);
            html(StatusCode::OK, agents::commit(&frame, &sight))
        }
        Err(refusal) => refused(&site, &visitor, &refusal, RequestAim::Show),
    }
}

fn look_at_commit(caller: &Caller<'_>, id: String, from: usize) -> Result<CommitSight, Refusal> {
    match (Show { id }).run(caller)?.answer {
        ShowView::Commit { id, commit } => {
            let trace = commit.trace.as_ref().and_then(|_| TraceShow { id }.run(caller).ok());
            Ok(CommitSight { commit, trace: trace.map(|reply| reply.answer), from })
        }
        ShowView::Agent { id, .. } | ShowView::Object { id, .. } => Err(Refusal::refused(
            &format!("`{id}` is no commit"),
            "the page of an agent lists its commits",
        )),
    }
}
