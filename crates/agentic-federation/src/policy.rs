//! The policy of this space: whom it follows, and what it has granted and revoked.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::{AgentName, Cid, Kind, KindTree, Map, Value};
use agentic_store::ground::ObjectStore;

use crate::capability::{CAPABILITY_BYTES_MAX, Capability, PeerTrigger};
use crate::fields::{MalformedInput, ObjectReader, decode_map, encode, optional};
use crate::folder::{FolderDraft, TreeFolder, read_file, read_subfolder};
use crate::id::{PeerId, Petname};
use crate::{Error, Result};

/// The version of a peer's entry.
const VERSION: i64 = 1;
/// The longest entry that is read, in bytes.
const ENTRY_BYTES_MAX: usize = 64 << 10;

/// Whether a peer is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PeerTrust {
    /// As far as its grants go.
    Track,
    /// No more than what was believed.
    None,
    /// Not even looked at.
    Blocked,
}

/// A peer that is followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FollowedPeer {
    /// Who it is.
    pub peer: PeerId,
    /// Whether it is believed.
    pub trust: PeerTrust,
    /// The person whom we take it for.
    pub principal: Option<String>,
    /// Where it is fetched from; from every remote in signed mode without.
    pub remote: Option<String>,
    /// The announcement that somebody said is the newest, when it was added.
    pub at: Option<Cid>,
}

/// Everything that this space has said of peers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PeerPolicy {
    /// The peers.
    pub peers: BTreeMap<Petname, FollowedPeer>,
    /// What was granted.
    pub grants: BTreeMap<Cid, Capability>,
    /// What was revoked, and why.
    pub revoked: BTreeMap<Cid, String>,
}

impl PeerPolicy {
    /// Revokes all that is granted to a peer.
    pub(crate) fn end_grants(&mut self, peer: PeerId, why: &str) {
        for (cid, _) in self.grants.iter().filter(|(_, grant)| grant.peer == peer) {
            self.revoked.entry(*cid).or_insert_with(|| why.to_owned());
        }
    }
}

/// What is asked of the policy.
#[derive(Debug, Clone, Copy)]
pub struct PolicyQuestion<'a> {
    /// Who.
    pub peer: PeerId,
    /// Of what kind.
    pub kind: &'a Kind,
    /// What.
    pub trigger: PeerTrigger,
    /// Which agent, if it is about one.
    pub agent: Option<&'a AgentName>,
}

/// What the policy is asked with.
#[derive(Debug, Clone, Copy)]
pub struct PolicyMoment<'a> {
    /// The kinds here.
    pub kinds: &'a KindTree,
    /// Who we are: roots of grants are ours.
    pub own: PeerId,
    /// Now, in milliseconds since 1970.
    pub now: i64,
    /// The peers that are not believed because they said two things.
    pub frozen: &'a BTreeSet<PeerId>,
    /// What peers gave on, as the newest accepted snapshot of each issuer has it.
    pub given: &'a BTreeMap<Cid, Capability>,
}

/// The answer of the policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyAnswer {
    /// Because of these capabilities.
    Allowed(Vec<Cid>),
    /// Because of that.
    Refused(RefusedRight),
}

/// That a peer may not do something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedRight {
    /// Why, for people.
    pub why: String,
    /// What a person can do about it.
    pub hint: String,
}

impl PolicyAnswer {
    /// Tells whether it may.
    pub fn is_allowed(&self) -> bool {
        match self {
            PolicyAnswer::Allowed(_) => true,
            PolicyAnswer::Refused(_) => false,
        }
    }
}

impl PeerTrust {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            PeerTrust::Track => "track",
            PeerTrust::None => "none",
            PeerTrust::Blocked => "blocked",
        }
    }

    /// Reads the word.
    pub fn parse(text: &str) -> Option<PeerTrust> {
        let all = [PeerTrust::Track, PeerTrust::None, PeerTrust::Blocked];
        all.into_iter().find(|trust| trust.as_str() == text)
    }
}

impl PeerPolicy {
    /// Finds the name of a peer.
    pub fn name_of(&self, peer: PeerId) -> Option<&Petname> {
        self.peers.iter().find(|(_, followed)| followed.peer == peer).map(|(name, _)| name)
    }

