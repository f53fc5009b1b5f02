//! The agents behind the builtins of pipelines, as far as this process performs them itself.

use std::path::PathBuf;
use std::time::Duration;

use agentic_lang_pipeline::native;
use agentic_lang_pipeline::run::{AgentCall, RequestKind};
use agentic_model::{Value, json};
use agentic_providers::executable::{Executable, Outcome};
use agentic_providers::host::{CancelFlag, Executor, Place};
use agentic_replay::{Answer, Failure, Request, Stopped};

/// How long a program may take where its node sets no limit.
const TIME_LIMIT: Duration = Duration::from_secs(180);
/// How much of what a program printed is shown.
const SHOWN_CHARS_MAX: usize = 80;

/// Performs native functions and programs.
pub struct Agents {
    /// Where programs run.
    pub folder: PathBuf,
}

impl Executor for Agents {
    fn perform(&self, request: &Request, cancel: &CancelFlag) -> Answer {
        match RequestKind::of(request) {
            Some(RequestKind::Native) => perform_native(request),
            Some(RequestKind::Executable) => self.perform_executable(request, cancel),
            Some(RequestKind::Model) => failed(
                "ConfigurationError",
                "no model is configured for the roles of a loop".to_owned(),
            ),
            Some(RequestKind::Endpoint | RequestKind::Spawn | RequestKind::Agent) | None => {
                unknown(request)
            }
            Some(RequestKind::Hold | RequestKind::Sleep) => unknown(request),
        }
    }

    fn place(&self, request: &Request) -> Place {
        match RequestKind::of(request) {
            Some(RequestKind::Native) => Place::Inline,
            _ => Place::Pool,
        }
    }
}

/// Performs a native function.
pub fn perform_native(request: &Request) -> Answer {
    let function = request.payload.get("function").and_then(Value::as_text);
    let call = AgentCall::of(request);
    let outcome = function.zip(call).map(|(function, call)| native::perform(function, &call));
    match outcome.flatten() {
        Some(Ok(value)) => Answer::Ok(value),
        Some(Err(failure)) => Answer::Failed(failure),
        None => failed(
            "AgentNotRegistered",
            format!("there is no native function `{}`", function.unwrap_or_default()),
        ),
    }
}

impl Agents {
    fn perform_executable(&self, request: &Request, cancel: &CancelFlag) -> Answer {
        let argv = request.payload.get("argv").and_then(Value::as_list).unwrap_or_default();
        let argv: Vec<String> = argv.iter().filter_map(Value::as_text).map(str::to_owned).collect();
        let call = request.payload.get("call").unwrap_or(&Value::Null);
        let program = argv.first().cloned().unwrap_or_default();
        let executable = Executable {
            argv,
            folder: self.folder.clone(),
            input: format!("{}\n", json::to_text(call)).into_bytes(),
            environment: Vec::new(),
            limit: request.timeout_ms.map_or(TIME_LIMIT, Duration::from_millis),
        };
        match executable.run(cancel) {
            Outcome::Done(printed) => match read(&printed) {
                Ok(value) => Answer::Ok(value),
                Err(what) => failed("InvalidOutput", format!("`{program}` {what}")),
            },
            Outcome::Crashed { status, complaint } if complaint.is_empty() => {
                failed("AgentFailed", format!("`{program}` ended with {status}"))
            }
            Outcome::Crashed { status, complaint } => {
                failed("AgentFailed", format!("`{program}` ended with {status}: {complaint}"))
            }
            Outcome::Lost(error) => {
                failed("ConfigurationError", format!("`{program}` cannot be run: {error}"))
            }
            Outcome::Flooded => failed("OutputTooLarge", format!("`{program}` printed too much")),
            Outcome::TimedOut => Answer::TimedOut,
            Outcome::Stopped => Answer::Cancelled(Stopped::Stopped),
        }
    }
}

/// Reads what a program printed; otherwise what is wrong with it.
fn read(printed: &[u8]) -> Result<Value, String> {
    let text = std::str::from_utf8(printed).map_err(|_| "printed no UTF-8 text".to_owned())?;
    let shown: String = text.trim().chars().take(SHOWN_CHARS_MAX).collect();
    json::from_text(text.trim()).map_err(|error| format!("printed no JSON: {shown:?}: {error}"))
}

fn unknown(request: &Request) -> Answer {
    let call = AgentCall::of(request);
    let agent = call.map_or_else(|| request.kind.clone(), |call| call.agent);
    failed("AgentNotRegistered", format!("nothing here performs the agent `{agent}`"))
}

fn failed(code: &str, message: String) -> Answer {
    Answer::Failed(Failure::new(code, message))
}
