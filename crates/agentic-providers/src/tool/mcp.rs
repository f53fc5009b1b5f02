//! `mcp://NAME`: tools of a server that speaks the Model Context Protocol on its standard input
//! and output (<https://modelcontextprotocol.io/specification/2025-06-18>).
//!
//! This is a client for tools alone: a page of JSON lines, threads and time limits. A server is
//! started when it is first called and stopped, with all that it started, when its run is over.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, PipeWriter, Read, Write as _};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value as Json, json};

use super::ToolFault;
use crate::host::CancelFlag;
use crate::process::{Launch, LaunchEnvironment, LaunchInput, RunningProgram};

/// The version of the protocol that we ask for. A server may answer with another one; calls of
/// tools are the same in all.
const PROTOCOL_VERSION: &str = "2025-06-18";
/// The longest message, in bytes.
const MESSAGE_BYTES_MAX: u64 = 16 << 20;
/// How long a server may take to introduce itself.
const START_LIMIT: Duration = Duration::from_secs(30);
/// How often a call that waits looks whether anybody still wants it.
const POLL: Duration = Duration::from_millis(20);
/// How long what a server said last is waited for once it has ended.
const LAST_WORDS: Duration = Duration::from_millis(100);
/// How much a server may say on its error output before it is only read and dropped, in bytes.
const COMPLAINT_BYTES_MAX: u64 = 4 << 10;

/// The result of a call, or why there is none.
type McpReply = Result<Box<RawValue>, String>;

/// A server that runs.
pub(super) struct McpServer {
    name: String,
    /// Ended, with all that it started, when this is dropped.
    _program: RunningProgram,
    outgoing: Sender<String>,
    waiting: Arc<Mutex<WaitingCalls>>,
    complaint: Mutex<Receiver<String>>,
}

/// The calls that have no reply yet.
#[derive(Default)]
struct WaitingCalls {
    next_id: u64,
    calls: BTreeMap<u64, Sender<McpReply>>,
    /// Why there will be no further replies.
    gone: Option<String>,
}

/// A message of a server.
#[derive(Deserialize)]
struct IncomingMessage {
    id: Option<Json>,
    method: Option<String>,
    result: Option<Box<RawValue>>,
    error: Option<ErrorObject>,
}

#[derive(Deserialize)]
struct ErrorObject {
    message: String,
}

/// A tool that a server offers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct OfferedTool {
    /// Its name.
    pub name: String,
    /// What it does, in the server's words.
    #[serde(default)]
    pub description: String,
}

