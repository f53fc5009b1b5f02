//! Commits: what one says and changed, and the traces it has had.

use agentic_api::verb::{CommitDetail, CommitDiff, TraceBindings, TraceShow};
use agentic_api::{Caller, Refusal, Verb as _};
use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;

use crate::colour::DiffColours;
use crate::gate::Visitor;
use crate::page::PageFrame;
use crate::page::commit::{self, CommitQuery, CommitSight};
use crate::page::diff::DiffQuery;
use crate::route::reply::{html, refused};
use crate::site::SharedSite;
use crate::status::RequestAim;

/// Which part of a commit is wanted.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CommitPageQuery {
    parent: Option<usize>,
    file: Option<usize>,
    line: usize,
    first: usize,
    /// From which entry of the trace on.
    from: usize,
}

impl CommitPageQuery {
    fn query(&self) -> CommitQuery {
        let CommitPageQuery { parent, file, line, first, from: entries } = *self;
        CommitQuery { diff: DiffQuery { parent, file, line, first }, entries }
    }
}

/// Shows one commit.
pub async fn one(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    Query(place): Query<CommitPageQuery>,
) -> Response {
    let query = place.query();
    match site.read(move |caller| look(caller, id, query)).await {
        Ok(mut sight) => {
            if let Ok(diff) = &sight.diff {
                sight.colours = site.colours.find(diff).await;
            }
            let command = format!("agentic show {}", sight.detail.commit.commit);
            let frame = PageFrame::new(&site, &visitor, "Commit").with_command(&command);
            html(StatusCode::OK, commit::page(&frame, &sight, query))
        }
        Err(refusal) => refused(&site, &visitor, &refusal, RequestAim::Show),
    }
}

fn look(caller: &Caller<'_>, id: String, query: CommitQuery) -> Result<CommitSight, Refusal> {
    let detail = CommitDetail { commit: id }.run(caller)?.answer;
    let id = detail.commit.commit.clone();
    let DiffQuery { parent, file, line, first } = query.diff;
    let diff = CommitDiff { commit: id.clone(), parent, file, line, first }.run(caller);
    // A part that is not there is no page; a commit that cannot be compared is shown all the same.
    let is_chosen = parent.is_some() || file.is_some();
    let diff = match diff {
        Ok(reply) => Ok(reply.answer),
        Err(refusal) if is_chosen => return Err(refusal),
        Err(refusal) => Err(refusal.sentence()),
    };
    let trace = match detail.commit.trace {
        Some(_) => TraceShow { id }.run(caller).ok().map(|reply| reply.answer),
        None => None,
    };
    Ok(CommitSight { detail, diff, colours: DiffColours::default(), trace })
}

/// Shows the traces that a commit has had.
pub async fn history(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
) -> Response {
    let found = site.read(|caller| {
        let detail = CommitDetail { commit: id }.run(caller)?.answer;
        let commit = detail.commit.commit.clone();
        Ok((detail, TraceBindings { commit }.run(caller)?.answer))
    });
    match found.await {
        Ok((detail, bindings)) => {
            let command = format!("agentic trace history {}", detail.commit.commit);
            let frame = PageFrame::new(&site, &visitor, "Trace history").with_command(&command);
            html(StatusCode::OK, commit::history_page(&frame, &detail, &bindings))
        }
        Err(refusal) => refused(&site, &visitor, &refusal, RequestAim::Show),
    }
}
