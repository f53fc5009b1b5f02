//! Loose objects: a compressed file of each, made under another name and then renamed.
//!
//! A small commit with its trace is ten of them, and most of what it costs the system is to make
//! files. So each takes no more than it must: one file made in the folder where it stays, one
//! write, one rename within that folder. To begin a compressed stream takes longer than all else
//! that is done with a small object, its tables are cleared for it; so what fits into one block of
//! a filesystem anyway stands in its stream as it is. Git packs it compressed.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use gix::zlib::Status;
use gix::zlib::stream::deflate::{Compress, FlushCompress};
use gix::zlib::{Compression, Inflate};

use agentic_store::file::unique_number;
use agentic_store::journal::{GitKind, GitObject};
use agentic_store::os::{self, RenameOutcome};
use agentic_store::{Error, Result};

/// How often a file is made again because a prune took it, or its folder, away.
const RACES_MAX: usize = 64;
/// What a compressed object may be larger than its content, besides a thousandth of it.
const COMPRESSION_SLACK: usize = 128;

/// How much content a loose object may have to stand in it as it is: with what stands around it,
/// less than the smallest block that filesystems have.
const STORED_MAX: usize = 3 << 10;
/// The same for a tree: two thirds of it are ids, which cannot be compressed.
const TREE_STORED_MAX: usize = STREAM_STORED_MAX;
/// How much content a stream can hold as it is, in one block.
const STREAM_STORED_MAX: usize = u16::MAX as usize;
/// How much the head of an object is at most, in bytes.
const HEAD_BYTES_MAX: usize = 64;
/// How much is read at a time of what is not in memory, in bytes.
const PART_BYTES: usize = 64 << 10;
/// How a stream begins that has one block, of content as it is.
const STORED_HEAD: [u8; 3] = [0x78, 0x01, 0x01];

/// Reads the next part of something into a buffer; none at the end.
pub(super) type ReadPart<'a> = dyn FnMut(&mut [u8]) -> Result<usize> + 'a;

/// Makes streams as zlib has them, one after the other.
pub(super) struct Compressor {
    level: Compression,
    /// Made for the first that is compressed.
    state: Option<Compress>,
}

/// What became of an attempt to write an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WriteAttempt {
    /// It is there now.
    Placed,
    /// A prune took the unfinished file or its folder away, or a dead process left one.
    InTheWay,
}

impl Compressor {
    /// Makes one that compresses as well as `level` asks.
    pub fn new(level: Compression) -> Compressor {
        Compressor { level, state: None }
    }

    /// Appends a loose object, with its header, as one stream.
    ///
    /// # Errors
    /// Fails when there is no memory.
    pub fn loosen(&mut self, header: &[u8], object: &GitObject, out: &mut Vec<u8>) -> Result<()> {
        let stored_max = match object.kind {
            GitKind::Tree => TREE_STORED_MAX,
            GitKind::Blob | GitKind::Commit => STORED_MAX,
        };
        self.deflate(&[header, &object.bytes], stored_max, out)
    }

    /// Appends `parts`, one after the other, as one stream. What is not longer than `stored_max`
    /// stands in it as it is.
    ///
    /// # Errors
    /// Fails when there is no memory.
    pub fn deflate(&mut self, parts: &[&[u8]], stored_max: usize, out: &mut Vec<u8>) -> Result<()> {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        if let Some(length) = u16::try_from(length).ok().filter(|_| length <= stored_max) {
            store(parts, length, out);
            return Ok(());
        }
        let state = self.fresh();
        let begin = out.len();
        for (number, part) in parts.iter().enumerate() {
            let flush = match number + 1 == parts.len() {
                true => FlushCompress::Finish,
                false => FlushCompress::None,
            };
            deflate_part(state, part, flush, begin, out)?;
        }
        out.truncate(begin + state.total_out() as usize);
        Ok(())
    }

    /// Makes one stream of what is read, part by part, and hands on what is ready of it.
    ///
    /// # Errors
    /// Fails as reading and handing on do, and when there is no memory.
    pub fn deflate_from(
        &mut self,
        read: &mut ReadPart<'_>,
        hand_on: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let state = self.fresh();
        let (mut part, mut out) = (vec![0; PART_BYTES], vec![0; PART_BYTES]);
        loop {
            let n_read = read(&mut part)?;
            let flush = if n_read == 0 { FlushCompress::Finish } else { FlushCompress::None };
            let mut rest = &part[..n_read];
            loop {
                let (n_in, n_out) = (state.total_in(), state.total_out());
                let status = state.compress(rest, &mut out, flush);
                let status = status.map_err(Error::git("compress an object"))?;
                rest = &rest[(state.total_in() - n_in) as usize..];
                let n_ready = (state.total_out() - n_out) as usize;
                hand_on(&out[..n_ready])?;
                match status {
                    Status::StreamEnd => return Ok(()),
                    // What did not fit is asked for again before more is read.
                    Status::Ok | Status::BufError if n_ready == out.len() => {}
                    Status::Ok | Status::BufError if n_read == 0 || !rest.is_empty() => {}
                    Status::Ok | Status::BufError => break,
                }
            }
        }
    }

