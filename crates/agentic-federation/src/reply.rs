//! Decisions for agents of others, as a snapshot has them: commits that stand on heads of theirs.
//!
//! Whoever sends one moves no branch. Whoever takes it in judges it by what they know themselves.

mod arrived;
mod made;
mod peer_hold;

use std::collections::BTreeMap;

use agentic_model::{Map, Oid, Value};
use agentic_store::ground::ObjectStore;

pub use self::arrived::{ArrivedReply, ReplyJudge, ReplyVerdict, arrived_replies};
pub(crate) use self::made::put_own;
pub use self::made::{PeerAnswer, REPLIES_REF, answer, own_replies};
pub use self::peer_hold::{PeerHold, find_peer_hold, peer_holds};
use crate::fields::{MalformedInput, decode_map, encode};
use crate::folder::{FolderDraft, TreeFolder, read_file, read_subfolder};
use crate::shard::{AdoptedFrom, shard_of};
use crate::{Error, Result};

/// The folder of a snapshot.
pub(crate) const REPLIES: &str = "replies";
/// The longest shard that is read, in bytes.
const SHARD_BYTES_MAX: usize = 4 << 20;

/// The commits of decisions, each with the agent whose hold it is about.
pub type Replies = BTreeMap<Oid, AdoptedFrom>;

/// Puts decisions into a folder, by the agents that they are for.
pub(crate) fn put_replies(replies: &Replies, folder: &mut FolderDraft) {
    let mut shards: BTreeMap<[String; 2], Map> = BTreeMap::new();
    for (commit, to) in replies {
        let shard = shards.entry(shard_of(&to.agent)).or_default();
        shard.insert(commit.to_string(), to.to_value());
    }
    for ([first, second], shard) in shards {
        folder.put(&format!("{REPLIES}/{first}/{second}"), encode(&Value::Map(shard)));
    }
}

/// Reads the decisions that a snapshot has.
///
/// # Errors
/// Fails with [`Error::Malformed`] when a shard is not as it would be written.
pub fn read_replies(store: &impl ObjectStore, body: &TreeFolder) -> Result<Replies> {
    let mut replies = Replies::new();
    let folder = read_subfolder(store, body, REPLIES)?;
    for first in folder.keys() {
        let inner = read_subfolder(store, &folder, first)?;
        for second in inner.keys() {
            let bytes = read_file(store, &inner, second, SHARD_BYTES_MAX)?.unwrap_or_default();
            replies.extend(decode_replies(&bytes, [first, second])?);
        }
    }
    Ok(replies)
}

/// Reads one shard.
///
/// # Errors
/// Fails when a decision stands in it that belongs elsewhere, and when anything is not canonical.
pub fn decode_replies(
    bytes: &[u8],
    place: [&str; 2],
) -> std::result::Result<Replies, MalformedInput> {
    let map = decode_map("a shard of replies", bytes)?;
    let mut replies = Replies::new();
    for (name, value) in &map {
        let commit = Oid::parse(name).ok().filter(|commit| commit.to_string() == *name);
        let commit =
            commit.ok_or_else(|| MalformedInput::new("a shard of replies names no commit"))?;
        let to = AdoptedFrom::read(value)?;
        if shard_of(&to.agent) != place {
            return Err(MalformedInput(format!("a reply to `{}` stands elsewhere", to.agent)));
        }
        replies.insert(commit, to);
    }
    match replies.is_empty() {
        true => Err(MalformedInput::new("a shard of replies is empty")),
        false => Ok(replies),
    }
}

/// Checks that each decision which is new in a snapshot came along with it.
///
/// # Errors
/// Fails with [`Error::Malformed`] when one did not.
pub(crate) fn check_replies(
    store: &impl ObjectStore,
    carried: &std::collections::BTreeSet<Oid>,
    [old, new]: [&TreeFolder; 2],
) -> Result<()> {
    if old.get(REPLIES) == new.get(REPLIES) {
        return Ok(());
    }
    let known = read_replies(store, old)?;
    for commit in read_replies(store, new)?.into_keys() {
        if !known.contains_key(&commit) && !carried.contains(&commit) {
            let why = format!("the reply {commit} is not among its parents");
            return Err(Error::Malformed(MalformedInput(why)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
