//! Whose sessions there are: a cache of the agent and the start key of each, by its id.
//!
//! How a session began never changes, and its id follows from it. So what the cache says of an id
//! can never become wrong; what it lacks is read and added. Whoever looks for the sessions of one
//! agent among thousands thus reads one file instead of every log. What it finds is looked at in the
//! records before it is used.
//!
//! It also says how the folders of sessions looked when all that is in them stood in it: whoever
//! looks for a key lists only those folders that have changed since ([`stamp`](super::stamp)).
//! Without the file, and with one that is damaged anywhere, all of them are listed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use agentic_model::{AgentName, Cid};
use agentic_replay::SessionId;

use super::own;
pub use super::roll::Mark;
use super::roll::{HASH_BYTES, RollFile, RollLine, ShortHash};
use super::stamp::{FolderStamp, Shard};
use crate::{Result, SessionSpace};

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
    let mut ids = ids.into_iter().peekable();
    if ids.peek().is_none() {
        return Vec::new();
    }
    let roll = RollFile::open(&path(space));
    let known: BTreeMap<SessionId, Mark> = roll.marks().collect();
    let mut new = Vec::new();
    let mut wanted = Vec::new();
    for id in ids {
        let mark = known.get(&id).copied().or_else(|| {
            let mark = mark_of(space, &id)?;
            new.push(RollLine::Session(id, mark));
            Some(mark)
        });
        if mark.as_ref().is_none_or(&is_wanted) {
            wanted.push(id);
        }
    }
    roll.add(&new);
    wanted
}

/// Selects among the sessions that have a folder here by their marks. One whose beginning cannot be
/// read is selected too, and one that has no folder any more may be.
///
/// # Errors
/// Fails when a folder cannot be listed.
pub fn select_local(
    space: &SessionSpace,
    is_wanted: impl Fn(&Mark) -> bool,
) -> Result<BTreeSet<SessionId>> {
    let roll = RollFile::open(&path(space));
    let marked = roll.marks().filter(|(_, mark)| is_wanted(mark));
    let mut wanted: BTreeSet<SessionId> = marked.map(|(id, _)| id).collect();
    let stamps = roll.stamps();
    let (mut new, mut found) = (Vec::new(), Vec::new());
    let shards = Shard::all(space.repository().layout());
    for (at, (shard, known)) in shards.zip(&stamps).enumerate() {
        let now = FolderStamp::of(&shard)?;
        if now.is_none() || now == *known {
            continue;
        }
        let marks: BTreeSet<SessionId> = roll.sessions_in(&shard).collect();
        let mut is_complete = true;
        for id in shard.sessions()?.into_iter().filter(|id| !marks.contains(id)) {
            let mark = mark_of(space, &id);
            if mark.as_ref().is_none_or(&is_wanted) {
                wanted.insert(id);
            }
            is_complete &= mark.is_some();
            new.extend(mark.map(|mark| RollLine::Session(id, mark)));
        }
        let stamp = now.filter(|stamp| is_complete && stamp.is_settled());
        found.extend(stamp.map(|stamp| RollLine::Shard(at, stamp)));
    }
    // What a stamp says of a folder stands behind all that is in the folder.
    new.extend(found);
    roll.add(&new);
    Ok(wanted)
}

/// Reads how a session began; nothing if that cannot be read.
fn mark_of(space: &SessionSpace, id: &SessionId) -> Option<Mark> {
    let start = own::first(space, id).ok()?.start;
    Some(Mark { agent: hash_of_agent(&start.agent), key: hash_of_key(&start.key) })
}

fn path(space: &SessionSpace) -> PathBuf {
    space.repository().layout().cache().join("sessions")
}

fn short_hash(bytes: &[u8]) -> ShortHash {
    let mut hash = [0; HASH_BYTES];
    hash.copy_from_slice(&Cid::of(bytes).digest()[..HASH_BYTES]);
    hash
}
