//! Tasks that programs perform: a line of JSON in, a line of JSON out.
//!
//! The program is started for each call. It reads `{"task","args","agent"?}` and prints
//! `{"ok":RESULT}`, or `{"class","message"}` when the task failed.

use std::path::Path;
use std::time::Duration;

use agentic_lang_agent::{Data, answer, argument_text, json};
use agentic_model::Value;
use agentic_providers::executable::{Executable, OUTPUT_BYTES_MAX, Outcome};
use agentic_providers::host::CancelFlag;
use agentic_replay::{Answer, Failure, Request, Stopped};

/// How long a handler may take where the program sets no limit.
const TIME_LIMIT: Duration = Duration::from_secs(600);
/// The class of the errors of handlers that break the rules.
const BROKEN: &str = "HandlerError";
/// How much of what a handler printed is shown.
const SHOWN_CHARS_MAX: usize = 80;

/// A task and the program that performs it.
#[derive(Debug, Clone)]
pub struct Handler {
    /// The name of the task.
    pub task: String,
    /// The program and its arguments.
    pub argv: Vec<String>,
}

/// Reads `TASK=PROGRAM`, where blanks part the program from its arguments.
pub fn parse(text: &str) -> Result<Handler, String> {
    let (task, line) = text.split_once('=').ok_or("a handler is TASK=PROGRAM")?;
    let argv: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    if task.is_empty() || argv.is_empty() {
        return Err("a handler is TASK=PROGRAM".to_owned());
    }
    Ok(Handler { task: task.to_owned(), argv })
}

impl Handler {
    /// Performs a call of the task.
    pub fn perform(&self, request: &Request, folder: &Path, cancel: &CancelFlag) -> Answer {
        let executable = Executable {
            argv: self.argv.clone(),
            folder: folder.to_owned(),
            input: line_of(request).into_bytes(),
            environment: Vec::new(),
            limit: request.timeout_ms.map_or(TIME_LIMIT, Duration::from_millis),
        };
        let broken = |what: String| {
            Answer::Failed(Failure::new(BROKEN, format!("the handler of `{}` {what}", self.task)))
        };
        match executable.run(cancel) {
            Outcome::Done(printed) => read(&printed).unwrap_or_else(broken),
            Outcome::Crashed { status, complaint } if complaint.is_empty() => {
                broken(format!("ended with {status}"))
            }
            Outcome::Crashed { status, complaint } => {
                broken(format!("ended with {status}: {complaint}"))
            }
            Outcome::Lost(error) => broken(format!("cannot be run: {error}")),
            Outcome::Flooded => broken(format!("printed more than {OUTPUT_BYTES_MAX} bytes")),
            Outcome::TimedOut => Answer::TimedOut,
            Outcome::Stopped => Answer::Cancelled(Stopped::Stopped),
        }
    }
}

/// Writes the line that a handler reads.
fn line_of(request: &Request) -> String {
    let text = |key: &str| request.payload.get(key).and_then(Value::as_text);
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let task = quoted(text("task").unwrap_or_default());
    let agent = text("agent").map(|agent| format!(",\"agent\":{}", quoted(agent)));
    // The arguments are JSON already, with their keys in order and their numbers exact.
    let args = argument_text(request).unwrap_or("{}");
    format!("{{\"task\":{task},\"args\":{args}{}}}\n", agent.unwrap_or_default())
}

/// Reads what a handler printed; otherwise what is wrong with it.
fn read(printed: &[u8]) -> Result<Answer, String> {
    let text = std::str::from_utf8(printed).map_err(|_| "printed no UTF-8 text".to_owned())?;
    let shown: String = text.trim().chars().take(SHOWN_CHARS_MAX).collect();
    let data = json::from_text(text.trim())
        .map_err(|error| format!("printed no JSON: {shown:?} is {error}"))?;
    if let Some(result) = data.get("ok") {
        return Ok(answer(result));
    }
    let part = |key: &str| data.get(key).and_then(Data::as_text);
    match (part("class"), part("message")) {
        (Some(class), Some(message)) => Ok(Answer::Failed(Failure::new(class, message))),
        _ => Err(format!("printed neither `ok` nor `class` and `message`: {shown:?}")),
    }
}
