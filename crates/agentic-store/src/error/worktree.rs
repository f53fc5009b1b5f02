//! What keeps a worktree from following its branch, or from being committed.

use std::borrow::Cow;
use std::path::PathBuf;

use agentic_model::guidance::{ErrorClass, Guidance};

use super::{Blame, JudgedError};

/// What keeps a worktree from following its branch, or from being committed.
#[derive(Debug, thiserror::Error)]
pub enum CheckoutError {
    /// A program that git runs while a worktree is brought along asks for that very worktree.
    #[error("`{}` is being brought along by the program that started this one", path.display())]
    Held {
        /// The top folder of the worktree.
        path: PathBuf,
    },
    /// A worktree could not follow its branch after a crash.
    #[error("`{}` could not follow its branch: {why}", path.display())]
    LeftBehind {
        /// The top folder of the worktree.
        path: PathBuf,
        /// What stood in the way.
        why: String,
    },
    /// The index holds an unfinished merge.
    #[error("`{path}` is in an unfinished merge")]
    Unmerged {
        /// The first such path.
        path: String,
    },
    /// Git is in the middle of something in the worktree that a commit of its own concludes.
    #[error("a {what} is under way in `{}`", path.display())]
    UnderWay {
        /// What git calls it, such as `cherry-pick`.
        what: &'static str,
        /// The worktree.
        path: PathBuf,
    },
    /// A path may not be written into a tree.
    #[error("the path `{path}` cannot be committed: {reason}")]
    UnsafePath {
        /// The path as it was given.
        path: String,
        /// Which rule it breaks.
        reason: &'static str,
    },
    /// A file changed while it was read.
    #[error("`{path}` changed while it was read")]
    Unstable {
        /// The file.
        path: String,
    },
}

impl JudgedError for CheckoutError {
    fn judge(&self) -> (ErrorClass, Blame) {
        match self {
            CheckoutError::Held { .. } | CheckoutError::UnsafePath { .. } => {
                (ErrorClass::Refused, Blame::Asker)
            }
            CheckoutError::LeftBehind { .. } | CheckoutError::Unstable { .. } => {
                (ErrorClass::Conflict, Blame::Machine)
            }
            CheckoutError::Unmerged { .. } | CheckoutError::UnderWay { .. } => {
                (ErrorClass::Conflict, Blame::Asker)
            }
        }
    }
}

impl Guidance for CheckoutError {
    fn class(&self) -> ErrorClass {
        self.judge().0
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            CheckoutError::Held { .. } => "a filter or hook cannot move the branch whose files it is run for; let it use another agent".into(),
            CheckoutError::LeftBehind { .. } => "mend what stands in the way; then `agentic worktree sync`, or `git restore .` where no agent works".into(),
            CheckoutError::Unmerged { .. } => {
            "finish the merge with git, or give it up with `git merge --abort`".into()
        }
            CheckoutError::UnderWay { what, .. } => {
            format!("conclude it with git, or give it up with `git {what} --abort`").into()
        }
            CheckoutError::UnsafePath { .. } => {
            "use a path inside the repository, relative to its top folder".into()
        }
            CheckoutError::Unstable { .. } => "try again when nothing writes to the file".into(),
        }
    }
}
