//! Coding agents: what was wired.

use agentic_capture::wiring::WiredFile;
use schemars::JsonSchema;
use serde::Serialize;

/// A file of a coding agent in which our entries are.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WiredView {
    /// Whose it is.
    pub source: String,
    /// The file.
    pub file: String,
    /// What became of it: `made`, `changed`, `unchanged`, or `refused`.
    pub action: String,
}

/// The answer of `agentic capture off`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UnwiredView {
    /// The files that have nothing of ours any more.
    pub removed: Vec<String>,
}

impl From<&WiredFile> for WiredView {
    fn from(wired: &WiredFile) -> WiredView {
        let action = wired.outcome.as_ref().map_or("refused", |action| action.as_str());
        WiredView {
            source: wired.source.to_string(),
            file: wired.file.display().to_string(),
            action: action.to_owned(),
        }
    }
}
