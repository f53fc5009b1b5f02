//! Which of the answers to a hold counts.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::{Oid, json};

use crate::action::Action;
use crate::decision::Decision;
use crate::policy::Policy;

/// What somebody answered, as far as another may have answered the same.
type VoteAnswer = (Action, String);

impl Policy {
    /// Finds the decision that settles a hold: the one that completes the number of people who must
    /// give this answer. Everybody counts once, by their first answer.
    pub fn settle<'d>(&self, found: &'d [(Oid, Decision)]) -> Option<(Oid, &'d Decision)> {
        let mut votes: BTreeMap<VoteAnswer, usize> = BTreeMap::new();
        for (commit, decision) in first_voices(found) {
            let needed = match decision.action {
                Action::Approve | Action::Edit | Action::Respond => self.need,
                Action::Reject => self.rejections,
                Action::Expire | Action::Withdrawn => 1,
            };
            let n_votes = votes.entry(answer_of(decision)).or_default();
            *n_votes += 1;
            if *n_votes >= needed {
                return Some((*commit, decision));
            }
        }
        None
    }
}

/// Counts the people who agree: those who gave the answer that most gave. Who rejects agrees to nothing.
pub fn n_agreeing(found: &[(Oid, Decision)]) -> usize {
    let mut votes: BTreeMap<VoteAnswer, usize> = BTreeMap::new();
    for (_, decision) in first_voices(found) {
        match decision.action {
            Action::Approve | Action::Edit | Action::Respond => {
                *votes.entry(answer_of(decision)).or_default() += 1;
            }
            Action::Reject | Action::Expire | Action::Withdrawn => {}
        }
    }
    votes.into_values().max().unwrap_or_default()
}

/// Says what was answered. What a rejection says beside its no is no other answer.
fn answer_of(decision: &Decision) -> VoteAnswer {
    let value = decision.value.as_ref().filter(|_| decision.action != Action::Reject);
    (decision.action, value.map(json::to_text).unwrap_or_default())
}

/// Lists the answers that count as voices. Each person has one, and each peer that signs: their first.
pub fn first_voices(found: &[(Oid, Decision)]) -> impl Iterator<Item = &(Oid, Decision)> {
    let mut heard = BTreeSet::new();
    found.iter().filter(move |(_, decision)| {
        let is_new = decision.voices().all(|voice| !heard.contains(voice));
        if is_new {
            heard.extend(decision.voices());
        }
        is_new
    })
}

#[cfg(test)]
mod tests;
