//! Decisions that came too late: when they arrived on the branch, what they answer had its answer.
//!
//! They arrive by push or by plain git; a decision that is made here looks first. They are kept, and
//! shown for what they are.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::Oid;
use agentic_replay::{AskedRequest, RequestId, SessionId, Summary};

use super::own::read_journal;
use super::summary;
use crate::decision::Decision;
use crate::{Result, SessionSpace};

/// A decision that nothing came of.
#[derive(Debug, Clone, PartialEq)]
pub struct OvertakenDecision {
    /// The request that it answers.
    pub request: RequestId,
    /// Its commit.
    pub commit: Oid,
    /// What it says.
    pub decision: Decision,
}

/// Lists the decisions on the branch of a session's agent that came too late, oldest first.
///
/// # Errors
/// Fails when there is no such session, and when its records or the branch cannot be read.
pub fn overtaken(space: &SessionSpace, id: &SessionId) -> Result<Vec<OvertakenDecision>> {
    let journal = read_journal(space, id)?;
    let start = journal.start();
    let Ok(head) = space.head(&start.agent) else { return Ok(Vec::new()) };
    let mut closed = closed_requests(&summary::of_past(space, &journal)?);
    let mut late = Vec::new();
    for commit in space.repository().first_parents(head) {
        let commit = commit?;
        if closed.is_empty() || start.head.as_deref() == Some(commit.oid.to_string().as_str()) {
            break;
        }
        let Some(decision) = Decision::read(space, &commit.message) else { continue };
        let Some(request) = closed.get(&decision.request) else { continue };
        if request.commits.contains(&commit.oid) {
            // What stands before it had its say.
            closed.remove(&decision.request);
            continue;
        }
        late.push(OvertakenDecision { request: request.id, commit: commit.oid, decision });
    }
    late.reverse();
    Ok(late)
}

/// Reads the decisions that the requests of a session were answered by, or that let their effects
/// begin. One whose commit is gone is left out.
pub fn decisions(space: &SessionSpace, summary: &Summary) -> BTreeMap<Oid, Decision> {
    let commits = summary.asked.iter().filter_map(AskedRequest::decision);
    let read = |commit| Some((commit, Decision::of_commit(space, commit).ok()??));
    commits.filter_map(read).collect()
}

/// A request that has its answer.
struct ClosedRequest {
    id: RequestId,
    /// The decisions that it was answered by, or that let its effect begin.
    commits: BTreeSet<Oid>,
}

/// Finds the requests that have their answers, by their ids.
fn closed_requests(summary: &Summary) -> BTreeMap<RequestId, ClosedRequest> {
    let closed = summary.asked.iter().filter(|asked| asked.answer.is_some());
    let closed =
        closed.map(|asked| ClosedRequest { id: asked.id, commits: asked.decisions().collect() });
    closed.map(|closed| (closed.id, closed)).collect()
}
