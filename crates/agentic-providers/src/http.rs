//! The client for HTTP: models, endpoints, tools and authorization servers are all called by it.
//!
//! An exchange is bounded in time and size, and interrupted when nobody waits. Redirects are not
//! followed: a secret that is meant for one address goes to no other. An address on this machine
//! is reached directly, any other by the proxy of the environment.

use std::fmt;
use std::io::{ErrorKind, Read};
use std::net::IpAddr;
use std::time::{Duration, Instant};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use ureq::http::{HeaderMap, Method, Request, Uri};
use ureq::unversioned::resolver::{DefaultResolver, Resolver};
use ureq::unversioned::transport::DefaultConnector;

use crate::host::CancelFlag;

mod retry;

pub use crate::http::retry::{Retry, RetryRule};

pub(crate) use crate::http::retry::Next;

/// How long a connection may take to come about.
const CONNECT_LIMIT: Duration = Duration::from_secs(30);
/// The longest time that is waited at all, so that instants stay in range.
const LIMIT_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// The most bytes of the headers of a reply.
const HEADER_BYTES_MAX: usize = 64 << 10;

/// What does not stand for itself in a query: everything but RFC 3986's unreserved characters.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Why an exchange came to nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HttpFault {
    /// The address or a header cannot be sent.
    #[error("{0}")]
    Malformed(String),
    /// No connection came about: nothing was sent.
    #[error("{0}")]
    Unreachable(String),
    /// The other side broke off.
    #[error("{0}")]
    Transport(String),
    /// The time was over first.
    #[error("it took longer than {} ms", .0.as_millis())]
    TimedOut(Duration),
    /// Nobody waits any more.
    #[error("it was withdrawn")]
    Cancelled,
    /// The reply is longer than it may be.
    #[error("the reply is longer than {0} bytes")]
    TooLong(u64),
}

/// Sends requests until its time is over or it is cancelled.
pub(crate) struct Client {
    agent: ureq::Agent,
    cancel: CancelFlag,
    deadline: Instant,
    limit: Duration,
}

/// What is sent.
pub(crate) struct HttpMessage<'a> {
    pub method: &'a str,
    pub url: &'a str,
    pub headers: &'a [(String, String)],
    pub body: Option<&'a [u8]>,
}

/// What came back: its head, and a body that is still to be read.
pub(crate) struct HttpReply {
    pub status: u16,
    headers: HeaderMap,
    body: Box<dyn Read>,
    cancel: CancelFlag,
    limit: Duration,
}

impl Client {
    /// Makes a client for one call, whose exchanges together may take so long.
    pub fn new(limit: Duration, cancel: &CancelFlag) -> Client {
        Client::by(DefaultResolver::default(), limit, cancel)
    }

    /// Makes a client that connects to nothing but what the resolver finds.
    pub fn by(resolver: impl Resolver, limit: Duration, cancel: &CancelFlag) -> Client {
        let limit = limit.min(LIMIT_MAX);
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_response_header_size(HEADER_BYTES_MAX)
            .timeout_connect(Some(CONNECT_LIMIT))
            .user_agent(concat!("agentic/", env!("CARGO_PKG_VERSION")))
            .allow_non_standard_methods(true)
            .build();
        let agent = ureq::Agent::with_parts(config, DefaultConnector::default(), resolver);
        let interrupted = agent.clone();
        // Closes the sockets under a read that waits.
        cancel.on_set(move || interrupted.shutdown());
        Client { agent, cancel: cancel.clone(), deadline: Instant::now() + limit, limit }
    }

    /// Returns the time that is left.
    pub fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Waits between two exchanges.
    pub fn rest(&self, pause: Duration) -> Result<(), HttpFault> {
        if self.cancel.wait(pause) { Err(HttpFault::Cancelled) } else { Ok(()) }
    }

    /// Sends a request and receives the head of the reply.
    pub fn send(&self, message: &HttpMessage<'_>) -> Result<HttpReply, HttpFault> {
        let left = self.left();
        if left.is_zero() {
            return Err(HttpFault::TimedOut(self.limit));
        }
        let malformed = |error: &dyn fmt::Display| HttpFault::Malformed(error.to_string());
        let uri: Uri = message.url.parse().map_err(|error| malformed(&error))?;
        let method = Method::from_bytes(message.method.as_bytes())
            .map_err(|_| HttpFault::Malformed(format!("`{}` is no method", message.method)))?;
        let is_near = is_loopback(&uri);
        let mut request = Request::builder().method(method).uri(uri);
        for (name, value) in message.headers {
            request = request.header(name, value);
        }
        let body = message.body.unwrap_or_default();
        let request = request.body(body).map_err(|_| {
            // The name or the value is not shown: it may be a secret.
            HttpFault::Malformed("a header is not well formed".to_owned())
        })?;
        let config = self.agent.configure_request(request).timeout_global(Some(left));
        let config = if is_near { config.proxy(None) } else { config };
        let response = self.agent.run(config.build()).map_err(|error| self.fault(error))?;
        let (head, body) = response.into_parts();
        Ok(HttpReply {
            status: head.status.as_u16(),
            headers: head.headers,
            body: Box::new(body.into_reader()),
            cancel: self.cancel.clone(),
            limit: self.limit,
        })
    }

