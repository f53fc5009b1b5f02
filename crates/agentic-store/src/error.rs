//! What can go wrong in the store.

mod guidance;

use std::path::{Path, PathBuf};

use crate::git::Occupation;

/// An error of the store. A variant exists where a caller can do something different about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No git repository was found.
    #[error("`{}` is not inside a git repository", directory.display())]
    NotARepository {
        /// Where the search began.
        directory: PathBuf,
    },
    /// The repository keeps its refs in a way that cannot be read safely.
    #[error("the repository keeps its refs as `{format}`, which is not supported")]
    RefStorage {
        /// The value of `extensions.refStorage`.
        format: String,
    },
    /// The repository lacks objects on purpose.
    #[error("the repository is a partial clone, which lacks objects on purpose")]
    PartialClone,
    /// Something outside git failed.
    #[error("cannot {doing} `{}`", path.display())]
    Io {
        /// What was attempted, such as `read`.
        doing: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The git layer failed.
    #[error("cannot {doing}")]
    Git {
        /// What was attempted, such as `read the index`.
        doing: String,
        /// What the git layer says.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The `git` program failed.
    #[error("`git {command}` failed: {message}")]
    GitProgram {
        /// Its first arguments.
        command: String,
        /// What it printed on standard error.
        message: String,
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
    /// A journal, an object or a ref is damaged.
    #[error("{what} is damaged: {reason}")]
    Corrupt {
        /// What is damaged.
        what: String,
        /// How.
        reason: String,
    },
    /// Another program holds git's lock on a ref.
    #[error("another program holds the lock of `{name}`")]
    RefLocked {
        /// The ref.
        name: String,
    },
    /// A program that git runs while a worktree is brought along asks for that very worktree.
    #[error("`{}` is being brought along by the program that started this one", path.display())]
    WorktreeHeld {
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
    /// No commit answers to the revision.
    #[error("`{revision}` names no commit here")]
    UnknownRevision {
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
    /// Git is in the middle of something after which it moves the branch by itself.
    #[error("a {} of `{branch}` is under way in `{}`", occupation.command(), path.display())]
    BranchOccupied {
        /// The full name of the branch.
        branch: String,
        /// What git is in the middle of.
        occupation: Occupation,
        /// Where.
        path: PathBuf,
    },
    /// A ref of this name would need a folder where another ref is, or the other way round.
    #[error("the ref `{name}` cannot be made: `{other}` is in its way")]
    RefInTheWay {
        /// The ref.
        name: String,
        /// What is in its way.
        other: String,
    },
    /// A ref stands for another one, whose moves are not its own.
    #[error("the ref `{name}` is symbolic: it stands for another")]
    SymbolicRef {
        /// The ref.
        name: String,
    },
    /// Git does not know who is committing.
    #[error("git does not know who you are")]
    NoIdentity,
    /// A step was made to fail by a test.
    #[error("made to fail at `{point}`")]
    Injected {
        /// The name of the point.
        point: &'static str,
    },
}

/// The result of a store operation.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Tells whether something cannot be read that git should have.
    pub(crate) fn is_damage(&self) -> bool {
        matches!(self, Error::Git { .. } | Error::Corrupt { .. })
    }

    /// Makes the error of a failed file operation.
    pub fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::Io { doing, path, source }
    }

    /// Makes the error of a failed git operation.
    pub fn git<E>(doing: impl Into<String>) -> impl FnOnce(E) -> Error
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let doing = doing.into();
        move |source| Error::Git { doing, source: source.into() }
    }

    /// Does the same where what was attempted takes longer to say than to do.
    pub fn git_with<E>(doing: impl FnOnce() -> String) -> impl FnOnce(E) -> Error
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        move |source| Error::Git { doing: doing(), source: source.into() }
    }

    /// Tells whether nothing can be written here.
    pub fn is_read_only(&self) -> bool {
        use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
        let Error::Io { source, .. } = self else { return false };
        matches!(source.kind(), PermissionDenied | ReadOnlyFilesystem)
    }

    /// Tells whether the store or the machine is at fault, and not what was asked of them.
    pub fn is_fault(&self) -> bool {
        match self {
            Error::NotARepository { .. }
            | Error::RefStorage { .. }
            | Error::PartialClone
            | Error::Io { .. }
            | Error::Git { .. }
            | Error::GitProgram { .. }
            | Error::NotSigned { .. }
            | Error::NoSwitch { .. }
            | Error::Corrupt { .. }
            | Error::RefLocked { .. }
            | Error::LeftBehind { .. }
            | Error::BranchOccupied { .. }
            | Error::Unstable { .. }
            | Error::NoIdentity
            | Error::Injected { .. } => true,
            Error::UnknownRevision { .. }
            | Error::WorktreeHeld { .. }
            | Error::Ambiguous { .. }
            | Error::UnsafePath { .. }
            | Error::Unmerged { .. }
            | Error::UnderWay { .. }
            | Error::RefInTheWay { .. }
            | Error::SymbolicRef { .. } => false,
        }
    }

    /// Makes the error of something damaged.
    pub fn corrupt(what: impl Into<String>, reason: impl ToString) -> Error {
        Error::Corrupt { what: what.into(), reason: reason.to_string() }
    }
}
