//! Group commit: threads of one handle that write to one agent at the same time share one write.
//!
//! Whoever comes while another thread writes leaves its draft and waits. When that thread is done,
//! one of those who wait commits all that were left. Nobody is told of a commit before it is
//! durable, and a draft that cannot be committed is its own caller's error.

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard};

use agentic_model::AgentName;

use crate::batch::{commit_all, edits};
use crate::commit::{Committed, Draft, commit_alone};
use crate::mutex::locked;
use crate::{Result, Space};

/// How many drafts go into one write.
const GROUP_MAX: usize = 128;

/// The agents that are being written to, and who waits for each.
#[derive(Debug, Default)]
pub(crate) struct Queues(Mutex<BTreeMap<AgentName, VecDeque<WaitingDraft>>>);

/// A draft that was left.
#[derive(Debug)]
struct WaitingDraft {
    draft: Draft,
    told: Sender<GroupReply>,
}

/// What somebody who waits is told.
#[derive(Debug)]
enum GroupReply {
    /// What became of the draft.
    Done(Box<Result<Committed>>),
    /// It is this one's turn to write; the draft is its own again.
    Turn(Box<Draft>),
}

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

impl Queues {
    /// Takes the turn if nobody has it, else leaves the draft.
    fn enter(&self, agent: &AgentName, draft: &Draft) -> Option<Receiver<GroupReply>> {
        let mut queues = self.locked();
        match queues.get_mut(agent) {
            Some(waiting) => {
                let (told, hears) = channel();
                waiting.push_back(WaitingDraft { draft: draft.clone(), told });
                Some(hears)
            }
            None => {
                queues.insert(agent.clone(), VecDeque::new());
                None
            }
        }
    }

    fn locked(&self) -> MutexGuard<'_, BTreeMap<AgentName, VecDeque<WaitingDraft>>> {
        locked(&self.0)
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

/// The right to write, passed on when dropped.
struct Turn<'a> {
    queues: &'a Queues,
    agent: &'a AgentName,
}

impl Turn<'_> {
    fn take_waiting(&self) -> Vec<WaitingDraft> {
        let mut queues = self.queues.locked();
        let Some(waiting) = queues.get_mut(self.agent) else { return Vec::new() };
        let n_taken = waiting.len().min(GROUP_MAX - 1);
        waiting.drain(..n_taken).collect()
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut queues = self.queues.locked();
        while let Some(next) = queues.get_mut(self.agent).and_then(VecDeque::pop_front) {
            if next.told.send(GroupReply::Turn(Box::new(next.draft))).is_ok() {
                return;
            }
        }
        queues.remove(self.agent);
    }
}
