//! Messages over HTTP, without sessions of their own: what a request needs to know comes with it.
//!
//! One request is one message, and its answer is JSON, or a stream of messages where there are several.
//! Who asks, and that they mean us, was looked at by whoever hands requests on.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agentic_api::Surroundings;
use agentic_resident::VerbThreads;
use agentic_session::SessionSpace;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{
    ClientCapabilities, ClientJsonRpcMessage, ErrorCode, ErrorData, GetExtensions as _,
    Implementation, InitializeRequestParams, ProtocolVersion, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::{RoleServer, RunningServiceCancellationToken, serve_directly};
use rmcp::transport::OneshotTransport;
use serde_json::{Value as Json, json};
use tokio::sync::{Semaphore, mpsc};

use crate::access::{McpAccess, WriteAccess};
use crate::answer::busy_hint;
use crate::call::CallProgress;
use crate::message::bytes_of;
use crate::server::{BUSY, REVISIONS};
use crate::session::SessionDriving;
use crate::transport::{LineRead, message_of};
use crate::{MESSAGE_BYTES_MAX, McpService};

/// How many different accesses are remembered.
const SERVICES_MAX: usize = 64;
/// How many messages of a stream wait to be taken.
const QUEUE_MAX: usize = 16;
/// How many streams there may be.
const STREAMS_MAX: usize = 256;
/// How often a stream says that it lives.
const ALIVE: Duration = Duration::from_secs(15);
/// What stands around a value of a head that is in base64.
const ENCODED: (&str, &str) = ("=?base64?", "?=");
/// The methods that a head names something of, with the field of their parameters.
const NAMED: [(&str, &str); 3] =
    [("tools/call", "name"), ("prompts/get", "name"), ("resources/read", "uri")];

/// Which server answers: it writes as this agent, or only reads.
type ServiceKey = (Option<String>, bool);

/// What comes with a request besides its message.
#[derive(Debug, Clone, Default)]
pub struct HttpHeads {
    /// `MCP-Protocol-Version`.
    pub revision: Option<String>,
    /// `Mcp-Method`.
    pub method: Option<String>,
    /// `Mcp-Name`.
    pub name: Option<String>,
}

/// What a request is answered with.
#[derive(Debug)]
pub enum HttpAnswer {
    /// One message, as JSON.
    Message {
        /// The status, as HTTP counts it.
        status: u16,
        /// The message.
        body: Vec<u8>,
    },
    /// It was taken, and has no answer.
    Taken,
    /// Messages as they come, as server-sent events.
    Stream(mpsc::Receiver<Vec<u8>>),
}

/// A server for many clients over HTTP, each with its own access.
pub struct McpHttp {
    space: Arc<SessionSpace>,
    here: Surroundings,
    threads: VerbThreads,
    /// Making one costs more than most requests.
    services: Mutex<BTreeMap<ServiceKey, McpService>>,
    /// A permit for each stream that there may be.
    streams: Arc<Semaphore>,
}

impl McpHttp {
    /// Makes one for a space. Sessions that clients begin are driven by processes of their own.
    ///
    /// # Errors
    /// Fails when the system gives no thread.
    pub fn new(space: Arc<SessionSpace>, here: Surroundings) -> agentic_resident::Result<McpHttp> {
        let threads = VerbThreads::begin()?;
        let streams = Arc::new(Semaphore::new(STREAMS_MAX));
        Ok(McpHttp { space, here, threads, services: Mutex::default(), streams })
    }

    /// Answers a request of a client. Whoever drops the future has gone away: what was not begun is not
    /// done then.
    pub async fn answer(&self, access: McpAccess, heads: HttpHeads, body: Vec<u8>) -> HttpAnswer {
        if body.len() > MESSAGE_BYTES_MAX {
            let said = format!("a message has at most {MESSAGE_BYTES_MAX} bytes");
            return refused(413, ErrorData::invalid_request(said, None), None);
        }
        let message = match message_of(&body) {
            LineRead::Message(message) => message,
            LineRead::Fault(error, id) => return refused(400, error, id),
        };
        let ClientJsonRpcMessage::Request(mut request) = *message else {
            return match *message {
                ClientJsonRpcMessage::Notification(_) => HttpAnswer::Taken,
                ClientJsonRpcMessage::Request(_)
                | ClientJsonRpcMessage::Response(_)
                | ClientJsonRpcMessage::Error(_) => {
                    let said = "nothing was asked that this could answer";
                    refused(400, ErrorData::invalid_request(said, None), None)
                }
            };
        };
        let asked = AskedMessage::read(&body);
        if let Err(error) = asked.check(&heads) {
            return refused(400, error, Some(request.id));
        }
        let peer = asked.peer(&heads);
        let progress = CallProgress::begin();
        request.request.extensions_mut().insert(progress.clone());
        let (transport, messages) =
            OneshotTransport::<RoleServer>::new(ClientJsonRpcMessage::Request(request));
        let running = serve_directly(self.service(access), transport, Some(peer));
        let gone = ClientGone(Some((running.cancellation_token(), progress)));
        tokio::spawn(async move {
            let _ = running.waiting().await;
        });
        hand_on(messages, gone, asked.wanted, &self.streams).await
    }

    fn service(&self, access: McpAccess) -> McpService {
        let agent = access.agent.as_ref().map(ToString::to_string);
        let key = (agent, access.writes == WriteAccess::ReadOnly);
        let mut services = self.services.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = services.get(&key) {
            return known.clone();
        }
        if services.len() >= SERVICES_MAX {
            services.clear();
        }
        let (space, here) = (Arc::clone(&self.space), self.here.clone());
        let server = McpService::new(space, here, access, self.threads.clone())
            .driving(SessionDriving::Elsewhere);
        services.insert(key, server.clone());
        server
    }
}

/// What a message says that its heads say too.
struct AskedMessage {
    method: String,
    /// What the parameters name, where heads name it too.
    name: Option<String>,
    /// The revision that the request itself names.
    revision: Option<String>,
    /// The revision that a client wants to begin with, if it begins.
    wanted: Option<String>,
}

impl AskedMessage {
    fn read(body: &[u8]) -> AskedMessage {
        let json: Json = serde_json::from_slice(body).unwrap_or_default();
        let text = |value: &Json| value.as_str().map(str::to_owned);
        let (method, params) = (text(&json["method"]).unwrap_or_default(), &json["params"]);
        let field = NAMED.iter().find(|(named, _)| *named == method);
        let wanted = (method == "initialize").then(|| text(&params["protocolVersion"])).flatten();
        AskedMessage {
            name: field.and_then(|(_, field)| text(&params[*field])),
            revision: text(&params["_meta"]["io.modelcontextprotocol/protocolVersion"]),
            method,
            wanted,
        }
    }

    /// Checks that the heads say what the message says: who stands between reads only them.
    fn check(&self, heads: &HttpHeads) -> Result<(), ErrorData> {
        let other = |said: String| Err(ErrorData::new(ErrorCode::HEADER_MISMATCH, said, None));
        if let Some(revision) = &heads.revision {
            let is_known = REVISIONS.iter().any(|known| known.as_str() == revision)
                || ProtocolVersion::V_2025_03_26.as_str() == revision;
            let said = self.wanted.as_ref().or(self.revision.as_ref());
            if said.is_some_and(|said| said != revision) {
                return other("MCP-Protocol-Version is not that of the message".to_owned());
            }
            if !is_known {
                let supported = REVISIONS.iter().map(|known| known.as_str());
                let data =
                    json!({ "supported": supported.collect::<Vec<_>>(), "requested": revision });
                let code = ErrorCode::UNSUPPORTED_PROTOCOL_VERSION;
                return Err(ErrorData::new(code, "this revision is not spoken", Some(data)));
            }
        }
        let is_newest = heads.revision.as_deref() == Some(ProtocolVersion::V_2026_07_28.as_str());
        let is_method = heads.method.as_ref().is_some_and(|method| *method == self.method);
        if (is_newest || heads.method.is_some()) && !is_method {
            return other(format!("Mcp-Method has to be `{}`", self.method));
        }
        let name = heads.name.as_deref().map(decoded);
        let is_name = name.as_ref().is_some_and(|name| *name == self.name);
        if (is_newest && self.name.is_some() || name.is_some()) && !is_name {
            return other("Mcp-Name has to be what the message names".to_owned());
        }
        Ok(())
    }

    /// Says what a client is like that has said nothing before.
    fn peer(&self, heads: &HttpHeads) -> InitializeRequestParams {
        let revision = self.wanted.as_ref().or(heads.revision.as_ref());
        let revision = revision.and_then(|text| serde_json::from_value(json!(text)).ok());
        InitializeRequestParams::new(ClientCapabilities::default(), Implementation::default())
            .with_protocol_version(revision.unwrap_or(ProtocolVersion::V_2025_06_18))
    }
}

/// Reads a value of a head, which may be in base64.
fn decoded(text: &str) -> Option<String> {
    let inner = text.strip_prefix(ENCODED.0).and_then(|text| text.strip_suffix(ENCODED.1));
    let Some(inner) = inner else { return Some(text.to_owned()) };
    String::from_utf8(STANDARD.decode(inner).ok()?).ok()
}

/// Gives up what is under way for a client that has gone away.
struct ClientGone(Option<(RunningServiceCancellationToken, CallProgress)>);

impl Drop for ClientGone {
    fn drop(&mut self) {
        if let Some((token, progress)) = self.0.take() {
            progress.give_up();
            token.cancel();
        }
    }
}

/// Hands messages on: one by itself, or all of them as they come.
async fn hand_on(
    mut messages: mpsc::Receiver<ServerJsonRpcMessage>,
    gone: ClientGone,
    wanted: Option<String>,
    streams: &Arc<Semaphore>,
) -> HttpAnswer {
    let Some(first) = messages.recv().await else {
        return refused(500, ErrorData::internal_error("the answer was lost", None), None);
    };
    if is_last(&first) {
        return HttpAnswer::Message { status: status_of(&first), body: answer_of(&first, wanted) };
    }
    let Ok(permit) = Arc::clone(streams).try_acquire_owned() else {
        let said = format!("{STREAMS_MAX} streams are open already");
        return refused(503, ErrorData::new(BUSY, said, Some(busy_hint())), None);
    };
    let (sender, stream) = mpsc::channel(QUEUE_MAX);
    tokio::spawn(async move {
        let (_gone, _permit) = (gone, permit);
        let mut next = Some(first);
        loop {
            let (part, is_over) = match &next {
                Some(message) => {
                    let data = String::from_utf8(bytes_of(message)).unwrap_or_default();
                    (format!("event: message\ndata: {data}\n\n"), is_last(message))
                }
                None => (":\n\n".to_owned(), false),
            };
            if sender.send(part.into_bytes()).await.is_err() || is_over {
                return;
            }
            let waited = tokio::select! {
                waited = tokio::time::timeout(ALIVE, messages.recv()) => waited,
                () = sender.closed() => return,
            };
            next = match waited {
                Ok(Some(message)) => Some(message),
                Ok(None) => return,
                Err(_) => None,
            };
        }
    });
    HttpAnswer::Stream(stream)
}

fn is_last(message: &ServerJsonRpcMessage) -> bool {
    matches!(message, ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_))
}

