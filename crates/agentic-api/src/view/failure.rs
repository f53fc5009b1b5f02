//! Errors as JSON.

use schemars::JsonSchema;
use serde::Serialize;

/// What `--json` prints on standard error when a command fails.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FailureView {
    /// The error.
    pub error: ErrorView,
}

/// One error.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ErrorView {
    /// The exit code.
    pub code: u8,
    /// What the exit code means, in one word.
    pub kind: String,
    /// What happened.
    pub message: String,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// The code that a program ended with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_with: Option<String>,
    /// What to do next.
    pub hint: String,
}
