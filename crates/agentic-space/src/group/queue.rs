//! Who writes to an agent, and who waits with a draft: what threads of one handle share.

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard};

use agentic_model::AgentName;

use crate::Result;
use crate::commit::{Committed, Draft};
use crate::mutex::locked;

/// How many drafts go into one write.
const GROUP_MAX: usize = 128;

/// The agents that are being written to, and who waits for each.
#[derive(Debug, Default)]
pub(crate) struct Queues(Mutex<BTreeMap<AgentName, VecDeque<WaitingDraft>>>);

/// A draft that was left.
#[derive(Debug)]
pub(crate) struct WaitingDraft {
    /// What its caller wants to commit.
    pub draft: Draft,
    /// Where its caller hears what became of it.
    pub told: Sender<GroupReply>,
}

/// What somebody who waits is told.
#[derive(Debug)]
pub(crate) enum GroupReply {
    /// What became of the draft.
    Done(Box<Result<Committed>>),
    /// It is this one's turn to write; the draft is its own again.
    Turn(Box<Draft>),
}

impl Queues {
    /// Takes the turn if nobody has it, else leaves the draft.
    pub fn enter(&self, agent: &AgentName, draft: &Draft) -> Option<Receiver<GroupReply>> {
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

/// The right to write, passed on when dropped.
pub(crate) struct Turn<'a> {
    pub queues: &'a Queues,
    pub agent: &'a AgentName,
}

impl Turn<'_> {
    /// Takes the drafts of those who wait, as many as go into one write.
    pub fn take_waiting(&self) -> Vec<WaitingDraft> {
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
