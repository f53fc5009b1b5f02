//! Reading objects from the repository's own files: the loose ones, then the packs. Packs whose indices are in
//! memory come first, since looking there takes no call of the system.
//!
//! A hot verb reads a handful of objects, and what that costs must not grow with how many there
//! are. So packs are asked here before gix is, which reads a part of each pack's index for every
//! object in it. What is not found here, for whatever reason, is left to gix, which knows more:
//! differences whose base is in another pack, indices of another version. So nothing here is an
//! error, and nobody is told by this alone that an object is missing.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Error, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use gix::hash::{Kind, oid};
use gix::odb::pack::cache::Never;
use gix::odb::pack::data::{self, decode::entry::ResolvedBase, entry::Header};
use gix::odb::{alternate, loose};
use gix::zlib::{Inflate, Status};

use super::pack_file::PACKS_MAX;
use super::pack_offset::PackOffsets;

/// How much memory reading one object may take, in bytes; a damaged pack may ask for any.
pub(super) const READ_BYTES_MAX: usize = u32::MAX as usize;
/// How much of an object its beginning is, with the head of a loose one, in bytes.
const BEGIN_BYTES: usize = 128;
/// How much compressed such a beginning is at most, in bytes.
const COMPRESSED_BYTES: u64 = 4 << 10;
/// How many digits an id has at most.
const HEX_DIGITS_MAX: usize = 64;
/// How much of a loose object is read at first, in bytes.
const SMALL_BYTES: usize = 4 << 10;
/// Larger loose objects are left to gix, which maps their files, in compressed bytes.
const LOOSE_BYTES_MAX: u64 = 1 << 20;
/// How many packs with large indices are kept open: those that objects were found in last.
const OPEN_MAX: usize = 8;

/// The files of objects, of the repository and of those that it borrows from.
pub(super) struct ObjectFiles {
    loose: Vec<loose::Store>,
    packs: PackFiles,
    /// Made for the first object that is read from a pack.
    inflate: Option<Inflate>,
}

/// All packs. Where an object was found last is looked at first.
struct PackFiles {
    folders: Vec<PathBuf>,
    kind: Kind,
    list: Vec<Pack>,
}

/// A pack, opened or not.
struct Pack {
    index: PathBuf,
    opened: Option<OpenPack>,
}

struct OpenPack {
    offsets: PackOffsets,
    /// Opened when an object is read.
    data: Option<data::File>,
}

impl ObjectFiles {
    /// Takes the folder of a repository's objects.
    pub fn new(objects: &Path, kind: Kind) -> ObjectFiles {
        let borrowed = match objects.join("info").join("alternates").exists() {
            // What is wrong with them, gix says when it reads from there.
            true => alternate::resolve(objects.to_owned(), objects).unwrap_or_default(),
            false => Vec::new(),
        };
        let folders = || std::iter::once(objects.to_owned()).chain(borrowed.iter().cloned());
        let packs = folders().map(|folder| folder.join("pack")).collect();
        ObjectFiles {
            loose: folders().map(|folder| loose_in(folder, kind)).collect(),
            packs: PackFiles { folders: packs, kind, list: Vec::new() },
            inflate: None,
        }
    }

    /// Tells whether an object is found here.
    pub fn has(&mut self, id: &oid) -> bool {
        self.packs.find_in_memory(id, |_, _| Ok(())).is_some()
            || self.loose.iter().any(|loose| loose.contains(id))
            || self.packs.find(id, |_, _| Ok(())).is_some()
    }

    /// Reads an object, if it is found here and whole.
    pub fn read(&mut self, id: &oid, out: &mut Vec<u8>) -> Option<gix::objs::Kind> {
        let ObjectFiles { loose, packs, inflate } = self;
        let inflate = inflate.get_or_insert_with(Inflate::default);
        let known = packs.find_in_memory(id, |pack, offset| pack.decode(offset, inflate, out));
        if known.is_some() {
            return known;
        }
        for loose in loose {
            let file = match File::open(loose_path(loose.path(), id)) {
                Ok(file) => file,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(_it_cannot_be_read) => return None,
            };
            if let Some(compressed) = read_loose(file).ok()? {
                return decode_loose(&compressed, inflate, out);
            }
            if let Some(found) = loose.try_find(id, out).ok()? {
                return Some(found.kind);
            }
        }
        packs.find(id, |pack, offset| pack.decode(offset, inflate, out))
    }

    /// Closes packs until something is read from them: as long as they are open, the pages that were
    /// read count as this process's memory.
    pub fn let_go_of_packs(&mut self) {
        for pack in &mut self.packs.list {
            let is_heavy = |it: &mut OpenPack| it.offsets.is_in_memory() && it.offsets.is_large();
            pack.opened.take_if(is_heavy);
            if let Some(opened) = &mut pack.opened {
                opened.data = None;
            }
        }
    }

