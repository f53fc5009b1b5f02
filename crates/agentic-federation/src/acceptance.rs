//! The record of what is believed of a space: one commit for each announcement that was accepted.
//!
//! Verbs read the record and never the refs that are drawn from it.

mod knowledge;

use std::collections::BTreeMap;

use agentic_model::{AgentName, Cid, Map, Oid, Value};
use agentic_store::ground::ObjectStore;
use agentic_store::journal::GitObject;

pub use self::knowledge::GateKnowledge;
use crate::capability::PeerTrigger;
use crate::fields::{MalformedInput, ObjectReader, decode_map, encode, oid_value, optional};
use crate::folder::{
    Drafts, FolderDraft, TreeFolder, TreeNode, read_file, read_folder, read_subfolder,
};
use crate::shard::{HeadChange, Heads, changed_folder, put_heads, read_heads, shard_of};
use crate::wrapping::read_bare_commit;
use crate::{Error, Result};

/// What messages call a record.
const RECORD: &str = "a record of what was accepted";
/// The folder of what is believed.
const BELIEVED: &str = "believed";
/// The version of a record.
const VERSION: i64 = 1;
/// The longest record or entry that is read, in bytes.
const RECORD_BYTES_MAX: usize = 4 << 20;

/// Why something of an agent is not believed yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldAgent {
    /// The head that waits, if the head does.
    pub head: Option<Oid>,
    /// The tip of notes that waits, if that does.
    pub notes: Option<Oid>,
    /// What would have to be granted.
    pub trigger: PeerTrigger,
    /// For which kind.
    pub kind: String,
    /// The first commit that is not granted, if it is about one.
    pub commit: Option<Oid>,
}

/// What is held back, by agent.
pub type HeldBack = BTreeMap<AgentName, HeldAgent>;

/// What is believed of a space, and since when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acceptance<B = Heads> {
    /// The announcement.
    pub announcement: Cid,
    /// Its commit.
    pub announced: Oid,
    /// The newest document that was known of the identity.
    pub identity: Cid,
    /// The tip of the policy by which it was judged.
    pub policy: Option<Oid>,
    /// When it was judged, in milliseconds since 1970.
    pub time: i64,
    /// What else it was judged by; nothing in records from before this was kept.
    pub known: Option<GateKnowledge>,
    /// How it came.
    pub way: String,
    /// What is believed.
    pub believed: B,
    /// What is held back.
    pub held: HeldBack,
    /// What was believed and is disowned by now: the chain goes on from before it.
    pub disowned: Heads,
}

/// A record of which the shards of what is believed are not read: there may be very many agents.
pub type AcceptanceOutline = Acceptance<TreeFolder>;

impl<B> Acceptance<B> {
    /// Makes the folder of the record, without what is believed.
    fn to_bare_folder(&self) -> FolderDraft {
        let mut folder = FolderDraft::default();
        let fields = [
            ("v", Value::Int(VERSION)),
            ("announcement", Value::Link(self.announcement)),
            ("announced", oid_value(self.announced)),
            ("identity", Value::Link(self.identity)),
            ("policy", optional(self.policy, oid_value)),
            ("time", Value::Int(self.time)),
            ("way", Value::text(&*self.way)),
        ];
        let mut record: Map =
            fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        if let Some(known) = &self.known {
            known.put(&mut record, &mut folder);
        }
        folder.put("record", encode(&Value::Map(record)));
        put_heads(&self.disowned, "disowned", &mut folder);
        let mut shards: BTreeMap<[String; 2], Map> = BTreeMap::new();
        for (agent, held) in &self.held {
            let shard = shards.entry(shard_of(agent)).or_default();
            shard.insert(agent.to_string(), held.to_value());
        }
        for ([first, second], shard) in shards {
            folder.put(&format!("held/{first}/{second}"), encode(&Value::Map(shard)));
        }
        folder
    }

    /// Returns the same record with what is believed in another form.
    fn with_believed<C>(self, believed: C) -> Acceptance<C> {
        let Acceptance { announcement, announced, identity, policy, time, known, way, .. } = self;
        let (held, disowned) = (self.held, self.disowned);
        Acceptance {
            announcement,
            announced,
            identity,
            policy,
            time,
            known,
            way,
            believed,
            held,
            disowned,
        }
    }
}

impl AcceptanceOutline {
    /// Reads a record from its commit, as far as that takes no shard of what is believed.
    ///
    /// # Errors
    /// Fails when it is damaged.
    pub fn read_outline(store: &impl ObjectStore, commit: Oid) -> Result<AcceptanceOutline> {
        read_unsharded(store, commit).map_err(|error| damaged_record(commit, error))
    }

    /// Makes the folder of what is believed once something else is of some agents.
    ///
    /// # Errors
    /// Fails when a shard of one of them is damaged.
    pub fn changed_believed(
        &self,
        store: &impl ObjectStore,
        changes: &[HeadChange],
    ) -> Result<FolderDraft> {
        changed_folder(store, &self.believed, changes)
    }

    /// Makes the folder of the record that believes what stands in a tree; nothing without.
    pub fn to_folder_with(&self, believed: Option<Oid>) -> FolderDraft {
        let mut folder = self.to_bare_folder();
        if let Some(tree) = believed {
            folder.keep(BELIEVED, TreeNode::Folder(tree));
        }
        folder
    }
}

impl Acceptance {
    /// Makes the folder of the record.
    pub fn to_folder(&self) -> FolderDraft {
        let mut folder = self.to_bare_folder();
        put_heads(&self.believed, BELIEVED, &mut folder);
        folder
    }

