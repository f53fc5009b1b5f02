//! The file behind the roster: lines of one length, to which lines are added.
//!
//! What a line says may rest on all before it. So a file in which one line is not as it was written
//! says nothing, and whoever adds a line adds it to the very file that was read: if another one took
//! its place meanwhile, the line is lost with it.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use agentic_replay::SessionId;
use agentic_store::file::{self, Persistence};

use super::stamp::{FolderStamp, SHARDS, STAMP_BYTES, Shard};

/// How many bytes of a hash are kept.
pub const HASH_BYTES: usize = 16;
/// How long a session's id is, in bytes.
const ID_BYTES: usize = 32;
/// How long what a line says is, in bytes: an id and two hashes, or a folder and its stamp.
const SAID_BYTES: usize = ID_BYTES + 2 * HASH_BYTES;
/// Where the stamp of a folder begins in what a line says.
const STAMP_AT: usize = SAID_BYTES - STAMP_BYTES;
/// How long a line is, in bytes: what it says, and a sum that tells how to read that.
const LINE_BYTES: usize = SAID_BYTES + 8;
/// What a sum begins with.
const SUM_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
/// What tells the sums of lines about folders from those of lines about sessions.
const SHARD_TAG: u64 = 0x9e37_79b9_7f4a_7c15;
/// What a sum is multiplied by for each number that it takes in; odd, so that nothing is lost.
const SUM_FACTOR: u64 = 0x0000_0100_0000_01b3;
/// How many stamps a file has at most before it is written anew without those that are old.
const STAMPS_MAX: usize = 4 * SHARDS;

/// The beginning of a hash.
pub type ShortHash = [u8; HASH_BYTES];

/// What is known of how a session began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// The hash of its agent's name.
    pub agent: ShortHash,
    /// The hash of its start key.
    pub key: ShortHash,
}

/// One line.
#[derive(Debug, Clone, Copy)]
pub enum RollLine {
    /// How a session began.
    Session(SessionId, Mark),
    /// How one of the folders looked, counted through both kinds.
    Shard(usize, FolderStamp),
}

/// The file as it was read.
#[derive(Debug)]
pub struct RollFile {
    path: PathBuf,
    /// The file itself; nothing where there is none, or what it says is damaged.
    file: Option<File>,
    /// Its lines.
    lines: Vec<RollLine>,
}

impl RollFile {
    /// Opens the file. One that is not there, or is damaged, has no lines.
    pub fn open(path: &Path) -> RollFile {
        let mut content = Vec::new();
        let file = OpenOptions::new().read(true).append(true).open(path).ok();
        let file = file.and_then(|mut file| file.read_to_end(&mut content).ok().map(|_| file));
        let is_whole = content.len().is_multiple_of(LINE_BYTES);
        let lines: Option<Vec<RollLine>> =
            content.chunks_exact(LINE_BYTES).map(RollLine::from_bytes).collect();
        let (file, lines) = match (file, lines) {
            (Some(file), Some(lines)) if is_whole => (Some(file), lines),
            (Some(_) | None, Some(_) | None) => (None, Vec::new()),
        };
        RollFile { path: path.to_owned(), file, lines }
    }

    /// Lists the sessions, with how each began.
    pub fn marks(&self) -> impl Iterator<Item = (SessionId, Mark)> {
        self.lines.iter().filter_map(|line| match line {
            RollLine::Session(id, mark) => Some((*id, *mark)),
            RollLine::Shard(..) => None,
        })
    }

    /// Lists the sessions that would stand in a folder.
    pub fn sessions_in(&self, shard: &Shard) -> impl Iterator<Item = SessionId> {
        let first = shard.first;
        self.marks().map(|(id, _)| id).filter(move |id| id.as_bytes().first() == Some(&first))
    }

