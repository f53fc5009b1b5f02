//! Values in records: in place, or as an object of their own.

use agentic_model::{Cid, Value, canonical};

use crate::Storage;

/// The longest value that stands in a record itself, in bytes of its canonical form.
pub const INLINE_BYTES_MAX: usize = 256 << 10;

/// A value of a record, as its canonical bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredValue {
    /// The bytes themselves.
    Inline(Vec<u8>),
    /// The id of an object with these bytes.
    Object(Cid),
    /// It was purged: the id of the bytes that it had, and of the purge.
    Purged(PurgedValue),
}

/// What stands in the place of a value that was purged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurgedValue {
    /// The id of the bytes that it had.
    pub cid: Cid,
    /// The purge.
    pub by: String,
}

/// Where objects are found. Journals refer to a value's bytes by [`Cid::of`] of them.
pub trait StoredObjects {
    /// Returns the bytes of an object.
    fn bytes(&self, cid: &Cid) -> Option<Vec<u8>>;
}

/// A value that a record refers to cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MissingObject {
    /// The object is gone, or its bytes are not a value's.
    #[error("the value `{cid}` that a record refers to cannot be read")]
    Gone {
        /// The object.
        cid: Cid,
    },
    /// Somebody purged it.
    #[error("the value `{cid}` of a record was purged ({by})", cid = .0.cid, by = .0.by)]
    Purged(PurgedValue),
}

impl StoredObjects for std::collections::BTreeMap<Cid, Vec<u8>> {
    fn bytes(&self, cid: &Cid) -> Option<Vec<u8>> {
        self.get(cid).cloned()
    }
}

impl StoredValue {
    /// Decides where a value stands, given its canonical bytes. Those that do not stand in the
    /// record are pushed onto `objects`, to be kept there.
    pub(crate) fn place_bytes(
        bytes: Vec<u8>,
        storage: Storage,
        objects: &mut Vec<(Cid, Vec<u8>)>,
    ) -> StoredValue {
        if bytes.len() <= INLINE_BYTES_MAX && storage == Storage::Record {
            return StoredValue::Inline(bytes);
        }
        let cid = Cid::of(&bytes);
        objects.push((cid, bytes));
        StoredValue::Object(cid)
    }

    /// Returns the value.
    ///
    /// # Errors
    /// Fails when the object is missing, the bytes are not canonical, or it was purged.
    pub fn value(&self, objects: &dyn StoredObjects) -> Result<Value, MissingObject> {
        match self {
            StoredValue::Inline(bytes) => decode(bytes, || Cid::of(bytes)),
            StoredValue::Object(cid) => {
                let bytes = objects.bytes(cid).filter(|bytes| Cid::of(bytes) == *cid);
                decode(&bytes.ok_or(MissingObject::Gone { cid: *cid })?, || *cid)
            }
            StoredValue::Purged(purged) => Err(MissingObject::Purged(purged.clone())),
        }
    }

    /// Returns the id of the value's bytes, wherever they stand.
    pub fn cid(&self) -> Cid {
        match self {
            StoredValue::Inline(bytes) => Cid::of(bytes),
            StoredValue::Object(cid) => *cid,
            StoredValue::Purged(purged) => purged.cid,
        }
    }

    /// Returns the value for those who look at it; in the place of one that was purged
    /// `{purged: ID}`.
    ///
    /// # Errors
    /// Fails as [`StoredValue::value`] does, but for what was purged.
    pub fn shown(&self, objects: &dyn StoredObjects) -> Result<Value, MissingObject> {
        match self.purged() {
            Some(purged) => Ok(Value::map([("purged", Value::text(&purged.by))])),
            None => self.value(objects),
        }
    }

    /// Returns what is left of the value, if it was purged.
    pub fn purged(&self) -> Option<&PurgedValue> {
        if let StoredValue::Purged(purged) = self { Some(purged) } else { None }
    }
}

fn decode(bytes: &[u8], cid: impl Fn() -> Cid) -> Result<Value, MissingObject> {
    canonical::decode(bytes).map_err(|_| MissingObject::Gone { cid: cid() })
}
