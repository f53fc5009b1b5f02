//! Pack files made here: every object whole, compressed by itself, beside an index of version 2.
//!
//! A pack is made in a folder of ours and then placed by two renames, the pack before its index,
//! because git sees a pack by its index. Its name tells that it was made here, and whether it was
//! synced: what was not is looked at whole after a power cut, and packs made here hold no
//! differences, so that several can become one by copying.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use gix::hash::{Hasher, Kind, ObjectId};
use gix::odb::pack::data::entry::Header;
use gix::odb::pack::data::{self, header};
use gix::zlib::Compression;

use super::blob_name::BlobName;
use super::loose::{Compressor, ReadPart};
use super::made_pack::{MadePack, UnplacedPack};
use agentic_store::file::{Persistence, unique_number};
use agentic_store::journal::{GitKind, GitObject};
use agentic_store::{Error, Result, fault};

/// How the names of packs begin that were made here and synced; the rest is a hash, as git wants.
const SYNCED: &str = "pack-a6e77c51";
/// How the names of the others begin.
const UNSYNCED: &str = "pack-a6e77c50";
/// How an index of version 2 begins.
pub(super) const INDEX_HEAD: [u8; 8] = [0xff, b't', b'O', b'c', 0, 0, 0, 2];
/// Offsets from here on stand in a table of their own.
pub(super) const LARGE_OFFSET: u64 = 1 << 31;
/// How many packs there may be before writers make loose objects again. Whoever has a repository
/// open can take in as many.
pub(super) const PACKS_MAX: usize = 128;
/// Shorter objects than this hardly become shorter; what is in a pack stays as it is for long.
const STORED_MAX: usize = 128;
/// How much of a file is hashed at a time, in bytes.
const CHUNK_BYTES: usize = 64 << 10;
/// A file of a pack that has not grown for so long was left by a crash.
pub(super) const BEGUN_AGE: Duration = Duration::from_secs(600);

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
pub(super) struct PackWriter {
    folder: PackFolder,
    begun: UnplacedPack,
    out: BufWriter<File>,
    /// How many objects the file says that it has.
    n_announced: u32,
    /// The hash of what was written; nothing once a part of that was taken back.
    hasher: Option<Hasher>,
    offset: u64,
    compressor: Compressor,
    buffer: Vec<u8>,
    entries: BTreeMap<ObjectId, PackPlace>,
}

