//! Group commit: threads of one process that write to one agent at the same time share one write.
//!
//! Whoever comes while another thread writes leaves its draft and waits. When that thread is done,
//! one of those who wait commits all that were left. Nobody is told of a commit before it is
//! durable, and a draft that cannot be committed is its own caller's error.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

use agentic_model::AgentName;

use crate::batch::{commit_all, edits};
use crate::commit::{Committed, Draft, commit_alone};
use crate::{Durability, Result, Space};

/// How many drafts go into one write.
const GROUP_MAX: usize = 128;

/// What writers share: the repository, the agent, and how durable a write is.
type Key = (PathBuf, AgentName, u8);

/// The agents of this process that are being written to, and who waits.
static QUEUES: Mutex<BTreeMap<Key, VecDeque<Waiting>>> = Mutex::new(BTreeMap::new());

/// A draft that was left.
struct Waiting {
    draft: Draft,
    told: Sender<Told>,
}

/// What somebody who waits is told.
enum Told {
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
    let durability = match space.durability() {
        Durability::Full => 0,
        Durability::Git => 1,
    };
    let key = (space.repository().common_dir().to_owned(), agent.clone(), durability);
    match enter(&key, draft) {
        None => {
            let _turn = Turn { key };
            commit_alone(space, agent, draft)
        }
        Some(told) => match told.recv() {
            Ok(Told::Done(outcome)) => *outcome,
            Ok(Told::Turn(own)) => {
                let turn = Turn { key };
                lead(space, agent, *own, turn.take_waiting())
            }
            // Whoever had the draft panicked; what it began is finished by the next writer.
            Err(_) => commit_alone(space, agent, draft),
        },
    }
}

/// Takes the turn if nobody has it, else leaves the draft.
fn enter(key: &Key, draft: &Draft) -> Option<Receiver<Told>> {
    let mut queues = queues();
    match queues.get_mut(key) {
        Some(waiting) => {
            let (told, hears) = channel();
            waiting.push_back(Waiting { draft: draft.clone(), told });
            Some(hears)
        }
        None => {
            queues.insert(key.clone(), VecDeque::new());
            None
        }
    }
}

/// Commits the drafts of all who waited, and tells them.
fn lead(space: &Space, agent: &AgentName, own: Draft, others: Vec<Waiting>) -> Result<Committed> {
    if others.is_empty() {
        return commit_alone(space, agent, &own);
    }
    let (mut drafts, mut callers) = (vec![own], Vec::new());
    for Waiting { draft, told } in others {
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

fn tell(told: &Sender<Told>, outcome: Result<Committed>) {
    // Somebody who waits never goes away before being told.
    let _ = told.send(Told::Done(Box::new(outcome)));
}

/// The right to write, passed on when dropped.
struct Turn {
    key: Key,
}

impl Turn {
    fn take_waiting(&self) -> Vec<Waiting> {
        let mut queues = queues();
        let Some(waiting) = queues.get_mut(&self.key) else { return Vec::new() };
        let n_taken = waiting.len().min(GROUP_MAX - 1);
        waiting.drain(..n_taken).collect()
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut queues = queues();
        while let Some(next) = queues.get_mut(&self.key).and_then(VecDeque::pop_front) {
            if next.told.send(Told::Turn(Box::new(next.draft))).is_ok() {
                return;
            }
        }
        queues.remove(&self.key);
    }
}

fn queues() -> MutexGuard<'static, BTreeMap<Key, VecDeque<Waiting>>> {
    // Nothing that runs under the lock panics half-way.
    QUEUES.lock().unwrap_or_else(PoisonError::into_inner)
}
