//! From refusals to exit codes and what people read.

use agentic_api::Refusal;
use agentic_api::view::{ErrorView, FailureView};
use agentic_model::guidance::ErrorClass;

use crate::output::{talk, talk_coloured, talk_raw};
use crate::text::{Colour, Text};

/// A command that was refused or failed.
#[derive(Debug)]
pub struct CommandFailure {
    refusal: Refusal,
}

impl CommandFailure {
    /// Makes the failure of wrong usage.
    pub fn usage(message: &str, hint: &str) -> CommandFailure {
        CommandFailure::new(ErrorClass::Usage, message, hint)
    }

    /// Makes the failure of something that was refused.
    pub fn refused(message: &str, hint: &str) -> CommandFailure {
        CommandFailure::new(ErrorClass::Refused, message, hint)
    }

    /// Makes the failure of something that the caller may not do.
    pub fn not_allowed(message: &str, hint: &str) -> CommandFailure {
        CommandFailure::new(ErrorClass::NotAllowed, message, hint)
    }

    /// Makes the failure of a file operation.
    pub fn io(doing: &str, error: &std::io::Error) -> CommandFailure {
        CommandFailure::from(Refusal::io(doing, error))
    }

    fn new(class: ErrorClass, message: &str, hint: &str) -> CommandFailure {
        CommandFailure { refusal: Refusal::new(class, message, hint) }
    }

    /// Makes the failure of an answer that cannot be written.
    pub fn unwritten(error: &std::io::Error) -> CommandFailure {
        let hint = "what was done is done; make room where the output goes, and look at it again";
        let mut failure = CommandFailure::refused("the answer cannot be written", hint);
        failure.refusal.because = Some(error.to_string());
        failure
    }

    /// Returns the exit code.
    pub fn code(&self) -> u8 {
        self.refusal.class.exit_code()
    }

    /// Returns it as data.
    pub fn view(&self) -> ErrorView {
        self.refusal.view()
    }

    /// Says on standard error what happened, why, and what to do next.
    pub fn report(&self, json: bool) {
        if json {
            let view = FailureView { error: self.view() };
            talk_raw(&serde_json::to_string(&view).expect("views have text keys"));
            return;
        }
        let said = |colour, word, text: &str| {
            talk_coloured(&Text::default().coloured(colour, word).plain(" ").plain(text));
        };
        match self.refusal.lead {
            Some(lead) => said(Colour::Red, "error:", &format!("{lead} {}", self.refusal.message)),
            None => said(Colour::Red, "error:", &self.refusal.message),
        }
        if let Some(because) = &self.refusal.because {
            talk(&format!("because: {because}"));
        }
        said(Colour::Cyan, "hint:", &self.refusal.hint);
    }
}

impl<E: Into<Refusal>> From<E> for CommandFailure {
    fn from(error: E) -> CommandFailure {
        CommandFailure { refusal: error.into() }
    }
}
