//! What the gate knew beside the policy when it judged. A record keeps it, since nothing else tells it afterwards:
//! kinds are registered, peers freeze, and what they gave on comes and goes.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::{Cid, Kind, KindEntry, KindTree, Map, Value};
use agentic_store::ground::ObjectStore;

use super::{RECORD, RECORD_BYTES_MAX};
use crate::Result;
use crate::capability::{CAPABILITY_BYTES_MAX, Capability};
use crate::fields::{MalformedInput, ObjectReader, decode_map, encode, optional, own_link};
use crate::folder::{FolderDraft, TreeFolder, read_file, read_subfolder};
use crate::id::PeerId;

/// The field of a record that lists who was frozen. Records that were made before there was such a field lack it.
const FROZEN: &str = "frozen";
/// The file that has the kinds.
const KINDS: &str = "kinds";
/// The folder that has what peers gave on.
const GIVEN: &str = "given";

/// What the gate knew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateKnowledge {
    /// The kinds here, each with the one above it.
    pub kinds: BTreeMap<Kind, Option<Kind>>,
    /// Who had said two things, as far as it mattered: the peer itself, and whoever gave it something on.
    pub frozen: BTreeSet<PeerId>,
    /// What was given on to the peer, and what that was given on from.
    pub given: BTreeMap<Cid, Capability>,
}

impl GateKnowledge {
    /// Returns the kinds as a tree.
    pub fn kind_tree(&self) -> KindTree {
        KindTree::of(self.kinds.iter().map(|(name, parent)| KindEntry {
            name: name.clone(),
            parent: parent.clone(),
            description: String::new(),
            schema: None,
        }))
    }

    /// Puts it into a record: a field of it, and files beside.
    pub(super) fn put(&self, record: &mut Map, folder: &mut FolderDraft) {
        let frozen = self.frozen.iter().map(|peer| Value::Link(peer.0)).collect();
        record.insert(FROZEN.to_owned(), Value::List(frozen));
        let kinds = self.kinds.iter().map(|(name, parent)| {
            (name.to_string(), optional(parent.as_ref(), |parent| Value::text(parent.as_str())))
        });
        folder.put(KINDS, encode(&Value::Map(kinds.collect())));
        for (cid, capability) in &self.given {
            folder.put(&format!("{GIVEN}/{cid}"), capability.to_bytes());
        }
    }

    /// Reads it; nothing where the record is from before it was kept.
    pub(super) fn read(
        store: &impl ObjectStore,
        folder: &TreeFolder,
        record: &Map,
    ) -> Result<Option<GateKnowledge>> {
        if !record.contains_key(FROZEN) {
            return Ok(None);
        }
        let fields = ObjectReader::plain(RECORD, record);
        let peer = |value: &Value| own_link(value).map(PeerId);
        let frozen: Option<BTreeSet<PeerId>> = fields.list(FROZEN)?.iter().map(peer).collect();
        let bytes = read_file(store, folder, KINDS, RECORD_BYTES_MAX)?.unwrap_or_default();
        let mut kinds = BTreeMap::new();
        for (name, parent) in &decode_map("what kinds there were", &bytes)? {
            kinds.insert(kind(name)?, parent.as_text().map(kind).transpose()?);
        }
        let mut given = BTreeMap::new();
        let inner = read_subfolder(store, folder, GIVEN)?;
        for name in inner.keys() {
            let cid =
                Cid::parse(name).map_err(|_| MalformedInput::new("what was given has no id"))?;
            let bytes = read_file(store, &inner, name, CAPABILITY_BYTES_MAX)?.unwrap_or_default();
            given.insert(cid, Capability::decode(&bytes)?);
        }
        let frozen = frozen.ok_or_else(|| fields.wrong(FROZEN))?;
        Ok(Some(GateKnowledge { kinds, frozen, given }))
    }
}

fn kind(name: &str) -> std::result::Result<Kind, MalformedInput> {
    Kind::parse(name).map_err(|_| MalformedInput(format!("`{name}` names no kind")))
}
