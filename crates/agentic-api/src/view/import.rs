//! What was imported.

use schemars::JsonSchema;
use serde::Serialize;

/// What became of a conversation, or of one of its subagents.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ImportedView {
    /// Whose conversation it is.
    pub source: String,
    /// What its vendor calls it.
    pub conversation: String,
    /// The agent that has it; nothing if it was left out.
    pub agent: Option<String>,
    /// How many entries its file gave, as far as it had to be read.
    pub entries: u64,
    /// How many of them nobody had before.
    pub new: u64,
    /// Whether it was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<bool>,
    /// Why: `elsewhere`, `empty`, or the code of what went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