    fn fault(&self, error: ureq::Error) -> HttpFault {
        fault_of(error, &self.cancel, self.limit)
    }
}

impl HttpReply {
    /// Returns a header as text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Tells whether what was asked for is at another address, that of the header `location`.
    pub fn is_elsewhere(&self) -> bool {
        matches!(self.status, 301 | 302 | 303 | 307 | 308)
    }

    /// Tells whether the reply calls itself by this type.
    pub fn is_of_type(&self, wanted: &str) -> bool {
        let found = self.header("content-type").unwrap_or_default();
        found.split(';').next().is_some_and(|found| found.trim().eq_ignore_ascii_case(wanted))
    }

    /// Reads the whole body.
    pub fn read_all(mut self, bytes_max: u64) -> Result<Vec<u8>, HttpFault> {
        let mut bytes = Vec::new();
        let read = self.body.by_ref().take(bytes_max + 1).read_to_end(&mut bytes);
        // A socket that was closed under the read looks like the end.
        if self.cancel.is_set() {
            return Err(HttpFault::Cancelled);
        }
        read.map_err(|error| fault_of(error.into(), &self.cancel, self.limit))?;
        if bytes.len() as u64 > bytes_max {
            return Err(HttpFault::TooLong(bytes_max));
        }
        Ok(bytes)
    }

    /// Reads the beginning of the body, whatever happens to the rest.
    pub fn read_beginning(mut self, bytes_max: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        // What came before a fault is as good as all.
        let _ = self.body.by_ref().take(bytes_max).read_to_end(&mut bytes);
        bytes
    }

    /// Hands out the body line by line, without the line breaks, until `next` says that it has
    /// enough.
    pub fn read_lines<E: From<HttpFault>>(
        mut self,
        bytes_max: u64,
        mut next: impl FnMut(&[u8]) -> Result<LineFlow, E>,
    ) -> Result<(), E> {
        let mut rest: Vec<u8> = Vec::new();
        let (mut chunk, mut n_read, mut searched) = ([0; 8 << 10], 0, 0);
        loop {
            while let Some(at) = rest[searched..].iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = rest.drain(..=searched + at).collect();
                searched = 0;
                let line = line.strip_suffix(b"\n").unwrap_or(&line);
                if next(line.strip_suffix(b"\r").unwrap_or(line))? == LineFlow::Enough {
                    return Ok(());
                }
            }
            searched = rest.len();
            let read = self.body.read(&mut chunk);
            if self.cancel.is_set() {
                return Err(HttpFault::Cancelled.into());
            }
            let n = read.map_err(|error| fault_of(error.into(), &self.cancel, self.limit))?;
            if n == 0 {
                if !rest.is_empty() {
                    next(&rest)?;
                }
                return Ok(());
            }
            n_read += n as u64;
            if n_read > bytes_max {
                return Err(HttpFault::TooLong(bytes_max).into());
            }
            rest.extend_from_slice(&chunk[..n]);
        }
    }
}

/// Whether more lines are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineFlow {
    More,
    Enough,
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "whatever else keeps an answer from coming is a fault on the way"
)]
fn fault_of(error: ureq::Error, cancel: &CancelFlag, limit: Duration) -> HttpFault {
    if cancel.is_set() {
        return HttpFault::Cancelled;
    }
    match error {
        ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
            HttpFault::Unreachable("no connection came about in time".to_owned())
        }
        ureq::Error::Timeout(_) => HttpFault::TimedOut(limit),
        ureq::Error::BadUri(_) | ureq::Error::Http(_) => HttpFault::Malformed(error.to_string()),
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => {
            HttpFault::Unreachable(error.to_string())
        }
        // Only whoever wants to connect is refused.
        ureq::Error::Io(error) if error.kind() == ErrorKind::ConnectionRefused => {
            HttpFault::Unreachable(error.to_string())
        }
        ureq::Error::Io(error) => HttpFault::Transport(error.to_string()),
        other => HttpFault::Transport(other.to_string()),
    }
}

/// Tells whether an address is on this machine, which no proxy can reach for us.
pub(crate) fn is_loopback(uri: &Uri) -> bool {
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Writes a text so that it can stand in a query or a form.
pub(crate) fn percent_encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}
