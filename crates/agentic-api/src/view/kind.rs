//! Kinds as JSON.

use agentic_model::{Kind, KindEntry, KindTree, json};
use schemars::JsonSchema;
use serde::Serialize;

/// One registered kind.
#[derive(Debug, Serialize, JsonSchema)]
pub struct KindView {
    /// Its name.
    pub name: String,
    /// The kind it specialises; null for the two roots.
    pub parent: Option<String>,
    /// One line for people.
    pub description: String,
    /// Whether it is built in.
    pub built_in: bool,
    /// A JSON Schema for the open fields of such a commit or object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<serde_json::Value>,
}

/// The answer of `agentic kind show`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct KindShowView {
    /// The kind.
    #[serde(flatten)]
    pub entry: KindView,
    /// Itself and the kinds above it, nearest first.
    pub ancestors: Vec<String>,
}

impl From<&KindEntry> for KindView {
    fn from(entry: &KindEntry) -> KindView {
        KindView {
            name: entry.name.to_string(),
            parent: entry.parent.as_ref().map(Kind::to_string),
            description: entry.description.clone(),
            built_in: KindTree::is_built_in(&entry.name),
            schema: entry.schema.as_ref().map(json::to_json),
        }
    }
}

impl KindShowView {
    /// Shows a kind as it stands in a tree.
    pub fn new(entry: &KindEntry, tree: &KindTree) -> KindShowView {
        let ancestors = tree.ancestors(&entry.name).map(Kind::to_string).collect();
        KindShowView { entry: KindView::from(entry), ancestors }
    }
}
