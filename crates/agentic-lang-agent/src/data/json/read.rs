//! Reading JSON.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use agentic_model::json::reader::{
    HalfPairs, JsonReadFault, JsonReason, ReaderOptions, Scalar, Sink, read,
};

use crate::data::json::DataJsonError;
use crate::data::{Data, TooLarge, VALUE_DEPTH_MAX, parse_literal};

const OPTIONS: ReaderOptions = ReaderOptions {
    nesting_max: VALUE_DEPTH_MAX as usize,
    values_max: usize::MAX,
    half_pairs: HalfPairs::Refuse,
};

/// Reads a value. Of a key that occurs twice the last value counts.
///
/// # Errors
/// Fails on anything that is not JSON, on numbers that are not finite, on lone surrogates, and on
/// values beyond the limits.
pub fn from_text(text: &str) -> Result<Data, DataJsonError> {
    read(text, OPTIONS, DataSink).map_err(error)
}

/// Builds the values of programs.
struct DataSink;

impl<'t> Sink<'t> for DataSink {
    type Value = Data;
    type Key = Arc<str>;
    type Members = ReadFields;

    fn scalar(&mut self, scalar: Scalar<'t>) -> Result<Data, JsonReason> {
        Ok(match scalar {
            Scalar::Null => Data::Null,
            Scalar::Bool(truth) => Data::Bool(truth),
            Scalar::Number(literal) => {
                return parse_literal(literal).ok_or(JsonReason::NumberOutOfRange);
            }
            Scalar::Text(text) => Data::text(text),
        })
    }

    fn list(&mut self, items: Vec<Data>) -> Result<Data, JsonReason> {
        Data::list(items).map_err(|TooLarge| JsonReason::TooLarge)
    }

    fn key(&mut self, text: Cow<'t, str>) -> Arc<str> {
        text.into()
    }

    fn member(&mut self, fields: &mut ReadFields, name: Arc<str>, value: Data) {
        fields.put(name, value);
    }

    fn object(&mut self, fields: ReadFields) -> Result<Data, JsonReason> {
        Data::object(fields.list).map_err(|TooLarge| JsonReason::TooLarge)
    }
}

/// Puts a fault into the words that programs have always been given. They count the byte that is
/// wrong as read where an escape or the next entry is expected.
fn error(fault: JsonReadFault) -> DataJsonError {
    let (read, reason) = match fault.reason {
        JsonReason::TooDeep | JsonReason::TooLarge => return DataJsonError::TooLarge,
        JsonReason::ValueMissing | JsonReason::NotAValue => (0, "no value starts here"),
        JsonReason::KeyExpected => (0, "expected a key"),
        JsonReason::ColonExpected => (0, "expected `:`"),
        JsonReason::ListGoesOn => (1, "expected `,` or `]`"),
        JsonReason::ObjectGoesOn => (1, "expected `,` or `}`"),
        JsonReason::TrailingText => (0, "something follows the value"),
        JsonReason::NotANumber | JsonReason::FractionMissing | JsonReason::ExponentMissing => {
            (0, "not a number")
        }
        JsonReason::NumberOutOfRange => (0, "the number is out of range"),
        JsonReason::TextOpen => (0, "a text has no end"),
        JsonReason::ControlCharacter => (0, "a control character in a text"),
        JsonReason::EscapeMissing | JsonReason::EscapeUnknown => (1, "no such escape"),
        JsonReason::EscapeDigits => (0, "an escape needs four hexadecimal digits"),
        JsonReason::HalfPair => (0, "half of a surrogate pair"),
    };
    DataJsonError::Syntax { at: fault.at + read, reason }
}

/// Objects with fewer fields than this are searched from the front.
const SHORT_OBJECT: usize = 16;

/// Fields as they are read.
#[derive(Default)]
struct ReadFields {
    list: Vec<(Arc<str>, Data)>,
    places: HashMap<Arc<str>, usize>,
}

impl ReadFields {
    fn put(&mut self, name: Arc<str>, value: Data) {
        if let Some(at) = self.find(&name) {
            self.list[at].1 = value;
            return;
        }
        if self.list.len() >= SHORT_OBJECT {
            if self.places.is_empty() {
                let names = self.list.iter().enumerate();
                self.places = names.map(|(at, (name, _))| (name.clone(), at)).collect();
            }
            self.places.insert(name.clone(), self.list.len());
        }
        self.list.push((name, value));
    }

    fn find(&self, name: &str) -> Option<usize> {
        if self.list.len() <= SHORT_OBJECT {
            return self.list.iter().position(|(field, _)| &**field == name);
        }
        self.places.get(name).copied()
    }
}
