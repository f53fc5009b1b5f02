//! What can go wrong while a program runs.

use agentic_model::Value;
use agentic_replay::ProgramFailure;

use crate::code;

/// An error on its way out.
#[derive(Debug, Clone)]
pub(crate) struct MachineFault {
    pub code: &'static str,
    /// What a program reads when it catches the error.
    pub text: String,
}

impl MachineFault {
    pub fn new(code: &'static str, text: impl Into<String>) -> MachineFault {
        MachineFault { code, text: text.into() }
    }

    /// A number that has no value that can be written down.
    pub fn number_range() -> MachineFault {
        MachineFault::new(code::NUMBER_RANGE, "Number out of range.")
    }

    pub fn too_large(error: crate::data::TooLarge) -> MachineFault {
        MachineFault::new(code::VALUE_TOO_LARGE, format!("Value too large: {error}."))
    }

    pub fn into_failure(self) -> ProgramFailure {
        ProgramFailure { code: self.code.to_owned(), message: self.text, details: Value::Null }
    }
}
