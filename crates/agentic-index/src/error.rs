//! Why an index cannot be used. None of it is a reason for anything else to fail.

use std::path::PathBuf;

/// What a step gives.
pub type Result<T> = std::result::Result<T, IndexError>;

/// Why an index cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// Another process has it.
    #[error("another process has the index `{}`", path.display())]
    Held {
        /// Its folder.
        path: PathBuf,
    },
    /// The database refuses, or says that it is damaged.
    #[error("cannot {attempt} the index: {reason}")]
    Storage {
        /// What was attempted.
        attempt: &'static str,
        /// What the database said.
        reason: String,
    },
    /// What stands there was not written so.
    #[error("the index is damaged: {what}")]
    Damaged {
        /// What is wrong.
        what: String,
    },
    /// It is of another repository, or of another version.
    #[error("the index is not of this repository and version")]
    Foreign,
}

impl IndexError {
    pub(crate) fn damaged(what: impl Into<String>) -> IndexError {
        IndexError::Damaged { what: what.into() }
    }
}
