//! What models told of the cost of a call of a task, attempt by attempt.

use agentic_model::Value;
use agentic_replay::RequestAnswer;

/// How many attempts of a call are listed; all of them are counted.
const ATTEMPTS_LISTED_MAX: usize = 1_000;
/// What is counted.
const COUNTS: [&str; 2] = ["input_tokens", "output_tokens"];

/// The tokens of one call, with all its attempts and the rounds in them.
#[derive(Debug, Default)]
pub(super) struct CallUsage {
    total: [u64; 2],
    /// Those of the first attempts; nothing where no model told.
    attempts: Vec<Option<[u64; 2]>>,
    /// Whether any model told.
    is_told: bool,
}

impl CallUsage {
    /// Counts what an answer of this attempt tells, the first one being 1.
    pub fn count(&mut self, attempt: u64, answer: &RequestAnswer) {
        let told = match answer {
            RequestAnswer::Ok(value) => value.get("usage"),
            RequestAnswer::Failed(failure) => failure.details.get("usage"),
            RequestAnswer::TimedOut | RequestAnswer::Cancelled(_) => None,
        };
        let counts = told.map(|told| {
            COUNTS.map(|key| {
                let count = told.get(key).and_then(Value::as_int).unwrap_or(0);
                u64::try_from(count).unwrap_or(0)
            })
        });
        let at = usize::try_from(attempt).unwrap_or(usize::MAX).saturating_sub(1);
        if at < ATTEMPTS_LISTED_MAX && self.attempts.len() <= at {
            self.attempts.resize(at + 1, None);
        }
        let Some(counts) = counts else { return };
        self.is_told = true;
        add(&mut self.total, counts);
        if let Some(listed) = self.attempts.get_mut(at) {
            // A model that asks for tools is called several times in one attempt.
            add(listed.get_or_insert([0, 0]), counts);
        }
    }

    /// Returns the sum and the attempts as JSON; nothing where no model told.
    pub fn shown(&self) -> Option<[String; 2]> {
        let one = |attempt: &Option<[u64; 2]>| attempt.map_or("null".to_owned(), shown);
        let attempts: Vec<String> = self.attempts.iter().map(one).collect();
        self.is_told.then(|| [shown(self.total), format!("[{}]", attempts.join(","))])
    }
}

fn add(sum: &mut [u64; 2], counts: [u64; 2]) {
    for (sum, count) in sum.iter_mut().zip(counts) {
        *sum = sum.saturating_add(count);
    }
}

fn shown([input, output]: [u64; 2]) -> String {
    let [input_key, output_key] = COUNTS;
    format!("{{\"{input_key}\":{input},\"{output_key}\":{output}}}")
}
