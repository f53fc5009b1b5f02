//! Models behind a server: retries, time limits, and replies in pieces.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value as Json;

use super::concession::{Concessions, Refusals};
use super::protocol::{ReplyDraft, ReplyFault, Wire};
use super::{
    Completion, FaultClass, Finish, FunctionCall, Model, ModelCall, ModelFault, ModelPrompt,
    ModelProtocol, Repeats, ReplyContent, ReplyPart, Retry, RetryRule, anthropic, ollama, openai,
};
use crate::host::CancelFlag;
use crate::http::{Client, HttpFault, HttpMessage, HttpReply, LineFlow, Next};
use crate::secret::{Secret, SecretSource};

/// The longest reply, in bytes: 32 MiB.
pub const REPLY_BYTES_MAX: u64 = 32 << 20;
/// How much of the reply of a server that refuses is read, in bytes.
const REFUSAL_BYTES_MAX: u64 = 64 << 10;
/// How much of a server's explanation is shown, in characters.
const SHOWN_MAX: usize = 300;
/// What a login or a proxy answers in place of a model.
const PAGE: &str = "text/html";
/// How long a call may take where nothing says otherwise.
pub const TIME_LIMIT_DEFAULT: Duration = Duration::from_secs(300);
/// How long a probe may take.
const PROBE_LIMIT: Duration = Duration::from_secs(10);

/// A model behind a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// How it is spoken to; one that speaks to nobody cannot be an endpoint.
    pub protocol: ModelProtocol,
    /// The address of the server, without the path of a protocol.
    pub server: String,
    /// The name of the model there.
    pub name: String,
    /// Where the key is, if one is needed.
    pub key: Option<SecretSource>,
    /// Where relative paths of the key begin.
    pub folder: PathBuf,
    /// How long a call may take, with all its attempts.
    pub limit: Duration,
    /// How calls that failed are made again.
    pub retry: RetryRule,
    /// What it has refused in this run.
    pub refusals: Refusals,
}

impl Endpoint {
    fn wire(&self) -> &'static dyn Wire {
        match self.protocol {
            ModelProtocol::OpenAi => &openai::OpenAi,
            ModelProtocol::Anthropic => &anthropic::Anthropic,
            ModelProtocol::Ollama => &ollama::Ollama,
            ModelProtocol::Mock => unreachable!("BUG: the mock has no server"),
        }
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.server.trim_end_matches('/'))
    }

    fn key(&self, cancel: &CancelFlag) -> Result<Option<Secret>, ModelFault> {
        let read = self.key.as_ref().map(|source| source.read(&self.folder, cancel));
        read.transpose().map_err(|error| {
            let message = format!("`{}` needs a key: {error}", self.server);
            ModelFault::new(FaultClass::Unconfigured, message)
        })
    }

    /// Asks the server for something that costs nothing, to see whether it is there and lets us
    /// in.
    ///
    /// # Errors
    /// Fails as a call would.
    pub fn probe(&self, cancel: &CancelFlag) -> Result<(), ModelFault> {
        let key = self.key(cancel)?;
        let attempt = AttemptedCall {
            endpoint: self,
            url: self.url(self.wire().probe_path()),
            headers: self.wire().headers(key.as_ref().map(Secret::expose)),
            key,
            client: Client::new(self.limit.min(PROBE_LIMIT), cancel),
        };
        let received = attempt.send("GET", None)?;
        received.read_all(REPLY_BYTES_MAX).map_err(|fault| attempt.broken(fault))?;
        Ok(())
    }
}

impl Model for Endpoint {
    fn complete(
        &self,
        prompt: &ModelPrompt,
        call: &mut ModelCall<'_>,
    ) -> Result<Completion, ModelFault> {
        let key = self.key(call.cancel)?;
        let limit = call.limit.map_or(self.limit, |limit| limit.min(self.limit));
        let mut headers = self.wire().headers(key.as_ref().map(Secret::expose));
        headers.push(("content-type".to_owned(), "application/json".to_owned()));
        let attempt = AttemptedCall {
            endpoint: self,
            url: self.url(self.wire().path()),
            headers,
            key,
            client: Client::new(limit, call.cancel),
        };
        let (mut conceded, mut n_failed) = (self.refusals.known(), 0);
        loop {
            let fault = match attempt.run(prompt, conceded, call) {
                Ok(completion) => {
                    let left_out = conceded.left_out(prompt);
                    return Ok(Completion { left_out, ..completion });
                }
                // Each refusal concedes one thing more, so this ends.
                Err(CallFailure::Conceded(more)) => {
                    conceded = more;
                    self.refusals.note(more);
                    continue;
                }
                Err(CallFailure::Call(fault)) => fault,
            };
            n_failed += 1;
            match call.repeats {
                Repeats::Model => attempt.pause(fault, n_failed)?,
                Repeats::Caller => return Err(fault),
            }
            if let Some(listener) = &mut call.listener {
                listener(ReplyPart::Again);
            }
        }
    }
}