    /// Reads how a commit begins, a hundred bytes of it, if it is found here and stands by itself.
    pub fn read_begin(&mut self, id: &oid) -> Option<Vec<u8>> {
        let ObjectFiles { loose, packs, inflate } = self;
        let inflate = inflate.get_or_insert_with(Inflate::default);
        let known = packs.find_in_memory(id, |pack, offset| pack.commit_begin(offset, inflate));
        if let Some(known) = known {
            return known;
        }
        match loose.iter().find_map(|loose| compressed_begin(loose.path(), id)) {
            Some(compressed) => {
                let begin = begin_of(&compressed, inflate)?;
                let (kind, _, head) = gix::objs::decode::loose_header(&begin).ok()?;
                (kind == gix::objs::Kind::Commit).then(|| begin[head..].to_vec())
            }
            None => packs.find(id, |pack, offset| pack.commit_begin(offset, inflate)).flatten(),
        }
    }
}

impl PackFiles {
    /// Finds an object in the packs that objects were found in last, as far as their indices are in
    /// memory.
    fn find_in_memory<T>(
        &mut self,
        id: &oid,
        mut take: impl FnMut(&mut OpenPack, u64) -> io::Result<T>,
    ) -> Option<T> {
        for place in 0..self.list.len().min(OPEN_MAX) {
            let pack = &mut self.list[place];
            if !pack.opened.as_ref().is_some_and(|opened| opened.offsets.is_in_memory()) {
                continue;
            }
            // What is gone or strange the other look forgets.
            if let Ok(Some(found)) = pack.find(self.kind, id, &mut take) {
                self.list[..=place].rotate_right(1);
                return Some(found);
            }
        }
        None
    }

    /// Finds an object and does something with its pack and its offset there; where that fails, with
    /// the next pack that has it. Packs that came since the last look are looked at last.
    fn find<T>(
        &mut self,
        id: &oid,
        mut take: impl FnMut(&mut OpenPack, u64) -> io::Result<T>,
    ) -> Option<T> {
        let n_known = self.list.len();
        self.find_among(n_known, id, &mut take).or_else(|| {
            let n_new = self.look_anew();
            self.find_among(n_new, id, &mut take)
        })
    }

    /// Looks at the first so many packs, and forgets those that cannot be used.
    fn find_among<T>(
        &mut self,
        n_packs: usize,
        id: &oid,
        take: &mut impl FnMut(&mut OpenPack, u64) -> io::Result<T>,
    ) -> Option<T> {
        let mut place = 0;
        for _ in 0..n_packs {
            match self.list[place].find(self.kind, id, take) {
                Ok(Some(found)) => {
                    self.list[..=place].rotate_right(1);
                    self.close(OPEN_MAX);
                    return Some(found);
                }
                Ok(None) => {
                    self.close(place.max(OPEN_MAX));
                    place += 1;
                }
                Err(_it_is_gone_or_strange) => drop(self.list.remove(place)),
            }
        }
        None
    }

    /// Closes a pack whose index is large.
    fn close(&mut self, place: usize) {
        if let Some(pack) = self.list.get_mut(place) {
            pack.opened.take_if(|opened| opened.offsets.is_large());
        }
    }

    /// Lists the packs that are there now. Returns how many are new, which come first. Of so many
    /// that gix would not take them in either, none is listed.
    fn look_anew(&mut self) -> usize {
        let mut there: BTreeSet<PathBuf> = self.folders.iter().flat_map(|it| indices(it)).collect();
        if there.len() > 2 * PACKS_MAX {
            there.clear();
        }
        self.list.retain(|pack| there.remove(&pack.index));
        let n_new = there.len();
        let new = there.into_iter().map(|index| Pack { index, opened: None });
        self.list.splice(0..0, new);
        n_new
    }
}

impl Pack {
    fn find<T>(
        &mut self,
        kind: Kind,
        id: &oid,
        take: &mut impl FnMut(&mut OpenPack, u64) -> io::Result<T>,
    ) -> io::Result<Option<T>> {
        let opened = match &mut self.opened {
            Some(opened) => opened,
            slot => {
                let offsets = PackOffsets::open(&self.index, kind)?;
                slot.insert(OpenPack { offsets, data: None })
            }
        };
        opened.offsets.settle();
        let Some(offset) = opened.offsets.find(id)? else { return Ok(None) };
        opened.open_data(&self.index, kind)?;
        take(opened, offset).map(Some)
    }
}

impl OpenPack {
    /// Opens the pack itself, which must be the one that the index was made for.
    fn open_data(&mut self, index: &Path, kind: Kind) -> io::Result<()> {
        if self.data.is_some() {
            return Ok(());
        }
        let data = data::File::at(index.with_extension("pack"), kind).map_err(Error::other)?;
        if *data.checksum().as_slice() != *self.offsets.pack_checksum()? {
            return Err(Error::new(ErrorKind::InvalidData, "the index is that of another pack"));
        }
        self.data = Some(data.with_alloc_limit_bytes(Some(READ_BYTES_MAX)));
        Ok(())
    }

