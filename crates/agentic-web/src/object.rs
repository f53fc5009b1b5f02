//! Bodies that are JSON objects: a list of the same values in the order of the fields is none, though what
//! derives its reading would take it.

use std::fmt;
use std::marker::PhantomData;

use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

/// What an object of JSON says, and nothing else.
#[derive(Debug)]
pub struct JsonObject<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for JsonObject<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<JsonObject<T>, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData)).map(JsonObject)
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }
}

/// Returns the status of a body that could not be read: one that says something else is as bad as one that
/// is no JSON.
pub fn status_of_body(rejection: &JsonRejection) -> StatusCode {
    match rejection.status() {
        StatusCode::UNPROCESSABLE_ENTITY => StatusCode::BAD_REQUEST,
        status => status,
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::JsonObject;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Pair {
        first: u32,
        #[serde(default)]
        second: Option<Vec<u32>>,
    }

    fn read(text: &str) -> Option<Pair> {
        serde_json::from_str::<JsonObject<Pair>>(text).ok().map(|JsonObject(pair)| pair)
    }

    #[test]
    fn only_objects_are_read() {
        let whole = Pair { first: 1, second: Some(vec![2]) };
        assert_eq!(read(r#"{"first":1,"second":[2]}"#), Some(whole));
        assert_eq!(read(r#" {"first":1} "#), Some(Pair { first: 1, second: None }));
        for text in [
            "[1,[2]]",
            "[1]",
            "[]",
            "null",
            "1",
            "\"first\"",
            "{}",
            r#"{"first":1,"third":1}"#,
            r#"{"first":1,"first":1}"#,
            r#"{"first":1}{"#,
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
