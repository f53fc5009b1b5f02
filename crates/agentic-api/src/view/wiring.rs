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

/// The answer of `agentic capture status`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CaptureStatusView {
    /// Whether this repository wants to hear of conversations.
    pub on: bool,
    /// The coding agents that are here or wired.
    pub sources: Vec<SourceStatusView>,
}

/// How it stands with a coding agent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SourceStatusView {
    /// Which.
    pub source: String,
    /// Whether its program can be started, or its folder is there.
    pub here: bool,
    /// The files that have our entries.
    pub wired: Vec<WiredPlaceView>,
    /// What keeps our hooks from running.
    pub reports: Vec<String>,
}

/// A file that has our entries.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WiredPlaceView {
    /// For whom: `user`, `local` or `project`.
    pub scope: String,
    /// The file.
    pub file: String,
    /// Whether it has entries that capture.
    pub captures: bool,
    /// Whether it has entries that hold.
    pub holds: bool,
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
