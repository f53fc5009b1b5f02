//! Objects as JSON.

use agentic_model::{AgentName, Object};
use schemars::JsonSchema;
use serde::Serialize;

use crate::view::{ImportedView, WiredView};

/// The answer of `agentic object put`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PutView {
    /// The id of the object.
    pub cid: String,
    /// Its type.
    pub r#type: String,
    /// The length of its canonical form, in bytes.
    pub bytes: usize,
    /// The agent that keeps it.
    pub agent: String,
}

/// The answer of `agentic object cid`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CidView {
    /// The id of the object.
    pub cid: String,
    /// Its type.
    pub r#type: String,
    /// The length of its canonical form, in bytes.
    pub bytes: usize,
}

/// The answer of `agentic init`.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct InitView {
    /// The remotes that are set up.
    pub remotes: Vec<String>,
    /// Whether anything had to be written.
    pub changed: bool,
    /// The files of coding agents that have our entries.
    pub wired: Vec<WiredView>,
    /// What is left for a person to do.
    pub next: Vec<String>,
    /// What the coding agents did before, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imported: Option<Vec<ImportedView>>,
}

/// An object as data, with its id where it is asked for by another name.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct ObjectView(pub serde_json::Value);

impl PutView {
    /// Shows an object that an agent keeps.
    pub fn new(object: &Object, agent: &AgentName) -> PutView {
        let CidView { cid, r#type, bytes } = CidView::from(object);
        PutView { cid, r#type, bytes, agent: agent.to_string() }
    }
}

impl From<&Object> for CidView {
    fn from(object: &Object) -> CidView {
        CidView {
            cid: object.cid().to_string(),
            r#type: object.kind().to_string(),
            bytes: object.bytes().len(),
        }
    }
}
