//! Taking blobs in: small ones into memory, what a record has no room for into a pack on its way.
//!
//! A record holds eight megabytes of objects; what is beyond goes into a pack beside the journal
//! anyway. So it goes there while it is read, and no more than a part of it is ever in memory. The
//! pack grows, and is synced, before any lock is taken. It becomes a part of the log when the writer
//! places it, before the record that needs it (`Writer::bring`). Dropped before, it is gone.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek as _, Write as _};
use std::path::Path;

use agentic_model::Oid;
use gix::hash::ObjectId;

use super::blob_name::BlobName;
use super::made_pack::MadePack;
use super::pack_file::{PackFolder, PackWriter};
use super::{Scratch, to_id, to_oid};
use agentic_store::file::Persistence;
use agentic_store::journal::RECORD_OBJECT_BYTES_MAX;
use agentic_store::layout::Layout;
use agentic_store::{Error, Result, fault};

/// How many blobs a pack is begun for: most have one file that is large.
const BLOBS_EXPECTED: usize = 1;
/// How much is read at a time, in bytes.
const PART_BYTES: usize = 64 << 10;

/// Takes the blobs of one tree in.
pub struct BlobIntake<'a> {
    scratch: &'a Scratch,
    /// How much may still be kept in memory.
    room: u64,
    pack: Option<PackWriter>,
}

/// Blobs in a pack that is durable and not in its place yet.
#[derive(Debug)]
#[must_use = "a commit needs the blobs that it names"]
pub struct PackedBlobs {
    pack: MadePack,
    names: BTreeSet<Oid>,
}

/// The blob that a tree has where another is taken in.
pub(super) type BlobBefore<'a> = dyn FnMut() -> Result<Option<Oid>> + 'a;

impl PackedBlobs {
    /// Returns the names of the blobs.
    pub fn names(&self) -> &BTreeSet<Oid> {
        &self.names
    }

    pub(super) fn into_pack(self) -> MadePack {
        self.pack
    }
}

impl Scratch {
    /// Begins to take blobs in.
    pub fn blob_intake(&self) -> BlobIntake<'_> {
        self.blob_intake_within(RECORD_OBJECT_BYTES_MAX as u64)
    }

    /// Does the same with so much room in memory.
    pub(super) fn blob_intake_within(&self, room: u64) -> BlobIntake<'_> {
        BlobIntake { scratch: self, room, pack: None }
    }
}

