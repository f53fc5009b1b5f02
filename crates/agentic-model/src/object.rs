//! Typed objects: maps with a text field `type`, named by the hash of their canonical bytes.

use std::borrow::Cow;

use crate::canonical::{self, CanonicalError};
use crate::guidance::{ErrorClass, Guidance};
use crate::{Cid, Kind, Map, Value};

/// The largest object that is stored, in bytes: 1 MiB. Larger things are split.
pub const OBJECT_BYTES_MAX: usize = 1 << 20;

/// An object: its value, its bytes and its id, which always agree.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    cid: Cid,
    bytes: Vec<u8>,
    kind: Kind,
    map: Map,
}

/// Why something is not an object.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// The value has no canonical form, or the bytes are not one.
    #[error("not an object: {0}")]
    Canonical(#[from] CanonicalError),
    /// The value is not a map.
    #[error("an object is a map, not a value of type {found}")]
    NotAMap {
        /// The variant that was found.
        found: &'static str,
    },
    /// The map has no text field `type`, or it is no valid name.
    #[error("an object needs a field `type` that names its type")]
    NoType,
    /// The object is longer than [`OBJECT_BYTES_MAX`].
    #[error("the object has {length} bytes, more than the {OBJECT_BYTES_MAX} that are stored")]
    TooLong {
        /// Its length in bytes.
        length: usize,
    },
    /// A field of a built-in type is missing or has the wrong shape.
    #[error("a `{kind}` object needs a field `{field}` that is {expected}")]
    Field {
        /// The type of the object.
        kind: &'static str,
        /// The field.
        field: &'static str,
        /// What the field must be.
        expected: &'static str,
    },
}

impl Guidance for ObjectError {
    fn class(&self) -> ErrorClass {
        ErrorClass::Schema
    }

    fn hint(&self) -> Cow<'static, str> {
        "an object is a map with a text field `type`; see `agentic kind list`".into()
    }
}

impl Object {
    /// Makes an object from its fields. Fields that nobody knows are kept and take part in the id.
    ///
    /// # Errors
    /// Fails when the field `type` is missing, or the value is too deep, too long or not finite.
    pub fn new(map: Map) -> Result<Object, ObjectError> {
        let value = Value::Map(map);
        let bytes = canonical::encode(&value)?;
        let Value::Map(map) = value else { unreachable!("BUG: a map stays a map") };
        Object::assemble(map, bytes)
    }

    /// Reads an object back from its stored bytes.
    ///
    /// # Errors
    /// Fails unless the bytes are the canonical form of an object.
    pub fn decode(bytes: &[u8]) -> Result<Object, ObjectError> {
        match canonical::decode(bytes)? {
            Value::Map(map) => Object::assemble(map, bytes.to_vec()),
            other @ (Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::Bytes(_)
            | Value::List(_)
            | Value::Link(_)) => Err(ObjectError::NotAMap { found: other.variant() }),
        }
    }

    /// Makes an object from any value.
    ///
    /// # Errors
    /// Fails as [`Object::new`] does, and on a value that is not a map.
    pub fn from_value(value: Value) -> Result<Object, ObjectError> {
        if let Value::Map(map) = value {
            Object::new(map)
        } else {
            Err(ObjectError::NotAMap { found: value.variant() })
        }
    }

    /// Returns the id.
    pub fn cid(&self) -> Cid {
        self.cid
    }

    /// Returns the canonical bytes; the id is their hash.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the type of the object.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Returns the fields, `type` included.
    pub fn map(&self) -> &Map {
        &self.map
    }

    fn assemble(map: Map, bytes: Vec<u8>) -> Result<Object, ObjectError> {
        if bytes.len() > OBJECT_BYTES_MAX {
            return Err(ObjectError::TooLong { length: bytes.len() });
        }
        let name = map.get("type").and_then(Value::as_text).ok_or(ObjectError::NoType)?;
        let kind = Kind::parse(name).map_err(|_| ObjectError::NoType)?;
        Ok(Object { cid: Cid::of(&bytes), bytes, kind, map })
    }
}

/// Reads fields of a built-in type, with one way of saying what is wrong.
pub(crate) struct ObjectFields<'a> {
    pub kind: &'static str,
    pub map: &'a Map,
}

impl<'a> ObjectFields<'a> {
    pub fn text(&self, field: &'static str) -> Result<&'a str, ObjectError> {
        self.map.get(field).and_then(Value::as_text).ok_or(self.wrong(field, "text"))
    }

    pub fn int(&self, field: &'static str) -> Result<i64, ObjectError> {
        self.map.get(field).and_then(Value::as_int).ok_or(self.wrong(field, "an integer"))
    }

    pub fn list(&self, field: &'static str) -> Result<&'a [Value], ObjectError> {
        self.map.get(field).and_then(Value::as_list).ok_or(self.wrong(field, "a list"))
    }

    pub fn optional_text(&self, field: &'static str) -> Result<Option<&'a str>, ObjectError> {
        match self.map.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(_) => Err(self.wrong(field, "text")),
        }
    }

    pub fn wrong(&self, field: &'static str, expected: &'static str) -> ObjectError {
        ObjectError::Field { kind: self.kind, field, expected }
    }
}