impl McpServer {
    /// Starts a server and introduces us.
    pub fn start(
        name: &str,
        argv: &[String],
        environment: &[(String, String)],
        folder: &Path,
        cancel: &CancelFlag,
    ) -> Result<McpServer, ToolFault> {
        let launched = Launch {
            argv,
            folder,
            input: LaunchInput::Piped,
            environment: LaunchEnvironment::Apart,
            variables: environment,
            // It serves until its run is over.
            limit: Duration::MAX,
            charge: cancel.charge(),
        };
        let cannot_start = |error| {
            // It was asked for nothing yet.
            ToolFault::unreachable(format!("the server `{name}` cannot be started: {error}"))
        };
        let mut program = launched.start().map_err(cannot_start)?;
        let pipes = (program.take_stdin(), program.take_stdout(), program.take_stderr());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            unreachable!("BUG: all three are piped")
        };
        let waiting = Arc::new(Mutex::new(WaitingCalls::default()));
        let (outgoing, lines) = channel();
        std::thread::spawn(move || write_lines(stdin, lines));
        let server = McpServer {
            name: name.to_owned(),
            _program: program,
            outgoing: outgoing.clone(),
            waiting: Arc::clone(&waiting),
            complaint: Mutex::new(listen(stderr)),
        };
        std::thread::spawn(move || receive(stdout, &waiting, &outgoing));
        let hello = json!({
            "protocolVersion": PROTOCOL_VERSION,
            "capabilities": {},
            "clientInfo": {"name": "agentic", "version": env!("CARGO_PKG_VERSION")},
        });
        server.request("initialize", &hello.to_string(), START_LIMIT, cancel)?;
        server.notify("notifications/initialized", "{}")?;
        Ok(server)
    }

    /// Calls a tool; returns the result as JSON text.
    pub fn call(
        &self,
        tool: &str,
        arguments: &str,
        limit: Duration,
        cancel: &CancelFlag,
    ) -> Result<Box<RawValue>, ToolFault> {
        let params = format!(r#"{{"name":{},"arguments":{arguments}}}"#, Json::from(tool));
        self.request("tools/call", &params, limit, cancel)
    }

    /// Lists the tools, the first page of them.
    pub fn tools(&self, cancel: &CancelFlag) -> Result<Vec<OfferedTool>, ToolFault> {
        #[derive(Deserialize)]
        struct Offer {
            tools: Vec<OfferedTool>,
        }
        let offer = self.request("tools/list", "{}", START_LIMIT, cancel)?;
        let offer = serde_json::from_str::<Offer>(offer.get());
        offer
            .map(|offer| offer.tools)
            .map_err(|error| self.fault(&format!("makes no sense: {error}")))
    }

    /// Tells whether the server has gone away.
    pub fn is_gone(&self) -> bool {
        lock(&self.waiting).gone.is_some()
    }

    fn request(
        &self,
        method: &str,
        params: &str,
        limit: Duration,
        cancel: &CancelFlag,
    ) -> Result<Box<RawValue>, ToolFault> {
        let (id, reply) = self.open()?;
        let text =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        self.send(text)?;
        let deadline = Instant::now().checked_add(limit);
        let outcome = loop {
            match reply.recv_timeout(POLL) {
                Ok(Ok(result)) => return Ok(result),
                Ok(Err(said)) => break self.refusal(&said),
                Err(RecvTimeoutError::Disconnected) => break self.refusal("ended"),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if cancel.is_set() {
                break ToolFault::cancelled();
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                break ToolFault::timed_out(format!(
                    "the server `{}` took longer than {} ms",
                    self.name,
                    limit.as_millis()
                ));
            }
        };
        if lock(&self.waiting).calls.remove(&id).is_some() && method != "initialize" {
            // A server that is gone needs no word.
            let _ = self.notify("notifications/cancelled", &format!(r#"{{"requestId":{id}}}"#));
        }
        Err(outcome)
    }

    fn open(&self) -> Result<(u64, Receiver<McpReply>), ToolFault> {
        let mut waiting = lock(&self.waiting);
        if let Some(why) = waiting.gone.clone() {
            drop(waiting);
            return Err(self.refusal(&why));
        }
        let (sender, reply) = channel();
        waiting.next_id += 1;
        let id = waiting.next_id;
        waiting.calls.insert(id, sender);
        Ok((id, reply))
    }

    /// Makes the failure of a call, with what the server complained about if it ended.
    fn refusal(&self, said: &str) -> ToolFault {
        let patience = if self.is_gone() { LAST_WORDS } else { Duration::ZERO };
        let complaint = lock(&self.complaint).recv_timeout(patience).unwrap_or_default();
        let colon = if complaint.is_empty() { "" } else { ": " };
        self.fault(&format!("{said}{colon}{complaint}"))
    }

    fn notify(&self, method: &str, params: &str) -> Result<(), ToolFault> {
        self.send(format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#))
    }

    fn send(&self, text: String) -> Result<(), ToolFault> {
        if text.len() as u64 > MESSAGE_BYTES_MAX {
            return Err(self.fault(&format!("takes at most {MESSAGE_BYTES_MAX} bytes")));
        }
        self.outgoing.send(text).map_err(|_| self.refusal("does not listen any more"))
    }

    fn fault(&self, what: &str) -> ToolFault {
        ToolFault::refused(format!("the server `{}` {what}", self.name))
    }
}

impl std::fmt::Debug for McpServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Server({})", self.name)
    }
}

/// Writes one message after the other, until the server does not listen any more.
fn write_lines(mut stdin: PipeWriter, lines: Receiver<String>) {
    for line in lines {
        // JSON has line breaks only between its parts, where a blank does as well.
        let line = line.replace('\n', " ") + "\n";
        if stdin.write_all(line.as_bytes()).is_err() {
            return;
        }
    }
}

/// Answers what a server asks us: that we are here, and that we do nothing else.
fn answer(id: &Json, method: &str) -> String {
    let reply = match method {
        "ping" => json!({"jsonrpc": "2.0", "id": id, "result": {}}),
        _ => json!({
            "jsonrpc": "2.0",
            "id": id,
            "error": {"code": -32601, "message": "there is no such method here"},
        }),
    };
    reply.to_string()
}

/// Reads messages until the server ends, floods or makes no sense.
fn receive(stdout: impl Read, waiting: &Mutex<WaitingCalls>, outgoing: &Sender<String>) {
    let mut stdout = BufReader::new(stdout);
    let why = loop {
        let mut line = Vec::new();
        match stdout.by_ref().take(MESSAGE_BYTES_MAX + 1).read_until(b'\n', &mut line) {
            Ok(0) => break "ended".to_owned(),
            Err(error) => break format!("broke off: {error}"),
            Ok(_) if line.len() as u64 > MESSAGE_BYTES_MAX => {
                break format!("sent more than {MESSAGE_BYTES_MAX} bytes at once");
            }
            Ok(_) => {}
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let Ok(message) = serde_json::from_slice::<IncomingMessage>(&line) else {
            break "sent something that is no message".to_owned();
        };
        match (message.id, message.method) {
            (Some(id), Some(method)) => {
                // A server that does not listen gets no answer.
                let _ = outgoing.send(answer(&id, &method));
            }
            (Some(id), None) => {
                let Some(call) = id.as_u64().and_then(|id| lock(waiting).calls.remove(&id)) else {
                    continue;
                };
                let reply = match (message.result, message.error) {
                    (_, Some(error)) => Err(format!("refused: {}", error.message)),
                    (Some(result), None) => Ok(result),
                    (None, None) => Err("sent a reply without a result".to_owned()),
                };
                // Whoever asked may have gone away.
                let _ = call.send(reply);
            }
            (None, _) => {}
        }
    };
    let mut waiting = lock(waiting);
    waiting.gone = Some(why.clone());
    for (_, call) in std::mem::take(&mut waiting.calls) {
        let _ = call.send(Err(why.clone()));
    }
}

/// Reads error output on a thread of its own; its beginning is sent when it ends.
fn listen(mut stderr: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        // What was read before a fault is as good as all.
        let _ = stderr.by_ref().take(COMPLAINT_BYTES_MAX).read_to_end(&mut kept);
        let _ = std::io::copy(&mut stderr, &mut std::io::sink());
        let _ = sender.send(String::from_utf8_lossy(&kept).trim().to_owned());
    });
    receiver
}

/// No code that can panic runs under these locks, so a poisoned one still holds a whole state.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
