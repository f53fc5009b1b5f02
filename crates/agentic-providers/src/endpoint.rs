//! Agents that are HTTP endpoints: one value as the body of the request, one in the response.
//!
//! A call has a time limit and a bound on what may come back, and is interrupted when nobody waits
//! for it. It is made once: whether it may be made again is for the program to say.

use std::time::Duration;

use crate::executable::OUTPUT_BYTES_MAX;
use crate::host::CancelFlag;
use crate::http::{Client, HttpFault, HttpMessage};

/// The header with the key under which a call may be repeated.
const KEY_HEADER: &str = "idempotency-key";

/// What is sent where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointCall {
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
    pub call: EndpointCall,
    /// The key under which it may be repeated.
    pub key: String,
    /// The headers that say who calls.
    pub headers: Vec<(String, String)>,
    /// How long it may take.
    pub limit: Duration,
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndpointReply {
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
    /// It was interrupted: nobody waits for it any more.
    Stopped,
}

impl Exchange {
    /// Makes the call and waits for its end, or until `cancel`.
    pub fn perform(&self, cancel: &CancelFlag) -> EndpointReply {
        self.send(cancel).unwrap_or_else(|fault| match fault {
            HttpFault::Malformed(reason)
            | HttpFault::Unreachable(reason)
            | HttpFault::Transport(reason) => EndpointReply::Lost(reason),
            HttpFault::TimedOut(_) => EndpointReply::TimedOut,
            HttpFault::Cancelled => EndpointReply::Stopped,
            HttpFault::TooLong(_) => EndpointReply::Flooded,
        })
    }

    fn send(&self, cancel: &CancelFlag) -> Result<EndpointReply, HttpFault> {
        let EndpointCall { url, method, body } = &self.call;
        let own = [
            ("content-type", "application/json"),
            ("accept", "application/json"),
            (KEY_HEADER, self.key.as_str()),
        ];
        let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let headers: Vec<(String, String)> =
            own.into_iter().chain(self.headers.iter().cloned()).collect();
        // A GET has no body: what it asks for stands in its address.
        let body = (method != "GET").then_some(body.as_slice());
        let message = HttpMessage { method, url, headers: &headers, body };
        let received = Client::new(self.limit, cancel).send(&message)?;
        let status = received.status;
        let body = received.read_all(OUTPUT_BYTES_MAX as u64)?;
        Ok(EndpointReply::Said { status, body })
    }
}
