//! Messages as lines over a pair of streams, such as standard input and output.
//!
//! Threads of their own read and write, for streams block. What is no message of the protocol is
//! answered here, and a message that is too long is never kept in memory.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, ErrorData,
    GetExtensions as _, JsonRpcRequest, ServerJsonRpcMessage,
};
use rmcp::service::RoleServer;
use rmcp::transport::Transport;
use rmcp::{ServiceExt as _, model::RequestId};
use serde::Deserialize;
use serde_json::Value as Json;
use tokio::sync::{Notify, Semaphore, mpsc, oneshot};

use crate::call::CallBook;
use crate::message::bytes_of;
use crate::{MESSAGE_BYTES_MAX, McpService};

/// How many messages wait to be taken, and to be written.
const QUEUE_MAX: usize = 64;
/// The longest id of a request, in bytes.
const ID_BYTES_MAX: usize = 4096;
/// How long what is under way may take when the client has gone.
const GRACE: Duration = Duration::from_millis(700);
/// How long the last answer of a server may take whose repository is not there any more.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// The fewest digits of a whole number beyond 64 bits.
const LONG_NUMBER_DIGITS: usize = 19;

/// Serves a client that speaks in lines, until it closes its end.
///
/// # Errors
/// Fails when the system gives no thread, and when the repository is not there any more.
pub fn serve_lines(
    server: McpService,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    runtime.block_on(serve(server, input, output))
}