    /// Reads the policy from its tree.
    ///
    /// # Errors
    /// Fails when an entry is damaged.
    pub fn read(store: &impl ObjectStore, folder: &TreeFolder) -> Result<PeerPolicy> {
        let mut policy = PeerPolicy::default();
        let damaged = |what: &str| Error::damaged(format!("the policy is damaged: {what}"));
        let peers = read_subfolder(store, folder, "peers")?;
        for name in peers.keys() {
            let bytes = read_file(store, &peers, name, ENTRY_BYTES_MAX)?.unwrap_or_default();
            let petname = Petname::parse(name).map_err(|_| damaged(name))?;
            let followed = FollowedPeer::decode(&bytes).map_err(|wrong| damaged(&wrong.0))?;
            if let Some(other) = policy.name_of(followed.peer) {
                return Err(damaged(&format!("`{other}` and `{petname}` are one peer")));
            }
            policy.peers.insert(petname, followed);
        }
        let grants = read_subfolder(store, folder, "grants")?;
        for name in grants.keys() {
            let bytes = read_file(store, &grants, name, CAPABILITY_BYTES_MAX)?.unwrap_or_default();
            let grant = Capability::decode(&bytes).map_err(|wrong| damaged(&wrong.0))?;
            let cid = Cid::of(&bytes);
            if cid.to_string() != *name {
                return Err(damaged(name));
            }
            policy.grants.insert(cid, grant);
        }
        let revoked = read_subfolder(store, folder, "revoked")?;
        for name in revoked.keys() {
            let bytes = read_file(store, &revoked, name, ENTRY_BYTES_MAX)?.unwrap_or_default();
            let cid = Cid::parse(name).map_err(|_| damaged(name))?;
            policy.revoked.insert(cid, String::from_utf8_lossy(&bytes).trim_end().to_owned());
        }
        Ok(policy)
    }

    /// Makes the folder of the policy.
    pub fn to_folder(&self) -> FolderDraft {
        let mut folder = FolderDraft::default();
        for (name, followed) in &self.peers {
            folder.put(&format!("peers/{name}"), followed.to_bytes());
        }
        for (cid, grant) in &self.grants {
            folder.put(&format!("grants/{cid}"), grant.to_bytes());
        }
        for (cid, why) in &self.revoked {
            folder.put(&format!("revoked/{cid}"), format!("{why}\n").into_bytes());
        }
        folder
    }
}

/// Tells whether a name is as a pattern says, in which `*` stands for any letters and `?` for one.
pub fn matches_pattern(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    // Which beginnings of the name the pattern so far fits: linear in both.
    let mut fits = vec![false; name.len() + 1];
    fits[0] = true;
    for letter in pattern {
        let mut next = vec![false; name.len() + 1];
        for at in 0..=name.len() {
            next[at] = match letter {
                b'*' => fits[at] || (at > 0 && next[at - 1]),
                b'?' => at > 0 && fits[at - 1],
                letter => at > 0 && fits[at - 1] && name[at - 1] == *letter,
            };
        }
        fits = next;
    }
    fits[name.len()]
}

impl FollowedPeer {
    fn to_bytes(&self) -> Vec<u8> {
        let mut map = Map::from([
            ("v".to_owned(), Value::Int(VERSION)),
            ("peer".to_owned(), Value::Link(self.peer.0)),
            ("trust".to_owned(), Value::text(self.trust.as_str())),
        ]);
        let text = |text: &Option<String>| optional(text.as_deref(), Value::text);
        map.insert("principal".to_owned(), text(&self.principal));
        map.insert("remote".to_owned(), text(&self.remote));
        map.insert("at".to_owned(), optional(self.at, Value::Link));
        encode(&Value::Map(map))
    }

    fn decode(bytes: &[u8]) -> std::result::Result<FollowedPeer, MalformedInput> {
        let map = decode_map("the entry of a peer", bytes)?;
        let fields = ObjectReader::plain("the entry of a peer", &map);
        if fields.int("v")? != VERSION {
            return Err(fields.wrong("v"));
        }
        let trust = PeerTrust::parse(fields.text("trust")?);
        Ok(FollowedPeer {
            peer: PeerId(fields.link("peer")?),
            trust: trust.ok_or_else(|| fields.wrong("trust"))?,
            principal: fields.optional_text("principal")?.map(str::to_owned),
            remote: fields.optional_text("remote")?.map(str::to_owned),
            at: fields.optional_link("at")?,
        })
    }
}

#[cfg(test)]
mod tests;