/// Where an object stands in a pack.
struct PackPlace {
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
        self.make(objects, persistence)?.place(&self.placed)
    }

    /// Makes a pack of some objects that has still to be placed.
    ///
    /// # Errors
    /// Fails when the disk is full.
    pub fn make(&self, objects: &[GitObject], persistence: Persistence) -> Result<MadePack> {
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
        writer.finish(persistence)
    }

    /// Begins a file that grows where nobody takes it for a pack.
    ///
    /// # Errors
    /// Fails when it cannot be made.
    pub fn begin(&self, extension: &str) -> Result<(UnplacedPack, File)> {
        let name = format!("{}-{}.{extension}", std::process::id(), unique_number());
        let path = self.begun.join(name);
        fs::create_dir_all(&self.begun).map_err(Error::io("create", &self.begun))?;
        // A dead process may have had the same number.
        let _absent_is_fine = fs::remove_file(&path);
        let mut options = OpenOptions::new();
        // As git has them: nobody writes to a pack.
        let file = options.write(true).create_new(true).mode(0o444).open(&path);
        let file = file.map_err(Error::io("create", &path))?;
        Ok((UnplacedPack { path }, file))
    }

    /// Removes what crashes left of packs that were never placed. One that is made may wait for long
    /// to be placed, such as for a person who signs; its process runs then.
    pub fn sweep(&self) {
        for entry in fs::read_dir(&self.begun).into_iter().flatten().flatten() {
            let changed_at = entry.metadata().and_then(|found| found.modified());
            let age = changed_at.ok().and_then(|at| SystemTime::now().duration_since(at).ok());
            let is_old = age.is_some_and(|age| age >= BEGUN_AGE);
            if is_old && !is_made_by_running(&entry.file_name().to_string_lossy()) {
                // It costs room and nothing else; the next one tries again.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// Tells whether the process that a begun file is named after still runs, or another of that number.
fn is_made_by_running(name: &str) -> bool {
    let number = name.split_once('-').and_then(|(number, _)| number.parse().ok());
    number.is_some_and(agentic_store::os::is_running)
}

impl PackWriter {
    /// Begins a pack of so many objects. It may become one of more or fewer, which takes longer.
    ///
    /// # Errors
    /// Fails when the file cannot be made.
    pub fn begin(folder: &PackFolder, n_objects: usize) -> Result<PackWriter> {
        let (begun, file) = folder.begin("pack")?;
        let n_announced = u32::try_from(n_objects).map_err(Error::git("count the objects"))?;
        let mut writer = PackWriter {
            folder: folder.clone(),
            begun,
            out: BufWriter::new(file),
            n_announced,
            hasher: Some(gix::hash::hasher(folder.kind)),
            offset: 0,
            compressor: Compressor::new(Compression::BEST_SPEED),
            buffer: Vec::new(),
            entries: BTreeMap::new(),
        };
        writer.put(&header::encode(data::Version::V2, n_announced))?;
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
        self.entries.insert(id, PackPlace { offset: self.offset, crc });
        self.put(entry)
    }

    /// Adds a blob that is read while it is written, and returns its name; nothing if it does not
    /// have as many bytes as it was said to have. No more of it than a part is in memory.
    ///
    /// # Errors
    /// Fails when it cannot be read, and when the disk is full.
    pub fn add_stream(&mut self, size: u64, read: &mut ReadPart<'_>) -> Result<Option<ObjectId>> {
        let begin = self.offset;
        let mut header = Vec::new();
        Header::Blob.write_to(size, &mut header).map_err(Error::io("write", &self.begun.path))?;
        self.put(&header)?;
        let mut crc = crc32fast::Hasher::new();
        crc.update(&header);
        let mut name = BlobName::of_size(self.folder.kind, size);
        // Out of the writer meanwhile: what it makes goes into the rest of it.
        let mut compressor =
            std::mem::replace(&mut self.compressor, Compressor::new(Compression::BEST_SPEED));
        let deflated = compressor.deflate_from(
            &mut |part| {
                let n_read = read(part)?;
                Ok(name.update(&part[..n_read]))
            },
            &mut |bytes| {
                crc.update(bytes);
                self.put(bytes)
            },
        );
        self.compressor = compressor;
        deflated?;
        let Some(id) = name.finish()? else { return Ok(None) };
        if let Entry::Vacant(free) = self.entries.entry(id) {
            free.insert(PackPlace { offset: begin, crc: crc.finalize() });
        } else {
            self.take_back(begin)?;
        }
        Ok(Some(id))
    }

    /// Takes the last entry out again.
    fn take_back(&mut self, begin: u64) -> Result<()> {
        self.out.flush().map_err(Error::io("write", &self.begun.path))?;
        let file = self.out.get_mut();
        let back = file.set_len(begin).and_then(|()| file.seek(SeekFrom::Start(begin)));
        back.map_err(Error::io("write", &self.begun.path))?;
        (self.offset, self.hasher) = (begin, None);
        Ok(())
    }

    /// Ends the pack and makes its index.
    ///
    /// # Errors
    /// Fails when the disk is full.
    pub fn finish(mut self, persistence: Persistence) -> Result<MadePack> {
        let checksum = self.end_pack(persistence)?;
        let index = self.index(checksum)?;
        let (begun_index, file) = self.folder.begin("idx")?;
        let write = || {
            (&file).write_all(&index)?;
            if persistence == Persistence::Synced { file.sync_all() } else { Ok(()) }
        };
        write().map_err(Error::io("write", &begun_index.path))?;
        fault::point("pack-made")?;
        let (name, lengths) =
            (self.name(persistence, checksum)?, (self.offset, index.len() as u64));
        let ids = self.entries.into_keys().collect();
        Ok(MadePack { begun: self.begun, begun_index, name, persistence, lengths, ids })
    }

    fn end_pack(&mut self, persistence: Persistence) -> Result<ObjectId> {
        let n_objects = u32::try_from(self.entries.len()).map_err(Error::git("count objects"))?;
        let hasher = match self.hasher.take() {
            Some(hasher) if n_objects == self.n_announced => hasher,
            Some(_) | None => self.hash_anew(n_objects)?,
        };
        let checksum = hasher.try_finalize().map_err(Error::git("hash a pack"))?;
        self.put(checksum.as_slice())?;
        let end = |out: &mut BufWriter<File>| {
            out.flush()?;
            if persistence == Persistence::Synced { out.get_ref().sync_all() } else { Ok(()) }
        };
        end(&mut self.out).map_err(Error::io("write", &self.begun.path))?;
        Ok(checksum)
    }

    /// Says how many objects there are after all, which stands at the beginning.
    fn hash_anew(&mut self, n_objects: u32) -> Result<Hasher> {
        let path = &self.begun.path;
        let write = |out: &mut BufWriter<File>| {
            out.flush()?;
            out.get_ref().write_all_at(&header::encode(data::Version::V2, n_objects), 0)
        };
        write(&mut self.out).map_err(Error::io("write", path))?;
        let read = || hash_first(&mut File::open(path)?, self.offset, self.folder.kind);
        read().map_err(Error::io("read", path))
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        if let Some(hasher) = &mut self.hasher {
            hasher.update(bytes);
        }
        self.offset += bytes.len() as u64;
        self.out.write_all(bytes).map_err(Error::io("write", &self.begun.path))
    }

    /// Names the pack by its bytes: the same objects may stand in it in another order.
    fn name(&self, persistence: Persistence, checksum: ObjectId) -> Result<String> {
        let mut hasher = gix::hash::hasher(self.folder.kind);
        for id in self.entries.keys() {
            hasher.update(id.as_slice());
        }
        hasher.update(checksum.as_slice());
        let hash = hasher.try_finalize().map_err(Error::git("hash a pack"))?.to_string();
        let begin = match persistence {
            Persistence::Synced => SYNCED,
            Persistence::Lazy | Persistence::Cache => UNSYNCED,
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

/// Hashes the first bytes of a file.
fn hash_first(file: &mut File, n_bytes: u64, kind: Kind) -> std::io::Result<Hasher> {
    let mut hasher = gix::hash::hasher(kind);
    let (mut left, mut chunk) = (n_bytes, vec![0; CHUNK_BYTES]);
    while left > 0 {
        let n_bytes = CHUNK_BYTES.min(usize::try_from(left).unwrap_or(CHUNK_BYTES));
        file.read_exact(&mut chunk[..n_bytes])?;
        hasher.update(&chunk[..n_bytes]);
        left -= n_bytes as u64;
    }
    Ok(hasher)
}

/// Tells whether a pack, or its index, is as it was written: it ends with its own hash.
///
/// # Errors
/// Fails when the file cannot be read.
pub(super) fn is_whole(path: &Path, kind: Kind) -> Result<bool> {
    let read = || -> std::io::Result<(Hasher, Vec<u8>)> {
        let mut file = File::open(path)?;
        let n_bytes = file.metadata()?.len().saturating_sub(kind.len_in_bytes() as u64);
        let hasher = hash_first(&mut file, n_bytes, kind)?;
        let mut own = Vec::new();
        file.read_to_end(&mut own)?;
        Ok((hasher, own))
    };
    let (hasher, own) = read().map_err(Error::io("read", path))?;
    Ok(hasher.try_finalize().is_ok_and(|hash| hash.as_slice() == own))
}

#[cfg(test)]
mod tests;
