//! From errors to exit codes, with what to do next.

use agentic_model::guidance::{ErrorClass, Guidance};
use agentic_providers::Error as ProviderError;
use agentic_replay::engine::{EngineError, Refusal};
use agentic_session::Error as SessionError;
use agentic_session::engine::AgentFailure;
use agentic_space::Error as SpaceError;
use agentic_store::Error as StoreError;
use agentic_view::{ErrorView, FailureView};

use crate::output::{talk, talk_coloured, talk_raw};
use crate::text::{Colour, Text};

/// A command that was refused or failed.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub code: u8,
    kind: &'static str,
    message: String,
    because: Option<String>,
    /// The code that a program ended with.
    ended_with: Option<String>,
    /// What people read in front of the message.
    lead: Option<&'static str>,
    hint: String,
}

impl Failure {
    /// Makes the failure of wrong usage.
    pub fn usage(message: &str, hint: &str) -> Failure {
        Failure::new(ErrorClass::Usage, message, hint)
    }

    /// Makes the failure of something that was refused.
    pub fn refused(message: &str, hint: &str) -> Failure {
        Failure::new(ErrorClass::Refused, message, hint)
    }

    /// Makes the failure of a value that does not fit.
    pub fn schema(message: &str, hint: &str) -> Failure {
        Failure::new(ErrorClass::Schema, message, hint)
    }

    /// Makes the failure of something that the caller may not do.
    pub fn not_allowed(message: &str, hint: &str) -> Failure {
        Failure::new(ErrorClass::NotAllowed, message, hint)
    }

    /// Makes the failure of an engine that cannot be reached.
    pub fn unreachable(message: &str, hint: &str) -> Failure {
        Failure::new(ErrorClass::Unreachable, message, hint)
    }

    /// Makes the failure of two runs that should agree and do not.
    pub fn diverged(message: &str, hint: &str) -> Failure {
        Failure::new(ErrorClass::Diverged, message, hint)
    }

    /// Makes the failure that a program ended with.
    pub fn program(code: &str, message: &str, hint: &str) -> Failure {
        let because = Some(format!("the program ended with `{code}`"));
        let ended_with = Some(code.to_owned());
        Failure { because, ended_with, ..Failure::new(ErrorClass::Refused, message, hint) }
    }

    /// Adds the code of what a failure of a program came from.
    pub fn because_of(self, code: &str) -> Failure {
        let because = self.because.map(|because| format!("{because}, which came from `{code}`"));
        Failure { because, ..self }
    }

    /// Puts words in front of the message that people read, and that some look for.
    pub fn led_by(self, lead: &'static str) -> Failure {
        Failure { lead: Some(lead), ..self }
    }

    /// Makes the failure of a file operation.
    pub fn io(doing: &str, error: &std::io::Error) -> Failure {
        let mut failure = Failure::new(
            ErrorClass::Refused,
            &format!("cannot {doing}"),
            "check that the file exists and may be read",
        );
        failure.because = Some(error.to_string());
        failure
    }

    fn new(class: ErrorClass, message: &str, hint: &str) -> Failure {
        let (code, kind) = (class.exit_code(), class.word());
        let (message, hint) = (message.to_owned(), hint.to_owned());
        Failure { code, kind, message, because: None, ended_with: None, lead: None, hint }
    }

    /// Makes the failure of an answer that cannot be written.
    pub fn unwritten(error: &std::io::Error) -> Failure {
        let hint = "what was done is done; make room where the output goes, and look at it again";
        let failure = Failure::new(ErrorClass::Refused, "the answer cannot be written", hint);
        Failure { because: Some(error.to_string()), ..failure }
    }

    /// Returns it as data.
    pub fn view(&self) -> ErrorView {
        ErrorView {
            code: self.code,
            kind: self.kind.to_owned(),
            message: self.message.clone(),
            because: self.because.clone(),
            ended_with: self.ended_with.clone(),
            hint: self.hint.clone(),
        }
    }

    /// Returns what happened, and why, as one sentence.
    pub fn sentence(&self) -> String {
        let because = self.because.as_ref().map(|because| format!(", because {because}"));
        format!("{}{}", self.message, because.unwrap_or_default())
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
        match self.lead {
            Some(lead) => said(Colour::Red, "error:", &format!("{lead} {}", self.message)),
            None => said(Colour::Red, "error:", &self.message),
        }
        if let Some(because) = &self.because {
            talk(&format!("because: {because}"));
        }
        said(Colour::Cyan, "hint:", &self.hint);
    }
}

impl Failure {
    /// Makes the failure that an error of a library says it is.
    fn of(error: &dyn Guidance) -> Failure {
        let mut failure = Failure::new(error.class(), &error.to_string(), &error.hint());
        failure.because = error.because();
        failure
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Failure {
        Failure::of(&error)
    }
}

impl From<SpaceError> for Failure {
    fn from(error: SpaceError) -> Failure {
        Failure::of(&error)
    }
}

impl From<AgentFailure> for Failure {
    fn from(error: AgentFailure) -> Failure {
        match error {
            AgentFailure::Name(error) => Failure::usage(
                &error.to_string(),
                "name an agent with `--agent`, or choose another key",
            ),
            AgentFailure::Spawn(error) => Failure::from(error),
        }
    }
}

impl From<EngineError> for Failure {
    /// An engine's own words say most; what all engines refuse has an exit code all the same.
    fn from(error: EngineError) -> Failure {
        let class = match error.refusal {
            Refusal::UnknownRun | Refusal::HoldNotOpen | Refusal::Own => ErrorClass::Refused,
            Refusal::KeyTaken => ErrorClass::Conflict,
            Refusal::RunOver | Refusal::HoldClosed => ErrorClass::Decided,
            Refusal::ChoiceNotOffered => ErrorClass::Schema,
            Refusal::NotAuthorised => ErrorClass::NotAllowed,
        };
        let said = match error.into_said().downcast::<SessionError>() {
            Ok(error) => return Failure::from(*error),
            Err(said) => said,
        };
        match said.downcast::<AgentFailure>() {
            Ok(failure) => Failure::from(*failure),
            Err(said) => {
                Failure::new(class, &said.to_string(), "`agentic flow status RUN` shows the run")
            }
        }
    }
}

impl From<ProviderError> for Failure {
    fn from(error: ProviderError) -> Failure {
        Failure::of(&error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::of(&error)
    }
}
