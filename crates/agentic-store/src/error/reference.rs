//! What keeps a ref from being made or moved.

use std::borrow::Cow;
use std::path::PathBuf;

use agentic_model::guidance::{ErrorClass, Guidance};

use super::{Blame, JudgedError};
use crate::ground::Occupation;

/// What keeps a ref from being made or moved.
#[derive(Debug, thiserror::Error)]
pub enum RefError {
    /// Another program holds git's lock on a ref.
    #[error("another program holds the lock of `{name}`")]
    Locked {
        /// The ref.
        name: String,
    },
    /// Git is in the middle of something after which it moves the branch by itself.
    #[error("a {} of `{branch}` is under way in `{}`", occupation.command(), path.display())]
    Occupied {
        /// The full name of the branch.
        branch: String,
        /// What git is in the middle of.
        occupation: Occupation,
        /// Where.
        path: PathBuf,
    },
    /// A ref of this name would need a folder where another ref is, or the other way round.
    #[error("the ref `{name}` cannot be made: `{other}` is in its way")]
    InTheWay {
        /// The ref.
        name: String,
        /// What is in its way.
        other: String,
    },
    /// A ref stands for another one, whose moves are not its own.
    #[error("the ref `{name}` is symbolic: it stands for another")]
    Symbolic {
        /// The ref.
        name: String,
    },
}

impl JudgedError for RefError {
    fn judge(&self) -> (ErrorClass, Blame) {
        match self {
            RefError::Locked { .. } => (ErrorClass::Refused, Blame::Machine),
            RefError::Occupied { .. } => (ErrorClass::Conflict, Blame::Machine),
            RefError::InTheWay { .. } | RefError::Symbolic { .. } => {
                (ErrorClass::Conflict, Blame::Asker)
            }
        }
    }
}

impl Guidance for RefError {
    fn class(&self) -> ErrorClass {
        self.judge().0
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            RefError::Locked { .. } => "wait until the other program is done; if none is running, `agentic doctor --break-locks`".into(),
            RefError::Occupied { occupation, .. } => {
            let give_up = match occupation {
                Occupation::Rebase => "git rebase --continue` or `git rebase --abort",
                Occupation::Bisection => "git bisect reset",
            };
            format!("conclude it there with `{give_up}`, then try again").into()
        }
            RefError::InTheWay { .. } => "take another name, or rename what is in the way with `git branch -m OLD NEW` or `git update-ref`".into(),
            RefError::Symbolic { .. } => "`git symbolic-ref --delete REF` removes it; an agent has a branch of its own".into(),
        }
    }
}
