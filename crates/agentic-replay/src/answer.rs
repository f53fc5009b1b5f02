//! What the world answers.

use agentic_model::Value;

use crate::record::{MissingObject, Objects, Outcome};
use crate::settle::settle;

/// The code of a failure whose value was no data: not finite, too deep or too long.
pub const NOT_DATA: &str = "not-data";

/// The longest code of a failure, in bytes.
pub const CODE_BYTES_MAX: usize = 256;
/// The longest message of a failure, in bytes: 64 KiB.
pub const MESSAGE_BYTES_MAX: usize = 64 << 10;

/// The one answer that every request gets before its run ends.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The effect happened and gave this value.
    Ok(Value),
    /// The effect failed in a way that the program may catch.
    Failed(Failure),
    /// The time limit of the request passed first.
    TimedOut,
    /// The request was withdrawn, or its run was cancelled.
    Cancelled(Stopped),
}

/// How far a cancelled effect had come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// It never began.
    NotStarted,
    /// It was stopped.
    Stopped,
    /// Nobody knows whether it happened.
    Unknown,
}

/// An error that a program can see.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// What sort of failure, stable across releases.
    pub code: String,
    /// What happened, for people.
    pub message: String,
    /// Anything else a program may want to read; `Null` if nothing.
    pub details: Value,
}

impl Failure {
    /// Makes a failure without details.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Failure {
        Failure { code: code.into(), message: message.into(), details: Value::Null }
    }

    /// Returns the failure as its record would give it back: code and message cut to their
    /// bounds, details without a canonical form left out.
    pub fn settled(self) -> Failure {
        Failure {
            code: cut(self.code, CODE_BYTES_MAX),
            message: cut(self.message, MESSAGE_BYTES_MAX),
            details: settle(self.details).unwrap_or(Value::Null),
        }
    }
}

impl Answer {
    /// Reads an answer back from its record.
    pub(crate) fn of_record(
        outcome: &Outcome,
        objects: &dyn Objects,
    ) -> Result<Answer, MissingObject> {
        Ok(match outcome {
            Outcome::Ok(value) => Answer::Ok(value.value(objects)?),
            Outcome::Failed { code, message, details } => Answer::Failed(Failure {
                code: code.clone(),
                message: message.clone(),
                details: details.value(objects)?,
            }),
            Outcome::TimedOut => Answer::TimedOut,
            Outcome::Cancelled(stopped) => Answer::Cancelled(*stopped),
        })
    }

    /// Returns the answer as its record would give it back. A value without a canonical form
    /// becomes a failure with the code [`NOT_DATA`].
    pub fn settled(self) -> Answer {
        match self {
            Answer::Ok(value) => match settle(value) {
                Ok(value) => Answer::Ok(value),
                Err(error) => Answer::Failed(Failure::new(NOT_DATA, error.to_string())),
            },
            Answer::Failed(failure) => Answer::Failed(failure.settled()),
            Answer::TimedOut | Answer::Cancelled(_) => self,
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