async fn serve(
    server: McpService,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> std::io::Result<()> {
    let gone = Arc::new(Notify::new());
    let transport = LineTransport::start(input, output, &gone)?;
    let stop = server.stop();
    let desk = server.desk.clone();
    let serving = async {
        // A client that never begins has gone, or said something that is no beginning.
        if let Ok(running) = server.serve(transport).await {
            let _ = running.waiting().await;
        }
    };
    let gone = async {
        gone.notified().await;
        stop();
        tokio::time::sleep(GRACE).await;
    };
    let displaced = async {
        desk.displaced().await;
        desk.stop().set();
        // Whoever called is told of it.
        tokio::time::sleep(LAST_WORDS).await;
    };
    tokio::select! {
        () = serving => Ok(()),
        () = gone => Ok(()),
        () = displaced => Err(std::io::Error::other("the repository is gone, or another one")),
    }
}

/// A line that came in.
#[derive(Debug)]
pub(crate) enum LineRead {
    /// A message.
    Message(Box<ClientJsonRpcMessage>),
    /// Something else, and what is wrong with it.
    Fault(ErrorData, Option<RequestId>),
}

/// A line that goes out, and who waits until it is written.
type WrittenLine = (Vec<u8>, Option<oneshot::Sender<std::io::Result<()>>>);

/// Messages as lines.
struct LineTransport {
    read: mpsc::Receiver<LineRead>,
    write: mpsc::Sender<WrittenLine>,
    /// A permit for each answer that may wait to be written; where none is left nothing more is taken.
    unwritten: Arc<Semaphore>,
    /// What is still to be said of a line that was no message.
    owed: Option<Vec<u8>>,
    /// Whether the client has asked for anything: before, there is nothing to notify of.
    has_begun: bool,
    under_way: CallBook,
    /// The requests among them that last until they are given up.
    listening: HashSet<RequestId>,
}

impl LineTransport {
    fn start(
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        gone: &Arc<Notify>,
    ) -> std::io::Result<LineTransport> {
        let (lines, read) = mpsc::channel(QUEUE_MAX);
        let (write, out) = mpsc::channel(QUEUE_MAX);
        let (nobody_asks, nobody_reads) = (Arc::clone(gone), Arc::clone(gone));
        thread::Builder::new().name("mcp-read".to_owned()).spawn(move || {
            read_lines(input, &lines);
            nobody_asks.notify_one();
        })?;
        let unwritten = Arc::new(Semaphore::new(QUEUE_MAX));
        thread::Builder::new().name("mcp-write".to_owned()).spawn(move || {
            write_lines(output, out);
            nobody_reads.notify_one();
        })?;
        Ok(LineTransport {
            read,
            write,
            unwritten,
            owed: None,
            has_begun: false,
            under_way: CallBook::default(),
            listening: HashSet::new(),
        })
    }

    /// Says what is still to be said. Whoever stops waiting in the middle has said it or has not.
    async fn settle(&mut self) -> Option<()> {
        if self.owed.is_some() {
            let permit = self.write.reserve().await.ok()?;
            permit.send((self.owed.take().unwrap_or_default(), None));
        }
        Some(())
    }

    /// Takes a request; nothing, if another one has its id, which the client is told then.
    fn take(&mut self, mut request: JsonRpcRequest<ClientRequest>) -> Option<ClientJsonRpcMessage> {
        self.has_begun = true;
        let id = request.id.clone();
        let Some(progress) = self.under_way.enter(&id) else {
            let said = "a request that is not answered yet has this id";
            let error = ErrorData::invalid_request(said, None);
            self.owed = Some(line_of(&ServerJsonRpcMessage::error(error, Some(id))));
            return None;
        };
        if matches!(request.request, ClientRequest::SubscriptionsListenRequest(_)) {
            self.listening.insert(id);
        } else {
            self.listening.remove(&id);
        }
        request.request.extensions_mut().insert(progress);
        Some(ClientJsonRpcMessage::Request(request))
    }

    /// Gives a request up. Returns whether the library has to hear of it: it answers nothing then, so it
    /// hears only of what lasts until it is given up.
    fn give_up(&mut self, id: &RequestId) -> bool {
        if self.listening.remove(id) {
            return self.under_way.leave(id);
        }
        self.under_way.give_up(id);
        false
    }
}

impl Transport<RoleServer> for LineTransport {
    type Error = std::io::Error;

    fn send(
        &mut self,
        item: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), std::io::Error>> + Send + 'static {
        let is_wanted = match &item {
            ServerJsonRpcMessage::Response(response) => self.under_way.leave(&response.id),
            ServerJsonRpcMessage::Error(error) => {
                error.id.as_ref().is_none_or(|id| self.under_way.leave(id))
            }
            ServerJsonRpcMessage::Request(_) | ServerJsonRpcMessage::Notification(_) => true,
        };
        let (line, write) = (is_wanted.then(|| line_of(&item)), self.write.clone());
        let permit = Arc::clone(&self.unwritten).try_acquire_owned();
        async move {
            let _permit = permit;
            let Some(line) = line else { return Ok(()) };
            let closed = || std::io::Error::from(std::io::ErrorKind::BrokenPipe);
            let (done, written) = oneshot::channel();
            write.send((line, Some(done))).await.map_err(|_| closed())?;
            written.await.map_err(|_| closed())?
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            self.settle().await?;
            // A client that asks and does not read would have its answers kept without end.
            drop(self.unwritten.acquire().await);
            match self.read.recv().await? {
                LineRead::Message(message) => match *message {
                    ClientJsonRpcMessage::Request(request) => {
                        if let Some(taken) = self.take(request) {
                            return Some(taken);
                        }
                    }
                    // Nothing was asked yet that this could be about.
                    _ if !self.has_begun => {}
                    ClientJsonRpcMessage::Notification(told) => {
                        if given_up(&told.notification).is_none_or(|id| self.give_up(id)) {
                            return Some(ClientJsonRpcMessage::Notification(told));
                        }
                    }
                    other
                    @ (ClientJsonRpcMessage::Response(_) | ClientJsonRpcMessage::Error(_)) => {
                        return Some(other);
                    }
                },
                LineRead::Fault(error, id) => {
                    self.owed = Some(line_of(&ServerJsonRpcMessage::error(error, id)));
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), std::io::Error> {
        self.read.close();
        Ok(())
    }
}

/// Returns the request that a client says it gives up.
fn given_up(told: &ClientNotification) -> Option<&RequestId> {
    let ClientNotification::CancelledNotification(cancelled) = told else { return None };
    cancelled.params.request_id.as_ref()
}

fn line_of(message: &ServerJsonRpcMessage) -> Vec<u8> {
    let mut line = bytes_of(message);
    if line.len() >= MESSAGE_BYTES_MAX
        && let ServerJsonRpcMessage::Response(response) = message
    {
        let said = "the answer is longer than a message may be";
        let error = ErrorData::internal_error(said, None);
        let error = ServerJsonRpcMessage::error(error, Some(response.id.clone()));
        line = bytes_of(&error);
    }
    line.push(b'\n');
    line
}

fn write_lines(mut output: impl Write, mut out: mpsc::Receiver<WrittenLine>) {
    while let Some((line, done)) = out.blocking_recv() {
        let written = output.write_all(&line).and_then(|()| output.flush());
        let is_lost = written.is_err();
        if let Some(done) = done {
            // Whoever waited may have gone away.
            let _ = done.send(written);
        }
        if is_lost {
            return;
        }
    }
}

fn read_lines(input: impl Read, lines: &mpsc::Sender<LineRead>) {
    let mut input = BufReader::new(input);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = match read_line(&mut input, &mut line) {
            Ok(LineEnd::Whole) if line.iter().all(u8::is_ascii_whitespace) => continue,
            Ok(LineEnd::Whole) => message_of(&line),
            Ok(LineEnd::TooLong) => {
                let said = format!("a message has at most {MESSAGE_BYTES_MAX} bytes");
                LineRead::Fault(ErrorData::invalid_request(said, None), None)
            }
            Ok(LineEnd::Closed) | Err(_) => return,
        };
        if lines.blocking_send(read).is_err() {
            return;
        }
    }
}

/// How a line ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineEnd {
    Whole,
    /// It is longer than a message may be, and was read over.
    TooLong,
    /// The client closed its end; what it had begun is no message.
    Closed,
}

fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<LineEnd> {
    let mut end = LineEnd::Whole;
    loop {
        let available = match input.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if available.is_empty() {
            return Ok(LineEnd::Closed);
        }
        let newline = available.iter().position(|byte| *byte == b'\n');
        let part = &available[..newline.unwrap_or(available.len())];
        if line.len() + part.len() > MESSAGE_BYTES_MAX {
            (*line, end) = (Vec::new(), LineEnd::TooLong);
        } else if end == LineEnd::Whole {
            line.extend_from_slice(part);
        }
        let n_read = newline.map_or(available.len(), |at| at + 1);
        input.consume(n_read);
        if newline.is_some() {
            return Ok(end);
        }
    }
}

/// Reads a message, or says what is wrong with the line.
pub(crate) fn message_of(line: &[u8]) -> LineRead {
    let invalid =
        |said: &'static str, id| LineRead::Fault(ErrorData::invalid_request(said, None), id);
    let json: Json = match serde_json::from_slice(line) {
        Ok(json) => json,
        Err(error) => return unread(line, &error),
    };
    let Json::Object(map) = &json else {
        return invalid("a message is one object; there are no batches", None);
    };
    let id = match map.get("id") {
        None => None,
        Some(given) => {
            let is_short = given.as_str().is_none_or(|text| text.len() <= ID_BYTES_MAX);
            match serde_json::from_value::<RequestId>(given.clone()) {
                Ok(id) if is_short => Some(id),
                Ok(_) | Err(_) => {
                    return invalid(
                        "an id is a text of at most 4096 bytes, or a whole number of 64 bits",
                        None,
                    );
                }
            }
        }
    };
    if map.get("jsonrpc").and_then(Json::as_str) != Some("2.0") {
        return invalid("a message says `\"jsonrpc\": \"2.0\"`", id);
    }
    // What derives its reading would take a list of the same values in the order of the fields.
    if map.get("params").is_some_and(|params| !params.is_object() && !params.is_null()) {
        return invalid("parameters are one object", id);
    }
    if has_long_number(line) {
        let said = "a whole number has at most 64 bits; a longer one is sent as a text";
        return LineRead::Fault(ErrorData::invalid_params(said, None), id);
    }
    match serde_json::from_value(json) {
        Ok(message) => LineRead::Message(Box::new(message)),
        Err(_) => {
            let error = ErrorData::new(ErrorCode::INVALID_REQUEST, "this is no message", None);
            LineRead::Fault(error, id)
        }
    }
}

/// What is read of a message that is no data for us; what else it has is passed over, however deep.
#[derive(Deserialize)]
struct MessageHead {
    id: Option<RequestId>,
}

/// Says what is wrong with a line that cannot be read. What is JSON, and only too deep or holds what no text
/// or number can, has an id that its sender waits for.
fn unread(line: &[u8], error: &serde_json::Error) -> LineRead {
    let head = serde_json::from_slice::<MessageHead>(line).ok();
    match head.filter(|_| std::str::from_utf8(line).is_ok()) {
        Some(MessageHead { id, .. }) => {
            let said = match error.to_string().contains("recursion limit") {
                true => "a message has at most 127 levels".to_owned(),
                false => format!("a value cannot be read: {error}"),
            };
            LineRead::Fault(ErrorData::invalid_request(said, None), id)
        }
        None => LineRead::Fault(ErrorData::parse_error("this is no JSON", None), None),
    }
}

/// Tells whether a text of JSON has a whole number beyond 64 bits, which would be read as another number.
fn has_long_number(json: &[u8]) -> bool {
    let mut rest = json;
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'"' | b'-' | b'0'..=b'9')) {
        rest = &rest[at..];
        let length = if rest[0] == b'"' { text_length(rest) } else { number_length(rest) };
        let token = &rest[..length];
        if token.len() >= LONG_NUMBER_DIGITS && token[0] != b'"' && is_beyond_64_bits(token) {
            return true;
        }
        rest = &rest[length..];
    }
    false
}

