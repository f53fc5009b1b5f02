//! What was read from ids that never change, kept on the disk: a few files, each with many entries.
//!
//! An entry belongs to a name, such as an agent's, and says by its key what it was read from. One
//! whose key is another may still hold the beginning of what is wanted. A file that is damaged, or
//! was written by another version, is none. Whoever writes last wins; what is lost is read again.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agentic_model::Oid;
use agentic_query::ExplainedCache;
use agentic_store::checksum;
use agentic_store::file::{self, Persistence};

/// How a file begins; the number grows whenever what stands in entries changes.
const HEADER: &[u8] = b"agentic facts 2\n";
/// How long the checksum behind it is, and the length before everything of no fixed length.
const CHECKSUM_BYTES: usize = 4;
const LENGTH_BYTES: usize = 4;
/// How many files the entries of one cache are spread over.
pub(super) const SHARDS: u32 = 64;
/// Larger files are neither read nor written, in bytes.
const SHARD_BYTES_MAX: u64 = 1 << 30;

/// The entries of one noun.
pub(super) struct FactCache {
    folder: PathBuf,
    shards: RefCell<BTreeMap<u32, CacheShard>>,
    /// How many ids were asked for, and how many of them were not there.
    n_ids: Cell<usize>,
    n_new: Cell<usize>,
}

/// Returns the number of the file in which what belongs to a name stands.
pub(super) fn shard_of(name: &str) -> u32 {
    checksum(name.as_bytes()) % SHARDS
}

/// What is cached for one name.
#[derive(Debug, Clone)]
pub(super) struct CacheEntry {
    /// What it was read from.
    pub key: String,
    pub content: Arc<[u8]>,
}

#[derive(Default)]
struct CacheShard {
    entries: BTreeMap<String, CacheEntry>,
    is_changed: bool,
}

impl FactCache {
    /// Takes the folder, which need not be there.
    pub fn new(folder: PathBuf) -> FactCache {
        let (n_ids, n_new) = (Cell::new(0), Cell::new(0));
        FactCache { folder, shards: RefCell::default(), n_ids, n_new }
    }

    /// Counts ids that facts were read from, and those of them that had to be read anew.
    pub fn count(&self, n_ids: usize, n_new: usize) {
        self.n_ids.set(self.n_ids.get() + n_ids);
        self.n_new.set(self.n_new.get() + n_new);
    }

    /// Tells what it was good for; nothing if nobody asked it.
    pub fn explained(&self, name: &str) -> Option<ExplainedCache> {
        let (name, n_ids, n_new) = (name.to_owned(), self.n_ids.get(), self.n_new.get());
        (n_ids > 0).then_some(ExplainedCache { name, n_ids, n_new })
    }

    /// Finds the entry of a name, whatever it was read from.
    pub fn find(&self, name: &str) -> Option<CacheEntry> {
        let mut shards = self.shards.borrow_mut();
        self.shard(&mut shards, name).entries.get(name).cloned()
    }

    /// Keeps an entry in place of the one that its name had.
    pub fn keep(&self, name: &str, entry: CacheEntry) {
        let mut shards = self.shards.borrow_mut();
        let shard = self.shard(&mut shards, name);
        shard.entries.insert(name.to_owned(), entry);
        shard.is_changed = true;
    }

    /// Writes what was kept, if that can be done, without the entries of names that nobody has any
    /// more.
    pub fn write(&self, is_known: &dyn Fn(&str) -> bool) {
        for (number, shard) in self.shards.borrow_mut().iter_mut() {
            if std::mem::take(&mut shard.is_changed) {
                shard.entries.retain(|name, _| is_known(name));
                let bytes = shard.encode();
                if bytes.len() as u64 <= SHARD_BYTES_MAX {
                    let place = self.place(*number);
                    if file::replace(&place, &bytes, Persistence::Lazy).is_err() {
                        // The first one makes the folder.
                        let _ = std::fs::create_dir_all(&self.folder);
                        let _ = file::replace(&place, &bytes, Persistence::Lazy);
                    }
                }
            }
        }
    }

    fn shard<'a>(
        &self,
        shards: &'a mut BTreeMap<u32, CacheShard>,
        name: &str,
    ) -> &'a mut CacheShard {
        let number = shard_of(name);
        let read = || CacheShard::read(&self.place(number)).unwrap_or_default();
        shards.entry(number).or_insert_with(read)
    }

    fn place(&self, number: u32) -> PathBuf {
        self.folder.join(format!("{number:02}"))
    }
}

impl CacheShard {
    fn read(path: &Path) -> Option<CacheShard> {
        if std::fs::metadata(path).ok()?.len() > SHARD_BYTES_MAX {
            return None;
        }
        let bytes = std::fs::read(path).ok()?;
        let (sum, content) = bytes.strip_prefix(HEADER)?.split_first_chunk::<4>()?;
        if u32::from_le_bytes(*sum) != checksum(content) {
            return None;
        }
        let mut reader = PackedReader::new(content);
        let mut shard = CacheShard::default();
        while !reader.is_at_end() {
            let (name, key) = (reader.text()?.to_owned(), reader.text()?.to_owned());
            let entry = CacheEntry { key, content: Arc::from(reader.bytes()?) };
            shard.entries.insert(name, entry);
        }
        Some(shard)
    }

    fn encode(&self) -> Vec<u8> {
        let length = |(name, entry): (&String, &CacheEntry)| {
            name.len() + entry.key.len() + entry.content.len() + 3 * LENGTH_BYTES
        };
        let begin = HEADER.len() + CHECKSUM_BYTES;
        let n_bytes = begin + self.entries.iter().map(length).sum::<usize>();
        let mut content = PackedWriter(Vec::with_capacity(n_bytes));
        // The checksum follows when that which it is of stands there.
        content.0.extend_from_slice(HEADER);
        content.0.extend_from_slice(&[0; CHECKSUM_BYTES]);
        for (name, entry) in &self.entries {
            content.bytes(name.as_bytes());
            content.bytes(entry.key.as_bytes());
            content.bytes(&entry.content);
        }
        let mut bytes = content.into_bytes();
        let sum = checksum(&bytes[begin..]);
        bytes[HEADER.len()..begin].copy_from_slice(&sum.to_le_bytes());
        bytes
    }
}

/// Writes values one after the other.
#[derive(Debug, Default)]
pub(super) struct PackedWriter(Vec<u8>);

impl PackedWriter {
    pub fn number(&mut self, number: i64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        let length = u32::try_from(bytes.len()).expect("BUG: nothing cached has four gigabytes");
        self.0.extend_from_slice(&length.to_le_bytes());
        self.0.extend_from_slice(bytes);
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Reads them back; nothing where they end too soon.
#[derive(Debug, Clone)]
pub(super) struct PackedReader<'a> {
    rest: &'a [u8],
}

impl<'a> PackedReader<'a> {
    pub fn new(bytes: &'a [u8]) -> PackedReader<'a> {
        PackedReader { rest: bytes }
    }

    pub fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    pub fn number(&mut self) -> Option<i64> {
        let (number, rest) = self.rest.split_first_chunk::<8>()?;
        self.rest = rest;
        Some(i64::from_le_bytes(*number))
    }

    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let (length, rest) = self.rest.split_first_chunk::<4>()?;
        let (bytes, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        self.rest = rest;
        Some(bytes)
    }

    pub fn oid(&mut self) -> Option<Oid> {
        Oid::from_bytes(self.bytes()?).ok()
    }

    pub fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }
}

#[cfg(test)]
mod tests;
