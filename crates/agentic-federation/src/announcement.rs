//! The announcement: one signed snapshot of a space.

use agentic_model::{AgentName, Cid, Map, Oid, Value};

use crate::fields::{MalformedInput, ObjectReader, decode_map, encode_typed, oid_value, optional};
use crate::id::{PeerId, SpaceId};
use crate::key::{ANNOUNCEMENT_NAMESPACE, SignedText};

/// The type of the object.
const TYPE: &str = "announcement";
/// The line before an announcement in what is signed.
const LINE: &str = "agentic announcement 1\n";
/// The longest announcement that is read, in bytes: one that removes all of 100,000 agents fits.
pub const ANNOUNCEMENT_BYTES_MAX: usize = 32 << 20;
/// The longest reason, in bytes.
pub(crate) const WHY_BYTES_MAX: usize = 4 << 10;

/// Which hash the repository names objects by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HashName {
    /// 20 bytes.
    Sha1,
    /// 32 bytes.
    Sha256,
}

/// What a rewind sets back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RewoundTip {
    /// The head.
    Head,
    /// The tip of the notes.
    Notes,
}

/// Why an agent is not in the snapshot any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemovalReason {
    /// It is in the archive.
    Archived,
    /// It is gone.
    Deleted,
}

/// A tip that does not descend from the one announced before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewind {
    /// The agent.
    pub agent: AgentName,
    /// What is set back.
    pub of: RewoundTip,
    /// Where it was.
    pub from: Oid,
    /// Where it is.
    pub to: Oid,
    /// Why.
    pub why: String,
}

/// An agent that is not in the snapshot any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    /// The agent.
    pub agent: AgentName,
    /// Where it was.
    pub head: Oid,
    /// Where its notes were.
    pub notes: Option<Oid>,
    /// Why.
    pub why: RemovalReason,
}

/// What a space says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpaceAnnouncement {
    /// The project.
    pub project: Cid,
    /// Whose space it is.
    pub peer: PeerId,
    /// The space.
    pub space: SpaceId,
    /// The newest document of the peer's identity when this was made.
    pub identity: Cid,
    /// The number of the document that gave the space its keys.
    pub epoch: u64,
    /// The number of this announcement.
    pub seq: u64,
    /// The one before.
    pub previous: Option<Cid>,
    /// The parents of its commit.
    pub parents: Vec<Oid>,
    /// The snapshot.
    pub tree: Oid,
    /// Which hash its ids are of.
    pub hash: HashName,
    /// How many agents there are.
    pub entries: u64,
    /// When it was made, in milliseconds since 1970.
    pub time: i64,
    /// When the next one comes at the latest.
    pub next_by: Option<i64>,
    /// Why the chain begins anew here, if it does.
    pub cut: Option<String>,
    /// What was set back.
    pub rewinds: Vec<Rewind>,
    /// Who has gone.
    pub removed: Vec<Removal>,
}

/// An announcement with its very bytes and its signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedAnnouncement {
    /// What it says.
    pub announcement: SpaceAnnouncement,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The armoured signature.
    pub signature: String,
}

/// The number of an announcement: its epoch, then its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChainNumber {
    /// The epoch.
    pub epoch: u64,
    /// The number in the chain.
    pub seq: u64,
}

impl SpaceAnnouncement {
    /// Returns the bytes of the object.
    pub fn to_bytes(&self) -> Vec<u8> {
        encode_typed(
            TYPE,
            [
                ("project", Value::Link(self.project)),
                ("peer", Value::Link(self.peer.0)),
                ("space", self.space.to_value()),
                ("identity", Value::Link(self.identity)),
                ("epoch", Value::Int(self.epoch as i64)),
                ("seq", Value::Int(self.seq as i64)),
                ("previous", optional(self.previous, Value::Link)),
                ("parents", Value::List(self.parents.iter().copied().map(oid_value).collect())),
                ("tree", oid_value(self.tree)),
                ("hash", Value::text(self.hash.as_str())),
                ("entries", Value::Int(self.entries as i64)),
                ("time", Value::Int(self.time)),
                ("next_by", optional(self.next_by, Value::Int)),
                ("cut", optional(self.cut.as_deref(), Value::text)),
                ("rewinds", Value::List(self.rewinds.iter().map(Rewind::to_value).collect())),
                ("removed", Value::List(self.removed.iter().map(Removal::to_value).collect())),
            ],
        )
    }

    /// Reads the object.
    ///
    /// # Errors
    /// Fails when the bytes are no announcement.
    pub fn decode(bytes: &[u8]) -> Result<SpaceAnnouncement, MalformedInput> {
        if bytes.len() > ANNOUNCEMENT_BYTES_MAX {
            return Err(MalformedInput::new("an announcement is too long"));
        }
        let map = decode_map(TYPE, bytes)?;
        let fields = ObjectReader::typed(TYPE, &map)?;
        let space = map.get("space").and_then(SpaceId::of_value);
        let rewinds: Result<_, _> = fields.maps("rewinds")?.into_iter().map(Rewind::read).collect();
        let removed: Result<_, _> =
            fields.maps("removed")?.into_iter().map(Removal::read).collect();
        let announcement = SpaceAnnouncement {
            project: fields.link("project")?,
            peer: PeerId(fields.link("peer")?),
            space: space.ok_or_else(|| fields.wrong("space"))?,
            identity: fields.link("identity")?,
            epoch: fields.count("epoch")?,
            seq: fields.count("seq")?,
            previous: fields.optional_link("previous")?,
            parents: fields.oids("parents")?,
            tree: fields.oid("tree")?,
            hash: HashName::parse(fields.text("hash")?).ok_or_else(|| fields.wrong("hash"))?,
            entries: fields.count("entries")?,
            time: fields.int("time")?,
            next_by: fields.optional_int("next_by")?,
            cut: fields.optional_text("cut")?.map(str::to_owned),
            rewinds: rewinds?,
            removed: removed?,
        };
        announcement.check(&fields)?;
        Ok(announcement)
    }

