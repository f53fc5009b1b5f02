//! What a file or folder could not be used for, and what is damaged in one.

use std::borrow::Cow;
use std::io::ErrorKind;
use std::path::PathBuf;

use agentic_model::guidance::{ErrorClass, Guidance};

use super::{Blame, JudgedError};

/// The system refused to do something with a file or folder.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} `{}`", path.display())]
pub struct FileError {
    /// What was attempted, such as `read`.
    pub doing: &'static str,
    /// On which file or folder.
    pub path: PathBuf,
    /// What the system says.
    pub source: std::io::Error,
}

impl JudgedError for FileError {
    fn judge(&self) -> (ErrorClass, Blame) {
        (ErrorClass::Refused, Blame::Machine)
    }
}

impl Guidance for FileError {
    fn class(&self) -> ErrorClass {
        self.judge().0
    }

    fn hint(&self) -> Cow<'static, str> {
        let kind = self.source.kind();
        if self.doing.starts_with("run ") && kind == ErrorKind::NotFound {
            return "install git, or name its folder in `PATH`, for what the `git` program does"
                .into();
        }
        if matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded) {
            return "the disk is full: make room, then repeat the command; what is recorded already is not done twice".into();
        }
        if kind == ErrorKind::FileTooLarge {
            return "raise the limit on the size of files, then repeat the command; what is recorded already is not done twice".into();
        }
        if self.is_read_only() {
            return "the repository cannot be written by you; check its permissions".into();
        }
        "check the path and its permissions".into()
    }
}

impl FileError {
    /// Tells whether nothing can be written here.
    pub fn is_read_only(&self) -> bool {
        matches!(self.source.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
    }

    /// Tells whether it was not there.
    pub fn is_missing(&self) -> bool {
        self.source.kind() == ErrorKind::NotFound
    }
}

/// A journal, an object, a ref or a note is damaged.
#[derive(Debug, thiserror::Error)]
#[error("{what} is damaged: {reason}")]
pub struct DamageError {
    /// What is damaged.
    pub what: String,
    /// How.
    pub reason: String,
}

impl JudgedError for DamageError {
    fn judge(&self) -> (ErrorClass, Blame) {
        (ErrorClass::Corrupt, Blame::Machine)
    }
}

impl Guidance for DamageError {
    fn class(&self) -> ErrorClass {
        self.judge().0
    }

    fn hint(&self) -> Cow<'static, str> {
        "run `agentic doctor`, then `agentic doctor --replay`; restore from a clone or backup what they cannot mend".into()
    }
}

/// A step was made to fail by a test.
#[derive(Debug, thiserror::Error)]
#[error("made to fail at `{point}`")]
pub struct InjectedError {
    /// The name of the point.
    pub point: &'static str,
}

impl JudgedError for InjectedError {
    fn judge(&self) -> (ErrorClass, Blame) {
        (ErrorClass::Refused, Blame::Machine)
    }
}

impl Guidance for InjectedError {
    fn class(&self) -> ErrorClass {
        self.judge().0
    }

    fn hint(&self) -> Cow<'static, str> {
        "this is a test; the next command finishes or undoes the write".into()
    }
}
