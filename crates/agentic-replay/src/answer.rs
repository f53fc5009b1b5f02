//! What the world answers.

use agentic_model::Value;

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
}
