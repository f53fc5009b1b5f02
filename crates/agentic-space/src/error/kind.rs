//! What is wrong with a kind.

use std::borrow::Cow;

use agentic_model::Kind;
use agentic_model::guidance::{ErrorClass, Guidance};

/// What is wrong with a kind.
#[derive(Debug, thiserror::Error)]
pub enum KindError {
    /// The kind is not registered, or is no kind of what it is used for.
    #[error("`{kind}` is not a registered kind of `{root}`")]
    Unknown {
        /// The kind.
        kind: Kind,
        /// The root below which it must stand.
        root: &'static str,
    },
    /// A kind could not be registered because its name is taken.
    #[error("the kind `{kind}` is already registered")]
    Taken {
        /// The kind.
        kind: Kind,
    },
    /// A kind's parent is not registered.
    #[error("the parent kind `{parent}` is not registered")]
    UnknownParent {
        /// The parent.
        parent: Kind,
    },
    /// The open fields of a commit are not as its kind says.
    #[error("the open fields do not fit the kind `{kind}`: {reason}")]
    Misfit {
        /// The kind that says how they are: that of the commit, or one above it.
        kind: Kind,
        /// What does not fit, and where.
        reason: String,
    },
    /// What is given as a schema is none.
    #[error("the schema of the kind `{kind}` is no JSON Schema: {reason}")]
    NoSchema {
        /// The kind.
        kind: Kind,
        /// What is wrong with it.
        reason: String,
    },
}

impl Guidance for KindError {
    fn class(&self) -> ErrorClass {
        match self {
            KindError::Unknown { .. } | KindError::UnknownParent { .. } => ErrorClass::Refused,
            KindError::Taken { .. } => ErrorClass::Conflict,
            KindError::Misfit { .. } | KindError::NoSchema { .. } => ErrorClass::Schema,
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            KindError::Unknown { .. } => {
                "`agentic kind list` shows the kinds; `agentic kind add` registers one".into()
            }
            KindError::Taken { .. } => {
                "choose another name; a registered kind never changes".into()
            }
            KindError::Misfit { kind, .. } => format!(
                "`agentic kind show {kind}` shows the schema; `--field KEY=JSON` gives a field"
            )
            .into(),
            KindError::NoSchema { .. } => "give a JSON Schema".into(),
            KindError::UnknownParent { .. } => {
                "register the parent first; `agentic kind list` shows the kinds".into()
            }
        }
    }
}