    /// Makes the tree of the record, and the objects that it needs.
    pub fn to_objects(&self, store: &impl ObjectStore) -> (Oid, Vec<GitObject>) {
        let mut drafts = Drafts::default();
        let tree = self.to_folder().finish(store, &mut drafts);
        (tree, drafts.objects)
    }

    /// Reads a record from its commit.
    ///
    /// # Errors
    /// Fails when it is damaged.
    pub fn read(store: &impl ObjectStore, commit: Oid) -> Result<Acceptance> {
        Acceptance::read_whole(store, commit).map_err(|error| damaged_record(commit, error))
    }

    fn read_whole(store: &impl ObjectStore, commit: Oid) -> Result<Acceptance> {
        let outline = read_unsharded(store, commit)?;
        let believed = read_heads(store, &outline.believed)?;
        Ok(outline.with_believed(believed))
    }
}

fn read_unsharded(store: &impl ObjectStore, commit: Oid) -> Result<AcceptanceOutline> {
    let folder = read_folder(store, read_bare_commit(store, commit)?.tree)?;
    let map = read_record(store, &folder)?;
    let fields = ObjectReader::plain(RECORD, &map);
    if fields.int("v")? != VERSION {
        return Err(fields.wrong("v").into());
    }
    let held = read_subfolder(store, &folder, "held")?;
    let disowned = read_subfolder(store, &folder, "disowned")?;
    Ok(Acceptance {
        announcement: fields.link("announcement")?,
        announced: fields.oid("announced")?,
        identity: fields.link("identity")?,
        policy: fields.optional_oid("policy")?,
        time: fields.int("time")?,
        known: GateKnowledge::read(store, &folder, &map)?,
        way: fields.text("way")?.to_owned(),
        believed: read_subfolder(store, &folder, BELIEVED)?,
        held: read_held(store, &held)?,
        disowned: read_heads(store, &disowned)?,
    })
}

/// Finds where one agent stands by a record, without reading the others.
///
/// # Errors
/// Fails when the record is damaged.
pub fn believed_head(
    store: &impl ObjectStore,
    commit: Oid,
    agent: &AgentName,
) -> Result<Option<crate::shard::HeadEntry>> {
    let folder = read_folder(store, read_bare_commit(store, commit)?.tree)?;
    let believed = read_subfolder(store, &folder, BELIEVED)?;
    crate::shard::find_head(store, &believed, agent)
}

/// Finds the commit of the announcement that a record is about, without reading what is believed.
///
/// # Errors
/// Fails when the record is damaged.
pub fn announced_by(store: &impl ObjectStore, commit: Oid) -> Result<Oid> {
    Ok(accepted_at(store, commit)?.0)
}

/// Finds the same, and when it was accepted, in milliseconds since 1970.
///
/// # Errors
/// Fails when the record is damaged.
pub fn accepted_at(store: &impl ObjectStore, commit: Oid) -> Result<(Oid, i64)> {
    let folder = read_folder(store, read_bare_commit(store, commit)?.tree)?;
    let map = read_record(store, &folder)?;
    let fields = ObjectReader::plain(RECORD, &map);
    Ok((fields.oid("announced")?, fields.int("time")?))
}

fn read_record(store: &impl ObjectStore, folder: &TreeFolder) -> Result<Map> {
    let bytes = read_file(store, folder, "record", RECORD_BYTES_MAX)?.unwrap_or_default();
    Ok(decode_map(RECORD, &bytes)?)
}

/// Says of a record of ours that it is damaged, where what it has is nothing.
fn damaged_record(commit: Oid, error: Error) -> Error {
    match error {
        Error::Malformed(wrong) => {
            Error::damaged(format!("the record {commit} is damaged: {}", wrong.0))
        }
        other @ (Error::Store(_) | Error::Space(_) | Error::Session(_) | Error::Refused(_)) => {
            other
        }
    }
}

impl HeldAgent {
    fn to_value(&self) -> Value {
        Value::map([
            ("h", optional(self.head, oid_value)),
            ("n", optional(self.notes, oid_value)),
            ("trigger", Value::text(self.trigger.to_string())),
            ("kind", Value::text(&*self.kind)),
            ("commit", optional(self.commit, oid_value)),
        ])
    }

    fn read(value: &Value) -> std::result::Result<HeldAgent, MalformedInput> {
        let of = "an entry that is held back";
        let map = value.as_map().ok_or_else(|| MalformedInput(format!("{of} is no map")))?;
        let fields = ObjectReader::plain(of, map);
        Ok(HeldAgent {
            head: fields.optional_oid("h")?,
            notes: fields.optional_oid("n")?,
            trigger: PeerTrigger::parse(fields.text("trigger")?)?,
            kind: fields.text("kind")?.to_owned(),
            commit: fields.optional_oid("commit")?,
        })
    }
}

fn read_held(store: &impl ObjectStore, folder: &TreeFolder) -> Result<HeldBack> {
    let mut held = HeldBack::new();
    for first in folder.keys() {
        let inner = read_subfolder(store, folder, first)?;
        for second in inner.keys() {
            let bytes = read_file(store, &inner, second, RECORD_BYTES_MAX)?.unwrap_or_default();
            for (name, value) in &decode_map("what is held back", &bytes)? {
                let agent = AgentName::parse(name);
                let agent =
                    agent.map_err(|_| MalformedInput::new("what is held back has no name"))?;
                held.insert(agent, HeldAgent::read(value)?);
            }
        }
    }
    Ok(held)
}
