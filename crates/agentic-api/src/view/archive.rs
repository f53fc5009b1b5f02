//! The archive as JSON.

use agentic_git::ArchiveEntry;
use schemars::JsonSchema;
use serde::Serialize;

/// One agent of `agentic archive`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ArchivedView {
    /// Its name.
    pub agent: String,
    /// The commit that its branch is at once it is back.
    pub head: String,
    /// The commit that its notes are at then; missing if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// When it was archived.
    pub at: String,
    /// Who archived it: `person` or `program`.
    pub by: String,
}

impl From<&ArchiveEntry> for ArchivedView {
    fn from(entry: &ArchiveEntry) -> ArchivedView {
        ArchivedView {
            agent: entry.archived.agent.to_string(),
            head: entry.archived.head.to_string(),
            notes: entry.archived.notes.map(|oid| oid.to_string()),
            at: entry.at.to_string(),
            by: entry.by.word().to_owned(),
        }
    }
}
