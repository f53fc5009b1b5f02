//! Whose sessions there are: a cache of the agent and the start key of each, by its id.
//!
//! How a session began never changes, and its id follows from it. So what the cache says of an id
//! can never become wrong; what it lacks is read and added. Whoever looks for the sessions of one
//! agent among thousands thus reads one file instead of every log. What it finds is looked at in the
//! records before it is used.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;

use agentic_model::{AgentName, Cid};
use agentic_replay::SessionId;
use agentic_store::file::{self, Persistence};

use super::beginning::Beginning;
use crate::SessionSpace;

/// How many bytes of a hash are kept.
const HASH_BYTES: usize = 16;
/// How long a session's id is, in bytes.
const ID_BYTES: usize = 32;
/// How long the checksum of a line is, in bytes.
const SUM_BYTES: usize = 4;
/// How long a line is, in bytes: the id, two hashes, a checksum.
const LINE_BYTES: usize = ID_BYTES + 2 * HASH_BYTES + SUM_BYTES;

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

/// Hashes the name of an agent as marks do.
pub fn hash_of_agent(agent: &AgentName) -> ShortHash {
    short_hash(agent.as_str().as_bytes())
}

/// Hashes a start key as marks do.
pub fn hash_of_key(key: &str) -> ShortHash {
    short_hash(key.as_bytes())
}

/// Selects sessions by their marks. One whose beginning cannot be read is selected too: it may be
/// meant.
pub fn select(
    space: &SessionSpace,
    ids: impl IntoIterator<Item = SessionId>,
    is_wanted: impl Fn(&Mark) -> bool,
) -> Vec<SessionId> {
    let path = path(space);
    let content = std::fs::read(&path).unwrap_or_default();
    let known: BTreeMap<SessionId, Mark> =
        content.chunks_exact(LINE_BYTES).filter_map(read_line).collect();
    let mut new = Vec::new();
    let mark = |id: &SessionId| match known.get(id) {
        Some(mark) => Some(*mark),
        None => {
            let start = Beginning::of(space, id).ok()?.start;
            let mark = Mark { agent: hash_of_agent(&start.agent), key: hash_of_key(&start.key) };
            new.push((*id, mark));
            Some(mark)
        }
    };
    let marked: Vec<(SessionId, Option<Mark>)> = {
        let mut mark = mark;
        ids.into_iter().map(|id| (id, mark(&id))).collect()
    };
    add(&path, content.len(), &known, &new);
    let wanted = marked.into_iter().filter(|(_, mark)| mark.as_ref().is_none_or(&is_wanted));
    wanted.map(|(id, _)| id).collect()
}

fn path(space: &SessionSpace) -> PathBuf {
    space.repository().layout().cache().join("roster")
}

/// Adds lines. Writers may do so at once: each adds whole lines at the end.
fn add(
    path: &std::path::Path,
    length: usize,
    known: &BTreeMap<SessionId, Mark>,
    new: &[(SessionId, Mark)],
) {
    if new.is_empty() {
        return;
    }
    let folder = path.parent().expect("caches stand in a folder");
    let _ = std::fs::create_dir_all(folder);
    // It is only a cache.
    if length.is_multiple_of(LINE_BYTES) {
        let lines: Vec<u8> = new.iter().flat_map(|(id, mark)| line(id, mark)).collect();
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        let _ = file.and_then(|mut file| file.write_all(&lines));
    } else {
        // A line was cut short; nothing behind it stands where a reader looks.
        let all = known.iter().chain(new.iter().map(|(id, mark)| (id, mark)));
        let lines: Vec<u8> = all.flat_map(|(id, mark)| line(id, mark)).collect();
        let _ = file::replace(path, &lines, Persistence::Lazy);
    }
}

fn line(id: &SessionId, mark: &Mark) -> Vec<u8> {
    let mut line = [id.as_bytes().as_slice(), &mark.agent, &mark.key].concat();
    let sum = short_hash(&line);
    line.extend_from_slice(&sum[..SUM_BYTES]);
    line
}

/// Reads a line, if it is as it was written.
fn read_line(line: &[u8]) -> Option<(SessionId, Mark)> {
    let (said, sum) = line.split_at(LINE_BYTES - SUM_BYTES);
    if short_hash(said)[..SUM_BYTES] != *sum {
        return None;
    }
    let (id, hashes) = said.split_at(ID_BYTES);
    let (agent, key) = hashes.split_at(HASH_BYTES);
    let mark = Mark { agent: agent.try_into().ok()?, key: key.try_into().ok()? };
    Some((SessionId::from_bytes(id.try_into().ok()?), mark))
}

fn short_hash(bytes: &[u8]) -> ShortHash {
    let mut hash = [0; HASH_BYTES];
    hash.copy_from_slice(&Cid::of(bytes).digest()[..HASH_BYTES]);
    hash
}
