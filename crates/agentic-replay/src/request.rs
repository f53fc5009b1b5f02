//! What a program asks of the world.

use std::fmt;
use std::sync::Arc;

use agentic_model::canonical::{self, CanonicalError};
use agentic_model::{Cid, Instant, Value};

use crate::Path;
use crate::digest::{digest, length_of};

/// Keeps request hashes apart from every other hash of the product.
const HASH_DOMAIN: &[u8] = b"agentic request 1\0";
/// Keeps request ids apart from every other hash of the product.
const ID_DOMAIN: &[u8] = b"agentic request id 1\0";

/// The kind of a request that waits for an instant. Hosts answer it themselves.
pub const SLEEP: &str = "sleep";

/// The kind of a request in place of a scope that need not be run again. Replays answer it with the
/// result of the scope; it is never recorded.
pub const SCOPE: &str = "sys.scope";
/// The kind of a request that asks whether the run knows a change of its program: `true` where it
/// is recorded, `false` where records go on without it.
pub const PATCH: &str = "sys.patch";
/// What the kinds begin with that no program may ask for by name.
pub const RESERVED: &str = "sys.";

/// One contact with the world.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Where in the program it stands.
    pub path: Path,
    /// What sort of effect it asks for, such as `exec`, `hold`, `sleep` or `model`.
    pub kind: String,
    /// The data of the effect. Must have a canonical form.
    pub payload: Value,
    /// The schema of the answer, where one is pinned. Part of the hash.
    pub schema: Option<Cid>,
    /// How long the effect may take, in milliseconds. Not part of the hash.
    pub timeout_ms: Option<u64>,
    /// Where in the source the request was made. Not part of the hash.
    pub position: Option<ProgramPosition>,
    /// The object that the request is made for, such as the plan it is a node of. Not part of the
    /// hash, so that a program that was changed elsewhere still asks the same.
    pub origin: Option<Arc<Cid>>,
}

/// A place in a source text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProgramPosition {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

/// What a crash may do to an effect, and so what recovery must do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EffectClass {
    /// No effect at all: computed again.
    Pure,
    /// Only reads: performed again.
    Read,
    /// Repeating it with the same key changes nothing: performed again under the same key.
    Idempotent,
    /// May happen once at most: a crash in between becomes a question to a human.
    Once,
}

/// The hash of what is asked, compared on replay before a recorded answer is used.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestHash([u8; 32]);

/// The id of one request of one session; the same wherever and however often it is replayed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId([u8; 32]);

impl Request {
    /// Makes a request without schema, time limit, position or origin.
    pub fn new(path: Path, kind: impl Into<String>, payload: Value) -> Request {
        Request {
            path,
            kind: kind.into(),
            payload,
            schema: None,
            timeout_ms: None,
            position: None,
            origin: None,
        }
    }

    /// Makes a request that waits until an instant, which is recorded, so that a pause neither
    /// restarts nor drifts when its run is taken up again. It is answered with `Null`.
    pub fn sleep(path: Path, until: Instant) -> Request {
        Request::new(path, SLEEP, Value::map([("until", Value::Int(until.millis()))]))
    }

    /// Returns the instant that a request made by [`Request::sleep`] waits for.
    pub fn sleeps_until(&self) -> Option<Instant> {
        sleep_until(&self.kind, &self.payload)
    }

    /// Hashes kind, schema and canonical payload.
    ///
    /// # Errors
    /// Fails when the payload has no canonical form.
    pub fn hash(&self) -> Result<RequestHash, CanonicalError> {
        Ok(self.hash_with(&canonical::encode(&self.payload)?))
    }

    /// Hashes the request, given the canonical bytes of its payload.
    pub(crate) fn hash_with(&self, payload: &[u8]) -> RequestHash {
        let (kind, schema) = (self.kind.as_bytes(), self.schema.map(|cid| cid.to_bytes()));
        let schema = schema.unwrap_or_default();
        let lengths = [kind, &schema, payload].map(length_of);
        let [of_kind, of_schema, of_payload] = &lengths;
        RequestHash(digest(&[HASH_DOMAIN, of_kind, kind, of_schema, &schema, of_payload, payload]))
    }
}

impl RequestHash {
    /// Takes the 32 bytes of a recorded hash.
    pub fn from_bytes(bytes: [u8; 32]) -> RequestHash {
        RequestHash(bytes)
    }

    /// Returns the 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl RequestId {
    /// Derives the id from session, path and request hash.
    pub fn derive(session: &str, path: &Path, hash: &RequestHash) -> RequestId {
        let (session, path) = (session.as_bytes(), path.as_str().as_bytes());
        let [of_session, of_path] = &[session, path].map(length_of);
        RequestId(digest(&[ID_DOMAIN, of_session, session, of_path, path, hash.as_bytes()]))
    }

    /// Parses the printed form, whole.
    pub fn parse(text: &str) -> Option<RequestId> {
        let id = RequestId(*blake3::Hash::from_hex(text).ok()?.as_bytes());
        (id.to_string() == text).then_some(id)
    }

    /// Takes the 32 bytes of a recorded id.
    pub fn from_bytes(bytes: [u8; 32]) -> RequestId {
        RequestId(bytes)
    }

    /// Returns the 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Writes the first half as a UUID of version 8: what effects name what they make by, so that
    /// a repetition makes the same.
    pub fn uuid(&self) -> String {
        let mut bytes: [u8; 16] = self.0[..16].try_into().expect("16 of 32 bytes");
        bytes[6] = (bytes[6] & 0x0f) | 0x80;
        bytes[8] = (bytes[8] & 0x3f) | 0x80;
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let [first, second, third, fourth, last] =
            [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &digits[part]);
        format!("{first}-{second}-{third}-{fourth}-{last}")
    }
}

impl fmt::Display for RequestHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for RequestHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Returns the instant that a request of this kind and data waits for, if it is a pause.
pub(crate) fn sleep_until(kind: &str, payload: &Value) -> Option<Instant> {
    let until = payload.get("until").filter(|_| kind == SLEEP)?;
    until.as_int().map(Instant::from_millis)
}
