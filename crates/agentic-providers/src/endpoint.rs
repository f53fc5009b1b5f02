//! Agents that are HTTP endpoints: one value as the body of the request, one in the response.
//!
//! A call has a time limit and a bound on what may come back. Redirects are not followed: what is
//! meant for one address, a credential above all, goes to no other.

use std::io::Read as _;
use std::time::Duration;

use crate::executable::OUTPUT_BYTES_MAX;

/// The header with the key under which a call may be repeated.
const KEY_HEADER: &str = "idempotency-key";
/// The most bytes of the headers of a response.
const HEADER_BYTES_MAX: usize = 64 << 10;

/// What is sent where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The address.
    pub url: String,
    /// The method.
    pub method: String,
    /// The body, as JSON.
    pub body: Vec<u8>,
}

/// A call with what surrounds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The call.
    pub call: Call,
    /// The key under which it may be repeated.
    pub key: String,
    /// The headers that say who calls.
    pub headers: Vec<(String, String)>,
    /// How long it may take.
    pub limit: Duration,
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The other side answered.
    Said {
        /// With this status.
        status: u16,
        /// And this body.
        body: Vec<u8>,
    },
    /// It cannot be reached, broke off, or does not speak HTTP.
    Lost(String),
    /// It said more than [`OUTPUT_BYTES_MAX`].
    Flooded,
    /// The time was over.
    TimedOut,
}

/// A form, as authorization servers take it.
pub(crate) struct Form<'f> {
    /// The address.
    pub url: &'f str,
    /// What is filled in.
    pub fields: &'f [(&'f str, &'f str)],
    /// How long it may take.
    pub limit: Duration,
}

impl Form<'_> {
    /// Sends the form and waits for the reply.
    pub fn post(&self) -> Reply {
        let fields: Vec<String> = self
            .fields
            .iter()
            .map(|(name, value)| format!("{name}={}", percent_encoded(value)))
            .collect();
        let request = ureq::http::Request::builder()
            .method("POST")
            .uri(self.url)
            .header("content-type", "application/x-www-form-urlencoded")
            .header("accept", "application/json")
            .body(fields.join("&").into_bytes());
        match request {
            Ok(request) => outcome(send(request, self.limit)),
            Err(error) => Reply::Lost(error.to_string()),
        }
    }
}

impl Exchange {
    /// Makes the call and waits for its end.
    pub fn perform(&self) -> Reply {
        let Call { url, method, body } = &self.call;
        let mut request = ureq::http::Request::builder()
            .method(method.as_str())
            .uri(url.as_str())
            .header("content-type", "application/json")
            .header("accept", "application/json")
            .header(KEY_HEADER, &self.key);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        // A GET has no body: what it asks for stands in its address.
        let body = if method == "GET" { Vec::new() } else { body.clone() };
        match request.body(body) {
            Ok(request) => outcome(send(request, self.limit)),
            // The text of the error would name the header, and its value may be a secret.
            Err(_) => Reply::Lost("the call is not well formed".to_owned()),
        }
    }
}

fn outcome(sent: Result<Reply, ureq::Error>) -> Reply {
    match sent {
        Ok(reply) => reply,
        Err(ureq::Error::Timeout(_)) => Reply::TimedOut,
        Err(error) => Reply::Lost(error.to_string()),
    }
}

fn send(request: ureq::http::Request<Vec<u8>>, limit: Duration) -> Result<Reply, ureq::Error> {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .max_response_header_size(HEADER_BYTES_MAX)
        .timeout_global(Some(limit))
        .proxy(None)
        .user_agent(concat!("agentic/", env!("CARGO_PKG_VERSION")))
        .build();
    let mut response = config.new_agent().run(request)?;
    let status = response.status().as_u16();
    let mut said = Vec::new();
    let mut bounded = response.body_mut().as_reader().take(OUTPUT_BYTES_MAX as u64 + 1);
    if let Err(error) = bounded.read_to_end(&mut said) {
        return Ok(match error.kind() {
            std::io::ErrorKind::TimedOut => Reply::TimedOut,
            _ => Reply::Lost(error.to_string()),
        });
    }
    let is_flood = said.len() > OUTPUT_BYTES_MAX;
    Ok(if is_flood { Reply::Flooded } else { Reply::Said { status, body: said } })
}

/// Writes a text so that it can stand in a query or a form.
pub(crate) fn percent_encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
