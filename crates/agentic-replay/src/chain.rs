//! The chain that records form.

use agentic_model::{Cid, Instant, canonical};

use crate::digest::digest;
use crate::record::{Body, Record, StartRecord};
use crate::{HashedRecord, RecordHash};

const RECORD_DOMAIN: &[u8] = b"agentic record 1\0";
const SUB_CHAIN_DOMAIN: &[u8] = b"agentic sub-chain 1\0";

/// A record with its bytes, and the hash that the next one names.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordLink {
    /// The record.
    pub record: Record,
    /// Its canonical bytes: what a journal holds.
    pub bytes: Vec<u8>,
    /// The hash of the bytes.
    pub hash: RecordHash,
}

/// The end of a chain: what the next record has to name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chain {
    next_seq: u64,
    head: RecordHash,
    at: Instant,
}

/// A record does not continue its chain: damage, not divergence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("record {seq} is damaged: {reason}")]
pub struct Corrupt {
    /// The position of the record.
    pub seq: u64,
    /// What is wrong with it.
    pub reason: String,
}

impl Chain {
    /// Returns the chain without records.
    pub fn empty() -> Chain {
        Chain { next_seq: 0, head: RecordHash::NONE, at: Instant::from_millis(i64::MIN) }
    }

    /// Returns how many records there are.
    pub fn length(&self) -> u64 {
        self.next_seq
    }

    /// Returns the hash of the last record.
    pub fn head(&self) -> RecordHash {
        self.head
    }

    /// Returns the time of the last record.
    pub fn at(&self) -> Instant {
        self.at
    }

    /// Adds a record. Time never runs backwards: an earlier `at` becomes the last one.
    pub fn append(&mut self, at: Instant, body: Body) -> RecordLink {
        let record = Record { seq: self.next_seq, prev: self.head, at: self.at.max(at), body };
        let bytes = canonical::encode_entries(&record.to_entries())
            .expect("a record holds shallow values without floats");
        let hash = hash_bytes(&bytes);
        self.advance(&record, hash);
        RecordLink { record, bytes, hash }
    }

    /// Takes in the bytes of the next record.
    ///
    /// # Errors
    /// Fails when they are not those of a record that continues the chain.
    pub fn read(&mut self, bytes: &[u8]) -> Result<(Record, RecordHash), Corrupt> {
        let corrupt = |reason: String| Corrupt { seq: self.next_seq, reason };
        let record = Record::from_bytes(bytes).map_err(|error| corrupt(error.to_string()))?;
        self.check(&record)?;
        let hash = hash_bytes(bytes);
        self.advance(&record, hash);
        Ok((record, hash))
    }

    fn check(&self, record: &Record) -> Result<(), Corrupt> {
        let corrupt = |reason: String| Err(Corrupt { seq: self.next_seq, reason });
        if record.seq != self.next_seq {
            return corrupt(format!("it says that it is record {}", record.seq));
        }
        if record.prev != self.head {
            return corrupt("it does not name the record before".to_owned());
        }
        if record.at < self.at {
            return corrupt("it is older than the record before".to_owned());
        }
        Ok(())
    }

    fn advance(&mut self, record: &Record, hash: RecordHash) {
        self.next_seq += 1;
        self.head = hash;
        self.at = record.at;
    }
}

/// All records of a session, checked to be one chain that begins with a start.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordChain {
    records: Vec<Record>,
    hashes: Vec<RecordHash>,
}

impl RecordChain {
    /// Reads a journal from the bytes of its records, in order. The records of a fork follow the
    /// ones that it shares with its parent.
    ///
    /// # Errors
    /// Fails at the first record that does not continue the chain, and when there is none.
    pub fn read(
        frames: impl IntoIterator<Item = impl AsRef<[u8]>>,
    ) -> Result<RecordChain, Corrupt> {
        let mut journal = RecordChain { records: Vec::new(), hashes: Vec::new() };
        journal.read_on(frames)?;
        match journal.records.first().map(|record| &record.body) {
            Some(Body::Start(start)) if start.parent.is_none() => Ok(journal),
            _ => Err(Corrupt { seq: 0, reason: "the journal does not begin with a start".into() }),
        }
    }

