//! Why a screen cannot be shown.

use std::borrow::Cow;
use std::io;

use agentic_model::guidance::{ErrorClass, Guidance};

/// What a step gives.
pub type Result<T> = std::result::Result<T, UiError>;

/// Why a screen cannot be shown, or not any longer.
#[derive(Debug, thiserror::Error)]
pub enum UiError {
    /// There is nobody in front of it.
    #[error("standard input and output are not a terminal")]
    NoTerminal,
    /// The terminal, a thread or another thing of the system cannot be had.
    #[error("cannot {attempt}")]
    System {
        /// What was attempted.
        attempt: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A part of this program broke.
    #[error("a thread of the screen broke: {what}")]
    Broken {
        /// What it said.
        what: String,
    },
}

impl UiError {
    /// Makes the error of something that the system refuses, for `map_err`.
    pub fn system(attempt: &'static str) -> impl FnOnce(io::Error) -> UiError {
        move |source| UiError::System { attempt, source }
    }
}

impl Guidance for UiError {
    fn class(&self) -> ErrorClass {
        match self {
            UiError::NoTerminal => ErrorClass::Usage,
            UiError::System { .. } | UiError::Broken { .. } => ErrorClass::Refused,
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            UiError::NoTerminal => {
                "`agentic pending`, `agentic agents` and `agentic log` print the same, with `--json` too"
                    .into()
            }
            UiError::System { .. } => "check what the terminal and the system allow".into(),
            UiError::Broken { .. } => "nothing is lost; start `agentic ui` again, and report this".into(),
        }
    }
}
