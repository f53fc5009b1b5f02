//! Why an engine did not do what it was asked for.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use agentic_model::guidance::{ErrorClass, Guidance};

/// What every engine can refuse. Anything else is an engine's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EngineRefusal {
    /// There is no such run.
    UnknownRun,
    /// The key names a run of another program or another input.
    KeyTaken,
    /// The run is over.
    RunOver,
    /// The run has no open hold there.
    HoldNotOpen,
    /// The hold was decided otherwise.
    HoldClosed,
    /// The hold does not offer the choice.
    ChoiceNotOffered,
    /// The hold is somebody else's to decide.
    NotAuthorised,
    /// The engine cannot be reached.
    Unreachable,
    /// What the engine has of its own: a full disk.
    Own,
}

/// What an engine refused, with the engine's own words for it.
#[derive(Debug)]
pub struct EngineError {
    /// What sort of refusal.
    pub refusal: EngineRefusal,
    said: Box<dyn Error + Send + Sync>,
}

impl EngineError {
    /// Takes over what an engine says.
    pub fn new(
        refusal: EngineRefusal,
        said: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> EngineError {
        EngineError { refusal, said: said.into() }
    }

    /// Returns what the engine says, as it says it.
    pub fn into_said(self) -> Box<dyn Error + Send + Sync> {
        self.said
    }
}

/// What an engine says of itself that only it can refuse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct OwnRefusal {
    /// What kind it is.
    pub class: ErrorClass,
    /// What happened.
    pub message: String,
    /// What to do next.
    pub hint: String,
    /// Why.
    pub because: Option<String>,
}

impl OwnRefusal {
    /// Takes over what an error says of itself.
    pub fn of(error: &dyn Guidance) -> OwnRefusal {
        OwnRefusal {
            class: error.class(),
            message: error.to_string(),
            hint: error.hint().into_owned(),
            because: error.because(),
        }
    }
}

impl Guidance for OwnRefusal {
    fn class(&self) -> ErrorClass {
        self.class
    }

    fn hint(&self) -> Cow<'static, str> {
        self.hint.clone().into()
    }

    fn because(&self) -> Option<String> {
        self.because.clone()
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.said.fmt(f)
    }
}

impl Error for EngineError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.said.source()
    }
}
