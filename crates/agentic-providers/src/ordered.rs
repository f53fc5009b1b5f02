//! JSON whose keys keep their order.
//!
//! The context language shows the order of keys to its programs and its prompts, so what passes
//! through here must not be sorted. Members stay texts; only what is needed is read.

use std::borrow::Cow;
use std::fmt;

use agentic_model::json::reader::{
    HalfPairs, JsonReadFault, JsonReason, ReaderOptions, Scalar, Sink, read,
};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an object in their order, each value as its text.
#[derive(Debug)]
pub(crate) struct Members(pub Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Members, D::Error> {
        struct OfObject;

        impl<'de> Visitor<'de> for OfObject {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(OfObject)
    }
}

/// A JSON value that compares as its text does: with the order of keys, and numbers as doubles.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Document {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Document>),
    Object(Vec<(String, Document)>),
}

impl Document {
    /// Reads a text that nests no deeper than others are read.
    pub fn from_text(text: &str) -> Result<Document, JsonReadFault> {
        read(text, OPTIONS, DocumentSink)
    }
}

/// What `serde_json` takes, by which the texts were found to be JSON.
const OPTIONS: ReaderOptions =
    ReaderOptions { nesting_max: 127, values_max: usize::MAX, half_pairs: HalfPairs::Refuse };

struct DocumentSink;

impl<'t> Sink<'t> for DocumentSink {
    type Value = Document;
    type Key = String;
    type Members = Vec<(String, Document)>;

    fn scalar(&mut self, scalar: Scalar<'t>) -> Result<Document, JsonReason> {
        Ok(match scalar {
            Scalar::Null => Document::Null,
            Scalar::Bool(truth) => Document::Bool(truth),
            Scalar::Number(literal) => {
                let number = literal.parse().ok().filter(|number: &f64| number.is_finite());
                Document::Number(number.ok_or(JsonReason::NumberOutOfRange)?)
            }
            Scalar::Text(text) => Document::Text(text.into_owned()),
        })
    }

    fn list(&mut self, items: Vec<Document>) -> Result<Document, JsonReason> {
        Ok(Document::List(items))
    }

    fn key(&mut self, text: Cow<'t, str>) -> String {
        text.into_owned()
    }

    fn member(&mut self, members: &mut Vec<(String, Document)>, key: String, value: Document) {
        members.push((key, value));
    }

    fn object(&mut self, members: Vec<(String, Document)>) -> Result<Document, JsonReason> {
        Ok(Document::Object(members))
    }
}
