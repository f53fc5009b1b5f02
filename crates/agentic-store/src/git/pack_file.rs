//! Pack files made here: every object whole, compressed by itself, beside an index of version 2.
//!
//! A pack is made in a folder of ours and then placed by two renames, the pack before its index,
//! because git sees a pack by its index. Its name tells that it was made here, and whether it was
//! synced: what was not is looked at whole after a power cut, and packs made here hold no
//! differences, so that several can become one by copying.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use gix::hash::{Hasher, Kind, ObjectId};
use gix::odb::pack::data::entry::Header;
use gix::odb::pack::data::{self, header};
use gix::zlib::Compression;

use super::loose::Compressor;
use crate::file::Persistence;
use crate::journal::{GitKind, GitObject, sync_directory};
use crate::{Error, Result, fault};

/// How the names of packs begin that were made here and synced; the rest is a hash, as git wants.
const SYNCED: &str = "pack-a6e77c51";
/// How the names of the others begin.
const UNSYNCED: &str = "pack-a6e77c50";
/// How an index of version 2 begins.
pub(super) const INDEX_HEAD: [u8; 8] = [0xff, b't', b'O', b'c', 0, 0, 0, 2];
/// Offsets from here on stand in a table of their own.
pub(super) const LARGE_OFFSET: u64 = 1 << 31;
/// How many packs there may be before writers make loose objects again. Whoever has a repository
/// open can take in twice as many.
pub(super) const PACKS_MAX: usize = 256;
/// Shorter objects than this hardly become shorter; what is in a pack stays as it is for long.
const STORED_MAX: usize = 128;
/// How much of a file is hashed at a time, in bytes.
const CHUNK_BYTES: usize = 64 << 10;

/// Where packs are made and where they are placed.
#[derive(Debug, Clone)]
pub(super) struct PackFolder {
    /// Where they grow: a crash leaves them there, and nobody takes them for packs.
    pub begun: PathBuf,
    /// Where they are placed.
    pub placed: PathBuf,
    /// The hash of the repository.
    pub kind: Kind,
}

/// A pack on its way.
pub(super) struct PackWriter<'a> {
    folder: &'a PackFolder,
    begun: Begun,
    out: BufWriter<File>,
    hasher: Hasher,
    offset: u64,
    compressor: Compressor,
    buffer: Vec<u8>,
    entries: BTreeMap<ObjectId, Place>,
}

/// A file on its way; dropped before it is placed, it is gone.
struct Begun {
    path: PathBuf,
}

impl Begun {
    fn place(&self, at: &Path) -> Result<()> {
        fs::rename(&self.path, at).map_err(Error::io("write", at))
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        let _placed_is_fine = fs::remove_file(&self.path);
    }
}

/// Where an object stands in a pack.
struct Place {
    offset: u64,
    crc: u32,
}

/// Tells whether a pack was made here, by its file name.
pub(super) fn is_ours(name: &str) -> bool {
    name.starts_with(SYNCED) || is_unsynced(name)
}

/// Tells whether a pack was made here and not synced, by its file name.
pub(super) fn is_unsynced(name: &str) -> bool {
    name.starts_with(UNSYNCED)
}

impl PackFolder {
    /// Makes a pack of some objects and places it. Returns its path.
    ///
    /// # Errors
    /// Fails when the disk is full.
    pub fn write(&self, objects: &[GitObject], persistence: Persistence) -> Result<PathBuf> {
        let hash = |object: &GitObject| {
            let kind = super::to_gix(object.kind);
            gix::objs::compute_hash(self.kind, kind, &object.bytes).map_err(Error::git("hash"))
        };
        let mut named = BTreeMap::new();
        for object in objects {
            named.insert(hash(object)?, object);
        }
        let mut writer = PackWriter::begin(self, named.len())?;
        for (id, object) in named {
            writer.add(id, object)?;
        }
        writer.place(persistence)
    }

    fn begin(&self, extension: &str) -> Result<(Begun, File)> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let path = self.begun.join(format!("{}-{number}.{extension}", std::process::id()));
        fs::create_dir_all(&self.begun).map_err(Error::io("create", &self.begun))?;
        // A dead process may have had the same number.
        let _absent_is_fine = fs::remove_file(&path);
        let mut options = OpenOptions::new();
        // As git has them: nobody writes to a pack.
        let file = options.write(true).create_new(true).mode(0o444).open(&path);
        let file = file.map_err(Error::io("create", &path))?;
        Ok((Begun { path }, file))
    }
}

