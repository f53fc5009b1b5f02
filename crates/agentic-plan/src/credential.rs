//! Secrets that never enter a program: what stands for them, and how they are masked.
//!
//! A program, its plan, its journal and its traces only ever see a [`placeholder`]. Whoever sends
//! a request puts the secret in at the last moment and masks it in what comes back with a
//! [`Redactor`].

use std::fmt;

use agentic_model::{Cid, Value};

/// The shortest secret that is masked inside texts; a shorter one would mask ordinary words.
pub const MASKED_BYTES_MIN: usize = 6;
/// What every placeholder begins with.
const PLACEHOLDER_PREFIX: &str = "secret-";

/// A secret. It has no printed form.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a secret.
    pub fn new(secret: impl Into<String>) -> Secret {
        Secret(secret.into())
    }

    /// Returns the secret, for the moment of sending.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Why a credential cannot be had. None of these is worth another attempt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CredentialError {
    /// Nobody stored a credential for this identity.
    #[error("there is no credential of `{identity}` for `{provider}`")]
    MissingCredential {
        /// Who acts.
        identity: String,
        /// Where.
        provider: String,
    },
    /// A call acts in somebody's name, and nobody's was given.
    #[error("`{provider}` acts in somebody's name, and the run was started in nobody's")]
    MissingIdentity {
        /// Where.
        provider: String,
    },
    /// Others than its owner may read the file.
    #[error("the file `{path}` can be read by others than its owner")]
    InsecureCredentialFile {
        /// The file.
        path: String,
    },
    /// An answer to an authorization does not belong to the question.
    #[error("the answer to the authorization does not belong to the question")]
    CsrfViolation,
    /// Nobody answered an authorization in time.
    #[error("nobody answered the authorization in time")]
    CallbackTimeout,
}

impl CredentialError {
    /// Returns the code of the failure that programs see.
    pub fn code(&self) -> &'static str {
        match self {
            CredentialError::MissingCredential { .. } => "MissingCredential",
            CredentialError::MissingIdentity { .. } => "MissingIdentity",
            CredentialError::InsecureCredentialFile { .. } => "InsecureCredentialFile",
            CredentialError::CsrfViolation => "CsrfViolation",
            CredentialError::CallbackTimeout => "CallbackTimeout",
        }
    }
}

/// Returns what stands for a secret in one session: the same whenever it is replayed, and nothing
/// that could be turned back.
pub fn placeholder(name: &str, session: &str) -> String {
    let text = format!("{}:{name}{}:{session}", name.len(), session.len());
    let digest = Cid::of(text.as_bytes());
    let hex: String = digest.digest()[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{PLACEHOLDER_PREFIX}{hex}")
}

/// Masks secrets in texts and values, each with the placeholder that stands for it.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    /// Longest first, so that a secret inside another does not tear it apart.
    masks: Vec<(Secret, String)>,
}

impl Redactor {
    /// Takes secrets with their placeholders. One shorter than [`MASKED_BYTES_MIN`] is masked only
    /// where it is the whole of a text.
    pub fn new(secrets: impl IntoIterator<Item = (Secret, String)>) -> Redactor {
        let mut masks: Vec<(Secret, String)> =
            secrets.into_iter().filter(|(secret, _)| !secret.0.is_empty()).collect();
        masks.sort_by(|(left, _), (right, _)| {
            right.0.len().cmp(&left.0.len()).then_with(|| left.0.cmp(&right.0))
        });
        Redactor { masks }
    }

    /// Masks every secret in a text.
    pub fn text(&self, text: &str) -> String {
        let mut masked = text.to_owned();
        for (secret, mask) in &self.masks {
            let is_long = secret.0.len() >= MASKED_BYTES_MIN;
            if masked == secret.0 {
                return mask.clone();
            }
            if is_long && masked.contains(secret.expose()) {
                masked = masked.replace(secret.expose(), mask);
            }
        }
        masked
    }

    /// Masks every secret in the texts, bytes and keys of a value.
    pub fn value(&self, value: &Value) -> Value {
        match value {
            Value::Text(text) => Value::Text(self.text(text)),
            Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Value::Bytes(self.text(text).into_bytes()),
                Err(_) => Value::Bytes(self.bytes(bytes)),
            },
            Value::List(items) => Value::List(items.iter().map(|item| self.value(item)).collect()),
            Value::Map(map) => Value::Map(
                map.iter().map(|(key, item)| (self.text(key), self.value(item))).collect(),
            ),
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Link(_) => {
                value.clone()
            }
        }
    }

    /// Masks secrets in bytes that are no text.
    fn bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let mut masked = bytes.to_vec();
        let long = self.masks.iter().filter(|(secret, _)| secret.0.len() >= MASKED_BYTES_MIN);
        for (secret, mask) in long {
            let needle = secret.0.as_bytes();
            let mut out = Vec::with_capacity(masked.len());
            let mut rest = masked.as_slice();
            while let Some(at) = rest.windows(needle.len()).position(|part| part == needle) {
                out.extend_from_slice(&rest[..at]);
                out.extend_from_slice(mask.as_bytes());
                rest = &rest[at + needle.len()..];
            }
            out.extend_from_slice(rest);
            masked = out;
        }
        masked
    }
}