    /// Returns how each folder looked last.
    pub fn stamps(&self) -> Vec<Option<FolderStamp>> {
        let mut stamps = vec![None; SHARDS];
        for line in &self.lines {
            if let RollLine::Shard(at, stamp) = line {
                stamps[*at] = Some(*stamp);
            }
        }
        stamps
    }

    /// Adds lines. That nobody can is no failure: it is only a cache.
    pub fn add(mut self, lines: &[RollLine]) {
        if lines.is_empty() {
            return;
        }
        let bytes: Vec<u8> = lines.iter().flat_map(|line| line.to_bytes()).collect();
        let n_stamps = self.lines.iter().filter(|line| matches!(line, RollLine::Shard(..))).count();
        match self.file.take() {
            Some(mut file) if n_stamps < STAMPS_MAX => {
                let _ = file.write_all(&bytes);
            }
            Some(_) | None => {
                let known = self.marks().map(|(id, mark)| RollLine::Session(id, mark));
                let mut all: Vec<u8> = known.flat_map(|line| line.to_bytes()).collect();
                let stamps = self.stamps().into_iter().enumerate();
                let stamps = stamps.filter_map(|(at, stamp)| Some(RollLine::Shard(at, stamp?)));
                all.extend(stamps.flat_map(|line| line.to_bytes()));
                all.extend(bytes);
                let folder = self.path.parent().expect("caches stand in a folder");
                let _ = std::fs::create_dir_all(folder);
                let _ = file::replace(&self.path, &all, Persistence::Lazy);
            }
        }
    }
}

impl RollLine {
    fn to_bytes(self) -> [u8; LINE_BYTES] {
        let mut line = [0; LINE_BYTES];
        let tag = match self {
            RollLine::Session(id, mark) => {
                line[..ID_BYTES].copy_from_slice(id.as_bytes());
                line[ID_BYTES..ID_BYTES + HASH_BYTES].copy_from_slice(&mark.agent);
                line[ID_BYTES + HASH_BYTES..SAID_BYTES].copy_from_slice(&mark.key);
                0
            }
            RollLine::Shard(at, stamp) => {
                let at = u64::try_from(at).unwrap_or(u64::MAX);
                line[..8].copy_from_slice(&at.to_le_bytes());
                line[STAMP_AT..SAID_BYTES].copy_from_slice(&stamp.to_bytes());
                SHARD_TAG
            }
        };
        let sum = sum(&line[..SAID_BYTES]) ^ tag;
        line[SAID_BYTES..].copy_from_slice(&sum.to_le_bytes());
        line
    }

    /// Reads a line; nothing if it is not as it was written.
    fn from_bytes(line: &[u8]) -> Option<RollLine> {
        let (said, told) = line.split_at(SAID_BYTES);
        let told = u64::from_le_bytes(told.try_into().ok()?);
        let sum = sum(said);
        if sum == told {
            let (id, hashes) = said.split_at(ID_BYTES);
            let (agent, key) = hashes.split_at(HASH_BYTES);
            let mark = Mark { agent: agent.try_into().ok()?, key: key.try_into().ok()? };
            return Some(RollLine::Session(SessionId::from_bytes(id.try_into().ok()?), mark));
        }
        if sum ^ SHARD_TAG != told {
            return None;
        }
        let at = u64::from_le_bytes(said[..8].try_into().ok()?);
        let at = usize::try_from(at).ok().filter(|at| *at < SHARDS)?;
        Some(RollLine::Shard(at, FolderStamp::from_bytes(said[STAMP_AT..].try_into().ok()?)))
    }
}

/// Sums up what a line says: every change of one bit changes it.
fn sum(said: &[u8]) -> u64 {
    let (words, _) = said.as_chunks::<8>();
    let mut sum = SUM_BASIS;
    for word in words {
        sum = (sum ^ u64::from_le_bytes(*word)).wrapping_mul(SUM_FACTOR).rotate_left(29);
    }
    sum
}

#[cfg(test)]
mod tests;
