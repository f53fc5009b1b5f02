//! Where the agents of a snapshot stand: 64 × 64 small maps, so that one change rewrites one of them.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::{AgentName, Cid, Map, Oid, Value};
use agentic_store::ground::ObjectStore;
use agentic_store::journal::{GitKind, GitObject};

use crate::fields::{MalformedInput, ObjectReader, decode_map, encode, oid_value};
use crate::folder::{FolderDraft, TreeFolder, TreeNode, read_file, read_folder, read_subfolder};
use crate::id::SpaceId;
use crate::{Error, Result};

#[cfg(test)]
mod tests;

/// The bits of a hash that choose a shard.
const SHARD_BITS: u8 = 0x3f;
/// The longest shard that is read, in bytes.
const SHARD_BYTES_MAX: usize = 4 << 20;

/// Where one agent stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadEntry {
    /// Its head.
    pub head: Oid,
    /// The tip of its notes.
    pub notes: Option<Oid>,
    /// Whose agent it was before it was adopted.
    pub from: Option<AdoptedFrom>,
}

/// Whose agent another one was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdoptedFrom {
    /// The peer.
    pub peer: Cid,
    /// The space.
    pub space: SpaceId,
    /// Its name there.
    pub agent: AgentName,
}

/// All agents of a snapshot.
pub type Heads = BTreeMap<AgentName, HeadEntry>;

/// How one agent differs between two snapshots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadChange {
    /// The agent.
    pub agent: AgentName,
    /// Where it stood; nothing if it is new.
    pub old: Option<HeadEntry>,
    /// Where it stands; nothing if it has gone.
    pub new: Option<HeadEntry>,
}

/// Returns the place of an agent: two folders' names.
pub fn shard_of(agent: &AgentName) -> [String; 2] {
    place_of(agent).map(place_name)
}

fn place_of(agent: &AgentName) -> [u8; 2] {
    let hash = blake3::hash(agent.as_str().as_bytes());
    [0, 1].map(|at: usize| hash.as_bytes()[at] & SHARD_BITS)
}

fn place_name(number: u8) -> String {
    format!("{number:02x}")
}

/// Reads the name of a place; nothing where it is none, or spelled otherwise.
fn read_place(name: &str) -> Option<u8> {
    let number = u8::from_str_radix(name, 16).ok()?;
    let is_spelled =
        name.len() == 2 && !name.bytes().any(|byte| byte.is_ascii_uppercase() || byte == b'+');
    (is_spelled && number <= SHARD_BITS).then_some(number)
}

/// Puts agents into a folder.
pub fn put_heads(heads: &Heads, under: &str, folder: &mut FolderDraft) {
    for (place, shard) in by_place(heads) {
        let [first, second] = place.map(place_name);
        folder.put(&format!("{under}/{first}/{second}"), encode_entries(shard));
    }
}

/// The agents of a shard, in the order of their names.
type ShardEntries<'h> = Vec<(&'h AgentName, &'h HeadEntry)>;

fn by_place(heads: &Heads) -> BTreeMap<[u8; 2], ShardEntries<'_>> {
    let mut shards: BTreeMap<[u8; 2], ShardEntries<'_>> = BTreeMap::new();
    for (agent, entry) in heads {
        shards.entry(place_of(agent)).or_default().push((agent, entry));
    }
    shards
}

/// Makes the folder of shards that has some changes. Only the shards of these are read and made again.
///
/// # Errors
/// Fails as [`read_heads`] does.
pub fn changed_folder(
    store: &impl ObjectStore,
    old: &TreeFolder,
    changes: &[HeadChange],
) -> Result<FolderDraft> {
    let mut by_place: BTreeMap<String, BTreeMap<String, Vec<&HeadChange>>> = BTreeMap::new();
    for change in changes {
        let [first, second] = shard_of(&change.agent);
        by_place.entry(first).or_default().entry(second).or_default().push(change);
    }
    let mut folder = FolderDraft::default();
    for (first, node) in old.iter().filter(|(first, _)| !by_place.contains_key(*first)) {
        folder.keep(first, *node);
    }
    for (first, shards) in by_place {
        let inner = read_subfolder(store, old, &first)?;
        let mut fresh = FolderDraft::default();
        for (second, node) in inner.iter().filter(|(second, _)| !shards.contains_key(*second)) {
            fresh.keep(second, *node);
        }
        for (second, changes) in shards {
            let mut heads = read_shard(store, &inner, [&first, &second])?;
            apply(changes, &mut heads);
            if !heads.is_empty() {
                fresh.put(&second, encode_entries(&heads));
            }
        }
        folder.put_folder(&first, fresh);
    }
    Ok(folder)
}

