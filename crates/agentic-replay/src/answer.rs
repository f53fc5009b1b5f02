//! What the world answers.

use agentic_model::Value;

use crate::record::{MissingObject, Outcome, StoredObjects};
use crate::settle::settle;

/// The code of a failure whose value was no data: not finite, too deep or too long.
pub const NOT_DATA: &str = "not-data";

/// The longest code of a failure, in bytes.
pub const CODE_BYTES_MAX: usize = 256;
/// The longest message of a failure, in bytes: 64 KiB.
pub const MESSAGE_BYTES_MAX: usize = 64 << 10;

/// The one answer that every request gets before its run ends.
#[derive(Debug, Clone, PartialEq)]
pub enum RequestAnswer {
    /// The effect happened and gave this value.
    Ok(Value),
    /// The effect failed in a way that the program may catch.
    Failed(ProgramFailure),
    /// The time limit of the request passed first.
    TimedOut,
    /// The request was withdrawn, or its run was cancelled.
    Cancelled(CancelExtent),
}

/// How far a cancelled effect had come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelExtent {
    /// It never began.
    NotStarted,
    /// It was stopped.
    Stopped,
    /// Nobody knows whether it happened.
    Unknown,
}

/// An error that a program can see.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramFailure {
    /// What sort of failure, stable across releases.
    pub code: String,
    /// What happened, for people.
    pub message: String,
    /// Anything else a program may want to read; `Null` if nothing.
    pub details: Value,
}

impl ProgramFailure {
    /// Makes a failure without details.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> ProgramFailure {
        ProgramFailure { code: code.into(), message: message.into(), details: Value::Null }
    }

    /// Returns the failure as its record would give it back: code and message cut to their
    /// bounds, details without a canonical form left out.
    pub fn settled(self) -> ProgramFailure {
        ProgramFailure {
            code: cut(self.code, CODE_BYTES_MAX),
            message: cut(self.message, MESSAGE_BYTES_MAX),
            details: settle(self.details).unwrap_or(Value::Null),
        }
    }
}

impl RequestAnswer {
    /// Reads an answer back from its record.
    pub(crate) fn of_record(
        outcome: &Outcome,
        objects: &dyn StoredObjects,
    ) -> Result<RequestAnswer, MissingObject> {
        Ok(match outcome {
            Outcome::Ok(value) => RequestAnswer::Ok(value.value(objects)?),
            Outcome::Failed { code, message, details } => RequestAnswer::Failed(ProgramFailure {
                code: code.clone(),
                message: message.clone(),
                details: details.value(objects)?,
            }),
            Outcome::TimedOut => RequestAnswer::TimedOut,
            Outcome::Cancelled(stopped) => RequestAnswer::Cancelled(*stopped),
        })
    }

    /// Reads an answer back for those who look at it: what was purged is shown as that.
    pub(crate) fn shown(
        outcome: &Outcome,
        objects: &dyn StoredObjects,
    ) -> Result<RequestAnswer, MissingObject> {
        Ok(match outcome {
            Outcome::Ok(value) => RequestAnswer::Ok(value.shown(objects)?),
            Outcome::Failed { code, message, details } => RequestAnswer::Failed(ProgramFailure {
                code: code.clone(),
                message: message.clone(),
                details: details.shown(objects)?,
            }),
            Outcome::TimedOut | Outcome::Cancelled(_) => {
                RequestAnswer::of_record(outcome, objects)?
            }
        })
    }

    /// Returns the answer as its record would give it back. A value without a canonical form
    /// becomes a failure with the code [`NOT_DATA`].
    pub fn settled(self) -> RequestAnswer {
        match self {
            RequestAnswer::Ok(value) => match settle(value) {
                Ok(value) => RequestAnswer::Ok(value),
                Err(error) => {
                    RequestAnswer::Failed(ProgramFailure::new(NOT_DATA, error.to_string()))
                }
            },
            RequestAnswer::Failed(failure) => RequestAnswer::Failed(failure.settled()),
            RequestAnswer::TimedOut | RequestAnswer::Cancelled(_) => self,
        }
    }
}

fn cut(mut text: String, bytes_max: usize) -> String {
    let mut end = bytes_max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text
}