    /// Reads on: the bytes of the records that follow, in order.
    ///
    /// # Errors
    /// Fails at the first record that does not continue the chain; those before it are taken in.
    pub fn read_on(
        &mut self,
        frames: impl IntoIterator<Item = impl AsRef<[u8]>>,
    ) -> Result<(), Corrupt> {
        let mut chain = self.chain();
        for bytes in frames {
            let (record, hash) = chain.read(bytes.as_ref())?;
            self.records.push(record);
            self.hashes.push(hash);
        }
        Ok(())
    }

    /// Takes in a record that was made and appended just now.
    ///
    /// # Errors
    /// Fails when it does not continue the chain; the journal is then as before.
    pub fn push(&mut self, record: Record, hash: RecordHash) -> Result<(), Corrupt> {
        self.chain().check(&record)?;
        self.records.push(record);
        self.hashes.push(hash);
        Ok(())
    }

    /// Returns the records.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Returns the hash of each record.
    pub fn hashes(&self) -> &[RecordHash] {
        &self.hashes
    }

    /// Puts their hashes to the bytes of the last records, which are those that the journal has read.
    ///
    /// # Panics
    /// Panics when there are more of them than the journal has.
    pub fn last_hashed(&self, frames: Vec<Vec<u8>>) -> Vec<HashedRecord> {
        let n_before = self.hashes.len().checked_sub(frames.len());
        let n_before = n_before.expect("BUG: a journal has every record that was read");
        let hashes = &self.hashes[n_before..];
        let pairs = frames.into_iter().zip(hashes);
        pairs.map(|(bytes, hash)| HashedRecord::of_journal(bytes, *hash)).collect()
    }

    /// Returns the journal as it was when it had so many records, or all of it if it has fewer.
    /// There is always the first.
    pub fn up_to(&self, n_records: u64) -> RecordChain {
        let n_records = usize::try_from(n_records).unwrap_or(usize::MAX);
        let n_records = n_records.clamp(1, self.records.len());
        RecordChain {
            records: self.records[..n_records].to_vec(),
            hashes: self.hashes[..n_records].to_vec(),
        }
    }

    /// Returns how the session that owns the journal began: the last start in it.
    pub fn start(&self) -> &StartRecord {
        let starts = self.records.iter().rev().filter_map(|record| {
            if let Body::Start(start) = &record.body { Some(&**start) } else { None }
        });
        starts.into_iter().next().expect("a journal begins with a start")
    }

    /// Returns the program that the session runs now: that of its start, or what it was upgraded
    /// to since.
    pub fn flow(&self) -> Cid {
        let flows = self.records.iter().rev().filter_map(|record| match &record.body {
            Body::Start(start) => Some(start.flow),
            Body::Upgrade(upgrade) => Some(upgrade.to),
            Body::Ask(_)
            | Body::Answer(_)
            | Body::Attempt(_)
            | Body::Signal(_)
            | Body::Escalate(_)
            | Body::Vote(_)
            | Body::Publish(_)
            | Body::Found(_)
            | Body::Permit(_)
            | Body::Withdraw(_)
            | Body::Cancel(_)
            | Body::ScopeEnd(_)
            | Body::Continue(_)
            | Body::End(_) => None,
        });
        flows.into_iter().next().expect("a journal begins with a start")
    }

    /// Says whether the session is over.
    pub fn is_over(&self) -> bool {
        let last = self.records.last().map(|record| &record.body);
        matches!(last, Some(Body::End(_) | Body::Continue(_)))
    }

    /// Returns the end of the chain.
    pub fn chain(&self) -> Chain {
        match (self.records.last(), self.hashes.last()) {
            (Some(last), Some(head)) => Chain { next_seq: last.seq + 1, head: *head, at: last.at },
            _ => Chain::empty(),
        }
    }
}

/// Hashes the records of a scope, given their hashes in order.
pub fn sub_chain_hash(hashes: impl IntoIterator<Item = RecordHash>) -> RecordHash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(SUB_CHAIN_DOMAIN);
    for hash in hashes {
        hasher.update(hash.as_bytes());
    }
    RecordHash::from_bytes(*hasher.finalize().as_bytes())
}

fn hash_bytes(bytes: &[u8]) -> RecordHash {
    RecordHash::from_bytes(digest(&[RECORD_DOMAIN, bytes]))
}

impl RecordHash {
    /// Hashes the bytes of a record, as the next one names it.
    pub fn of_record(bytes: &[u8]) -> RecordHash {
        hash_bytes(bytes)
    }
}