    /// Returns a state that has seen nothing yet.
    fn fresh(&mut self) -> &mut Compress {
        match &mut self.state {
            Some(state) => state.reset(),
            None => self.state = Some(Compress::new(self.level)),
        }
        self.state.as_mut().expect("it was made")
    }
}

/// Names the file of an object by its id in hexadecimal digits.
pub(super) fn path_of(objects: &Path, hex: &str) -> PathBuf {
    objects.join(&hex[..2]).join(&hex[2..])
}

/// Reads an object from its own file, to the last byte of it: git takes one for damaged whose stream
/// lacks the end, or has something behind it. Nothing if there is no such file.
///
/// # Errors
/// Fails when it cannot be read or is damaged.
pub(super) fn read_whole(path: &Path, bytes_max: usize) -> Result<Option<GitObject>> {
    let stream = match fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        read => read.map_err(Error::io("read", path))?,
    };
    let damaged = || Error::corrupt(format!("`{}`", path.display()), "it is no whole object");
    let mut inflate = Inflate::default();
    let mut begin = [0; HEAD_BYTES_MAX];
    let (_, _, n_begun) = inflate.once(&stream, &mut begin).map_err(|_| damaged())?;
    let head = gix::objs::decode::loose_header(&begin[..n_begun]);
    let (kind, size, n_head) = head.map_err(|_| damaged())?;
    let length = usize::try_from(size).ok().and_then(|size| size.checked_add(n_head));
    let length = length.filter(|length| *length <= bytes_max).ok_or_else(damaged)?;
    let mut bytes = vec![0; length + 1];
    inflate.reset();
    let (status, n_read, n_written) = inflate.once(&stream, &mut bytes).map_err(|_| damaged())?;
    if status != Status::StreamEnd || n_read != stream.len() || n_written != length {
        return Err(damaged());
    }
    bytes.truncate(length);
    bytes.drain(..n_head);
    Ok(Some(GitObject { kind: super::from_gix(kind)?, bytes }))
}

fn deflate_part(
    state: &mut Compress,
    part: &[u8],
    flush: FlushCompress,
    begin: usize,
    out: &mut Vec<u8>,
) -> Result<()> {
    let before = state.total_in();
    loop {
        let rest = &part[(state.total_in() - before) as usize..];
        if rest.is_empty() && flush == FlushCompress::None {
            return Ok(());
        }
        let end = begin + state.total_out() as usize;
        out.resize(end + rest.len() + rest.len() / 1000 + COMPRESSION_SLACK, 0);
        let status = state.compress(rest, &mut out[end..], flush);
        match status.map_err(Error::git("compress an object"))? {
            Status::StreamEnd => return Ok(()),
            Status::Ok | Status::BufError => {}
        }
    }
}

/// Appends a stream of one block that holds `parts`, `length` bytes, as they are.
fn store(parts: &[&[u8]], length: u16, out: &mut Vec<u8>) {
    out.reserve(usize::from(length) + COMPRESSION_SLACK);
    out.extend_from_slice(&STORED_HEAD);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&(!length).to_le_bytes());
    parts.iter().for_each(|part| out.extend_from_slice(part));
    out.extend_from_slice(&adler32(parts).to_be_bytes());
}

/// Computes the checksum at the end of a stream, of at most 65,535 bytes.
fn adler32(parts: &[&[u8]]) -> u32 {
    /// The largest prime below 65,536.
    const MODULUS: u64 = 65_521;
    let (mut sum, mut sum_of_sums) = (1_u64, 0_u64);
    for byte in parts.iter().copied().flatten() {
        sum += u64::from(*byte);
        sum_of_sums += sum;
    }
    (((sum_of_sums % MODULUS) << 16) | (sum % MODULUS)) as u32
}

