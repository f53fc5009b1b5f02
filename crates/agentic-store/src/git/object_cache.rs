//! Objects that were read or written lately, kept in memory.
//!
//! Who writes again and again reads first what it wrote last: the commit and its trees, the notes
//! commit and its. An object never changes, so what is remembered is true as long as it is named.
//! Whether the disk has an object whole is another question, and never answered from here.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gix::hash::ObjectId;
use gix::objs::Kind;
use gix::odb::pack::cache::Object;
use gix::odb::pack::cache::object::MemoryCappedHashmap;

/// How much is kept, in bytes.
const CACHE_BYTES: usize = 4 << 20;
/// Larger objects are not kept when they are written: nobody reads them again soon.
const OBJECT_BYTES_MAX: usize = 64 << 10;

/// What all views of one open repository remember together.
#[derive(Clone)]
pub(super) struct ObjectCache {
    kept: Arc<Mutex<MemoryCappedHashmap>>,
}

impl ObjectCache {
    /// Makes an empty one.
    pub fn new() -> ObjectCache {
        ObjectCache { kept: Arc::new(Mutex::new(MemoryCappedHashmap::new(CACHE_BYTES))) }
    }

    /// Remembers an object that was just written.
    pub fn remember(&self, id: ObjectId, kind: Kind, bytes: &[u8]) {
        if bytes.len() <= OBJECT_BYTES_MAX {
            self.kept().put(id, kind, bytes);
        }
    }

    fn kept(&self) -> MutexGuard<'_, MemoryCappedHashmap> {
        // A panic half-way leaves an entry or none, both of which are right.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Object for ObjectCache {
    fn put(&mut self, id: ObjectId, kind: Kind, data: &[u8]) {
        self.kept().put(id, kind, data);
    }

    fn get(&mut self, id: &ObjectId, out: &mut Vec<u8>) -> Option<Kind> {
        self.kept().get(id, out)
    }
}
