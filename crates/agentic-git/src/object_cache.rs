//! Objects that were read or written lately, kept in memory; and a second look at the disk.
//!
//! Who writes again and again reads first what it wrote last: the commit and its trees, the notes
//! commit and its. An object never changes, so what is remembered is true as long as it is named.
//! Whether the disk has an object whole is another question, and never answered from here.
//!
//! The cache is asked for every object first, by gix too. That makes it the place from which to
//! look into the files (`object_file`), which gix would take longer for, and to mend a flaw of it:
//! a store of gix that has seen more packs come than it has slots may put one where another was
//! that has gone, and then drop both; it lists packs anew and finds nothing new. What is in that
//! pack is missing to it until another one comes. So whoever misses an object has the cache look at
//! the disk with eyes that remember nothing, and asks again.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gix::hash::{ObjectId, oid};
use gix::objs::{Exists as _, FindExt as _, Kind};
use gix::odb::pack::cache::Object;
use gix::odb::pack::cache::object::MemoryCappedHashmap;
use gix::odb::store::init::{Options, Slots};
use gix::odb::{Store, store};

use super::object_file::{ObjectFiles, READ_BYTES_MAX};
use super::pack_file::PACKS_MAX;
use super::recall::Recall;
use super::{to_gix, to_oid};
use agentic_store::layout::Stream;

/// How much is kept, in bytes.
const CACHE_BYTES: usize = 4 << 20;
/// Larger objects are not kept when they are written: nobody reads them again soon.
const OBJECT_BYTES_MAX: usize = 64 << 10;

/// What all views of one open repository remember together.
#[derive(Clone)]
pub(super) struct ObjectCache {
    kept: Arc<Mutex<CachedObject>>,
}

struct CachedObject {
    objects: MemoryCappedHashmap,
    /// Nothing where git reads other objects in place of some.
    files: Option<ObjectFiles>,
    /// The newest eyes, once something was missed.
    disk: Option<store::Handle<Arc<Store>>>,
    /// What journals have of that which even those eyes do not see.
    recall: Recall,
}

impl ObjectCache {
    /// Makes an empty one.
    pub fn new(view: &gix::Repository, common_dir: &Path) -> ObjectCache {
        let store = view.objects.store_ref();
        let is_plain = store.replacements().next().is_none();
        let files = is_plain.then(|| ObjectFiles::new(store.path(), view.object_hash()));
        let objects = MemoryCappedHashmap::new(CACHE_BYTES);
        let recall = Recall::new(common_dir, view.object_hash());
        let kept = CachedObject { objects, files, disk: None, recall };
        ObjectCache { kept: Arc::new(Mutex::new(kept)) }
    }

    /// Remembers an object that was just written.
    pub fn remember(&self, id: ObjectId, kind: Kind, bytes: &[u8]) {
        if bytes.len() <= OBJECT_BYTES_MAX {
            self.kept().objects.put(id, kind, bytes);
        }
    }

    /// Tells whether the files have an object; if not, gix may know of one.
    pub fn is_in_files(&self, id: &oid) -> bool {
        self.kept().files.as_mut().is_some_and(|files| files.has(id))
    }

    /// Reads an object from the files; if it is not found there, gix may know of one.
    pub fn read_files(&self, id: &oid, out: &mut Vec<u8>) -> Option<Kind> {
        self.kept().files.as_mut()?.read(id, out)
    }

    /// Reads how a commit begins, if that is found in the files.
    pub fn read_begin(&self, id: &oid) -> Option<Vec<u8>> {
        self.kept().files.as_mut()?.read_begin(id)
    }

    /// Closes packs until something is read from them.
    pub fn let_go_of_packs(&self) {
        self.kept().files.iter_mut().for_each(ObjectFiles::let_go_of_packs);
    }

    /// Looks at the disk anew from now on. Tells whether that can be done.
    pub fn look_anew(&self, view: &gix::Repository) -> bool {
        let slots = Slots::AsNeededByDiskState { multiplier: 1.1, minimum: 2 * PACKS_MAX };
        let alloc_limit_bytes = Some(READ_BYTES_MAX);
        let options = Options { slots, alloc_limit_bytes, ..Options::default() };
        let folder = view.objects.store_ref().path().to_owned();
        let opened = Store::at_opts(folder, view.object_hash(), &mut std::iter::empty(), options);
        let is_open = opened.is_ok();
        self.kept().disk = opened.ok().map(|store| Arc::new(store).to_handle_arc());
        is_open
    }

    /// Tells whether the disk has an object, to the newest eyes.
    pub fn is_on_disk(&self, id: &oid) -> bool {
        self.kept().disk.as_ref().is_some_and(|disk| disk.exists(id))
    }

    /// Reads an object from the disk by the newest eyes.
    pub fn read_disk(&self, id: &oid, out: &mut Vec<u8>) -> Option<Kind> {
        let kept = self.kept();
        Some(kept.disk.as_ref()?.find(id, out).ok()?.kind)
    }

    /// Notes that this process holds the lock of a stream.
    pub fn hold(&self, stream: &Stream) {
        self.kept().recall.hold(stream);
    }

    /// Notes that it does no more.
    pub fn release(&self, stream: &Stream) {
        self.kept().recall.release(stream);
    }

    fn kept(&self) -> MutexGuard<'_, CachedObject> {
        // A panic half-way leaves an entry or none, both of which are right.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Object for ObjectCache {
    fn put(&mut self, id: ObjectId, kind: Kind, data: &[u8]) {
        self.kept().objects.put(id, kind, data);
    }

    fn get(&mut self, id: &ObjectId, out: &mut Vec<u8>) -> Option<Kind> {
        let mut kept = self.kept();
        let CachedObject { objects, files, disk, recall } = &mut *kept;
        if let Some(kind) = objects.get(id, out) {
            return Some(kind);
        }
        if let Some(kind) = files.as_mut().and_then(|files| files.read(id, out)) {
            objects.put(*id, kind, out);
            return Some(kind);
        }
        if let Ok(found) = disk.as_ref()?.find(id, out) {
            return Some(found.kind);
        }
        let found = recall.find(to_oid(id))?;
        out.clear();
        out.extend_from_slice(&found.bytes);
        Some(to_gix(found.kind))
    }
}
