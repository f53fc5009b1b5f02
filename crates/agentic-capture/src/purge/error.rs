//! What keeps a purge from being carried out.

use std::borrow::Cow;

use agentic_model::guidance::{ErrorClass, Guidance};
use agentic_model::object::ObjectError;

/// An error of a purge. None of them says anything of a value.
#[derive(Debug, thiserror::Error)]
pub enum PurgeError {
    /// A verb of the space failed.
    #[error(transparent)]
    Space(#[from] agentic_space::Error),
    /// A session could not be read.
    #[error(transparent)]
    Session(#[from] agentic_session::Error),
    /// Something could not be read or written.
    #[error("cannot {doing} `{path}`")]
    File {
        /// What was tried.
        doing: &'static str,
        /// The file.
        path: String,
        /// Why not.
        source: std::io::Error,
    },
    /// An object would be none any more.
    #[error("an object would be none any more without it: {reason}")]
    Object {
        /// What is wrong with it.
        reason: String,
    },
    /// Something holds it in a form in which it cannot be taken out.
    #[error("{what} holds it in a form in which it cannot be taken out")]
    Stuck {
        /// What holds it.
        what: String,
    },
    /// Objects of this type cannot be purged whole.
    #[error("a `{kind}` object cannot be purged whole")]
    WholeObject {
        /// The type.
        kind: String,
    },
    /// Sessions hold it that are not over.
    #[error("sessions that are not over hold it: {}", sessions.join(", "))]
    Sessions {
        /// The sessions.
        sessions: Vec<String>,
    },
    /// Somebody drives a session that holds it.
    #[error("somebody drives session {session}, which holds it")]
    Driven {
        /// The session.
        session: String,
    },
    /// What stands in the place of something is not here.
    #[error("what stands in the place of `{id}` is not here")]
    NoReplacement {
        /// The id that is gone elsewhere.
        id: String,
    },
    /// The process that stays is at work.
    #[error("`agentic serve` is at work in this repository")]
    Resident,
    /// Others wrote all the time.
    #[error("others are writing: git counts other objects than were read")]
    Busy,
    /// Other agents became concerned all the time.
    #[error("others are writing: each look found other agents concerned")]
    Moving,
}

impl PurgeError {
    /// Makes the error of an object that cannot be made.
    pub(super) fn object(error: impl Into<ObjectError>) -> PurgeError {
        // Its own words may hold a part of what is to go.
        let reason = match error.into() {
            ObjectError::TooLong { .. } => "it is too long".to_owned(),
            ObjectError::Canonical(_)
            | ObjectError::NotAMap { .. }
            | ObjectError::NoType
            | ObjectError::Field { .. } => "it has not the form of one".to_owned(),
        };
        PurgeError::Object { reason }
    }

    /// Makes the error of a file.
    pub(super) fn file(
        doing: &'static str,
        path: &std::path::Path,
    ) -> impl FnOnce(std::io::Error) -> PurgeError {
        let path = path.display().to_string();
        move |source| PurgeError::File { doing, path, source }
    }
}

impl From<agentic_store::Error> for PurgeError {
    fn from(error: agentic_store::Error) -> PurgeError {
        PurgeError::Space(error.into())
    }
}

impl Guidance for PurgeError {
    fn class(&self) -> ErrorClass {
        match self {
            PurgeError::Space(error) => error.class(),
            PurgeError::Session(error) => error.class(),
            PurgeError::Busy
            | PurgeError::Moving
            | PurgeError::Resident
            | PurgeError::Driven { .. } => ErrorClass::Conflict,
            PurgeError::File { .. }
            | PurgeError::Object { .. }
            | PurgeError::Stuck { .. }
            | PurgeError::WholeObject { .. }
            | PurgeError::Sessions { .. }
            | PurgeError::NoReplacement { .. } => ErrorClass::Refused,
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            PurgeError::Space(error) => error.hint(),
            PurgeError::Session(error) => error.hint(),
            PurgeError::File { .. } => "check that it may be read and written, and that there is room".into(),
            PurgeError::Object { .. } | PurgeError::Stuck { .. } => {
                "nothing was changed: purge the whole trace with `--cid`, or the agent's with `--agent A --before DATE`".into()
            }
            PurgeError::WholeObject { .. } => "`--cid` takes traces; purge a value with `--value`".into(),
            PurgeError::Sessions { .. } => {
                "nothing was changed: without an answer a session cannot go on. `--cancel` stops them first".into()
            }
            PurgeError::NoReplacement { .. } => "`agentic fetch` from where it was purged, then again".into(),
            PurgeError::Resident => "stop it, purge, and start it again: its index holds texts too".into(),
            PurgeError::Busy | PurgeError::Moving | PurgeError::Driven { .. } => "wait until agents are at rest, then try again".into(),
        }
    }

    fn because(&self) -> Option<String> {
        match self {
            PurgeError::Space(error) => error.because(),
            PurgeError::Session(error) => error.because(),
            PurgeError::File { source, .. } => Some(source.to_string()),
            PurgeError::Object { .. }
            | PurgeError::Stuck { .. }
            | PurgeError::WholeObject { .. }
            | PurgeError::Sessions { .. }
            | PurgeError::Driven { .. }
            | PurgeError::NoReplacement { .. }
            | PurgeError::Resident
            | PurgeError::Busy
            | PurgeError::Moving => None,
        }
    }
}
