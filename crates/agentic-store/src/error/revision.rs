//! Why a revision names no commit.

use std::borrow::Cow;

use agentic_model::guidance::{ErrorClass, Guidance};

use super::{Blame, JudgedError};

/// Why a revision names no commit.
#[derive(Debug, thiserror::Error)]
pub enum RevisionError {
    /// No commit answers to the revision.
    #[error("`{revision}` names no commit here")]
    Unknown {
        /// The revision as it was given.
        revision: String,
    },
    /// A prefix names several things.
    #[error("`{prefix}` is ambiguous")]
    Ambiguous {
        /// The prefix as it was given.
        prefix: String,
        /// Some of what it could mean.
        candidates: Vec<String>,
    },
}

impl JudgedError for RevisionError {
    fn judge(&self) -> (ErrorClass, Blame) {
        match self {
            RevisionError::Unknown { .. } | RevisionError::Ambiguous { .. } => {
                (ErrorClass::Refused, Blame::Asker)
            }
        }
    }
}

impl Guidance for RevisionError {
    fn class(&self) -> ErrorClass {
        self.judge().0
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            RevisionError::Unknown { .. } => {
                "`agentic log AGENT` lists commits; git's own names for revisions work too".into()
            }
            RevisionError::Ambiguous { .. } => "give more characters of the id".into(),
        }
    }
}
