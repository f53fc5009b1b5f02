//! JSON text to values.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use agentic_model::json::reader::{
    HalfPairs, JsonReadFault, JsonReason, ReaderOptions, Scalar, Sink, read,
};

use super::{JSON_NESTING_MAX, Json, OrderedMap};

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
    let options =
        ReaderOptions { nesting_max, values_max: usize::MAX, half_pairs: HalfPairs::Replace };
    read(text, options, JsonSink::default())
        .map_err(|JsonReadFault { at, reason }| JsonFault { at, reason: words(reason) })
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
    type Members = OrderedMap<Json>;

    fn scalar(&mut self, scalar: Scalar<'t>) -> Result<Json, JsonReason> {
        Ok(match scalar {
            Scalar::Null => Json::Null,
            Scalar::Bool(truth) => Json::Bool(truth),
            Scalar::Number(literal) => {
                Json::Number(literal.parse().map_err(|_| JsonReason::NotANumber)?)
            }
            Scalar::Text(text) => Json::Text(text.into()),
        })
    }

    fn list(&mut self, items: Vec<Json>) -> Result<Json, JsonReason> {
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

    fn member(&mut self, entries: &mut OrderedMap<Json>, key: Arc<str>, item: Json) {
        entries.set(key, item);
    }

    fn object(&mut self, entries: OrderedMap<Json>) -> Result<Json, JsonReason> {
        Ok(Json::Object(entries))
    }
}

/// Returns the words that programs have always been given.
fn words(reason: JsonReason) -> &'static str {
    match reason {
        JsonReason::ValueMissing => "the text ends where a value is expected",
        JsonReason::NotAValue => "no value begins like this",
        JsonReason::KeyExpected => "a key in quotation marks is expected",
        JsonReason::ColonExpected => "a colon is expected",
        JsonReason::ListGoesOn | JsonReason::ObjectGoesOn => {
            "a comma or the end of the container is expected"
        }
        JsonReason::TrailingText => "the value is followed by more",
        JsonReason::TooDeep => "it nests too deeply",
        JsonReason::NotANumber => "a number is not well formed",
        JsonReason::FractionMissing => "digits are expected after the point",
        JsonReason::ExponentMissing => "digits are expected in the exponent",
        JsonReason::TextOpen => "a text is not closed",
        JsonReason::ControlCharacter => "a control character stands in a text",
        JsonReason::EscapeMissing => "an escape sequence is not complete",
        JsonReason::EscapeUnknown => "there is no such escape sequence",
        JsonReason::EscapeDigits => "four hexadecimal digits are expected",
        JsonReason::TooLarge | JsonReason::NumberOutOfRange | JsonReason::HalfPair => {
            unreachable!("BUG: values of this language have room for everything")
        }
    }
}
