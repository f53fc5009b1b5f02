//! Failures that tell more than a message.

use agentic_model::{Map, Value};
use agentic_replay::Failure;

/// Makes a failure with details from pairs.
pub(super) fn failure_with(code: &str, message: String, details: &[(&str, Value)]) -> Failure {
    let details = details.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
    Failure { details: Value::Map(details.collect::<Map>()), ..Failure::new(code, message) }
}