    /// Reads how the object at an offset begins, if it is a commit and differs from no other.
    fn commit_begin(&self, offset: u64, inflate: &mut Inflate) -> io::Result<Option<Vec<u8>>> {
        let data = self.data.as_ref().ok_or(ErrorKind::NotFound)?;
        let entry = data.entry(offset).map_err(Error::other)?;
        if entry.header != Header::Commit {
            return Ok(None);
        }
        let end = (entry.data_offset + COMPRESSED_BYTES).min(data.pack_end() as u64);
        let compressed = data.entry_slice(entry.data_offset..end);
        Ok(compressed.and_then(|compressed| begin_of(compressed, inflate)))
    }

    /// Reads the object at an offset, and those of this pack that it differs from.
    fn decode(
        &self,
        offset: u64,
        inflate: &mut Inflate,
        out: &mut Vec<u8>,
    ) -> io::Result<gix::objs::Kind> {
        let data = self.data.as_ref().ok_or(ErrorKind::NotFound)?;
        let base = |id: &oid, _: &mut Vec<u8>| match self.offsets.find(id) {
            Ok(Some(offset)) => data.entry(offset).map(|entry| Some(ResolvedBase::InPack(entry))),
            Ok(None) | Err(_) => Ok(None),
        };
        let entry = data.entry(offset).map_err(Error::other)?;
        let read = data.decode_entry(entry, out, inflate, &base, &mut Never);
        read.map(|read| read.kind).map_err(Error::other)
    }
}

fn loose_in(objects: PathBuf, kind: Kind) -> loose::Store {
    let limit = loose::Options { alloc_limit_bytes: Some(READ_BYTES_MAX), ..Default::default() };
    loose::Store::at_opts(objects, kind, limit)
}

/// Reads the file of a loose object, unless it is too large. Most are small: one call of the system has them.
fn read_loose(mut file: File) -> io::Result<Option<Vec<u8>>> {
    let mut compressed = vec![0; SMALL_BYTES];
    let n_read = file.read(&mut compressed)?;
    compressed.truncate(n_read);
    if n_read < SMALL_BYTES {
        return Ok(Some(compressed));
    }
    if file.metadata()?.len() > LOOSE_BYTES_MAX {
        return Ok(None);
    }
    file.take(LOOSE_BYTES_MAX).read_to_end(&mut compressed)?;
    Ok(Some(compressed))
}

/// Decodes a loose object, if it is whole. gix makes a state of its own for each, which takes longer
/// than most objects do.
fn decode_loose(
    compressed: &[u8],
    inflate: &mut Inflate,
    out: &mut Vec<u8>,
) -> Option<gix::objs::Kind> {
    let mut begin = [0; BEGIN_BYTES];
    inflate.reset();
    let (status, n_read, n_written) = inflate.prefix(compressed, &mut begin).ok()?;
    let begin = &begin[..n_written];
    let (kind, size, head) = gix::objs::decode::loose_header(begin).ok()?;
    let size = usize::try_from(size).ok().filter(|size| *size <= READ_BYTES_MAX)?;
    let content = begin.get(head..).filter(|content| content.len() <= size)?;
    out.clear();
    out.try_reserve(size).ok()?;
    let n_bytes = if status == Status::StreamEnd {
        out.extend_from_slice(content);
        content.len()
    } else {
        inflate.rest(&compressed[n_read..], begin, head, out, size).ok()?
    };
    (n_bytes == size).then_some(kind)
}

fn loose_path(objects: &Path, id: &oid) -> PathBuf {
    let mut digits = [0; HEX_DIGITS_MAX];
    let (folder, file) = id.hex_to_buf(&mut digits).split_at(2);
    // It is made for every object that is looked for, so it grows no second time.
    let mut path = PathBuf::with_capacity(objects.as_os_str().len() + HEX_DIGITS_MAX + 2);
    path.extend([objects, Path::new(folder), Path::new(file)]);
    path
}

fn compressed_begin(objects: &Path, id: &oid) -> Option<Vec<u8>> {
    let mut file = File::open(loose_path(objects, id)).ok()?;
    let mut begin = vec![0; COMPRESSED_BYTES as usize];
    let n_read = file.read(&mut begin).ok()?;
    begin.truncate(n_read);
    Some(begin)
}

/// Decompresses the beginning of a stream.
fn begin_of(compressed: &[u8], inflate: &mut Inflate) -> Option<Vec<u8>> {
    let mut begin = vec![0; BEGIN_BYTES];
    inflate.reset();
    let (_, _, n_written) = inflate.prefix(compressed, &mut begin).ok()?;
    begin.truncate(n_written);
    Some(begin)
}

/// Lists the indices of packs in a folder.
fn indices(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        name.starts_with(b"pack-") && name.ends_with(b".idx")
    })
}

#[cfg(test)]
mod tests;
