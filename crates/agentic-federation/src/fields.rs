//! Reading the fields of an object, with one way of saying what is wrong with it.

use agentic_model::canonical::{self, CanonicalError};
use agentic_model::{Cid, Map, Oid, Value};

/// Why something that came from elsewhere is nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MalformedInput(pub String);

impl MalformedInput {
    /// Says what is wrong.
    pub fn new(what: impl Into<String>) -> MalformedInput {
        MalformedInput(what.into())
    }
}

impl From<CanonicalError> for MalformedInput {
    fn from(error: CanonicalError) -> MalformedInput {
        MalformedInput(error.to_string())
    }
}

/// The version of every object here.
const VERSION: i64 = 1;

/// The fields of one object.
#[derive(Debug, Clone, Copy)]
pub struct ObjectReader<'m> {
    of: &'static str,
    map: &'m Map,
}

/// Decodes the canonical bytes of a map.
///
/// # Errors
/// Fails when the bytes are not the canonical form of a map.
pub fn decode_map(of: &'static str, bytes: &[u8]) -> Result<Map, MalformedInput> {
    match canonical::decode(bytes)? {
        Value::Map(map) => Ok(map),
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::Bytes(_)
        | Value::List(_)
        | Value::Link(_)) => {
            Err(MalformedInput(format!("{of} is a {} and no map", other.variant())))
        }
    }
}

impl<'m> ObjectReader<'m> {
    /// Reads the fields of a map that has no type.
    pub fn plain(of: &'static str, map: &'m Map) -> ObjectReader<'m> {
        ObjectReader { of, map }
    }

    /// Reads the fields of an object of a type, in the version that this program knows.
    ///
    /// # Errors
    /// Fails when it is of another type or version.
    pub fn typed(of: &'static str, map: &'m Map) -> Result<ObjectReader<'m>, MalformedInput> {
        let fields = ObjectReader { of, map };
        if fields.text("type")? != of {
            return Err(fields.wrong("type"));
        }
        match fields.int("v")? {
            VERSION => Ok(fields),
            _ => Err(fields.wrong("v")),
        }
    }

    /// Says that a field is missing or has the wrong shape.
    pub fn wrong(&self, field: &str) -> MalformedInput {
        MalformedInput(format!("the field `{field}` of {} is missing or wrong", self.of))
    }

    /// Returns a field that may say nothing; it is there all the same, so that there is one spelling.
    fn nullable(&self, field: &str) -> Result<Option<&'m Value>, MalformedInput> {
        let value = self.map.get(field).ok_or_else(|| self.wrong(field))?;
        Ok(Some(value).filter(|value| !matches!(value, Value::Null)))
    }

    /// Returns a text.
    ///
    /// # Errors
    /// Fails when there is none, as all of these do.
    pub fn text(&self, field: &str) -> Result<&'m str, MalformedInput> {
        self.map.get(field).and_then(Value::as_text).ok_or_else(|| self.wrong(field))
    }

    /// Returns a text that may be null.
    pub fn optional_text(&self, field: &str) -> Result<Option<&'m str>, MalformedInput> {
        let text = |value: &'m Value| value.as_text().ok_or_else(|| self.wrong(field));
        self.nullable(field)?.map(text).transpose()
    }

    /// Returns a number.
    pub fn int(&self, field: &str) -> Result<i64, MalformedInput> {
        self.map.get(field).and_then(Value::as_int).ok_or_else(|| self.wrong(field))
    }

    /// Returns a number that may be null.
    pub fn optional_int(&self, field: &str) -> Result<Option<i64>, MalformedInput> {
        let int = |value: &Value| value.as_int().ok_or_else(|| self.wrong(field));
        self.nullable(field)?.map(int).transpose()
    }

    /// Returns a number that counts.
    pub fn count(&self, field: &str) -> Result<u64, MalformedInput> {
        u64::try_from(self.int(field)?).map_err(|_| self.wrong(field))
    }

    /// Returns a list.
    pub fn list(&self, field: &str) -> Result<&'m [Value], MalformedInput> {
        self.map.get(field).and_then(Value::as_list).ok_or_else(|| self.wrong(field))
    }

    /// Returns a list of texts.
    pub fn texts(&self, field: &str) -> Result<Vec<String>, MalformedInput> {
        let text = |value: &Value| value.as_text().map(str::to_owned);
        let texts: Option<_> = self.list(field)?.iter().map(text).collect();
        texts.ok_or_else(|| self.wrong(field))
    }

    /// Returns the maps of a list.
    pub fn maps(&self, field: &str) -> Result<Vec<&'m Map>, MalformedInput> {
        let maps: Option<_> = self.list(field)?.iter().map(Value::as_map).collect();
        maps.ok_or_else(|| self.wrong(field))
    }

    /// Returns the id of an object.
    pub fn link(&self, field: &str) -> Result<Cid, MalformedInput> {
        self.map.get(field).and_then(own_link).ok_or_else(|| self.wrong(field))
    }

    /// Returns the id of an object that may be null.
    pub fn optional_link(&self, field: &str) -> Result<Option<Cid>, MalformedInput> {
        let link = |value: &Value| own_link(value).ok_or_else(|| self.wrong(field));
        self.nullable(field)?.map(link).transpose()
    }

    /// Returns bytes.
    pub fn bytes(&self, field: &str) -> Result<&'m [u8], MalformedInput> {
        self.map.get(field).and_then(Value::as_bytes).ok_or_else(|| self.wrong(field))
    }

    /// Returns the id of a git object.
    pub fn oid(&self, field: &str) -> Result<Oid, MalformedInput> {
        self.map.get(field).and_then(oid_of).ok_or_else(|| self.wrong(field))
    }

    /// Returns the id of a git object that may be null.
    pub fn optional_oid(&self, field: &str) -> Result<Option<Oid>, MalformedInput> {
        let oid = |value: &Value| oid_of(value).ok_or_else(|| self.wrong(field));
        self.nullable(field)?.map(oid).transpose()
    }

    /// Returns the ids of git objects.
    pub fn oids(&self, field: &str) -> Result<Vec<Oid>, MalformedInput> {
        let oids: Option<_> = self.list(field)?.iter().map(oid_of).collect();
        oids.ok_or_else(|| self.wrong(field))
    }

    /// Returns a map that is a field.
    pub fn map(&self, field: &str) -> Result<&'m Map, MalformedInput> {
        self.map.get(field).and_then(Value::as_map).ok_or_else(|| self.wrong(field))
    }
}

