//! Kinds as JSON.

use agentic_federation::peer_kind::KindOrigin;
use agentic_model::{Cid, Kind, KindEntry, KindTree, json};
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
    /// Its object, of a peer's kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cid: Option<String>,
}

/// From whom a kind was adopted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct KindOriginView {
    /// The peer.
    pub peer: String,
    /// Its object there.
    pub cid: String,
}

/// What defined a kind.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type")]
pub enum KindActivityView {
    /// There is a kind.
    DefineType {
        /// Its name.
        name: String,
        /// Its object.
        cid: String,
        /// One line for people.
        description: String,
        /// A JSON Schema for the open fields.
        #[serde(skip_serializing_if = "Option::is_none")]
        schema: Option<serde_json::Value>,
    },
    /// It specialises another.
    SubtypeOf {
        /// The kind.
        child: String,
        /// The other.
        parent: String,
    },
}

/// The answer of `agentic kind show`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct KindShowView {
    /// The kind.
    #[serde(flatten)]
    pub entry: KindView,
    /// Itself and the kinds above it, nearest first.
    pub ancestors: Vec<String>,
    /// From whom it was adopted, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<KindOriginView>,
}

impl From<&KindOrigin> for KindOriginView {
    fn from(origin: &KindOrigin) -> KindOriginView {
        KindOriginView { peer: origin.peer.to_string(), cid: origin.cid.to_string() }
    }
}

impl KindActivityView {
    /// Lists what defined a kind.
    pub fn of(entry: &KindEntry, cid: Cid) -> Vec<KindActivityView> {
        let name = entry.name.to_string();
        let defined = KindActivityView::DefineType {
            name: name.clone(),
            cid: cid.to_string(),
            description: entry.description.clone(),
            schema: entry.schema.as_ref().map(json::to_json),
        };
        let parent = entry
            .parent
            .as_ref()
            .map(|parent| KindActivityView::SubtypeOf { child: name, parent: parent.to_string() });
        [defined].into_iter().chain(parent).collect()
    }
}

impl From<&KindEntry> for KindView {
    fn from(entry: &KindEntry) -> KindView {
        KindView {
            name: entry.name.to_string(),
            parent: entry.parent.as_ref().map(Kind::to_string),
            description: entry.description.clone(),
            built_in: KindTree::is_built_in(&entry.name),
            schema: entry.schema.as_ref().map(json::to_json),
            cid: None,
        }
    }
}

impl KindShowView {
    /// Shows a kind as it stands in a tree.
    pub fn new(entry: &KindEntry, tree: &KindTree) -> KindShowView {
        let ancestors = tree.ancestors(&entry.name).map(Kind::to_string).collect();
        KindShowView { entry: KindView::from(entry), ancestors, origin: None }
    }
}