    fn check(&self, fields: &ObjectReader<'_>) -> Result<(), MalformedInput> {
        let n_bytes = self.hash.oid_bytes();
        let of_rewinds = self.rewinds.iter().flat_map(|rewind| [rewind.from, rewind.to]);
        let of_removed =
            self.removed.iter().flat_map(|gone| [Some(gone.head), gone.notes]).flatten();
        let mut oids = [self.tree].into_iter().chain(of_rewinds).chain(of_removed);
        let is_other = |oid: &Oid| oid.as_bytes().len() != n_bytes;
        if self.parents.iter().any(is_other) || oids.any(|oid| is_other(&oid)) {
            return Err(fields.wrong("hash"));
        }
        if self.time < 0 {
            return Err(fields.wrong("time"));
        }
        if self.next_by.is_some_and(|next_by| next_by < 0) {
            return Err(fields.wrong("next_by"));
        }
        Ok(())
    }

    /// Tells whether it says that the chain begins with it.
    pub fn is_first(&self) -> bool {
        self.previous.is_none() || self.cut.is_some()
    }

    /// Returns its number.
    pub fn number(&self) -> ChainNumber {
        ChainNumber { epoch: self.epoch, seq: self.seq }
    }
}

impl SignedAnnouncement {
    /// Returns the id of the announcement.
    pub fn cid(&self) -> Cid {
        Cid::of(&self.bytes)
    }

    /// Returns what is signed of an announcement.
    pub fn text(bytes: &[u8]) -> SignedText<'_> {
        SignedText { namespace: ANNOUNCEMENT_NAMESPACE, line: LINE, object: bytes }
    }
}

impl HashName {
    /// Returns the hash whose ids have that many bytes.
    pub fn of_oid(oid: Oid) -> HashName {
        match oid.as_bytes().len() {
            32 => HashName::Sha256,
            _ => HashName::Sha1,
        }
    }

    /// Returns the name.
    pub fn as_str(self) -> &'static str {
        match self {
            HashName::Sha1 => "sha1",
            HashName::Sha256 => "sha256",
        }
    }

    fn parse(text: &str) -> Option<HashName> {
        [HashName::Sha1, HashName::Sha256].into_iter().find(|hash| hash.as_str() == text)
    }

    /// Returns how many bytes an id has.
    pub fn oid_bytes(self) -> usize {
        match self {
            HashName::Sha1 => 20,
            HashName::Sha256 => 32,
        }
    }
}

impl RewoundTip {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            RewoundTip::Head => "head",
            RewoundTip::Notes => "notes",
        }
    }
}

impl RemovalReason {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            RemovalReason::Archived => "archived",
            RemovalReason::Deleted => "deleted",
        }
    }
}

impl Rewind {
    fn read(map: &Map) -> Result<Rewind, MalformedInput> {
        let fields = ObjectReader::plain("a rewind", map);
        let of = fields.text("of")?;
        let of = [RewoundTip::Head, RewoundTip::Notes].into_iter().find(|tip| tip.as_str() == of);
        Ok(Rewind {
            agent: agent(&fields)?,
            of: of.ok_or_else(|| fields.wrong("of"))?,
            from: fields.oid("from")?,
            to: fields.oid("to")?,
            why: why(&fields)?,
        })
    }

    fn to_value(&self) -> Value {
        Value::map([
            ("agent", Value::text(self.agent.as_str())),
            ("of", Value::text(self.of.as_str())),
            ("from", oid_value(self.from)),
            ("to", oid_value(self.to)),
            ("why", Value::text(&*self.why)),
        ])
    }
}

impl Removal {
    fn read(map: &Map) -> Result<Removal, MalformedInput> {
        let fields = ObjectReader::plain("a removal", map);
        let why = fields.text("why")?;
        let all = [RemovalReason::Archived, RemovalReason::Deleted];
        let why = all.into_iter().find(|reason| reason.as_str() == why);
        Ok(Removal {
            agent: agent(&fields)?,
            head: fields.oid("head")?,
            notes: fields.optional_oid("notes")?,
            why: why.ok_or_else(|| fields.wrong("why"))?,
        })
    }

    fn to_value(&self) -> Value {
        Value::map([
            ("agent", Value::text(self.agent.as_str())),
            ("head", oid_value(self.head)),
            ("notes", optional(self.notes, oid_value)),
            ("why", Value::text(self.why.as_str())),
        ])
    }
}

fn agent(fields: &ObjectReader<'_>) -> Result<AgentName, MalformedInput> {
    AgentName::parse(fields.text("agent")?).map_err(|_| fields.wrong("agent"))
}

fn why(fields: &ObjectReader<'_>) -> Result<String, MalformedInput> {
    let why = fields.text("why")?;
    match why.len() <= WHY_BYTES_MAX {
        true => Ok(why.to_owned()),
        false => Err(fields.wrong("why")),
    }
}

#[cfg(test)]
pub(crate) mod tests;
