//! Why no object could be found by what was given.

use std::borrow::Cow;

use agentic_model::guidance::{ErrorClass, Guidance};

/// Why no object could be found by what was given.
#[derive(Debug, thiserror::Error)]
pub enum LookupError {
    /// No object has this id.
    #[error("no object `{id}` is stored here")]
    Unknown {
        /// The id as it was given.
        id: String,
    },
    /// A prefix names several objects.
    #[error("`{prefix}` is ambiguous")]
    Ambiguous {
        /// The prefix.
        prefix: String,
        /// What it could mean.
        candidates: Vec<String>,
    },
}

impl Guidance for LookupError {
    fn class(&self) -> ErrorClass {
        match self {
            LookupError::Unknown { .. } | LookupError::Ambiguous { .. } => ErrorClass::Refused,
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            LookupError::Unknown { .. } => {
                "check the id; a prefix needs ten characters or more".into()
            }
            LookupError::Ambiguous { .. } => "give more characters of the id".into(),
        }
    }

    fn because(&self) -> Option<String> {
        match self {
            LookupError::Ambiguous { candidates, .. } => {
                Some(agentic_model::guidance::any_of(candidates))
            }
            LookupError::Unknown { .. } => None,
        }
    }
}
