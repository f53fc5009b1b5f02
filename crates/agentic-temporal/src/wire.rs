//! What crosses the server: the input of a run, what activities are asked and answer, decisions.
//!
//! Everything is JSON, so that people can read a history. A value that JSON would not give back as it is
//! crosses as its canonical bytes.

mod answer;
mod effect;
mod signal;
mod start;
mod value;

pub use self::answer::{EffectReply, LostReply, WireAnswer, source_of};
pub use self::effect::{EffectAsk, EffectCall};
pub use self::signal::{heard, told};
pub use self::start::{ChildAsk, RunInput, RunPace, SealedPoint, ServedTerms, WireStart};
pub use self::value::{WireValue, packed, unpacked};

/// Something that crossed the server is not what was sent.
#[derive(Debug, thiserror::Error)]
#[error("the server holds no {what} that can be read")]
pub struct BadWire {
    /// What was expected.
    pub what: &'static str,
}

/// Returns the beginning of an id, as people see it.
pub fn short(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}

#[cfg(test)]
mod tests;
