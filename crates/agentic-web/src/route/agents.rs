//! Agents and their commits.

use agentic_api::roster::{AgentRoster, KnownLedger, RosterDemand};
use agentic_api::verb::{
    ListArchive, ListCommits, ListRelations, ListRemoteAgents, LogTraces, PendingHolds,
    RecentSessions, Show, ShowBriefing, SubAgents, TracePending,
};
use agentic_api::view::{LogView, PendingView, ShowView};
use agentic_api::{Caller, Refusal, Verb as _};
use agentic_resident::IndexDesk;
use agentic_session::hold::book::HoldBook;
use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;

use crate::gate::Visitor;
use crate::page::PageFrame;
use crate::page::agent::{self, AgentPart, AgentSight, AgentTab};
use crate::page::agents::{self, AgentFilter, AgentsSight, ROWS_MAX};
use crate::route::reply::{html, refused};
use crate::site::SharedSite;
use crate::status::RequestAim;

/// Which agents are wanted.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ListPageQuery {
    after: usize,
    state: String,
    kind: String,
    name: String,
    view: AgentsView,
    place: AgentsPlace,
}

/// How agents are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentsView {
    /// In rows.
    #[default]
    Table,
    /// As a drawing.
    Tree,
}

/// Where agents are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentsPlace {
    /// They have branches here.
    #[default]
    Here,
    /// Only a remote has them.
    Remote,
    /// They are folded away.
    Archived,
}

/// Which part of an agent is wanted.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentPageQuery {
    /// The commit after which a log goes on.
    after: Option<String>,
    /// How many sessions to pass by.
    skip: usize,
}

/// Shows all agents.
pub async fn list(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    Query(place): Query<ListPageQuery>,
) -> Response {
    let ListPageQuery { after, state, kind, name, view, place } = place;
    let filter = AgentFilter { state, kind, name, is_tree: view == AgentsView::Tree, after };
    let command = match (place, view) {
        (AgentsPlace::Here, _) => "agentic tree",
        (AgentsPlace::Remote, _) => "agentic agents",
        (AgentsPlace::Archived, _) => "agentic archive --list",
    };
    let frame = PageFrame::new(&site, &visitor, "Agents").with_command(command);
    let index = site.resident.index.clone();
    let found = site.read(move |caller| {
        let known = index.ledger();
        let remote = ListRemoteAgents {}.run(caller)?.answer;
        let archived = ListArchive {}.run(caller)?.answer;
        Ok(match place {
            AgentsPlace::Here => {
                let sight = look_at_all(caller, &known, &filter, remote.len(), archived.len())?;
                agents::list(&frame, &sight, &filter)
            }
            AgentsPlace::Remote => agents::remote(&frame, &remote, archived.len(), after),
            AgentsPlace::Archived => agents::archived(&frame, &archived, remote.len(), after),
        })
    });
    match found.await {
        Ok(page) => html(StatusCode::OK, page),
        Err(refusal) => refused(&site, &visitor, &refusal, RequestAim::Show),
    }
}

fn look_at_all(
    caller: &Caller<'_>,
    known: &KnownLedger,
    filter: &AgentFilter,
    n_remote: usize,
    n_archived: usize,
) -> Result<AgentsSight, Refusal> {
    let roster = AgentRoster::read(caller.space, known, RosterDemand::Soon)?;
    Ok(AgentsSight { page: roster.page(&filter.roster()), n_remote, n_archived })
}

/// Shows one agent with its log.
pub async fn one(
    site: State<SharedSite>,
    visitor: Extension<Visitor>,
    Path(agent): Path<String>,
    place: Query<AgentPageQuery>,
) -> Response {
    show(site, visitor, agent, AgentTab::Log, place).await
}

/// Shows one part of an agent.
pub async fn part(
    site: State<SharedSite>,
    visitor: Extension<Visitor>,
    Path((agent, part)): Path<(String, String)>,
    place: Query<AgentPageQuery>,
) -> Response {
    match AgentTab::parse(&part) {
        Some(tab) => show(site, visitor, agent, tab, place).await,
        None => {
            let message = format!("the page of an agent has no part `{part}`");
            let refusal =
                Refusal::refused(&message, "its parts are named on the page of the agent");
            refused(&site, &visitor, &refusal, RequestAim::Show)
        }
    }
}

