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
}

/// Where objects are found. Journals refer to a value's bytes by [`Cid::of`] of them.
pub trait StoredObjects {
    /// Returns the bytes of an object.
    fn bytes(&self, cid: &Cid) -> Option<Vec<u8>>;
}

/// An object that a record refers to is gone, or its bytes are not a value's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the value `{cid}` that a record refers to cannot be read")]
pub struct MissingObject {
    /// The object.
    pub cid: Cid,
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
    /// Fails when the object is missing, or the bytes are not canonical.
    pub fn value(&self, objects: &dyn StoredObjects) -> Result<Value, MissingObject> {
        match self {
            StoredValue::Inline(bytes) => decode(bytes, || Cid::of(bytes)),
            StoredValue::Object(cid) => {
                let bytes = objects.bytes(cid).filter(|bytes| Cid::of(bytes) == *cid);
                decode(&bytes.ok_or(MissingObject { cid: *cid })?, || *cid)
            }
        }
    }

    /// Returns the id of the value's bytes, wherever they stand.
    pub fn cid(&self) -> Cid {
        match self {
            StoredValue::Inline(bytes) => Cid::of(bytes),
            StoredValue::Object(cid) => *cid,
        }
    }
}

fn decode(bytes: &[u8], cid: impl Fn() -> Cid) -> Result<Value, MissingObject> {
    canonical::decode(bytes).map_err(|_| MissingObject { cid: cid() })
}