/// Makes changes of agents.
pub fn apply<'c>(changes: impl IntoIterator<Item = &'c HeadChange>, heads: &mut Heads) {
    for change in changes {
        match &change.new {
            Some(entry) => heads.insert(change.agent.clone(), entry.clone()),
            None => heads.remove(&change.agent),
        };
    }
}

fn encode_entries<'h>(
    entries: impl IntoIterator<Item = (&'h AgentName, &'h HeadEntry)>,
) -> Vec<u8> {
    let entries = entries.into_iter().map(|(agent, entry)| (agent.to_string(), entry.to_value()));
    encode(&Value::Map(entries.collect()))
}

/// Finds the agents that differ between a folder of shards and what is to be one. What would be the same
/// file is not read.
///
/// # Errors
/// Fails as [`read_heads`] does.
pub fn changed_since(
    store: &impl ObjectStore,
    old: &TreeFolder,
    heads: &Heads,
) -> Result<Vec<HeadChange>> {
    let mut fresh = by_place(heads);
    let mut changes = Vec::new();
    for first in old.keys() {
        let inner = read_subfolder(store, old, first)?;
        for (second, node) in &inner {
            let place = read_place(first).zip(read_place(second));
            let shard = place.and_then(|(first, second)| fresh.remove(&[first, second]));
            let shard = shard.unwrap_or_default();
            let bytes = encode_entries(shard.iter().copied());
            let blob = store.name_object(&GitObject { kind: GitKind::Blob, bytes });
            if *node == TreeNode::File(blob) {
                continue;
            }
            let new = shard.into_iter().map(|(agent, entry)| (agent.clone(), entry.clone()));
            compare(read_shard(store, &inner, [first, second])?, new.collect(), &mut changes);
        }
    }
    for (agent, entry) in fresh.into_values().flatten() {
        let (agent, new) = (agent.clone(), Some(entry.clone()));
        changes.push(HeadChange { agent, old: None, new });
    }
    changes.sort_by(|left, right| left.agent.cmp(&right.agent));
    Ok(changes)
}

/// Reads one shard.
///
/// # Errors
/// Fails when an agent stands in it that belongs elsewhere, when a name is none, and when anything is
/// not canonical.
pub fn decode_shard(
    bytes: &[u8],
    place: [&str; 2],
    oid_bytes: usize,
) -> std::result::Result<Heads, MalformedInput> {
    let map = decode_map("a shard of heads", bytes)?;
    let mut heads = Heads::new();
    for (name, value) in &map {
        let agent = AgentName::parse(name)
            .map_err(|_| MalformedInput("a shard of heads has a name that is none".to_owned()))?;
        if shard_of(&agent) != place {
            return Err(MalformedInput(format!("`{agent}` stands in a shard of others")));
        }
        let entry = HeadEntry::read(value)?;
        let oids = [Some(entry.head), entry.notes];
        if oids.into_iter().flatten().any(|oid| oid.as_bytes().len() != oid_bytes) {
            return Err(MalformedInput(format!("`{agent}` has an id of another hash")));
        }
        heads.insert(agent, entry);
    }
    match heads.is_empty() {
        true => Err(MalformedInput::new("a shard of heads is empty")),
        false => Ok(heads),
    }
}

impl HeadEntry {
    fn read(value: &Value) -> std::result::Result<HeadEntry, MalformedInput> {
        let of = "an entry of heads";
        let map = value.as_map().ok_or_else(|| MalformedInput(format!("{of} is no map")))?;
        let fields = ObjectReader::plain(of, map);
        let from = map.get("from").map(AdoptedFrom::read).transpose()?;
        let notes = map.contains_key("n").then(|| fields.oid("n")).transpose()?;
        Ok(HeadEntry { head: fields.oid("h")?, notes, from })
    }

    fn to_value(&self) -> Value {
        let mut map = Map::from([("h".to_owned(), oid_value(self.head))]);
        if let Some(notes) = self.notes {
            map.insert("n".to_owned(), oid_value(notes));
        }
        if let Some(from) = &self.from {
            map.insert("from".to_owned(), from.to_value());
        }
        Value::Map(map)
    }

    /// Lists its ids.
    pub fn tips(&self) -> impl Iterator<Item = Oid> {
        [Some(self.head), self.notes].into_iter().flatten()
    }
}

