//! What was found where: never the value itself.

use std::fmt;

/// The name of a rule: lower-case letters, digits and `-`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(pub(crate) Box<str>);

impl RuleId {
    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How something was found. The first layer in this order names a place that several find.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RedactLayer {
    /// It is a value that the user's own files or environment hold.
    KnownValue,
    /// It is the block of a private key.
    PrivateKey,
    /// It has the form of a provider's secrets.
    Provider,
    /// It stands where secrets stand: in an address, a header, an option, beside a name.
    Context,
    /// It looks random.
    Entropy,
}

impl RedactLayer {
    /// Returns the layer's name.
    pub fn as_str(self) -> &'static str {
        match self {
            RedactLayer::KnownValue => "known-value",
            RedactLayer::PrivateKey => "private-key",
            RedactLayer::Provider => "provider",
            RedactLayer::Context => "context",
            RedactLayer::Entropy => "entropy",
        }
    }
}

/// A place in a text where a secret stands, in bytes of the text as it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretFinding {
    /// Which rule found it.
    pub rule: RuleId,
    /// How.
    pub layer: RedactLayer,
    /// Its first byte.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
}