/// Reads a link to an object of ours: other ids name nothing here.
pub fn own_link(value: &Value) -> Option<Cid> {
    value.as_link().filter(|cid| Cid::parse(&cid.to_string()).is_ok())
}

/// Reads the id of a git object as objects have it.
pub fn oid_of(value: &Value) -> Option<Oid> {
    Oid::from_bytes(value.as_bytes()?).ok().filter(|oid| !oid.is_null())
}

/// Writes the id of a git object as objects have it.
pub fn oid_value(oid: Oid) -> Value {
    Value::Bytes(oid.as_bytes().to_vec())
}

/// Writes what need not be there.
pub fn optional<T>(value: Option<T>, write: impl FnOnce(T) -> Value) -> Value {
    value.map_or(Value::Null, write)
}

/// Encodes an object of a type.
///
/// # Panics
/// Panics when the fields have no canonical form, which no object of ours has.
pub fn encode_typed(of: &str, fields: impl IntoIterator<Item = (&'static str, Value)>) -> Vec<u8> {
    let typed = [("type", Value::text(of)), ("v", Value::Int(VERSION))];
    let fields = fields.into_iter().chain(typed);
    encode(&Value::map(fields))
}

/// Encodes a value of ours.
///
/// # Panics
/// Panics as [`encode_typed`] does.
pub fn encode(value: &Value) -> Vec<u8> {
    canonical::encode(value).expect("BUG: what is made here is finite, flat and short")
}
