//! Secrets in texts, without their values.

use schemars::JsonSchema;
use serde::Serialize;

/// One secret of `agentic redact`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SecretView {
    /// The rule that found it.
    pub rule: String,
    /// Its first byte.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
}
