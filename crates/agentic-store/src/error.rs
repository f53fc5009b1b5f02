//! What can go wrong in the store, by noun.

mod file;
mod git;
mod reference;
mod repository;
mod revision;
mod worktree;

use std::borrow::Cow;
use std::path::Path;

use agentic_model::guidance::{ErrorClass, Guidance};

pub use self::file::{DamageError, FileError, InjectedError};
pub use self::git::{GitError, RemoteStop};
pub use self::reference::RefError;
pub use self::repository::RepositoryError;
pub use self::revision::RevisionError;
pub use self::worktree::CheckoutError;

/// An error of the store. A variant exists where a caller can do something different about it.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub enum Error {
    /// A file or folder could not be used.
    File(#[from] FileError),
    /// Something stored is damaged.
    Damage(#[from] DamageError),
    /// The repository cannot be used.
    Repository(#[from] RepositoryError),
    /// Git did not do something.
    Git(#[from] GitError),
    /// A ref.
    Ref(#[from] RefError),
    /// A worktree.
    Checkout(#[from] CheckoutError),
    /// A revision.
    Revision(#[from] RevisionError),
    /// A step was made to fail by a test.
    Injected(#[from] InjectedError),
}

/// The result of a store operation.
pub type Result<T> = std::result::Result<T, Error>;

/// Who is to blame for an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blame {
    /// The store or the machine.
    Machine,
    /// What was asked of them.
    Asker,
}

/// An error that says of itself, in one list, its class and who is to blame.
pub(crate) trait JudgedError: Guidance {
    /// Returns both.
    fn judge(&self) -> (ErrorClass, Blame);
}

impl Error {
    /// Tells whether something cannot be read that git should have.
    pub(crate) fn is_damage(&self) -> bool {
        matches!(self, Error::Git(GitError::Layer { .. }) | Error::Damage(_))
    }

    /// Makes the error of a failed file operation.
    pub fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::File(FileError { doing, path, source })
    }

    /// Makes the error of a failed git operation.
    pub fn git<E>(doing: impl Into<String>) -> impl FnOnce(E) -> Error
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let doing = doing.into();
        move |source| Error::Git(GitError::Layer { doing, source: source.into() })
    }

    /// Does the same where what was attempted takes longer to say than to do.
    pub fn git_with<E>(doing: impl FnOnce() -> String) -> impl FnOnce(E) -> Error
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        move |source| Error::Git(GitError::Layer { doing: doing(), source: source.into() })
    }

    /// Makes the error of something damaged.
    pub fn corrupt(what: impl Into<String>, reason: impl ToString) -> Error {
        Error::Damage(DamageError { what: what.into(), reason: reason.to_string() })
    }

    /// Tells whether nothing can be written here.
    pub fn is_read_only(&self) -> bool {
        matches!(self, Error::File(error) if error.is_read_only())
    }

    /// Tells whether the store or the machine is at fault, and not what was asked of them.
    pub fn is_fault(&self) -> bool {
        self.noun().judge().1 == Blame::Machine
    }

    fn noun(&self) -> &dyn JudgedError {
        match self {
            Error::File(error) => error,
            Error::Damage(error) => error,
            Error::Repository(error) => error,
            Error::Git(error) => error,
            Error::Ref(error) => error,
            Error::Checkout(error) => error,
            Error::Revision(error) => error,
            Error::Injected(error) => error,
        }
    }
}

impl Guidance for Error {
    fn class(&self) -> ErrorClass {
        self.noun().class()
    }

    fn hint(&self) -> Cow<'static, str> {
        self.noun().hint()
    }
}
