//! Failures that tell more than a message.

use agentic_model::{Map, Value};
use agentic_replay::ProgramFailure;

/// Makes a failure with details from pairs.
pub(super) fn failure_with(
    code: &str,
    message: String,
    details: &[(&str, Value)],
) -> ProgramFailure {
    let details = details.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
    ProgramFailure {
        details: Value::Map(details.collect::<Map>()),
        ..ProgramFailure::new(code, message)
    }
}
