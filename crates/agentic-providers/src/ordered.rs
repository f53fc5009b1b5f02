//! JSON whose keys keep their order.
//!
//! The context language shows the order of keys to its programs and its prompts, so what passes
//! through here must not be sorted. Members stay texts; only what is needed is read.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
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

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Document, D::Error> {
        deserializer.deserialize_any(OfAny)
    }
}

struct OfAny;

impl<'de> Visitor<'de> for OfAny {
    type Value = Document;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Document, E> {
        Ok(Document::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Document, E> {
        Ok(Document::Bool(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Document, E> {
        Ok(Document::Number(number as f64))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Document, E> {
        Ok(Document::Number(number as f64))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Document, E> {
        Ok(Document::Number(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Document, E> {
        Ok(Document::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Document, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Document::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Document, A::Error> {
        let mut members: Vec<(String, Document)> = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Document::Object(members))
    }
}