async fn show(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    agent: String,
    tab: AgentTab,
    Query(place): Query<AgentPageQuery>,
) -> Response {
    let command = match tab {
        AgentTab::Log => format!("agentic log {agent}"),
        AgentTab::Traces => format!("agentic log {agent} --trace"),
        AgentTab::SubAgents => format!("agentic sub-agents {agent} --all"),
        AgentTab::Sessions => format!("agentic session list --agent {agent}"),
        AgentTab::Relations => format!("agentic relations --of {agent}"),
    };
    let index = site.resident.index.clone();
    match site.read(move |caller| look(caller, &index, agent, tab, place)).await {
        Ok(sight) => {
            let frame = PageFrame::new(&site, &visitor, &sight.agent).with_command(&command);
            html(StatusCode::OK, agent::page(&frame, &sight))
        }
        Err(refusal) => refused(&site, &visitor, &refusal, RequestAim::Show),
    }
}

fn look(
    caller: &Caller<'_>,
    index: &IndexDesk,
    agent: String,
    tab: AgentTab,
    place: AgentPageQuery,
) -> Result<AgentSight, Refusal> {
    let named = Some(agent.clone());
    let shown = Show { id: agent.clone() }.among(caller, &index.ledger())?;
    let ShowView::Agent { agent: view, .. } = shown else {
        let message = format!("`{agent}` is no agent");
        return Err(Refusal::refused(&message, "the page of agents lists them all"));
    };
    let part = match tab {
        AgentTab::Log => {
            let (commits, next) = commits(caller, &agent, place.after.as_deref(), |_| true)?;
            AgentPart::Log(commits, next)
        }
        AgentTab::Traces => {
            let has_trace = |commit: &LogView| commit.trace.is_some();
            let (commits, next) = commits(caller, &agent, place.after.as_deref(), has_trace)?;
            AgentPart::Traces(commits, next)
        }
        AgentTab::SubAgents => {
            AgentPart::SubAgents(SubAgents { agent: agent.clone(), all: true }.run(caller)?.answer)
        }
        AgentTab::Sessions => {
            let verb = RecentSessions { agent: named.clone(), state: None, after: place.skip };
            AgentPart::Sessions(verb.among(caller, &index.ledger())?, place.skip)
        }
        AgentTab::Relations => {
            let verb = ListRelations { of: named.clone(), ..ListRelations::default() };
            AgentPart::Relations(verb.run(caller)?.answer)
        }
    };
    // An agent without a readable briefing is shown all the same, and so is one of a remote, of which
    // neither holds nor pending entries are known here.
    let briefing = ShowBriefing::read_of(caller, &view);
    let holds = holds_of(caller, &index.holds(), &agent);
    Ok(AgentSight {
        parent: view.parent,
        briefing: briefing.and_then(|briefing| briefing.text()).ok(),
        pending: TracePending { agent: named }
            .run(caller)
            .map_or_else(|_| Vec::new(), |reply| reply.answer),
        holds,
        part,
        agent,
    })
}

/// Lists the open holds of an agent.
fn holds_of(caller: &Caller<'_>, book: &HoldBook, agent: &str) -> Vec<PendingView> {
    let verb = PendingHolds { agent: Some(agent.to_owned()), ..PendingHolds::default() };
    let (space, now) = (caller.space, caller.space.now());
    let Ok(found) = verb.among(caller, book) else { return Vec::new() };
    let own = found.answer.holds.into_iter().filter(|hold| hold.agent.as_str() == agent);
    // One that was answered meanwhile is not shown.
    own.filter_map(|hold| Some(PendingView::new(&hold.read(space)?, now))).collect()
}

/// Reads a page of an agent's commits, those that are meant.
fn commits(
    caller: &Caller<'_>,
    agent: &str,
    after: Option<&str>,
    is_meant: impl Fn(&LogView) -> bool,
) -> Result<(Vec<LogView>, Option<String>), Refusal> {
    let verb = ListCommits { agent: Some(agent.to_owned()), ..ListCommits::default() };
    let mut views = Vec::new();
    let mut is_after = after.is_none();
    for commit in verb.commits(caller, LogTraces::Left)? {
        let view = commit?.view;
        // One that is not of this agent ends the list.
        if !is_after {
            is_after = after == Some(view.commit.as_str());
            continue;
        }
        if !is_meant(&view) {
            continue;
        }
        if views.len() == ROWS_MAX {
            let next = views.last().map(|commit: &LogView| commit.commit.clone());
            return Ok((views, next));
        }
        views.push(view);
    }
    Ok((views, None))
}
