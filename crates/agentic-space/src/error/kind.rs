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
}

impl Guidance for KindError {
    fn class(&self) -> ErrorClass {
        match self {
            KindError::Unknown { .. } | KindError::UnknownParent { .. } => ErrorClass::Refused,
            KindError::Taken { .. } => ErrorClass::Conflict,
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
            KindError::UnknownParent { .. } => {
                "register the parent first; `agentic kind list` shows the kinds".into()
            }
        }
    }
}