impl AdoptedFrom {
    pub(crate) fn read(value: &Value) -> std::result::Result<AdoptedFrom, MalformedInput> {
        let of = "the origin of an agent";
        let map = value.as_map().ok_or_else(|| MalformedInput(format!("{of} is no map")))?;
        let fields = ObjectReader::plain(of, map);
        let space = map.get("space").and_then(SpaceId::of_value);
        Ok(AdoptedFrom {
            peer: fields.link("peer")?,
            space: space.ok_or_else(|| fields.wrong("space"))?,
            agent: AgentName::parse(fields.text("agent")?).map_err(|_| fields.wrong("agent"))?,
        })
    }

    pub(crate) fn to_value(&self) -> Value {
        Value::map([
            ("peer", Value::Link(self.peer)),
            ("space", self.space.to_value()),
            ("agent", Value::text(self.agent.as_str())),
        ])
    }
}

/// Reads all agents of a folder of shards.
///
/// # Errors
/// Fails when it cannot be read, and when a shard is wrong.
pub fn read_heads(store: &impl ObjectStore, folder: &TreeFolder) -> Result<Heads> {
    let mut heads = Heads::new();
    for change in changed_heads(store, &TreeFolder::new(), folder)? {
        if let Some(entry) = change.new {
            heads.insert(change.agent, entry);
        }
    }
    Ok(heads)
}

/// Finds the agents that differ between two folders of shards; reads no shard that both have.
///
/// # Errors
/// Fails as [`read_heads`] does.
pub fn changed_heads(
    store: &impl ObjectStore,
    old: &TreeFolder,
    new: &TreeFolder,
) -> Result<Vec<HeadChange>> {
    let mut changes = Vec::new();
    for first in names(old, new) {
        if old.get(first) == new.get(first) {
            continue;
        }
        check_place(first)?;
        let inner = [read_subfolder(store, old, first)?, read_subfolder(store, new, first)?];
        for second in names(&inner[0], &inner[1]) {
            if inner[0].get(second) == inner[1].get(second) {
                continue;
            }
            check_place(second)?;
            let read = |folder: &TreeFolder| read_shard(store, folder, [first, second]);
            compare(read(&inner[0])?, read(&inner[1])?, &mut changes);
        }
    }
    Ok(changes)
}

fn names<'f>(old: &'f TreeFolder, new: &'f TreeFolder) -> BTreeSet<&'f str> {
    old.keys().chain(new.keys()).map(String::as_str).collect()
}

fn check_place(name: &str) -> Result<()> {
    match read_place(name) {
        Some(_) => Ok(()),
        None => {
            Err(Error::Malformed(MalformedInput::new("something stands where shards of heads do")))
        }
    }
}

fn read_shard(store: &impl ObjectStore, folder: &TreeFolder, place: [&str; 2]) -> Result<Heads> {
    let oid_bytes = match folder.get(place[1]) {
        Some(TreeNode::File(oid) | TreeNode::Folder(oid)) => oid.as_bytes().len(),
        None => return Ok(Heads::new()),
    };
    match read_file(store, folder, place[1], SHARD_BYTES_MAX)? {
        Some(bytes) => Ok(decode_shard(&bytes, place, oid_bytes)?),
        None => Ok(Heads::new()),
    }
}

/// Finds the agents that differ between two snapshots that are read.
pub fn differences(old: &Heads, new: &Heads) -> Vec<HeadChange> {
    let mut changes = Vec::new();
    compare(old.clone(), new.clone(), &mut changes);
    changes
}

fn compare(mut old: Heads, new: Heads, changes: &mut Vec<HeadChange>) {
    for (agent, entry) in new {
        let before = old.remove(&agent);
        if before.as_ref() != Some(&entry) {
            changes.push(HeadChange { agent, old: before, new: Some(entry) });
        }
    }
    let gone = old.into_iter();
    changes.extend(gone.map(|(agent, entry)| HeadChange { agent, old: Some(entry), new: None }));
}

/// Reads one agent of a folder of shards.
///
/// # Errors
/// Fails as [`read_heads`] does.
pub fn find_head(
    store: &impl ObjectStore,
    folder: &TreeFolder,
    agent: &AgentName,
) -> Result<Option<HeadEntry>> {
    let [first, second] = shard_of(agent);
    let Some(TreeNode::Folder(tree)) = folder.get(&first) else { return Ok(None) };
    let inner = read_folder(store, *tree)?;
    Ok(read_shard(store, &inner, [&first, &second])?.remove(agent))
}
