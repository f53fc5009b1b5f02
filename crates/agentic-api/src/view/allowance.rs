//! What was allowed, as JSON.

use schemars::JsonSchema;
use serde::Serialize;

/// One file of `agentic allow`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AllowanceView {
    /// The hash of what the file holds.
    pub hash: String,
    /// The folder of the repository that all its worktrees share.
    pub repository: String,
    /// The file, from the top of a worktree.
    pub file: String,
    /// The whole path, for people, where the file was looked at.
    #[serde(skip)]
    pub path: String,
    /// `allowed`, `withheld` or `revoked`.
    pub state: String,
    /// What the file opens, where that was looked at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub opens: Vec<OpenedView>,
}

/// One thing that a file opens.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OpenedView {
    /// The entry of the file that says so, such as `models.fast`.
    pub entry: String,
    /// What it does.
    pub does: String,
}
