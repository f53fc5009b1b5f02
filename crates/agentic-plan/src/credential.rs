//! Secrets that never enter a program: what stands for them, and how they are masked.
//!
//! A program, its plan, its journal and its traces only ever see a [`placeholder`]. Whoever sends
//! a request puts the secret in at the last moment and masks it in what comes back with a
//! [`Redactor`](crate::Redactor).

use std::fmt;

use agentic_model::Cid;

/// The shortest secret that is masked inside texts; a shorter one would mask ordinary words.
pub const MASKED_BYTES_MIN: usize = 6;
/// What every placeholder begins with.
const PLACEHOLDER_PREFIX: &str = "secret-";

/// A secret. It has no printed form.
#[derive(Clone, PartialEq, Eq)]
pub struct CredentialSecret(String);

impl CredentialSecret {
    /// Takes a secret.
    pub fn new(secret: impl Into<String>) -> CredentialSecret {
        CredentialSecret(secret.into())
    }

    /// Returns the secret, for the moment of sending.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for CredentialSecret {
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
