//! What can go wrong with a verb, by noun.

mod agent;
mod branch;
mod commit;
mod kind;
mod library;
mod lookup;
mod relation;
mod remote;
mod worktree;

use std::borrow::Cow;
use std::sync::Arc;

use agentic_model::commit::MessageError;
use agentic_model::guidance::{ErrorClass, Guidance};
use agentic_model::object::ObjectError;

pub use self::agent::AgentError;
pub use self::branch::BranchError;
pub use self::commit::{CommitError, left_out_words};
pub use self::kind::KindError;
pub use self::library::{LibraryError, contest_hint};
pub use self::lookup::LookupError;
pub use self::relation::RelationError;
pub use self::remote::RemoteError;
pub use self::worktree::WorktreeError;

/// An error of a verb. A variant exists where a caller can do something different about it.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub enum Error {
    /// The store failed.
    Store(#[from] agentic_store::Error),
    /// The value is not an object.
    Object(#[from] ObjectError),
    /// The message cannot be that of an agent-commit.
    Message(#[from] MessageError),
    /// A write is decided, and something keeps it from being visible yet.
    Deferred(#[from] DeferredWrite),
    /// An agent.
    Agent(#[from] AgentError),
    /// A branch.
    Branch(#[from] BranchError),
    /// A kind.
    Kind(#[from] KindError),
    /// A commit or its trace.
    Commit(#[from] CommitError),
    /// A worktree.
    Worktree(#[from] WorktreeError),
    /// An object.
    Lookup(#[from] LookupError),
    /// A relation.
    Relation(#[from] RelationError),
    /// Another repository.
    Remote(#[from] RemoteError),
    /// A library.
    Library(#[from] LibraryError),
}

/// A write that is decided, and that the next command makes visible.
#[derive(Debug, thiserror::Error)]
#[error("the write is durable but not visible yet")]
pub struct DeferredWrite {
    /// What stands in the way.
    #[source]
    pub why: Arc<agentic_store::Error>,
}

impl Guidance for DeferredWrite {
    fn class(&self) -> ErrorClass {
        ErrorClass::Refused
    }

    fn hint(&self) -> Cow<'static, str> {
        "the next command finishes it".into()
    }
}

/// The result of a verb.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Tells whether the fault is the store's or the machine's: nobody who asked for something can
    /// help it, and asking again later may go better.
    pub fn is_fault(&self) -> bool {
        match self {
            Error::Store(error) => error.is_fault(),
            Error::Deferred(_) => true,
            Error::Object(_)
            | Error::Message(_)
            | Error::Agent(_)
            | Error::Branch(_)
            | Error::Kind(_)
            | Error::Commit(_)
            | Error::Worktree(_)
            | Error::Lookup(_)
            | Error::Relation(_)
            | Error::Remote(_)
            | Error::Library(_) => false,
        }
    }

    fn noun(&self) -> &dyn Guidance {
        match self {
            Error::Store(error) => error,
            Error::Object(error) => error,
            Error::Message(error) => error,
            Error::Deferred(error) => error,
            Error::Agent(error) => error,
            Error::Branch(error) => error,
            Error::Kind(error) => error,
            Error::Commit(error) => error,
            Error::Worktree(error) => error,
            Error::Lookup(error) => error,
            Error::Relation(error) => error,
            Error::Remote(error) => error,
            Error::Library(error) => error,
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

    fn because(&self) -> Option<String> {
        self.noun().because()
    }
}

#[cfg(test)]
mod tests;
