//! How many tokens a call took, as far as anybody can believe what the model told.
//!
//! Servers are others' programs: what they count may be negative, broken, huge, or no number at all. That is
//! no reason to lose a reply. It is kept as what it is, a count that nobody can believe.

use agentic_model::Value;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// How many tokens a call has at most. More are absurd.
pub const TOKENS_MAX: i64 = 1_000_000_000_000;
/// What stands for a count that nobody can believe: there is no such count.
const ABSURD: i64 = -1;

/// How many tokens a call took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenUsage {
    /// Those of the prompt.
    pub input_tokens: TokenCount,
    /// Those of the reply.
    pub output_tokens: TokenCount,
}

/// A number of tokens, as a model told it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenCount {
    /// So many.
    Told(u64),
    /// Something that is no number of tokens.
    Absurd,
}

impl TokenUsage {
    /// Counts tokens of which we know how many there were.
    pub fn of(input_tokens: u64, output_tokens: u64) -> TokenUsage {
        let [input_tokens, output_tokens] = [input_tokens, output_tokens].map(TokenCount::Told);
        TokenUsage { input_tokens, output_tokens }
    }
}

impl TokenCount {
    /// Returns it as it is recorded.
    pub fn value(self) -> Value {
        match self {
            TokenCount::Told(tokens) => Value::Int(i64::try_from(tokens).unwrap_or(ABSURD)),
            TokenCount::Absurd => Value::Int(ABSURD),
        }
    }

    /// Reads one from its text in JSON. A whole number may be written as a fraction, and none is zero.
    fn of_text(text: &str) -> TokenCount {
        let most = TOKENS_MAX.unsigned_abs();
        if text == "null" {
            return TokenCount::Told(0);
        }
        let whole = text.parse::<u64>().ok();
        let fraction = || text.parse::<f64>().ok().filter(|it| it.fract() == 0.0 && *it >= 0.0);
        let whole = whole.or_else(|| Some(fraction().filter(|it| *it <= most as f64)? as u64));
        whole.filter(|it| *it <= most).map_or(TokenCount::Absurd, TokenCount::Told)
    }
}

impl Default for TokenCount {
    fn default() -> TokenCount {
        TokenCount::Told(0)
    }
}

impl<'de> Deserialize<'de> for TokenCount {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<TokenCount, D::Error> {
        Ok(TokenCount::of_text(Box::<RawValue>::deserialize(input)?.get()))
    }
}

/// Reads what a model told of a call, in the words of its protocol; an error where it told something else
/// than a map.
pub(super) fn told_counts<C: DeserializeOwned>(told: &RawValue) -> Result<C, AbsurdUsage> {
    // A list would be read as the fields in their order.
    let map = Some(told.get()).filter(|told| told.starts_with('{'));
    map.and_then(|map| serde_json::from_str(map).ok()).ok_or(AbsurdUsage)
}

/// What a model told of a call is no map of counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct AbsurdUsage;

impl From<AbsurdUsage> for TokenUsage {
    fn from(_: AbsurdUsage) -> TokenUsage {
        TokenUsage { input_tokens: TokenCount::Absurd, output_tokens: TokenCount::Absurd }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_of_tokens_is_recorded_as_less_than_nothing() {
        for (told, wanted) in [
            ("0", 0),
            ("7", 7),
            ("7.0", 7),
            ("1e3", 1_000),
            ("null", 0),
            ("1000000000000", TOKENS_MAX),
            ("1000000000001", ABSURD),
            ("9007199254740993", ABSURD),
            ("18446744073709551616", ABSURD),
            ("1e999", ABSURD),
            ("-1", ABSURD),
            ("-0.5", ABSURD),
            ("1.5", ABSURD),
            ("\"7\"", ABSURD),
            ("\"NaN\"", ABSURD),
            ("true", ABSURD),
            ("[7]", ABSURD),
        ] {
            let count: TokenCount = serde_json::from_str(told).expect("it is JSON");
            assert_eq!(count.value(), Value::Int(wanted), "{told}");
        }
    }
}