fn status_of(message: &ServerJsonRpcMessage) -> u16 {
    let ServerJsonRpcMessage::Error(error) = message else { return 200 };
    match error.error.code {
        ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
        | ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY
        | ErrorCode::HEADER_MISMATCH => 400,
        ErrorCode::METHOD_NOT_FOUND => 404,
        _ => 200,
    }
}

/// Writes a message. Who begins is told the revision that it wants, if that is spoken.
fn answer_of(message: &ServerJsonRpcMessage, wanted: Option<String>) -> Vec<u8> {
    let Some(wanted) = wanted else { return bytes_of(message) };
    let mut json = serde_json::to_value(message).expect("messages have text keys");
    if json["result"]["protocolVersion"].is_string() {
        let spoken = REVISIONS.iter().map(|known| known.as_str());
        let is_spoken = spoken.clone().any(|known| known == wanted);
        let told = if is_spoken { wanted } else { ProtocolVersion::V_2025_11_25.to_string() };
        json["result"]["protocolVersion"] = json!(told);
        // There is no stream that these revisions could hear of changes through.
        if let Some(resources) = json["result"]["capabilities"]["resources"].as_object_mut() {
            resources.remove("subscribe");
        }
    }
    json.to_string().into_bytes()
}

fn refused(status: u16, error: ErrorData, id: Option<RequestId>) -> HttpAnswer {
    let message = ServerJsonRpcMessage::error(error, id);
    HttpAnswer::Message { status, body: bytes_of(&message) }
}

