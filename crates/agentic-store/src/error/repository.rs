//! What keeps a repository from being used.

use std::borrow::Cow;
use std::path::PathBuf;

use agentic_model::guidance::{ErrorClass, Guidance};

use super::{Blame, JudgedError};

/// What keeps a repository from being used.
#[derive(Debug, thiserror::Error)]
pub enum RepositoryError {
    /// No git repository was found.
    #[error("`{}` is not inside a git repository", directory.display())]
    NotFound {
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
}

impl JudgedError for RepositoryError {
    fn judge(&self) -> (ErrorClass, Blame) {
        match self {
            RepositoryError::NotFound { .. }
            | RepositoryError::RefStorage { .. }
            | RepositoryError::PartialClone => (ErrorClass::Refused, Blame::Machine),
        }
    }
}

impl Guidance for RepositoryError {
    fn class(&self) -> ErrorClass {
        self.judge().0
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            RepositoryError::NotFound { .. } => "run this inside a git repository, name one with `-C DIR`, or make one with `git init`".into(),
            RepositoryError::RefStorage { .. } => {
            "convert it with `git refs migrate --ref-format=files`".into()
        }
            RepositoryError::PartialClone => "`git fetch --refetch --no-filter REMOTE`; once `git rev-list --objects --all --missing=print` has no line \
             with `?`, take `remote.REMOTE.promisor`, `remote.REMOTE.partialclonefilter` and `extensions.partialClone` \
             out with `git config --unset`; or clone without `--filter`".into(),
        }
    }
}
