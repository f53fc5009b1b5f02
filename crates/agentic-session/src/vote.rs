//! Which of the answers to a hold counts.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::{Oid, json};

use crate::action::Action;
use crate::decision::Decision;
use crate::policy::Policy;

impl Policy {
    /// Finds the decision that settles a hold: the one that completes the number of people who must
    /// give this answer. Everybody counts once, by their first answer.
    pub fn settle<'d>(&self, found: &'d [(Oid, Decision)]) -> Option<(Oid, &'d Decision)> {
        let mut heard = BTreeSet::new();
        let mut votes: BTreeMap<(Action, String), usize> = BTreeMap::new();
        for (commit, decision) in found {
            if !heard.insert(&decision.principal) {
                continue;
            }
            let needed = match decision.action {
                Action::Approve | Action::Edit | Action::Respond => self.need,
                Action::Reject => self.rejections,
                Action::Expire | Action::Withdrawn => 1,
            };
            let value = decision.value.as_ref().filter(|_| decision.action != Action::Reject);
            let answer = (decision.action, value.map(json::to_text).unwrap_or_default());
            let n_votes = votes.entry(answer).or_default();
            *n_votes += 1;
            if *n_votes >= needed {
                return Some((*commit, decision));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
