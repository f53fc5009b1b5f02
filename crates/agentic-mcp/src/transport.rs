//! Messages as lines over a pair of streams, such as standard input and output.
//!
//! Threads of their own read and write, for streams block. What is no message of the protocol is
//! answered here, and a message that is too long is never kept in memory.

use std::io::{BufRead, BufReader, Read, Write};
use std::thread;
use std::time::Duration;

use rmcp::model::{ClientJsonRpcMessage, ErrorCode, ErrorData, ServerJsonRpcMessage};
use rmcp::service::RoleServer;
use rmcp::transport::Transport;
use rmcp::{ServiceExt as _, model::RequestId};
use serde_json::Value as Json;
use tokio::sync::{mpsc, oneshot};

use crate::{MESSAGE_BYTES_MAX, McpService};

/// How many messages wait to be taken, and to be written.
const QUEUE_MAX: usize = 64;
/// The longest id of a request, in bytes.
const ID_BYTES_MAX: usize = 4096;
/// How long what is under way may take when the client has gone.
const GRACE: Duration = Duration::from_millis(700);

/// Serves a client that speaks in lines, until it closes its end.
///
/// # Errors
/// Fails when the system gives no thread.
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
    let (gone, is_gone) = oneshot::channel();
    let transport = LineTransport::start(input, output, gone)?;
    let stop = server.stop();
    let serving = async {
        // A client that never begins has gone, or said something that is no beginning.
        if let Ok(running) = server.serve(transport).await {
            let _ = running.waiting().await;
        }
    };
    let gone = async {
        let _ = is_gone.await;
        stop();
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        () = serving => {}
        () = gone => {}
    }
    Ok(())
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
    /// What is still to be said of a line that was no message.
    owed: Option<Vec<u8>>,
    /// Whether the client has asked for anything: before, there is nothing to notify of.
    has_begun: bool,
}

impl LineTransport {
    fn start(
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        gone: oneshot::Sender<()>,
    ) -> std::io::Result<LineTransport> {
        let (lines, read) = mpsc::channel(QUEUE_MAX);
        let (write, out) = mpsc::channel(QUEUE_MAX);
        thread::Builder::new().name("mcp-read".to_owned()).spawn(move || {
            read_lines(input, &lines);
            let _ = gone.send(());
        })?;
        thread::Builder::new()
            .name("mcp-write".to_owned())
            .spawn(move || write_lines(output, out))?;
        Ok(LineTransport { read, write, owed: None, has_begun: false })
    }

    /// Says what is still to be said. Whoever stops waiting in the middle has said it or has not.
    async fn settle(&mut self) -> Option<()> {
        if self.owed.is_some() {
            let permit = self.write.reserve().await.ok()?;
            permit.send((self.owed.take().unwrap_or_default(), None));
        }
        Some(())
    }
}

impl Transport<RoleServer> for LineTransport {
    type Error = std::io::Error;

    fn send(
        &mut self,
        item: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), std::io::Error>> + Send + 'static {
        let (line, write) = (line_of(&item), self.write.clone());
        async move {
            let closed = || std::io::Error::from(std::io::ErrorKind::BrokenPipe);
            let (done, written) = oneshot::channel();
            write.send((line, Some(done))).await.map_err(|_| closed())?;
            written.await.map_err(|_| closed())?
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            self.settle().await?;
            match self.read.recv().await? {
                LineRead::Message(message) => match *message {
                    ClientJsonRpcMessage::Request(_) => {
                        self.has_begun = true;
                        return Some(*message);
                    }
                    _ if self.has_begun => return Some(*message),
                    // Nothing was asked yet that this could be about.
                    ClientJsonRpcMessage::Notification(_)
                    | ClientJsonRpcMessage::Response(_)
                    | ClientJsonRpcMessage::Error(_) => {}
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

fn line_of(message: &ServerJsonRpcMessage) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).expect("messages have text keys");
    if line.len() >= MESSAGE_BYTES_MAX
        && let ServerJsonRpcMessage::Response(response) = message
    {
        let said = "the answer is longer than a message may be";
        let error = ErrorData::internal_error(said, None);
        let error = ServerJsonRpcMessage::error(error, Some(response.id.clone()));
        line = serde_json::to_vec(&error).expect("messages have text keys");
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
        Err(_) => return LineRead::Fault(ErrorData::parse_error("this is no JSON", None), None),
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
    match serde_json::from_value(json) {
        Ok(message) => LineRead::Message(Box::new(message)),
        Err(_) => {
            let error = ErrorData::new(ErrorCode::INVALID_REQUEST, "this is no message", None);
            LineRead::Fault(error, id)
        }
    }
}
