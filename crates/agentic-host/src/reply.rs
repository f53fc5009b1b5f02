//! Replies: the answers that programs and endpoints give to requests.
//!
//! A handler of AgentLang prints one line in a form of its own; everybody else gives JSON.

use agentic_lang_agent::{Data, answer};
use agentic_model::json;
use agentic_providers::credential::Result as CredentialResult;
use agentic_providers::endpoint::EndpointReply;
use agentic_providers::executable::{OUTPUT_BYTES_MAX, ProgramOutcome};
use agentic_providers::provider::ProviderResponse;
use agentic_replay::{CancelExtent, ProgramFailure, RequestAnswer};

/// The class of the errors of handlers that break the rules.
const HANDLER_BROKEN: &str = "HandlerError";
/// The code of a program that is not there.
const NOT_RUNNABLE: &str = "ConfigurationError";
/// The code of a call in the name of a person that nobody named.
const NOBODY: &str = "MissingIdentity";
/// The code of an endpoint that does not accept who calls.
const REFUSED: &str = "MissingCredential";
/// How much of what a program printed is shown.
const SHOWN_CHARS_MAX: usize = 200;

/// How the programs and endpoints that perform requests reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyForm {
    /// By one JSON value.
    Json,
    /// By the line of a handler of AgentLang.
    HandlerLine,
}

impl ReplyForm {
    /// Tells what came of a request from what became of its program.
    pub fn printed(
        self,
        program: &str,
        outcome: CredentialResult<ProgramOutcome>,
    ) -> ProviderResponse {
        let (broken, garbage) = self.codes();
        credited(outcome, |outcome| {
            ProviderResponse::from(match outcome {
                ProgramOutcome::Done(printed) => match std::str::from_utf8(&printed) {
                    Ok(text) => {
                        self.read("the program", text).unwrap_or_else(|what| failed(garbage, what))
                    }
                    Err(error) => {
                        let at = error.valid_up_to();
                        let begins = shown(&String::from_utf8_lossy(&printed));
                        let what = format!("no UTF-8 text from byte {at} on");
                        failed(garbage, format!("the program printed {begins:?}, which is {what}"))
                    }
                },
                ProgramOutcome::Crashed { status, complaint } => {
                    let status = status.code();
                    let how = status
                        .map_or("by a signal".to_owned(), |code| format!("with status {code}"));
                    let complaint = shown(&complaint);
                    let colon = if complaint.is_empty() { "" } else { ": " };
                    failed(broken, format!("the program ended {how}{colon}{complaint}"))
                }
                ProgramOutcome::Lost(error) => {
                    let code = if self == ReplyForm::HandlerLine { broken } else { NOT_RUNNABLE };
                    failed(code, format!("the program cannot be run: `{program}`: {error}"))
                }
                ProgramOutcome::Flooded => failed(
                    "OutputTooLarge",
                    format!("`{program}` printed more than {OUTPUT_BYTES_MAX} bytes"),
                ),
                ProgramOutcome::TimedOut => RequestAnswer::TimedOut,
                ProgramOutcome::Stopped => RequestAnswer::Cancelled(CancelExtent::Stopped),
            })
        })
    }

    /// Tells what came of a request from what an endpoint said.
    pub fn responded(self, url: &str, reply: CredentialResult<EndpointReply>) -> ProviderResponse {
        let (broken, garbage) = self.codes();
        credited(reply, |reply| {
            ProviderResponse::from(match reply {
                EndpointReply::Said { status, body } => match std::str::from_utf8(&body) {
                    Ok(text) if (200..300).contains(&status) => {
                        let who = format!("`{url}`");
                        self.read(&who, text).unwrap_or_else(|what| failed(garbage, what))
                    }
                    Err(_) if (200..300).contains(&status) => {
                        failed(garbage, format!("`{url}` said what is no UTF-8 text"))
                    }
                    Ok(_) | Err(_) => {
                        let said = shown(&String::from_utf8_lossy(&body));
                        let colon = if said.is_empty() { "" } else { ": " };
                        let message = format!("`{url}` answered with status {status}{colon}{said}");
                        if matches!(status, 401 | 403) {
                            // Whoever is not let in has done nothing.
                            return ProviderResponse::unanswered(ProgramFailure::new(
                                REFUSED, message,
                            ));
                        }
                        failed(broken, message)
                    }
                },
                EndpointReply::Lost(reason) => {
                    failed(broken, format!("`{url}` cannot be reached: {reason}"))
                }
                EndpointReply::Flooded => failed(
                    "OutputTooLarge",
                    format!("`{url}` said more than {OUTPUT_BYTES_MAX} bytes"),
                ),
                EndpointReply::TimedOut => RequestAnswer::TimedOut,
                // What was sent may have been acted on.
                EndpointReply::Stopped => RequestAnswer::Cancelled(CancelExtent::Unknown),
            })
        })
    }

    /// Returns the codes of those who break down, and of those who give garbage.
    fn codes(self) -> (&'static str, &'static str) {
        match self {
            ReplyForm::HandlerLine => (HANDLER_BROKEN, HANDLER_BROKEN),
            ReplyForm::Json => ("AgentFailed", "InvalidOutput"),
        }
    }

    /// Reads what was printed or said; or says what is wrong with it.
    fn read(self, who: &str, text: &str) -> std::result::Result<RequestAnswer, String> {
        let text = text.trim();
        match self {
            ReplyForm::HandlerLine => read_line(text),
            ReplyForm::Json => json::from_text(text)
                .map(RequestAnswer::Ok)
                .map_err(|error| format!("{who} printed {:?}, which is {error}", shown(text))),
        }
    }
}

/// Reads the line that a handler printed: `{"ok":RESULT}`, or `{"class","message"}`.
fn read_line(text: &str) -> std::result::Result<RequestAnswer, String> {
    let data = agentic_lang_agent::json::from_text(text)
        .map_err(|error| format!("the handler printed {:?}, which is {error}", shown(text)))?;
    if let Some(result) = data.get("ok") {
        return Ok(answer(result));
    }
    let part = |key: &str| data.get(key).and_then(Data::as_text);
    match (part("class"), part("message")) {
        (Some(class), Some(message)) => {
            Ok(RequestAnswer::Failed(ProgramFailure::new(class, message)))
        }
        _ => Err(format!(
            "the handler printed {:?}, which has neither `ok` nor `class` and `message`",
            shown(text)
        )),
    }
}

/// Tells what came of a call, which was not made if it wants for a credential.
fn credited<T>(
    came: CredentialResult<T>,
    read: impl FnOnce(T) -> ProviderResponse,
) -> ProviderResponse {
    came.map_or_else(
        |error| {
            let failure = ProgramFailure::new(error.code(), error.to_string());
            match error.code() {
                // In whose name a run goes on was said when it began.
                NOBODY => RequestAnswer::Failed(failure).into(),
                _ => ProviderResponse::unanswered(failure),
            }
        },
        read,
    )
}

fn shown(text: &str) -> String {
    text.trim().chars().take(SHOWN_CHARS_MAX).collect()
}

fn failed(code: &str, message: String) -> RequestAnswer {
    RequestAnswer::Failed(ProgramFailure::new(code, message))
}

#[cfg(test)]
mod tests;