/// Puts a compressed object into the folder of objects, unless it is there.
///
/// # Errors
/// Fails when the disk is full or the repository is read-only.
pub(super) fn place(objects: &Path, hex: &str, compressed: &[u8]) -> Result<()> {
    let folder = objects.join(&hex[..2]);
    let path = folder.join(&hex[2..]);
    for _ in 0..RACES_MAX {
        match try_place(&folder, &path, compressed).map_err(Error::io("write", &path))? {
            WriteAttempt::Placed => return Ok(()),
            // Most folders are there already; only the first object of each makes one.
            WriteAttempt::InTheWay => make_folder(&folder)?,
        }
    }
    let vanishes = std::io::Error::new(ErrorKind::NotFound, "somebody removes it each time");
    Err(Error::io("write", &path)(vanishes))
}

fn make_folder(folder: &Path) -> Result<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Err(Error::io("create", folder)(error))
        }
        _ => Ok(()),
    }
}

fn try_place(folder: &Path, path: &Path, compressed: &[u8]) -> std::io::Result<WriteAttempt> {
    let fresh = fresh_name(folder);
    // As git has them: nobody writes to an object.
    let file = OpenOptions::new().write(true).create_new(true).mode(0o444).open(&fresh);
    let mut file = match file {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists) => {
            return Ok(WriteAttempt::InTheWay);
        }
        file => file?,
    };
    let written = file.write_all(compressed);
    drop(file);
    match written.and_then(|()| rename(&fresh, path)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(WriteAttempt::InTheWay),
        Err(error) => {
            let _it_is_garbage = fs::remove_file(&fresh);
            Err(error)
        }
        Ok(()) => Ok(WriteAttempt::Placed),
    }
}

/// Renames a file, unless the other name is taken: an object that is there is the same one.
fn rename(fresh: &Path, path: &Path) -> std::io::Result<()> {
    // Not every filesystem can tell; to replace an object by itself does no harm.
    match os::rename_new(fresh, path)? {
        RenameOutcome::Moved => Ok(()),
        RenameOutcome::Taken => fs::remove_file(fresh),
    }
}

/// Chooses a name that git takes for an unfinished object: it is no damage, and a prune removes what
/// a crash left.
fn fresh_name(folder: &Path) -> PathBuf {
    folder.join(format!("tmp_obj_{}-{}", std::process::id(), unique_number()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: &str = "0123456789abcdef0123456789abcdef01234567";

    #[test]
    fn streams_of_one_compressor_can_be_read_one_by_one() {
        let mut compressor = Compressor::new(Compression::BEST_SPEED);
        let long: Vec<u8> = (0..100_000_u32).flat_map(|n| n.to_le_bytes()).collect();
        let full = vec![0xff; STREAM_STORED_MAX];
        let small = [b"blob 3\0".as_slice(), b"abc"];
        for parts in [&small[..], &[b"x", &long, b""], &[b""], &[&full], &[&full, b"x"]] {
            let mut stream = b"before".to_vec();
            compressor.deflate(parts, STREAM_STORED_MAX, &mut stream).expect("there is memory");
            let mut read = vec![0; parts.concat().len() + 1];
            let mut inflate = gix::zlib::Inflate::default();
            let (status, _, n_read) = inflate.once(&stream[6..], &mut read).expect("a stream");
            assert_eq!(status, Status::StreamEnd);
            assert_eq!(&read[..n_read], parts.concat());
        }
    }

    #[test]
    fn an_object_that_is_there_stays_and_nothing_is_left_beside_it() {
        let objects = tempfile::tempdir().expect("a temporary folder");
        for content in [b"first", b"other"] {
            place(objects.path(), HEX, content).expect("writable");
        }
        let folder = objects.path().join("01");
        assert_eq!(fs::read(folder.join(&HEX[2..])).expect("readable"), b"first");
        assert_eq!(fs::read_dir(&folder).expect("readable").count(), 1);
    }

    #[test]
    fn what_a_dead_process_left_is_in_nobodys_way() {
        let objects = tempfile::tempdir().expect("a temporary folder");
        let folder = objects.path().join("01");
        fs::create_dir(&folder).expect("writable");
        for number in 0..RACES_MAX - 1 {
            let left = folder.join(format!("tmp_obj_{}-{number}", std::process::id()));
            fs::write(left, b"half").expect("writable");
        }
        place(objects.path(), HEX, b"whole").expect("writable");
        assert_eq!(fs::read(folder.join(&HEX[2..])).expect("readable"), b"whole");
    }

    #[test]
    fn a_file_in_place_of_a_folder_is_an_error() {
        let objects = tempfile::tempdir().expect("a temporary folder");
        fs::write(objects.path().join("01"), b"no folder").expect("writable");
        assert!(place(objects.path(), HEX, b"x").is_err());
    }
}
