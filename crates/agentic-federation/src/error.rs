//! What can go wrong, with its class and what to do next.

use std::borrow::Cow;

use agentic_model::guidance::{ErrorClass, Guidance};

use crate::fields::MalformedInput;

/// An error of federation.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The repository failed.
    #[error(transparent)]
    Store(#[from] agentic_store::Error),
    /// A verb of the space failed.
    #[error(transparent)]
    Space(#[from] agentic_space::Error),
    /// The space or its sessions failed.
    #[error(transparent)]
    Session(#[from] agentic_session::Error),
    /// What came from elsewhere is nothing.
    #[error(transparent)]
    Malformed(#[from] MalformedInput),
    /// A verb is refused.
    #[error("{}", .0.message)]
    Refused(Box<FederationRefusal>),
}

/// The result of anything here.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a verb is refused, and what to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FederationRefusal {
    /// What kind it is, which decides the exit code.
    pub class: ErrorClass,
    /// What happened.
    pub message: String,
    /// What to do next.
    pub hint: String,
}

impl Error {
    fn refusal(class: ErrorClass, message: impl Into<String>, hint: impl Into<String>) -> Error {
        let (message, hint) = (message.into(), hint.into());
        Error::Refused(Box::new(FederationRefusal { class, message, hint }))
    }

    /// Refuses what cannot be done.
    pub fn refused(message: impl Into<String>, hint: impl Into<String>) -> Error {
        Error::refusal(ErrorClass::Refused, message, hint)
    }

    /// Refuses what something else stands against.
    pub fn conflict(message: impl Into<String>, hint: impl Into<String>) -> Error {
        Error::refusal(ErrorClass::Conflict, message, hint)
    }

    /// Refuses what may not be done.
    pub fn not_allowed(message: impl Into<String>, hint: impl Into<String>) -> Error {
        Error::refusal(ErrorClass::NotAllowed, message, hint)
    }

    /// Refuses wrong usage.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Error {
        Error::refusal(ErrorClass::Usage, message, hint)
    }

    /// Refuses to go on from what may be old.
    pub fn overdue(message: impl Into<String>) -> Error {
        let hint = "fetch from another remote, or set `agentic.requireFresh` to `false`";
        Error::refusal(ErrorClass::Expired, message, hint)
    }

    /// Says that a record of ours is damaged.
    pub fn damaged(message: impl Into<String>) -> Error {
        let hint = "`agentic doctor` looks for what else is damaged; \
                    fetch again what came from elsewhere";
        Error::refusal(ErrorClass::Corrupt, message, hint)
    }
}

impl Guidance for Error {
    fn class(&self) -> ErrorClass {
        match self {
            Error::Store(error) => error.class(),
            Error::Space(error) => error.class(),
            Error::Session(error) => error.class(),
            Error::Malformed(_) => ErrorClass::Refused,
            Error::Refused(refusal) => refusal.class,
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            Error::Store(error) => error.hint(),
            Error::Space(error) => error.hint(),
            Error::Session(error) => error.hint(),
            Error::Malformed(_) => "ask whoever made it to make it again".into(),
            Error::Refused(refusal) => refusal.hint.clone().into(),
        }
    }

    fn because(&self) -> Option<String> {
        match self {
            Error::Store(error) => error.because(),
            Error::Space(error) => error.because(),
            Error::Session(error) => error.because(),
            Error::Malformed(_) | Error::Refused(_) => None,
        }
    }
}
