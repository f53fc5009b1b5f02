//! The process that stays, as JSON.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The answer of `agentic serve status`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServeStatusView {
    /// The number of the process.
    pub pid: u32,
    /// The version of the program.
    pub version: String,
    /// The version of what it speaks.
    pub api: u32,
    /// Since when it runs.
    pub since: String,
    /// The address of its page, if it has one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub url: Option<String>,
    /// The git directory that it serves.
    pub repository: String,
    /// The name of its sequence of events, another at each start.
    pub epoch: String,
    /// The number of the last event.
    pub n: u64,
    /// How writes of others are noticed: `inotify` or `polling`.
    pub watch: String,
    /// How many listen to events.
    pub streams: usize,
    /// Whether nothing may be written through it.
    pub read_only: bool,
}
