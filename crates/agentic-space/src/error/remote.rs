//! What keeps something from being exchanged with another repository.

use std::borrow::Cow;
use std::path::PathBuf;

use agentic_model::guidance::{ErrorClass, Guidance};

use crate::sync::PushRefusal;

/// What keeps something from being exchanged with another repository.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// The remote did not take a push.
    #[error("the remote `{remote}` refused the push: {why}")]
    PushRefused {
        /// The remote.
        remote: String,
        /// Why, as far as git tells.
        why: PushRefusal,
        /// What git said.
        message: String,
    },
    /// There is no such remote, or none at all.
    #[error("there is no remote `{remote}`")]
    Unknown {
        /// The remote.
        remote: String,
    },
    /// A folder that must be empty is not.
    #[error("`{}` is not an empty folder", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
}

impl Guidance for RemoteError {
    fn class(&self) -> ErrorClass {
        match self {
            RemoteError::PushRefused { why, .. } => why.class(),
            RemoteError::Unknown { .. } | RemoteError::NotEmpty { .. } => ErrorClass::Refused,
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            RemoteError::PushRefused { why, .. } => why.hint().into(),
            RemoteError::Unknown { .. } => "`git remote -v` lists the remotes".into(),
            RemoteError::NotEmpty { .. } => "name a folder that is empty or does not exist".into(),
        }
    }

    fn because(&self) -> Option<String> {
        match self {
            RemoteError::PushRefused { message, .. } => Some(message.trim().to_owned()),
            RemoteError::Unknown { .. } | RemoteError::NotEmpty { .. } => None,
        }
    }
}