fn text_length(json: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = json.get(at) {
        at += if *byte == b'\\' { 2 } else { 1 };
        if *byte == b'"' {
            break;
        }
    }
    at.min(json.len())
}

fn number_length(json: &[u8]) -> usize {
    let is_of_number = |byte: &u8| matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E' | b'0'..=b'9');
    json.iter().position(|byte| !is_of_number(byte)).unwrap_or(json.len())
}

fn is_beyond_64_bits(number: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(number) else { return false };
    let is_whole = text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
    is_whole && text.parse::<u64>().is_err() && text.parse::<i64>().is_err()
}

#[cfg(test)]
mod tests {
    use super::has_long_number;

    #[test]
    fn whole_numbers_beyond_64_bits_are_found_and_nothing_else_is() {
        for long in [
            r#"{"x":18446744073709551616}"#,
            r#"[1,-9223372036854775809]"#,
            r#"{"a\\":"b","c":[{"d":100000000000000000000}]}"#,
            "123456789012345678901234567890",
        ] {
            assert!(has_long_number(long.as_bytes()), "{long}");
        }
        for short in [
            r#"{"x":18446744073709551615,"y":-9223372036854775808}"#,
            r#"["100000000000000000000","\"100000000000000000000"]"#,
            "[100000000000000000000.5,1e100,100000000000000000000E2,0.000000000000000000000001]",
            r#"{"100000000000000000000":1}"#,
        ] {
            assert!(!has_long_number(short.as_bytes()), "{short}");
        }
    }
}
