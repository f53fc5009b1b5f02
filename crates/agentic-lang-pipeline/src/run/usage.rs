//! What the models of a run cost.

use agentic_model::{Map, Value};
use agentic_replay::{Path, RequestAnswer};

/// How many calls of a block are listed; all of them are counted.
const CALLS_LISTED_MAX: usize = 1_000;
/// What is counted of a call.
const COUNTS: [&str; 2] = ["input_tokens", "output_tokens"];

/// The tokens of some calls, each attempt being one.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct AttemptUsage {
    totals: [i64; 2],
    n_calls: i64,
    calls: Vec<Value>,
}

impl AttemptUsage {
    /// Counts what a model told of its cost, whether it replied or failed.
    pub fn count(&mut self, path: &Path, answer: &RequestAnswer) {
        let told = match answer {
            RequestAnswer::Ok(value) => value.get("usage"),
            RequestAnswer::Failed(failure) => failure.details.get("usage"),
            RequestAnswer::TimedOut | RequestAnswer::Cancelled(_) => None,
        };
        let Some(told) = told else { return };
        let count = |key: &str| told.get(key).and_then(Value::as_int).unwrap_or(0).max(0);
        let mut call = Map::from([("path".to_owned(), Value::text(path.as_str()))]);
        for (total, key) in self.totals.iter_mut().zip(COUNTS) {
            *total = total.saturating_add(count(key));
            call.insert(key.to_owned(), Value::Int(count(key)));
        }
        self.n_calls += 1;
        if self.calls.len() < CALLS_LISTED_MAX {
            self.calls.push(Value::Map(call));
        }
    }

    /// Adds what others cost.
    pub fn add(&mut self, other: AttemptUsage) {
        for (total, more) in self.totals.iter_mut().zip(other.totals) {
            *total = total.saturating_add(more);
        }
        self.n_calls += other.n_calls;
        let room = CALLS_LISTED_MAX - self.calls.len().min(CALLS_LISTED_MAX);
        self.calls.extend(other.calls.into_iter().take(room));
    }

    /// Returns the totals and each call as data; nothing where no model told anything.
    pub fn to_value(&self) -> Option<Value> {
        let listed = [("attempts", Value::List(self.calls.clone()))];
        self.with(listed)
    }

    /// Returns the totals of all of these as data; nothing where no model told anything.
    pub fn total<'u>(all: impl IntoIterator<Item = &'u AttemptUsage>) -> Option<Value> {
        let mut sum = AttemptUsage::default();
        for usage in all {
            sum.add(AttemptUsage { calls: Vec::new(), ..usage.clone() });
        }
        sum.with([])
    }

    fn with<const N: usize>(&self, more: [(&str, Value); N]) -> Option<Value> {
        let totals = COUNTS.into_iter().zip(self.totals.map(Value::Int));
        let calls = [("calls", Value::Int(self.n_calls))];
        (self.n_calls > 0).then(|| Value::map(totals.chain(calls).chain(more)))
    }
}
