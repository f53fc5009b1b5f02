//! Relations as JSON.

use agentic_model::edge::EdgeEvent;
use agentic_space::relate::RelateOutcome;
use schemars::JsonSchema;
use serde::Serialize;

/// The answer of `agentic relate` and `agentic unrelate`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EdgeView {
    /// Who relates.
    pub source: String,
    /// How.
    pub relation: String,
    /// To whom.
    pub target: String,
    /// `assert` or `retract`.
    pub event: String,
    /// The id of the event.
    pub cid: String,
    /// When.
    pub at: String,
}

/// One thing that holds, as `agentic relations` lists it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RelationView {
    /// Who relates.
    pub source: String,
    /// How.
    pub relation: String,
    /// To whom.
    pub target: String,
    /// Whether it follows from commits, and was not asserted.
    pub derived: bool,
}

impl From<&RelateOutcome> for EdgeView {
    fn from(related: &RelateOutcome) -> EdgeView {
        let event = match related.edge.event {
            EdgeEvent::Assert => "assert",
            EdgeEvent::Retract => "retract",
        };
        EdgeView {
            source: related.edge.source.to_string(),
            relation: related.edge.relation.to_string(),
            target: related.edge.target.to_string(),
            event: event.to_owned(),
            cid: related.cid.to_string(),
            at: related.edge.at.to_string(),
        }
    }
}
