//! What can go wrong with a session, a hold or a decision, by noun.

mod decision;
mod program;
mod request;
mod session;

use std::borrow::Cow;

use agentic_model::guidance::{ErrorClass, Guidance};
use agentic_model::object::ObjectError;

pub use self::decision::DecisionError;
pub use self::program::ProgramError;
pub use self::request::RequestError;
pub use self::session::SessionError;

/// An error of a verb. A variant exists where a caller can do something different about it.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub enum Error {
    /// A verb of the space failed.
    Space(#[from] agentic_space::Error),
    /// A session.
    Session(#[from] SessionError),
    /// A program.
    Program(#[from] ProgramError),
    /// A request.
    Request(#[from] RequestError),
    /// A decision.
    Decision(#[from] DecisionError),
}

impl From<agentic_store::Error> for Error {
    fn from(error: agentic_store::Error) -> Error {
        Error::Space(error.into())
    }
}

impl From<ObjectError> for Error {
    fn from(error: ObjectError) -> Error {
        Error::Space(error.into())
    }
}

/// What a verb of sessions returns.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Tells whether it is a fault of ours or of the machine, not an answer to the caller.
    pub fn is_fault(&self) -> bool {
        match self {
            Error::Space(error) => error.is_fault(),
            Error::Session(error) => matches!(error, SessionError::Diverged { .. }),
            Error::Program(_) | Error::Request(_) | Error::Decision(_) => false,
        }
    }

    fn noun(&self) -> &dyn Guidance {
        match self {
            Error::Space(error) => error,
            Error::Session(error) => error,
            Error::Program(error) => error,
            Error::Request(error) => error,
            Error::Decision(error) => error,
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