#[cfg(test)]
mod tests {
    use super::{AskedMessage, HttpHeads};

    fn check(heads: (&str, &str, &str), body: &str) -> Option<i32> {
        let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let heads =
            HttpHeads { revision: given(heads.0), method: given(heads.1), name: given(heads.2) };
        AskedMessage::read(body.as_bytes()).check(&heads).err().map(|error| error.code.0)
    }

    #[test]
    fn heads_say_what_the_message_says() {
        let call = r#"{"method":"tools/call","params":{"name":"log"}}"#;
        let newest = "2026-07-28";
        for heads in [
            ("", "", ""),
            ("2025-06-18", "", ""),
            (newest, "tools/call", "log"),
            (newest, "tools/call", "=?base64?bG9n?="),
        ] {
            assert_eq!(check(heads, call), None, "{heads:?}");
        }
        for heads in [
            (newest, "", "log"),
            (newest, "tools/call", ""),
            (newest, "tools/list", "log"),
            (newest, "tools/call", "commit"),
            (newest, "tools/call", "=?base64?bG9n"),
            ("", "", "commit"),
        ] {
            assert_eq!(check(heads, call), Some(-32020), "{heads:?}");
        }
        assert_eq!(check(("1999-01-01", "", ""), call), Some(-32022));
        let begin = r#"{"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#;
        assert_eq!(check(("2025-11-25", "", ""), begin), Some(-32020));
    }
}