/// Why one attempt failed.
enum CallFailure {
    /// The model does not take something that it was told, and is asked without.
    Conceded(Concessions),
    Call(ModelFault),
}

impl From<ModelFault> for CallFailure {
    fn from(fault: ModelFault) -> CallFailure {
        CallFailure::Call(fault)
    }
}

/// One call with all its attempts.
struct AttemptedCall<'a> {
    endpoint: &'a Endpoint,
    url: String,
    headers: Vec<(String, String)>,
    key: Option<Secret>,
    client: Client,
}

impl AttemptedCall<'_> {
    fn run(
        &self,
        prompt: &ModelPrompt,
        conceded: Concessions,
        call: &mut ModelCall<'_>,
    ) -> Result<Completion, CallFailure> {
        let wire = self.endpoint.wire();
        let mut body = wire.body(&self.endpoint.server, &self.endpoint.name, prompt, conceded);
        let mut listener = call.listener.as_mut().filter(|_| prompt.functions.is_empty());
        if listener.is_some() {
            wire.stream(&mut body);
        }
        let received = match self.send("POST", Some(&body)) {
            Err(fault) if fault.class == FaultClass::Refused => {
                let more = conceded.after(&body, &fault);
                return Err(more.map_or(CallFailure::Call(fault), CallFailure::Conceded));
            }
            other => other?,
        };
        let mut draft = ReplyDraft::default();
        if listener.is_some() && received.is_of_type(PAGE) {
            let reason = format!("the reply of type `{PAGE}` cannot be read in pieces");
            return Err(self.invalid(&reason).into());
        }
        // A server that does not know about pieces sends the whole.
        let is_whole = self.endpoint.protocol != ModelProtocol::Ollama
            && received.is_of_type("application/json");
        match &mut listener {
            Some(listener) if !is_whole => self.read_pieces(received, &mut draft, listener)?,
            Some(listener) => {
                self.read_whole(received, &mut draft)?;
                listener(ReplyPart::Text(&self.covered_text(draft.take_news())));
            }
            None => self.read_whole(received, &mut draft)?,
        }
        if let Some(place) = wire.missing(&draft) {
            return Err(self.invalid(&format!("the reply lacks `{place}`")).into());
        }
        Ok(self.covered(draft.complete()))
    }

    /// Covers the key in a reply: a server may say what it was sent.
    fn covered(&self, completion: Completion) -> Completion {
        let Some(key) = &self.key else { return completion };
        let content = match completion.content {
            ReplyContent::Text(text) => ReplyContent::Text(key.cover(&text)),
            ReplyContent::Json(text) => ReplyContent::Json(key.cover(&text)),
        };
        let finish = match completion.finish {
            Finish::Other(word) => Finish::Other(key.cover(&word)),
            known @ (Finish::Stop | Finish::Length | Finish::Refusal | Finish::Filtered) => known,
        };
        let covered = |call: FunctionCall| FunctionCall {
            id: key.cover(&call.id),
            name: key.cover(&call.name),
            args: key.cover(&call.args),
        };
        let calls = completion.calls.into_iter().map(covered).collect();
        Completion { content, finish, calls, ..completion }
    }

    /// Sends the request; a reply with a status other than success is a failure.
    fn send(&self, method: &str, body: Option<&Json>) -> Result<HttpReply, ModelFault> {
        let body = body.map(Json::to_string);
        let message = HttpMessage {
            method,
            url: &self.url,
            headers: &self.headers,
            body: body.as_deref().map(str::as_bytes),
        };
        let received = self.client.send(&message).map_err(|fault| self.broken(fault))?;
        if (200..300).contains(&received.status) {
            return Ok(received);
        }
        let (status, retry) = (received.status, received.retry());
        let beginning = received.read_beginning(REFUSAL_BYTES_MAX);
        // Before it is cut: half a key would not be known.
        let said = explanation(&self.covered_bytes(&beginning));
        let class = match status {
            500.. => FaultClass::Transport,
            401..=403 | 407 | 408 | 425 | 429 => FaultClass::Unadmitted,
            _ => FaultClass::Refused,
        };
        let colon = if said.is_empty() { "" } else { ": " };
        let message = format!("`{}` answered with status {status}{colon}{said}", self.url);
        Err(self.fault(class, &message).with_retry(retry))
    }

    fn read_whole(&self, received: HttpReply, draft: &mut ReplyDraft) -> Result<(), ModelFault> {
        let kind = received.header("content-type").unwrap_or("no type").to_owned();
        let bytes = received.read_all(REPLY_BYTES_MAX).map_err(|fault| self.broken(fault))?;
        let text = String::from_utf8(bytes)
            .map_err(|_| self.invalid(&format!("the reply of type `{kind}` is no UTF-8 text")))?;
        let read = self.endpoint.wire().read(&text, draft);
        read.map_err(|unread| self.unread(unread, &format!("the reply of type `{kind}`")))
    }

    fn read_pieces(
        &self,
        received: HttpReply,
        draft: &mut ReplyDraft,
        listener: &mut &mut dyn FnMut(ReplyPart<'_>),
    ) -> Result<(), ModelFault> {
        let wire = self.endpoint.wire();
        let mut reached = LineFlow::More;
        let read = received.read_lines(REPLY_BYTES_MAX, |line| {
            let line = std::str::from_utf8(line).map_err(|_| Pieces::NotText)?;
            reached = wire.read_event(line, draft).map_err(Pieces::Unread)?;
            let news = draft.take_news();
            if !news.is_empty() {
                listener(ReplyPart::Text(&self.covered_text(news)));
            }
            Ok(reached)
        });
        match read {
            Ok(()) if reached == LineFlow::Enough || draft.finish.is_some() => Ok(()),
            Ok(()) => Err(self.broken(HttpFault::Transport("the reply broke off".to_owned()))),
            Err(Pieces::Broken(fault)) => Err(self.broken(fault)),
            Err(Pieces::NotText) => Err(self.invalid("the reply is no UTF-8 text")),
            Err(Pieces::Unread(unread)) => Err(self.unread(unread, "a piece of the reply")),
        }
    }

    /// Waits for the next attempt, or gives the failure back if there is none.
    fn pause(&self, fault: ModelFault, n_failed: u32) -> Result<(), ModelFault> {
        match self.endpoint.retry.next(fault.retry, n_failed) {
            Next::GivenUp => Err(fault),
            Next::TooLong(pause) => {
                let message = format!("{}; it asks for a pause of {pause:?}", fault.message);
                Err(ModelFault { message, ..fault })
            }
            // An attempt that could not even begin would only hide why the last one failed.
            Next::Again(pause) if pause >= self.client.left() => Err(fault),
            Next::Again(pause) => self.client.rest(pause).map_err(|fault| self.broken(fault)),
        }
    }

    fn broken(&self, fault: HttpFault) -> ModelFault {
        let (class, retry) = match &fault {
            HttpFault::Malformed(_) => (FaultClass::Unconfigured, Retry::Never),
            HttpFault::Unreachable(_) | HttpFault::Transport(_) => {
                (FaultClass::Transport, Retry::Later)
            }
            HttpFault::TimedOut(_) => (FaultClass::TimedOut, Retry::Never),
            HttpFault::Cancelled => (FaultClass::Cancelled, Retry::Never),
            HttpFault::TooLong(_) => (FaultClass::Invalid, Retry::Never),
        };
        self.fault(class, &format!("the call of `{}` failed: {fault}", self.url)).with_retry(retry)
    }

    fn invalid(&self, reason: &str) -> ModelFault {
        self.fault(FaultClass::Invalid, &format!("`{}` makes no sense: {reason}", self.url))
    }

    fn unread(&self, unread: ReplyFault, what: &str) -> ModelFault {
        match unread {
            ReplyFault::Garbled(reason) => {
                self.invalid(&format!("{what} cannot be read: {reason}"))
            }
            ReplyFault::Failed(said) => {
                let said = explanation(&self.covered_bytes(said.as_bytes()));
                let message = format!("`{}` failed: {said}", self.url);
                self.fault(FaultClass::Transport, &message).with_retry(Retry::Later)
            }
        }
    }

    /// Makes a failure whose text shows no key.
    fn fault(&self, class: FaultClass, message: &str) -> ModelFault {
        ModelFault::new(class, self.covered_text(message))
    }

    fn covered_text(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.cover(text))
    }

    fn covered_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        self.covered_text(&String::from_utf8_lossy(bytes)).into_bytes()
    }
}

/// Why a reply in pieces could not be read.
enum Pieces {
    Broken(HttpFault),
    NotText,
    Unread(ReplyFault),
}

impl From<HttpFault> for Pieces {
    fn from(fault: HttpFault) -> Pieces {
        Pieces::Broken(fault)
    }
}

/// Finds what a server says in the body of a refusal: `error.message`, `error` or `message`, else
/// the text itself; cut and on one line.
fn explanation(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let json: Option<Json> = serde_json::from_str(&text).ok();
    let said = json.as_ref().and_then(|json| {
        let places = [&json["error"]["message"], &json["error"], &json["message"]];
        places.into_iter().find_map(Json::as_str)
    });
    let words: Vec<&str> = said.unwrap_or(&text).split_whitespace().collect();
    let line: String = words.join(" ").chars().filter(|letter| !letter.is_control()).collect();
    match line.char_indices().nth(SHOWN_MAX) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
