//! Why a verb gives no answer.

use agentic_federation::Error as FederationError;
use agentic_model::guidance::{ErrorClass, Guidance};
use agentic_providers::Error as ProviderError;
use agentic_replay::engine::{EngineError, EngineRefusal, OwnRefusal};
use agentic_session::Error as SessionError;
use agentic_session::engine::AgentFailure;
use agentic_space::Error as SpaceError;
use agentic_store::Error as StoreError;

use crate::view::ErrorView;

/// A verb that was refused or failed: what happened, why, and what to do next.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// What kind it is, which decides the exit code.
    pub class: ErrorClass,
    /// What happened.
    pub message: String,
    /// Why.
    pub because: Option<String>,
    /// The code that a program ended with.
    pub ended_with: Option<String>,
    /// What to do next.
    pub hint: String,
    /// What people read in front of the message, where some look for that.
    pub lead: Option<&'static str>,
}

impl Refusal {
    /// Makes a refusal.
    pub fn new(class: ErrorClass, message: &str, hint: &str) -> Refusal {
        let (message, hint) = (message.to_owned(), hint.to_owned());
        Refusal { class, message, because: None, ended_with: None, hint, lead: None }
    }

    /// Makes the refusal of wrong usage.
    pub fn usage(message: &str, hint: &str) -> Refusal {
        Refusal::new(ErrorClass::Usage, message, hint)
    }

    /// Makes the refusal of something that cannot be done.
    pub fn refused(message: &str, hint: &str) -> Refusal {
        Refusal::new(ErrorClass::Refused, message, hint)
    }

    /// Makes the refusal of a value that does not fit.
    pub fn schema(message: &str, hint: &str) -> Refusal {
        Refusal::new(ErrorClass::Schema, message, hint)
    }

    /// Makes the refusal of what somebody else changed meanwhile.
    pub fn conflict(message: &str, hint: &str) -> Refusal {
        Refusal::new(ErrorClass::Conflict, message, hint)
    }

    /// Makes the refusal of something that the caller may not do.
    pub fn not_allowed(message: &str, hint: &str) -> Refusal {
        Refusal::new(ErrorClass::NotAllowed, message, hint)
    }

    /// Makes the refusal of two runs that should agree and do not.
    pub fn diverged(message: &str, hint: &str) -> Refusal {
        Refusal::new(ErrorClass::Diverged, message, hint)
    }

    /// Makes the refusal of an engine that cannot be reached.
    pub fn unreachable(message: &str, hint: &str) -> Refusal {
        Refusal::new(ErrorClass::Unreachable, message, hint)
    }

    /// Makes the refusal that a program ended with.
    pub fn program(code: &str, message: &str, hint: &str) -> Refusal {
        let mut refusal = Refusal::refused(message, hint);
        refusal.because = Some(format!("the program ended with `{code}`"));
        refusal.ended_with = Some(code.to_owned());
        refusal
    }

    /// Adds the code of what the failure of a program came from.
    pub(crate) fn because_of(mut self, code: &str) -> Refusal {
        let because = self.because.take();
        self.because = because.map(|because| format!("{because}, which came from `{code}`"));
        self
    }

    /// Puts words in front of the message that people read, and that some look for.
    pub(crate) fn led_by(self, lead: &'static str) -> Refusal {
        Refusal { lead: Some(lead), ..self }
    }

    /// Makes the refusal of a file operation.
    pub fn io(doing: &str, error: &std::io::Error) -> Refusal {
        let hint = "check that the file exists and may be read";
        let mut refusal = Refusal::refused(&format!("cannot {doing}"), hint);
        refusal.because = Some(error.to_string());
        refusal
    }

    /// Makes the refusal that an error of a library says it is.
    pub fn of(error: &dyn Guidance) -> Refusal {
        let mut refusal = Refusal::new(error.class(), &error.to_string(), &error.hint());
        refusal.because = error.because();
        refusal
    }

    /// Returns it as data.
    pub fn view(&self) -> ErrorView {
        ErrorView {
            code: self.class.exit_code(),
            kind: self.class.word().to_owned(),
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
}

impl From<SessionError> for Refusal {
    fn from(error: SessionError) -> Refusal {
        Refusal::of(&error)
    }
}

impl From<FederationError> for Refusal {
    fn from(error: FederationError) -> Refusal {
        Refusal::of(&error)
    }
}

impl From<SpaceError> for Refusal {
    fn from(error: SpaceError) -> Refusal {
        Refusal::of(&error)
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Refusal {
        Refusal::of(&error)
    }
}

impl From<ProviderError> for Refusal {
    fn from(error: ProviderError) -> Refusal {
        Refusal::of(&error)
    }
}

impl From<AgentFailure> for Refusal {
    fn from(error: AgentFailure) -> Refusal {
        match error {
            AgentFailure::Name(error) => Refusal::usage(
                &error.to_string(),
                "name an agent with `--agent`, or choose another key",
            ),
            AgentFailure::Spawn(error) => Refusal::from(error),
        }
    }
}

impl From<EngineError> for Refusal {
    /// An engine's own words say most; what all engines refuse has a class all the same.
    fn from(error: EngineError) -> Refusal {
        let class = match error.refusal {
            EngineRefusal::UnknownRun | EngineRefusal::HoldNotOpen | EngineRefusal::Own => {
                ErrorClass::Refused
            }
            EngineRefusal::KeyTaken => ErrorClass::Conflict,
            EngineRefusal::RunOver | EngineRefusal::HoldClosed => ErrorClass::Decided,
            EngineRefusal::ChoiceNotOffered => ErrorClass::Schema,
            EngineRefusal::NotAuthorised => ErrorClass::NotAllowed,
            EngineRefusal::Unreachable => ErrorClass::Unreachable,
        };
        let said = match error.into_said().downcast::<SessionError>() {
            Ok(error) => return Refusal::from(*error),
            Err(said) => said,
        };
        let said = match said.downcast::<OwnRefusal>() {
            Ok(refusal) => return Refusal::of(&*refusal),
            Err(said) => said,
        };
        match said.downcast::<AgentFailure>() {
            Ok(failure) => Refusal::from(*failure),
            Err(said) => {
                Refusal::new(class, &said.to_string(), "`agentic flow status RUN` shows the run")
            }
        }
    }
}
