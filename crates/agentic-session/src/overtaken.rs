//! Decisions that came too late: when they arrived on the branch, what they answer had its answer.
//!
//! They arrive by push or by plain git; a decision that is made here looks first. They are kept, and
//! shown for what they are.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::Oid;
use agentic_replay::{Body, By, Journal, RequestId, SessionId};

use super::recent::read_journal;
use super::summary::{Asked, Summary};
use crate::decision::Decision;
use crate::{Result, SessionSpace};

/// A decision that nothing came of.
#[derive(Debug, Clone, PartialEq)]
pub struct Overtaken {
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
pub fn overtaken(space: &SessionSpace, id: &SessionId) -> Result<Vec<Overtaken>> {
    let journal = read_journal(space, id)?;
    let start = journal.start();
    let Ok(head) = space.head(&start.agent) else { return Ok(Vec::new()) };
    let mut closed = closed_requests(&journal);
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
        late.push(Overtaken { request: request.id, commit: commit.oid, decision });
    }
    late.reverse();
    Ok(late)
}

/// Reads the decisions that the requests of a session were answered by, or that let their effects
/// begin. One whose commit is gone is left out.
pub fn decisions(space: &SessionSpace, summary: &Summary) -> BTreeMap<Oid, Decision> {
    let commits = summary.asked.iter().filter_map(Asked::decision);
    let read = |commit| Some((commit, Decision::of_commit(space, commit).ok()??));
    commits.filter_map(read).collect()
}

/// A request that has its answer.
struct Closed {
    id: RequestId,
    /// The decisions that it was answered by, or that let its effect begin.
    commits: BTreeSet<Oid>,
}

/// Finds the requests that have their answers, by their ids.
fn closed_requests(journal: &Journal) -> BTreeMap<RequestId, Closed> {
    let mut session = String::new();
    let (mut open, mut closed) = (BTreeMap::new(), BTreeMap::new());
    for record in journal.records() {
        match &record.body {
            Body::Start(start) => {
                session = start.session.to_string();
                open.clear();
            }
            Body::Ask(ask) => {
                let id = RequestId::derive(&session, &ask.path, &ask.hash);
                open.insert(&ask.path, Closed { id, commits: BTreeSet::new() });
            }
            Body::Permit(permit) => {
                if let Some(asked) = open.get_mut(&permit.path) {
                    asked.commits.extend(Oid::parse(&permit.decision).ok());
                }
            }
            Body::Answer(answer) => {
                if let Some(mut asked) = open.remove(&answer.path) {
                    if let By::Decision(commit) = &answer.by {
                        asked.commits.extend(Oid::parse(commit).ok());
                    }
                    closed.insert(asked.id, asked);
                }
            }
            Body::Attempt(_)
            | Body::Found(_)
            | Body::Signal(_)
            | Body::Escalate(_)
            | Body::Vote(_)
            | Body::Publish(_)
            | Body::Upgrade(_)
            | Body::Withdraw(_)
            | Body::Cancel(_)
            | Body::ScopeEnd(_)
            | Body::Continue(_)
            | Body::End(_) => {}
        }
    }
    closed
}