impl<'a> PackWriter<'a> {
    /// Begins a pack of so many objects.
    ///
    /// # Errors
    /// Fails when the file cannot be made.
    pub fn begin(folder: &'a PackFolder, n_objects: usize) -> Result<PackWriter<'a>> {
        let (begun, file) = folder.begin("pack")?;
        let mut writer = PackWriter {
            folder,
            begun,
            out: BufWriter::new(file),
            hasher: gix::hash::hasher(folder.kind),
            offset: 0,
            compressor: Compressor::new(Compression::BEST_SPEED),
            buffer: Vec::new(),
            entries: BTreeMap::new(),
        };
        let n_objects = u32::try_from(n_objects).map_err(Error::git("count the objects"))?;
        writer.put(&header::encode(data::Version::V2, n_objects))?;
        Ok(writer)
    }

    fn add(&mut self, id: ObjectId, object: &GitObject) -> Result<()> {
        let header = match object.kind {
            GitKind::Blob => Header::Blob,
            GitKind::Tree => Header::Tree,
            GitKind::Commit => Header::Commit,
        };
        let mut entry = std::mem::take(&mut self.buffer);
        entry.clear();
        let size = object.bytes.len() as u64;
        header.write_to(size, &mut entry).map_err(Error::io("write", &self.begun.path))?;
        self.compressor.deflate(&[&object.bytes], STORED_MAX, &mut entry)?;
        let added = self.add_entry(id, &entry, crc32fast::hash(&entry));
        self.buffer = entry;
        added
    }

    /// Adds an object as another pack has it.
    ///
    /// # Errors
    /// Fails when the disk is full.
    pub fn add_entry(&mut self, id: ObjectId, entry: &[u8], crc: u32) -> Result<()> {
        self.entries.insert(id, Place { offset: self.offset, crc });
        self.put(entry)
    }

    /// Ends the pack, makes its index and places both. Returns the path of the pack.
    ///
    /// # Errors
    /// Fails when the disk is full.
    pub fn place(mut self, persistence: Persistence) -> Result<PathBuf> {
        let checksum = self.end_pack(persistence)?;
        let index = self.index(checksum)?;
        let (begun_index, file) = self.folder.begin("idx")?;
        let write = || {
            (&file).write_all(&index)?;
            if persistence == Persistence::Synced { file.sync_all() } else { Ok(()) }
        };
        write().map_err(Error::io("write", &begun_index.path))?;
        fault::point("pack-made")?;
        let folder = &self.folder.placed;
        fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        let pack = folder.join(format!("{}.pack", self.name(persistence)?));
        let placed_index = pack.with_extension("idx");
        self.begun.place(&pack)?;
        fault::point("pack-placed")?;
        begun_index.place(&placed_index)?;
        if persistence == Persistence::Synced {
            sync_directory(folder)?;
            fault::synced(&pack, self.offset);
            fault::synced(&placed_index, index.len() as u64);
        }
        fault::point("pack-indexed")?;
        Ok(pack)
    }

    fn end_pack(&mut self, persistence: Persistence) -> Result<ObjectId> {
        let hasher = std::mem::replace(&mut self.hasher, gix::hash::hasher(self.folder.kind));
        let checksum = hasher.try_finalize().map_err(Error::git("hash a pack"))?;
        self.put(checksum.as_slice())?;
        let end = |out: &mut BufWriter<File>| {
            out.flush()?;
            if persistence == Persistence::Synced { out.get_ref().sync_all() } else { Ok(()) }
        };
        end(&mut self.out).map_err(Error::io("write", &self.begun.path))?;
        Ok(checksum)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.hasher.update(bytes);
        self.offset += bytes.len() as u64;
        self.out.write_all(bytes).map_err(Error::io("write", &self.begun.path))
    }

    /// Names the pack by what is in it.
    fn name(&self, persistence: Persistence) -> Result<String> {
        let mut hasher = gix::hash::hasher(self.folder.kind);
        for id in self.entries.keys() {
            hasher.update(id.as_slice());
        }
        let hash = hasher.try_finalize().map_err(Error::git("hash a pack"))?.to_string();
        let begin = match persistence {
            Persistence::Synced => SYNCED,
            Persistence::Lazy => UNSYNCED,
        };
        Ok(format!("{begin}{}", &hash[SYNCED.len() - "pack-".len()..]))
    }

    /// Makes the index, as git's document `gitformat-pack` has it.
    fn index(&self, checksum: ObjectId) -> Result<Vec<u8>> {
        let mut index = INDEX_HEAD.to_vec();
        let mut n_until = [0_u32; 256];
        for id in self.entries.keys() {
            n_until[usize::from(id.first_byte())] += 1;
        }
        let mut sum = 0;
        for n in n_until {
            sum += n;
            index.extend_from_slice(&sum.to_be_bytes());
        }
        for id in self.entries.keys() {
            index.extend_from_slice(id.as_slice());
        }
        for place in self.entries.values() {
            index.extend_from_slice(&place.crc.to_be_bytes());
        }
        let mut large = Vec::new();
        for place in self.entries.values() {
            let short = match u32::try_from(place.offset).ok() {
                Some(short) if place.offset < LARGE_OFFSET => short,
                Some(_) | None => {
                    large.extend_from_slice(&place.offset.to_be_bytes());
                    LARGE_OFFSET as u32 | (large.len() / 8 - 1) as u32
                }
            };
            index.extend_from_slice(&short.to_be_bytes());
        }
        index.extend_from_slice(&large);
        index.extend_from_slice(checksum.as_slice());
        let mut hasher = gix::hash::hasher(self.folder.kind);
        hasher.update(&index);
        let own = hasher.try_finalize().map_err(Error::git("hash an index"))?;
        index.extend_from_slice(own.as_slice());
        Ok(index)
    }
}

/// Tells whether a pack, or its index, is as it was written: it ends with its own hash.
///
/// # Errors
/// Fails when the file cannot be read.
pub(super) fn is_whole(path: &Path, kind: Kind) -> Result<bool> {
    let read = || -> std::io::Result<(Hasher, Vec<u8>)> {
        let mut file = File::open(path)?;
        let mut left = file.metadata()?.len().saturating_sub(kind.len_in_bytes() as u64);
        let mut hasher = gix::hash::hasher(kind);
        let mut chunk = vec![0; CHUNK_BYTES];
        while left > 0 {
            let n_bytes = CHUNK_BYTES.min(usize::try_from(left).unwrap_or(CHUNK_BYTES));
            file.read_exact(&mut chunk[..n_bytes])?;
            hasher.update(&chunk[..n_bytes]);
            left -= n_bytes as u64;
        }
        let mut own = Vec::new();
        file.read_to_end(&mut own)?;
        Ok((hasher, own))
    };
    let (hasher, own) = read().map_err(Error::io("read", path))?;
    Ok(hasher.try_finalize().is_ok_and(|hash| hash.as_slice() == own))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(above: &Path) -> PackFolder {
        let (begun, placed) = (above.join("begun"), above.join("placed"));
        PackFolder { begun, placed, kind: Kind::Sha1 }
    }

    fn id(first: u8) -> ObjectId {
        ObjectId::from_bytes_or_panic(&[first; 20])
    }

    #[test]
    fn an_index_tells_where_objects_stand_however_far_behind() {
        let above = tempfile::tempdir().expect("a temporary folder");
        let folder = folder(above.path());
        let mut writer = PackWriter::begin(&folder, 4).expect("writable");
        let offsets = [12, LARGE_OFFSET - 1, LARGE_OFFSET, 9 << 40];
        for (number, offset) in offsets.into_iter().enumerate() {
            let place = Place { offset, crc: number as u32 };
            writer.entries.insert(id(number as u8 * 60), place);
        }
        let path = above.path().join("an.idx");
        fs::write(&path, writer.index(id(1)).expect("hashable")).expect("writable");
        let index = gix::odb::pack::index::File::at(&path, Kind::Sha1).expect("readable");
        let found: Vec<_> = index.iter().map(|entry| (entry.pack_offset, entry.crc32)).collect();
        let expected: Vec<_> =
            offsets.into_iter().zip(0..).map(|(offset, crc)| (offset, Some(crc))).collect();
        assert_eq!(found, expected);
        assert!(is_whole(&path, Kind::Sha1).expect("readable"));
    }

    #[test]
    fn a_file_that_lost_a_part_is_not_whole() {
        let above = tempfile::tempdir().expect("a temporary folder");
        let folder = folder(above.path());
        let blob = |text: &str| GitObject { kind: GitKind::Blob, bytes: text.as_bytes().to_vec() };
        let pack = folder.write(&[blob("one"), blob("two")], Persistence::Lazy).expect("writable");
        assert!(is_unsynced(&pack.file_name().unwrap_or_default().to_string_lossy()));
        assert_eq!(fs::read_dir(&folder.begun).expect("readable").count(), 0);
        let whole = fs::read(&pack).expect("readable");
        assert!(is_whole(&pack, Kind::Sha1).expect("readable"));
        let damaged = above.path().join("damaged");
        for length in [0, 10, whole.len() - 1] {
            fs::write(&damaged, &whole[..length]).expect("writable");
            assert!(!is_whole(&damaged, Kind::Sha1).expect("readable"), "{length} bytes");
        }
        fs::write(&damaged, vec![0; whole.len()]).expect("writable");
        assert!(!is_whole(&damaged, Kind::Sha1).expect("readable"));
    }
}
