//! What can go wrong before anything is asked of a provider.

use std::borrow::Cow;
use std::path::PathBuf;

use agentic_model::guidance::{ErrorClass, Guidance};

/// An error of the configuration.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot read `{}`", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not what it should be.
    #[error("`{}` is wrong at line {line}: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        reason: String,
    },
    /// An entry of the file cannot be used.
    #[error("`{}` is wrong about `{entry}`: {reason}", path.display())]
    BadEntry {
        /// The file.
        path: PathBuf,
        /// The entry, such as `models.fast`.
        entry: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl Guidance for Error {
    fn class(&self) -> ErrorClass {
        ErrorClass::Refused
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            Error::Unreadable { .. } => "check that the file may be read".into(),
            Error::Malformed { .. } | Error::BadEntry { .. } => {
                "docs/providers.md shows what the file may hold".into()
            }
        }
    }
}
