//! What keeps a relation from being asserted or retracted.

use std::borrow::Cow;

use agentic_model::Kind;
use agentic_model::guidance::{ErrorClass, Guidance};

/// What keeps a relation from being asserted or retracted.
#[derive(Debug, thiserror::Error)]
pub enum RelationError {
    /// The relation follows from commits and cannot be asserted.
    #[error("the relation `{relation}` is derived from commits")]
    Derived {
        /// The relation.
        relation: Kind,
    },
    /// The edge does not hold.
    #[error("`{edge}` does not hold")]
    NoEdge {
        /// The edge, as text.
        edge: String,
    },
}

impl Guidance for RelationError {
    fn class(&self) -> ErrorClass {
        match self {
            RelationError::Derived { .. } | RelationError::NoEdge { .. } => ErrorClass::Refused,
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            RelationError::Derived { .. } => {
                "spawn with `--from` or merge; the relation then follows by itself".into()
            }
            RelationError::NoEdge { .. } => "`agentic relations` lists what holds".into(),
        }
    }
}
