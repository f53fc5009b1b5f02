//! Why a process cannot stay.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use agentic_model::guidance::{ErrorClass, Guidance};

/// What a step gives.
pub type Result<T> = std::result::Result<T, ResidentError>;

/// Why a process cannot stay with a repository.
#[derive(Debug, thiserror::Error)]
pub enum ResidentError {
    /// Another one is there already.
    #[error("process {pid} serves this repository already{}", at(.url.as_deref()))]
    Taken {
        /// Its number.
        pid: i32,
        /// Its address.
        url: Option<String>,
    },
    /// Another one is there, and has not said yet who it is.
    #[error("another process serves this repository already")]
    TakenByUnknown,
    /// A file cannot be had.
    #[error("cannot {attempt} `{}`", path.display())]
    File {
        /// What was attempted.
        attempt: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A thread, a socket or another thing of the system cannot be had.
    #[error("cannot {attempt}")]
    System {
        /// What was attempted.
        attempt: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The journals' folder refuses.
    #[error(transparent)]
    Store(#[from] agentic_store::Error),
    /// The repository was deleted, moved or made anew, or the lock of this process was.
    #[error("the repository, or its lock, is not the one any more with which this process began")]
    Replaced,
}

fn at(url: Option<&str>) -> String {
    url.map(|url| format!(", at {url}")).unwrap_or_default()
}

impl ResidentError {
    /// Makes the error of a file, for `map_err`.
    pub(crate) fn file(
        attempt: &'static str,
        path: &Path,
    ) -> impl FnOnce(std::io::Error) -> ResidentError {
        let path = path.to_owned();
        move |source| ResidentError::File { attempt, path, source }
    }

    /// Makes the error of something that the system refuses, for `map_err`.
    pub fn system(attempt: &str) -> impl FnOnce(std::io::Error) -> ResidentError {
        let attempt = attempt.to_owned();
        move |source| ResidentError::System { attempt, source }
    }
}

impl Guidance for ResidentError {
    fn class(&self) -> ErrorClass {
        match self {
            ResidentError::Taken { .. }
            | ResidentError::TakenByUnknown
            | ResidentError::File { .. }
            | ResidentError::System { .. }
            | ResidentError::Replaced => ErrorClass::Refused,
            ResidentError::Store(error) => error.class(),
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            ResidentError::Taken { .. } => {
                "`agentic serve open` opens it, `agentic serve stop` ends it".into()
            }
            ResidentError::TakenByUnknown => {
                "it may be starting or ending: `agentic serve status` says more".into()
            }
            ResidentError::File { .. } => {
                "check that `agentic/serve` in the git directory is yours and may be written".into()
            }
            ResidentError::System { .. } => "check what the system allows this user".into(),
            ResidentError::Store(error) => error.hint(),
            ResidentError::Replaced => "start it anew where the repository is now".into(),
        }
    }
}
