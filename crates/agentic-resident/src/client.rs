//! How a command speaks to the process that stays: over its socket, and only if that answers at once.
//!
//! Whatever is not a fitting answer means that there is none; commands then do without.

use std::io::{ErrorKind, Read, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::time::{Duration, Instant};

use agentic_api::verb::SearchTexts;
use agentic_api::view::{SearchView, ServeStatusView};
use agentic_store::Layout;

use crate::folder::ServeFolder;
use crate::whereabouts::{API_VERSION, Whereabouts};

/// How long the process may take to say that it is there.
const HEALTH_WAIT: Duration = Duration::from_millis(300);
/// How long it may take to find something.
const SEARCH_WAIT: Duration = Duration::from_millis(300);
/// The longest answer that is read, in bytes.
const ANSWER_BYTES_MAX: usize = 64 << 20;
/// How much of it is read at once, in bytes.
const PART_BYTES: usize = 64 << 10;

/// A process that stays, and answers.
#[derive(Debug)]
pub struct ResidentClient {
    folder: ServeFolder,
    /// Who it says it is.
    pub at: Whereabouts,
}

/// An answer.
#[derive(Debug)]
pub struct ResidentReply {
    /// The status, as HTTP counts it.
    pub status: u16,
    /// The content.
    pub body: Vec<u8>,
}

impl ResidentClient {
    /// Finds the process that serves a repository, if one does and answers.
    pub fn find(layout: &Layout) -> Option<ResidentClient> {
        let folder = ServeFolder::of(layout);
        let at = folder.whereabouts()?;
        if at.api != API_VERSION || !at.process.is_alive() {
            return None;
        }
        let client = ResidentClient { folder, at };
        let health = client.send("GET", "/api/v1/health", None, HEALTH_WAIT).ok()?;
        (health.status == 200).then_some(client)
    }

    /// Searches, where a process serves the repository whose index has everything. Whatever it does not
    /// answer at once is no answer: everything has to be read then.
    pub fn search(layout: &Layout, verb: &SearchTexts) -> Option<SearchView> {
        let client = ResidentClient::find(layout)?;
        let is_ready = || {
            let health = client.get("/api/v1/health", HEALTH_WAIT).ok()?;
            let status: ServeStatusView = serde_json::from_slice(&health.body).ok()?;
            Some(status.index.text.state == "ready")
        };
        if !is_ready()? {
            return None;
        }
        let reply = client.get(&verb.address(), SEARCH_WAIT).ok()?;
        let view: SearchView = serde_json::from_slice(&reply.body).ok()?;
        // It may have been lost and be made anew by now.
        let is_whole = !view.partial || is_ready()?;
        (reply.status == 200 && is_whole).then_some(view)
    }

    /// Asks for something.
    ///
    /// # Errors
    /// Fails when no whole answer comes in time.
    pub fn get(&self, path: &str, most: Duration) -> std::io::Result<ResidentReply> {
        self.send("GET", path, None, most)
    }

    /// Has something done.
    ///
    /// # Errors
    /// Fails when no whole answer comes in time.
    pub fn post(
        &self,
        path: &str,
        body: &serde_json::Value,
        most: Duration,
    ) -> std::io::Result<ResidentReply> {
        self.send("POST", path, Some(body.to_string()), most)
    }

    fn send(
        &self,
        method: &str,
        path: &str,
        body: Option<String>,
        most: Duration,
    ) -> std::io::Result<ResidentReply> {
        let mut stream = self.folder.connect()?;
        stream.set_write_timeout(Some(most))?;
        let request = request(method, path, "agentic", &body.unwrap_or_default());
        stream.write_all(request.as_bytes())?;
        let wait = |left| stream.set_read_timeout(Some(left));
        let answer = read_until(&stream, wait, Instant::now() + most)?;
        parse(&answer).ok_or_else(|| std::io::ErrorKind::InvalidData.into())
    }
}

/// Has the page at a port of this machine do something, under the name that it goes by there. That may
/// be a tunnel to another machine.
///
/// # Errors
/// Fails when no whole answer comes in time.
pub fn post_to_page(
    host: &str,
    port: u16,
    path: &str,
    body: &serde_json::Value,
    most: Duration,
) -> std::io::Result<ResidentReply> {
    let mut stream = TcpStream::connect_timeout(&(Ipv4Addr::LOCALHOST, port).into(), most)?;
    stream.set_write_timeout(Some(most))?;
    let request = request("POST", path, &format!("{host}:{port}"), &body.to_string());
    stream.write_all(request.as_bytes())?;
    let wait = |left| stream.set_read_timeout(Some(left));
    let answer = read_until(&stream, wait, Instant::now() + most)?;
    parse(&answer).ok_or_else(|| std::io::ErrorKind::InvalidData.into())
}

/// Writes a request, of the older version of HTTP, so that the answer ends where the connection does. It
/// is sent in one piece, because an answer may come before the end was read, and the rest would then
/// break the connection.
fn request(method: &str, path: &str, host: &str, body: &str) -> String {
    format!(
        "{method} {path} HTTP/1.0\r\nHost: {host}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Reads to the end, which has to come in time: a part of the answer now and then does not count.
fn read_until(
    mut stream: impl Read,
    wait: impl Fn(Duration) -> std::io::Result<()>,
    until: Instant,
) -> std::io::Result<Vec<u8>> {
    let (mut answer, mut part) = (Vec::new(), vec![0; PART_BYTES]);
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        wait(left)?;
        let n_read = match stream.read(&mut part) {
            Ok(0) => return Ok(answer),
            Ok(n_read) => n_read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        answer.extend_from_slice(&part[..n_read]);
        if answer.len() > ANSWER_BYTES_MAX {
            return Err(ErrorKind::FileTooLarge.into());
        }
    }
}

fn parse(answer: &[u8]) -> Option<ResidentReply> {
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&answer[..end]).ok()?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let body = answer[end + 4..].to_vec();
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    // One that ends early is no whole answer.
    length.is_none_or(|length| length == body.len()).then_some(ResidentReply { status, body })
}
