//! JSON text to values.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use agentic_model::json::reader::{Fault, HalfPairs, ReaderOptions, Reason, Scalar, Sink, read};

use super::{JSON_NESTING_MAX, Json, Ordered};

/// Why a text is not JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not JSON at byte {at}: {reason}")]
pub struct JsonFault {
    /// The byte at which reading stopped.
    pub at: usize,
    /// What is wrong there.
    pub reason: &'static str,
}

/// Parses one JSON value (RFC 8259). A key that comes twice keeps its first place and its last
/// value; half of a surrogate pair becomes U+FFFD.
///
/// # Errors
/// Fails on anything else, and on nesting above [`JSON_NESTING_MAX`].
pub fn parse(text: &str) -> Result<Json, JsonFault> {
    parse_within(text, JSON_NESTING_MAX)
}

/// Parses one JSON value that may nest so deep.
pub(crate) fn parse_within(text: &str, nesting_max: usize) -> Result<Json, JsonFault> {
    let options = ReaderOptions { nesting_max, half_pairs: HalfPairs::Replace };
    read(text, options, JsonSink::default())
        .map_err(|Fault { at, reason }| JsonFault { at, reason: words(reason) })
}

/// Builds the values of the language.
#[derive(Default)]
struct JsonSink<'t> {
    /// Keys seen so far: those of many alike objects share one allocation.
    keys: BTreeMap<&'t str, Arc<str>>,
}

impl<'t> Sink<'t> for JsonSink<'t> {
    type Value = Json;
    type Key = Arc<str>;
    type Members = Ordered<Json>;

    fn scalar(&mut self, scalar: Scalar<'t>) -> Result<Json, Reason> {
        Ok(match scalar {
            Scalar::Null => Json::Null,
            Scalar::Bool(truth) => Json::Bool(truth),
            Scalar::Number(literal) => {
                Json::Number(literal.parse().map_err(|_| Reason::NotANumber)?)
            }
            Scalar::Text(text) => Json::Text(text.into()),
        })
    }

    fn list(&mut self, items: Vec<Json>) -> Result<Json, Reason> {
        Ok(Json::List(items))
    }

    fn key(&mut self, text: Cow<'t, str>) -> Arc<str> {
        const SHARED_MAX: usize = 1024;
        let Cow::Borrowed(key) = text else { return text.into() };
        if let Some(shared) = self.keys.get(key) {
            return shared.clone();
        }
        let shared: Arc<str> = key.into();
        if self.keys.len() < SHARED_MAX {
            self.keys.insert(key, shared.clone());
        }
        shared
    }

    fn member(&mut self, entries: &mut Ordered<Json>, key: Arc<str>, item: Json) {
        entries.set(key, item);
    }

    fn object(&mut self, entries: Ordered<Json>) -> Result<Json, Reason> {
        Ok(Json::Object(entries))
    }
}

/// Returns the words that programs have always been given.
fn words(reason: Reason) -> &'static str {
    match reason {
        Reason::ValueMissing => "the text ends where a value is expected",
        Reason::NotAValue => "no value begins like this",
        Reason::KeyExpected => "a key in quotation marks is expected",
        Reason::ColonExpected => "a colon is expected",
        Reason::ListGoesOn | Reason::ObjectGoesOn => {
            "a comma or the end of the container is expected"
        }
        Reason::TrailingText => "the value is followed by more",
        Reason::TooDeep => "it nests too deeply",
        Reason::NotANumber => "a number is not well formed",
        Reason::FractionMissing => "digits are expected after the point",
        Reason::ExponentMissing => "digits are expected in the exponent",
        Reason::TextOpen => "a text is not closed",
        Reason::ControlCharacter => "a control character stands in a text",
        Reason::EscapeMissing => "an escape sequence is not complete",
        Reason::EscapeUnknown => "there is no such escape sequence",
        Reason::EscapeDigits => "four hexadecimal digits are expected",
        Reason::TooLarge | Reason::NumberOutOfRange | Reason::HalfPair => {
            unreachable!("BUG: values of this language have room for everything")
        }
    }
}
