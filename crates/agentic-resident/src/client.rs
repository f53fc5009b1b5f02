//! How a command speaks to the process that stays: over its socket, and only if that answers at once.
//!
//! Whatever is not a fitting answer means that there is none; commands then do without.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use agentic_store::Layout;

use crate::folder::ServeFolder;
use crate::whereabouts::{API_VERSION, Whereabouts};

/// How long the process may take to say that it is there.
const HEALTH_WAIT: Duration = Duration::from_millis(300);
/// The longest answer that is read, in bytes.
const ANSWER_BYTES_MAX: u64 = 64 << 20;

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
        stream.set_read_timeout(Some(most))?;
        stream.set_write_timeout(Some(most))?;
        let body = body.unwrap_or_default();
        // Of the older version of HTTP, so that the answer ends where the connection does.
        // In one piece, because an answer may come before the end was read, and the rest would then
        // break the connection.
        let request = format!(
            "{method} {path} HTTP/1.0\r\nHost: agentic\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes())?;
        let mut answer = Vec::new();
        stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer)?;
        parse(&answer).ok_or_else(|| std::io::ErrorKind::InvalidData.into())
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