impl BlobIntake<'_> {
    /// Takes a blob in whose bytes are in memory, and returns its name.
    ///
    /// # Errors
    /// Fails when the disk is full.
    pub fn write(&mut self, bytes: &[u8]) -> Result<Oid> {
        let size = bytes.len() as u64;
        if size <= self.room {
            self.room -= size;
            return self.scratch.write_blob(bytes);
        }
        let mut rest = bytes;
        let mut read = |part: &mut [u8]| rest.read(part).map_err(Error::git("copy a blob"));
        let name = self.pack()?.add_stream(size, &mut read)?;
        Ok(to_oid(&name.expect("BUG: bytes in memory are as many as they are")))
    }

    /// Takes a file in as it stands. `before` is asked for the blob that stood there if the file is
    /// large: one that was only touched is not copied. Returns its name; nothing if the length of
    /// the file changed meanwhile.
    ///
    /// # Errors
    /// Fails when the file cannot be read, and when the disk is full.
    pub(super) fn write_file(
        &mut self,
        file: &mut File,
        path: &Path,
        before: &mut BlobBefore<'_>,
    ) -> Result<Option<Oid>> {
        let size = file.metadata().map_err(Error::io("read", path))?.len();
        if size <= self.room {
            let mut bytes = Vec::new();
            // One that grows without end is not followed.
            let read = file.take(self.room + 1).read_to_end(&mut bytes);
            read.map_err(Error::io("read", path))?;
            let fits = bytes.len() as u64 <= self.room;
            return if fits { self.write(&bytes).map(Some) } else { Ok(None) };
        }
        if let Some(before) =
            before()?.filter(|before| self.scratch.blob_size(*before) == Some(size))
        {
            if self.name_file(file, path, size)? == Some(to_id(before)) {
                return Ok(Some(before));
            }
            file.rewind().map_err(Error::io("read", path))?;
        }
        let mut read = |part: &mut [u8]| file.read(part).map_err(Error::io("read", path));
        let name = self.pack()?.add_stream(size, &mut read)?;
        Ok(name.map(|name| to_oid(&name)))
    }

    /// Takes in what a program writes: nobody knows how much that is before it is over.
    ///
    /// # Errors
    /// Fails when it cannot be read, and when the disk is full.
    pub(super) fn write_output(&mut self, output: &mut dyn Read, path: &Path) -> Result<Oid> {
        let mut begin = Vec::new();
        let read = Read::take(&mut *output, self.room + 1).read_to_end(&mut begin);
        read.map_err(Error::io("read", path))?;
        if begin.len() as u64 <= self.room {
            return self.write(&begin);
        }
        let (begun, mut file) = self.scratch.pack_folder()?.begin("blob")?;
        let copied = file.write_all(&begin).and_then(|()| std::io::copy(output, &mut file));
        copied.map_err(Error::io("write", &begun.path))?;
        drop((file, begin));
        let mut copy = File::open(&begun.path).map_err(Error::io("read", &begun.path))?;
        let size = copy.metadata().map_err(Error::io("read", &begun.path))?.len();
        let mut read = |part: &mut [u8]| copy.read(part).map_err(Error::io("read", &begun.path));
        let name = self.pack()?.add_stream(size, &mut read)?;
        let changed = || Error::corrupt(format!("`{}`", begun.path.display()), "it has changed");
        Ok(to_oid(&name.ok_or_else(changed)?))
    }

    /// Ends it: makes the pack durable, if there is one.
    ///
    /// # Errors
    /// Fails when the disk is full.
    pub fn finish(self) -> Result<Option<PackedBlobs>> {
        let Some(pack) = self.pack else { return Ok(None) };
        let pack = pack.finish(Persistence::Synced)?;
        let names = pack.ids.iter().map(|id| to_oid(id)).collect();
        fault::point("blobs-packed")?;
        Ok(Some(PackedBlobs { pack, names }))
    }

    fn name_file(&self, file: &mut File, path: &Path, size: u64) -> Result<Option<ObjectId>> {
        let mut name = BlobName::of_size(self.scratch.inner.object_hash(), size);
        let mut part = vec![0; PART_BYTES];
        loop {
            let n_read = file.read(&mut part).map_err(Error::io("read", path))?;
            if name.update(&part[..n_read]) == 0 {
                return name.finish();
            }
        }
    }

    fn pack(&mut self) -> Result<&mut PackWriter> {
        match &mut self.pack {
            Some(pack) => Ok(pack),
            none => {
                let folder = self.scratch.pack_folder()?;
                // What was left by a crash here is as large.
                folder.sweep();
                Ok(none.insert(PackWriter::begin(&folder, BLOBS_EXPECTED)?))
            }
        }
    }
}

impl Scratch {
    /// Lists the blobs of a tree at some paths that no record has room for.
    ///
    /// # Errors
    /// Fails when a tree cannot be read.
    pub fn large_blobs(&self, tree: Oid, paths: &[Vec<u8>]) -> Result<BTreeSet<Oid>> {
        let mut large = BTreeSet::new();
        for path in paths {
            let blob = self.entry_at(tree, path)?.map(|(_, blob)| blob);
            let is_large =
                |blob: &Oid| self.blob_size(*blob) > Some(RECORD_OBJECT_BYTES_MAX as u64);
            large.extend(blob.filter(is_large));
        }
        Ok(large)
    }

    /// Tells how long an object is, if it is there.
    fn blob_size(&self, oid: Oid) -> Option<u64> {
        Some(self.inner.find_header(to_id(oid)).ok()?.size())
    }

    pub(super) fn pack_folder(&self) -> Result<PackFolder> {
        let common_dir = super::repository::absolute(self.inner.common_dir())?;
        let begun = Layout::new(&common_dir).begun_packs();
        let placed = common_dir.join("objects").join("pack");
        Ok(PackFolder { begun, placed, kind: self.inner.object_hash() })
    }
}

#[cfg(test)]
mod tests;
