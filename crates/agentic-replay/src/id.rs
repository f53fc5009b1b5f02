//! The ids of sessions and of records.

use std::fmt;

use agentic_model::{AgentName, Cid};

use crate::digest::{digest, length_of};
use crate::{RequestId, Seed};

const SESSION_DOMAIN: &[u8] = b"agentic session id 1\0";
const SEED_DOMAIN: &str = "agentic session seed 1";
const FORK_DOMAIN: &[u8] = b"agentic fork seed 1\0";

/// How many hexadecimal digits of an id its short form has.
const SHORT_DIGITS: usize = 12;

/// The id of a session: the same for the same agent, flow, input and start key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId([u8; 32]);

/// The hash of a record, which the next one names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordHash([u8; 32]);

impl SessionId {
    /// Derives the id.
    pub fn derive(agent: &AgentName, flow: &Cid, input: &Cid, key: &str) -> SessionId {
        let (flow, input) = (flow.to_bytes(), input.to_bytes());
        let parts = [agent.as_str().as_bytes(), &flow, &input, key.as_bytes()];
        let lengths = parts.map(length_of);
        let framed = lengths.iter().zip(parts).flat_map(|(length, part)| [length.as_slice(), part]);
        let pieces: Vec<&[u8]> = std::iter::once(SESSION_DOMAIN).chain(framed).collect();
        SessionId(digest(&pieces))
    }

    /// Takes the 32 bytes of a recorded id.
    pub fn from_bytes(bytes: [u8; 32]) -> SessionId {
        SessionId(bytes)
    }

    /// Parses the printed form, whole.
    pub fn parse(text: &str) -> Option<SessionId> {
        let hash = blake3::Hash::from_hex(text).ok()?;
        let id = SessionId(*hash.as_bytes());
        (id.to_string() == text).then_some(id)
    }

    /// Returns the 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the first digits, as people see them.
    pub fn short(&self) -> String {
        self.to_string()[..SHORT_DIGITS].to_owned()
    }

    /// Prints the id of one of the session's requests so that it leads to the session:
    /// `<session>.<request>`, both short.
    pub fn short_request(&self, request: &RequestId) -> String {
        format!("{}.{}", self.short(), &request.to_string()[..SHORT_DIGITS])
    }

    /// Derives the seed of a session that is given none.
    pub fn seed(&self) -> Seed {
        Seed(blake3::derive_key(SEED_DOMAIN, &self.0))
    }
}

impl Seed {
    /// Mixes the id of a fork in: its randomness beyond the cut.
    pub fn forked(&self, fork: &SessionId) -> Seed {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(FORK_DOMAIN);
        hasher.update(fork.as_bytes());
        Seed(*hasher.finalize().as_bytes())
    }
}

impl RecordHash {
    /// What the first record of a chain names as the one before.
    pub const NONE: RecordHash = RecordHash([0; 32]);

    /// Takes the 32 bytes of a recorded hash.
    pub fn from_bytes(bytes: [u8; 32]) -> RecordHash {
        RecordHash(bytes)
    }

    /// Returns the 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for RecordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for RecordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
