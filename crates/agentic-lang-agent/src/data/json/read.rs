//! Reading JSON.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use agentic_model::json::reader::{Fault, HalfPairs, ReaderOptions, Reason, Scalar, Sink, read};

use crate::data::json::JsonError;
use crate::data::{Data, TooLarge, VALUE_DEPTH_MAX, parse_literal};

const OPTIONS: ReaderOptions =
    ReaderOptions { nesting_max: VALUE_DEPTH_MAX as usize, half_pairs: HalfPairs::Refuse };

/// Reads a value. Of a key that occurs twice the last value counts.
///
/// # Errors
/// Fails on anything that is not JSON, on numbers that are not finite, on lone surrogates, and on
/// values beyond the limits.
pub fn from_text(text: &str) -> Result<Data, JsonError> {
    read(text, OPTIONS, DataSink).map_err(error)
}

/// Builds the values of programs.
struct DataSink;

impl<'t> Sink<'t> for DataSink {
    type Value = Data;
    type Key = Arc<str>;
    type Members = Fields;

    fn scalar(&mut self, scalar: Scalar<'t>) -> Result<Data, Reason> {
        Ok(match scalar {
            Scalar::Null => Data::Null,
            Scalar::Bool(truth) => Data::Bool(truth),
            Scalar::Number(literal) => {
                return parse_literal(literal).ok_or(Reason::NumberOutOfRange);
            }
            Scalar::Text(text) => Data::text(text),
        })
    }

    fn list(&mut self, items: Vec<Data>) -> Result<Data, Reason> {
        Data::list(items).map_err(|TooLarge| Reason::TooLarge)
    }

    fn key(&mut self, text: Cow<'t, str>) -> Arc<str> {
        text.into()
    }

    fn member(&mut self, fields: &mut Fields, name: Arc<str>, value: Data) {
        fields.put(name, value);
    }

    fn object(&mut self, fields: Fields) -> Result<Data, Reason> {
        Data::object(fields.list).map_err(|TooLarge| Reason::TooLarge)
    }
}

/// Puts a fault into the words that programs have always been given. They count the byte that is
/// wrong as read where an escape or the next entry is expected.
fn error(fault: Fault) -> JsonError {
    let (read, reason) = match fault.reason {
        Reason::TooDeep | Reason::TooLarge => return JsonError::TooLarge,
        Reason::ValueMissing | Reason::NotAValue => (0, "no value starts here"),
        Reason::KeyExpected => (0, "expected a key"),
        Reason::ColonExpected => (0, "expected `:`"),
        Reason::ListGoesOn => (1, "expected `,` or `]`"),
        Reason::ObjectGoesOn => (1, "expected `,` or `}`"),
        Reason::TrailingText => (0, "something follows the value"),
        Reason::NotANumber | Reason::FractionMissing | Reason::ExponentMissing => {
            (0, "not a number")
        }
        Reason::NumberOutOfRange => (0, "the number is out of range"),
        Reason::TextOpen => (0, "a text has no end"),
        Reason::ControlCharacter => (0, "a control character in a text"),
        Reason::EscapeMissing | Reason::EscapeUnknown => (1, "no such escape"),
        Reason::EscapeDigits => (0, "an escape needs four hexadecimal digits"),
        Reason::HalfPair => (0, "half of a surrogate pair"),
    };
    JsonError::Syntax { at: fault.at + read, reason }
}

/// Objects with fewer fields than this are searched from the front.
const SHORT_OBJECT: usize = 16;

/// Fields as they are read.
#[derive(Default)]
struct Fields {
    list: Vec<(Arc<str>, Data)>,
    places: HashMap<Arc<str>, usize>,
}

impl Fields {
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
