//! Coding agents: what was wired.

use std::collections::BTreeMap;

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
    /// The coding agents that are here, wired, or heard of.
    pub sources: Vec<SourceStatusView>,
    /// Commits that may be an agent's, and are linked to nobody.
    pub ambiguous: Vec<AmbiguousCommitView>,
    /// Holds that calls did not wait for.
    pub passed: Vec<PassedHoldView>,
    /// How often what went wrong where nobody knows in whose hook, by its code.
    pub errors: BTreeMap<String, u64>,
}

/// A commit that may be an agent's.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AmbiguousCommitView {
    /// The commit.
    pub commit: String,
    /// Whose it may be.
    pub agent: String,
    /// Why it is linked to nobody.
    pub reason: String,
}

/// A hold that calls did not wait for.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PassedHoldView {
    /// The session that asks.
    pub session: String,
    /// How many calls ran meanwhile.
    pub calls: u64,
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
    /// What keeps our hooks from running, and what a person still has to do.
    pub reports: Vec<String>,
    /// When a hook of it last told something.
    pub last: Option<String>,
    /// How many bytes of known transcripts are not read yet.
    pub unread: u64,
    /// How many conversations are known.
    pub conversations: u64,
    /// How many of them have no agent any more.
    pub unbound: u64,
    /// How many transcripts are gone; what was read of them stays.
    pub gone: u64,
    /// How many transcripts it is about to delete that were not read to their end.
    pub endangered: u64,
    /// How many secrets of each rule were taken out of what was captured.
    pub redactions: BTreeMap<String, u64>,
    /// How often what went wrong, by its code.
    pub errors: BTreeMap<String, u64>,
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
