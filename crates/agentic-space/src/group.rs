//! Group commit: threads of one handle that write to one agent at the same time share one write.
//!
//! Whoever comes while another thread writes leaves its draft and waits. When that thread is done,
//! one of those who wait commits all that were left. Nobody is told of a commit before it is
//! durable, and a draft that cannot be committed is its own caller's error.

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard};

use agentic_model::AgentName;

use crate::Result;
use crate::commit::{CommitDraft, CommitOutcome};
use crate::mutex::locked;

/// How many drafts go into one write.
const GROUP_MAX: usize = 128;

/// The agents that are being written to, and who waits for each.
#[derive(Debug, Default)]
pub(crate) struct Queues(Mutex<BTreeMap<AgentName, VecDeque<WaitingDraft>>>);

/// A draft that was left.
#[derive(Debug)]
struct WaitingDraft {
    draft: CommitDraft,
    /// Where its caller hears what became of it.
    told: Sender<GroupReply>,
}

/// What somebody who waits is told.
#[derive(Debug)]
enum GroupReply {
    /// What became of the draft.
    Done(Box<Result<CommitOutcome>>),
    /// It is this one's turn to write; the draft is its own again.
    Turn(Box<CommitDraft>),
}

/// What somebody who came with a draft is to do.
pub(crate) enum GroupPart<'a> {
    /// To commit the draft alone: nobody else writes to the agent until the turn is dropped.
    First(GroupTurn<'a>),
    /// To commit the drafts of all who waited.
    Leader(GroupDrafts<'a>),
    /// Nothing: another thread has committed the draft.
    Member(Box<Result<CommitOutcome>>),
    /// To commit the draft without a turn: the group could not write, and this one is to hear why, or
    /// its leader panicked.
    Stray,
}

impl Queues {
    /// Takes the turn if nobody has it; else leaves the draft and waits.
    pub fn enter<'a>(&'a self, agent: &'a AgentName, draft: &CommitDraft) -> GroupPart<'a> {
        let Some(hears) = self.wait_behind(agent, draft) else {
            return GroupPart::First(GroupTurn { queues: self, agent });
        };
        match hears.recv() {
            Ok(GroupReply::Done(outcome)) => GroupPart::Member(outcome),
            Ok(GroupReply::Turn(own)) => {
                GroupPart::Leader(GroupTurn { queues: self, agent }.with_waiting(*own))
            }
            // What a leader began who panicked is finished by the next writer.
            Err(_) => GroupPart::Stray,
        }
    }

    /// Leaves a draft behind whoever is writing; takes the turn and leaves nothing if nobody is.
    fn wait_behind(&self, agent: &AgentName, draft: &CommitDraft) -> Option<Receiver<GroupReply>> {
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

/// The right to write to an agent, passed on when dropped.
pub(crate) struct GroupTurn<'a> {
    queues: &'a Queues,
    agent: &'a AgentName,
}

impl<'a> GroupTurn<'a> {
    /// Takes the drafts of those who wait, as many as go into one write, behind one's own.
    fn with_waiting(self, own: CommitDraft) -> GroupDrafts<'a> {
        let (mut drafts, mut told) = (vec![own], Vec::new());
        if let Some(waiting) = self.queues.locked().get_mut(self.agent) {
            let n_taken = waiting.len().min(GROUP_MAX - 1);
            for left in waiting.drain(..n_taken) {
                drafts.push(left.draft);
                told.push(left.told);
            }
        }
        GroupDrafts { _turn: self, drafts, told }
    }
}

impl Drop for GroupTurn<'_> {
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

/// The drafts of one write, with the right to write them.
pub(crate) struct GroupDrafts<'a> {
    _turn: GroupTurn<'a>,
    /// The leader's own first.
    drafts: Vec<CommitDraft>,
    /// Where the callers of the others hear what became of theirs.
    told: Vec<Sender<GroupReply>>,
}

impl GroupDrafts<'_> {
    /// Returns the drafts in the order in which they are committed.
    pub fn all(&self) -> &[CommitDraft] {
        &self.drafts
    }

    /// Tells everybody what became of their draft, and returns what became of the leader's own;
    /// nothing if nothing was written, and everybody hears the reason from an attempt of their own.
    pub fn tell(
        self,
        answers: Result<Vec<Result<CommitOutcome>>>,
    ) -> Option<Result<CommitOutcome>> {
        let mut answers = answers.ok()?.into_iter();
        let own = answers.next();
        for (told, answer) in self.told.iter().zip(answers) {
            // Somebody who waits never goes away before being told.
            let _ = told.send(GroupReply::Done(Box::new(answer)));
        }
        own
    }
}

#[cfg(test)]
mod tests;
