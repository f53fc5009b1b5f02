//! Group commit: threads of one handle that write to one agent at the same time share one write.
//!
//! Whoever comes while another thread writes leaves its draft and waits. When that thread is done,
//! one of those who wait commits all that were left. Nobody is told of a commit before it is
//! durable, and a draft that cannot be committed is its own caller's error.

pub(crate) mod queue;

use std::sync::mpsc::Sender;

use agentic_model::AgentName;

use self::queue::{GroupReply, Turn, WaitingDraft};
use crate::batch::{commit_all, edits};
use crate::commit::{Committed, Draft, commit_alone};
use crate::{Result, Space};

/// Commits a draft, together with those of other threads if they are at the same agent.
pub fn commit(space: &Space, agent: &AgentName, draft: &Draft) -> Result<Committed> {
    if edits(draft).is_none() || !space.is_live() {
        return commit_alone(space, agent, draft);
    }
    let queues = space.queues();
    match queues.enter(agent, draft) {
        None => {
            let _turn = Turn { queues, agent };
            commit_alone(space, agent, draft)
        }
        Some(told) => match told.recv() {
            Ok(GroupReply::Done(outcome)) => *outcome,
            Ok(GroupReply::Turn(own)) => {
                let turn = Turn { queues, agent };
                lead(space, agent, *own, turn.take_waiting())
            }
            // Whoever had the draft panicked; what it began is finished by the next writer.
            Err(_) => commit_alone(space, agent, draft),
        },
    }
}

/// Commits the drafts of all who waited, and tells them.
fn lead(
    space: &Space,
    agent: &AgentName,
    own: Draft,
    others: Vec<WaitingDraft>,
) -> Result<Committed> {
    if others.is_empty() {
        return commit_alone(space, agent, &own);
    }
    let (mut drafts, mut callers) = (vec![own], Vec::new());
    for WaitingDraft { draft, told } in others {
        drafts.push(draft);
        callers.push(told);
    }
    let mut answers = match commit_all(space, agent, &drafts) {
        Ok(answers) => answers.into_iter(),
        Err(_) => {
            // Nothing was written. Everybody hears the reason from an attempt of their own.
            for (told, draft) in callers.iter().zip(&drafts[1..]) {
                tell(told, commit_alone(space, agent, draft));
            }
            return commit_alone(space, agent, &drafts[0]);
        }
    };
    let first = answers.next().expect("BUG: a batch has an answer for each draft");
    for (told, answer) in callers.iter().zip(answers) {
        tell(told, answer);
    }
    first
}

fn tell(told: &Sender<GroupReply>, outcome: Result<Committed>) {
    // Somebody who waits never goes away before being told.
    let _ = told.send(GroupReply::Done(Box::new(outcome)));
}
