//! What an error says of itself to whoever asked: its class, why, and what to do next.
//!
//! A library error that a user may see implements [`Guidance`] beside its variants, so that every
//! surface (command line, page, MCP) refuses with the same class and the same words.

use std::borrow::Cow;
use std::error::Error;

/// What kind of refusal an error is. Each class has one exit code and one word, used alike by all
/// verbs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ErrorClass {
    /// Refused or failed.
    Refused,
    /// Asked for in a way that makes no sense.
    Usage,
    /// Somebody was faster, or two changes exclude each other.
    Conflict,
    /// A program does something else than was recorded.
    Diverged,
    /// Something stored is damaged.
    Corrupt,
    /// A value does not fit its schema.
    Schema,
    /// Decided already.
    Decided,
    /// The one who asks may not do it.
    NotAllowed,
    /// An engine cannot be reached.
    Unreachable,
    /// It is too late.
    Expired,
}

impl ErrorClass {
    /// Returns the exit code of a command that ends so.
    pub const fn exit_code(self) -> u8 {
        match self {
            ErrorClass::Refused => 1,
            ErrorClass::Usage => 2,
            ErrorClass::Conflict => 3,
            ErrorClass::Diverged => 5,
            ErrorClass::Corrupt => 6,
            ErrorClass::Schema => 7,
            ErrorClass::Decided => 8,
            ErrorClass::NotAllowed => 9,
            ErrorClass::Unreachable => 11,
            ErrorClass::Expired => 12,
        }
    }

    /// Returns the word for it, as JSON has it.
    pub const fn word(self) -> &'static str {
        match self {
            ErrorClass::Refused => "refused",
            ErrorClass::Usage => "usage",
            ErrorClass::Conflict => "conflict",
            ErrorClass::Diverged => "diverged",
            ErrorClass::Corrupt => "corrupt",
            ErrorClass::Schema => "schema",
            ErrorClass::Decided => "already-decided",
            ErrorClass::NotAllowed => "not-allowed",
            ErrorClass::Unreachable => "unreachable",
            ErrorClass::Expired => "expired",
        }
    }
}

/// An error that knows its class and what the one who asked can do about it.
pub trait Guidance: Error {
    /// Returns what kind of refusal it is.
    fn class(&self) -> ErrorClass;

    /// Says what to do next.
    fn hint(&self) -> Cow<'static, str>;

    /// Says why, where the error's own words do not.
    fn because(&self) -> Option<String> {
        self.source().map(chain)
    }
}

/// Tells an error with everything that led to it.
pub fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        let said = error.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        next = error.source();
    }
    text
}

/// Says what an ambiguous name could mean.
pub fn any_of(candidates: &[String]) -> String {
    format!("it could be {}", candidates.join(", "))
}
