//! What can be asked of a record, whatever it records.

use agentic_model::Cid;

use super::{AnswerRecord, AnswerSource, AskRecord, Body, Outcome, StoredValue, VoteRecord};
use crate::Path;

impl Body {
    /// Returns the request, where it is one.
    pub fn as_ask(&self) -> Option<&AskRecord> {
        if let Body::Ask(ask) = self { Some(ask) } else { None }
    }

    /// Returns the vote, where it is one.
    pub fn as_vote(&self) -> Option<&VoteRecord> {
        if let Body::Vote(vote) = self { Some(vote) } else { None }
    }

    /// Returns what names the decision that it counts, or rests on: a commit, or [`RETRY`](super::RETRY).
    pub fn decision(&self) -> Option<&str> {
        if let Body::Answer(AnswerRecord { by: AnswerSource::Decision(commit), .. }) = self {
            Some(commit)
        } else if let Body::Permit(permit) = self {
            Some(&permit.decision)
        } else {
            self.as_vote().map(|vote| vote.decision.as_str())
        }
    }

    /// Returns the program that the session runs from here on, where it says that.
    pub fn flow(&self) -> Option<Cid> {
        if let Body::Start(start) = self {
            Some(start.flow)
        } else if let Body::Upgrade(upgrade) = self {
            Some(upgrade.to)
        } else {
            None
        }
    }

    /// Returns the place in the program that the record is about, where it is about one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Body::Ask(ask) => Some(&ask.path),
            Body::Answer(answer) => Some(&answer.path),
            Body::Attempt(attempt) => Some(&attempt.path),
            Body::Found(found) => Some(&found.path),
            Body::Escalate(escalate) => Some(&escalate.path),
            Body::Vote(vote) => Some(&vote.path),
            Body::Publish(publish) => Some(&publish.path),
            Body::Permit(permit) => Some(&permit.path),
            Body::Withdraw(withdraw) => Some(&withdraw.path),
            Body::ScopeEnd(scope) => Some(&scope.path),
            Body::Start(_)
            | Body::Signal(_)
            | Body::Upgrade(_)
            | Body::Cancel(_)
            | Body::Continue(_)
            | Body::End(_) => None,
        }
    }

    /// Lists the values that the record holds or refers to.
    pub fn values(&self) -> Vec<&StoredValue> {
        match self {
            Body::Start(start) => vec![&start.input],
            Body::Ask(ask) => vec![&ask.payload],
            Body::Answer(AnswerRecord { outcome, .. }) | Body::End(outcome) => {
                outcome.value().into_iter().collect()
            }
            Body::Signal(signal) => vec![&signal.value],
            Body::Found(found) => vec![&found.found],
            Body::Permit(permit) => permit.edited.iter().collect(),
            Body::ScopeEnd(scope) => vec![&scope.result],
            Body::Continue(next) => vec![&next.state],
            Body::Attempt(_)
            | Body::Escalate(_)
            | Body::Vote(_)
            | Body::Publish(_)
            | Body::Upgrade(_)
            | Body::Withdraw(_)
            | Body::Cancel(_) => Vec::new(),
        }
    }
}

impl Outcome {
    fn value(&self) -> Option<&StoredValue> {
        match self {
            Outcome::Ok(value) | Outcome::Failed { details: value, .. } => Some(value),
            Outcome::TimedOut | Outcome::Cancelled(_) => None,
        }
    }
}
