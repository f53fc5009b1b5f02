//! What keeps something from being exchanged with another repository.

use std::borrow::Cow;
use std::path::PathBuf;

use agentic_model::AgentName;
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
    /// Another clone has purged something that an agent's notes still have here.
    #[error("the notes of `{agent}` have what was purged elsewhere, as tombstone {tombstone} says")]
    Tombstone {
        /// The agent.
        agent: AgentName,
        /// The tombstone.
        tombstone: String,
    },
    /// What was fetched has something that was purged here, and that could not be taken out.
    #[error(
        "what was fetched has something in `{name}` that was purged here, and it cannot be taken out"
    )]
    Purged {
        /// Where.
        name: String,
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
            RemoteError::Tombstone { .. } => ErrorClass::Conflict,
            RemoteError::Unknown { .. }
            | RemoteError::Purged { .. }
            | RemoteError::NotEmpty { .. } => ErrorClass::Refused,
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            RemoteError::PushRefused { why, .. } => why.hint().into(),
            RemoteError::Unknown { .. } => "`git remote -v` lists the remotes".into(),
            RemoteError::Tombstone { tombstone, .. } => {
                format!("take it over with `agentic purge --follow {tombstone} --apply`, or set it aside with `agentic purge ignore {tombstone}`").into()
            }
            RemoteError::Purged { .. } => {
                "nothing was united; purge there, or fetch again once the agent is here".into()
            }
            RemoteError::NotEmpty { .. } => "name a folder that is empty or does not exist".into(),
        }
    }

    fn because(&self) -> Option<String> {
        match self {
            RemoteError::PushRefused { message, .. } => Some(message.trim().to_owned()),
            RemoteError::Unknown { .. }
            | RemoteError::Tombstone { .. }
            | RemoteError::Purged { .. }
            | RemoteError::NotEmpty { .. } => None,
        }
    }
}
