//! What git did not do, or cannot do as it is configured.

use std::borrow::Cow;

use agentic_model::guidance::{ErrorClass, Guidance};

use super::{Blame, JudgedError};

/// What git did not do, or cannot do as it is configured.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The git layer failed.
    #[error("cannot {doing}")]
    Layer {
        /// What was attempted, such as `read the index`.
        doing: String,
        /// What the git layer says.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The `git` program failed.
    #[error("`git {command}` failed: {message}")]
    Program {
        /// Its first arguments.
        command: String,
        /// What it printed on standard error.
        message: String,
    },
    /// A `git` that talked to a remote was stopped.
    #[error("`git {command}` was stopped: {why}")]
    Stopped {
        /// Its first arguments.
        command: String,
        /// Why.
        why: RemoteStop,
    },
    /// A commit could not be signed.
    #[error("cannot sign: {reason}")]
    NotSigned {
        /// What is wrong with the configuration, or what the signing program printed.
        reason: String,
    },
    /// A switch of git's configuration is neither on nor off.
    #[error("`{key}` in git's configuration is neither true nor false")]
    NoSwitch {
        /// The name of the switch.
        key: &'static str,
    },
    /// A number of git's configuration is none.
    #[error("`{key}` in git's configuration is no number of seconds")]
    NoSeconds {
        /// The name of the setting.
        key: &'static str,
    },
    /// Git does not know who is committing.
    #[error("git does not know who you are")]
    NoIdentity,
}

/// Why a program that talked to a remote was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RemoteStop {
    /// It waited for a remote that was silent.
    #[error("the remote was silent for {seconds} s")]
    Silent {
        /// How long.
        seconds: u64,
    },
    /// It took too long.
    #[error("the remote was not done within {seconds} s")]
    Long {
        /// How long.
        seconds: u64,
    },
    /// It was told too much.
    #[error("the remote answers with more than {bytes_max} bytes")]
    Much {
        /// How much is read.
        bytes_max: u64,
    },
}

impl RemoteStop {
    /// Says what to do next.
    pub fn hint(self) -> &'static str {
        match self {
            RemoteStop::Silent { .. } => {
                "try again, or another remote; `git config agentic.remoteSilence SECONDS` waits longer"
            }
            RemoteStop::Long { .. } => {
                "try again, or another remote; `git config agentic.remoteTime SECONDS` waits longer"
            }
            RemoteStop::Much { .. } => {
                "whoever runs the remote can remove refs there; or use another one"
            }
        }
    }
}

impl JudgedError for GitError {
    fn judge(&self) -> (ErrorClass, Blame) {
        match self {
            GitError::Layer { .. }
            | GitError::Program { .. }
            | GitError::Stopped { .. }
            | GitError::NotSigned { .. }
            | GitError::NoSwitch { .. }
            | GitError::NoSeconds { .. }
            | GitError::NoIdentity => (ErrorClass::Refused, Blame::Machine),
        }
    }
}

impl Guidance for GitError {
    fn class(&self) -> ErrorClass {
        self.judge().0
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            GitError::Layer { .. } => {
            "`agentic doctor` mends what a journal has, and tells what else is not sound".into()
        }
            GitError::Program { .. } => {
            "this is what git said; run the same command by hand to see more".into()
        }
            GitError::Stopped { why, .. } => why.hint().into(),
            GitError::NotSigned { .. } => "look at `gpg.format` and `user.signingKey` in git's configuration; without `agentic.sign` nothing is signed".into(),
            GitError::NoSwitch { .. } => "say `git config NAME true` or `false`".into(),
            GitError::NoSeconds { .. } => "say `git config NAME SECONDS`; 0 is no limit".into(),
            GitError::NoIdentity => "run `git config --global user.name \"Your Name\"` and `git config --global user.email you@example.com`".into(),
        }
    }
}
