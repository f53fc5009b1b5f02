//! Identities: chains of documents that say which keys speak for a peer and for its spaces.
//!
//! A document proves itself: its number, the document before, and the signatures that it needs. So it
//! counts by whatever way it came. Two that count and have one number prove that the peer is not to be
//! believed.

use std::collections::BTreeSet;

use agentic_model::{Cid, Map, Value};

use crate::fields::{MalformedInput, ObjectReader, decode_map, encode_typed, optional};
use crate::id::{PeerId, SpaceId, is_nick};
use crate::key::{IDENTITY_NAMESPACE, PeerKey, SignedText, signer};

mod chain;
#[cfg(test)]
mod tests;

pub use self::chain::{ChainGrowth, IdentityChain, IdentityFork};

/// The type of the object.
const TYPE: &str = "identity";
/// The line before a document in what is signed.
const LINE: &str = "agentic identity 1\n";
/// The field that holds the public blocks of keys of OpenPGP, by their fingerprints.
const BLOCKS: &str = "blocks";
/// The longest document that is read, in bytes.
pub const DOCUMENT_BYTES_MAX: usize = 256 << 10;
/// How many keys one list of a document may have.
pub const KEYS_MAX: usize = 64;
/// How many spaces a document may list.
pub const SPACES_MAX: usize = 256;

/// Who may write the next document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControlKeys {
    /// The keys.
    pub keys: Vec<PeerKey>,
    /// How many of them it needs.
    pub need: u64,
}

/// One space of a peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedSpace {
    /// The space.
    pub space: SpaceId,
    /// What its owner calls it.
    pub nick: String,
    /// Who announces for it.
    pub keys: Vec<PeerKey>,
    /// The announcement from which the chain goes on with these keys.
    pub resume: Option<Cid>,
}

/// One document of an identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityDocument {
    /// The project.
    pub project: Cid,
    /// The number, from 0.
    pub seq: u64,
    /// The document before.
    pub previous: Option<Cid>,
    /// What the owner calls itself.
    pub name: String,
    /// Who may write the next one.
    pub control: ControlKeys,
    /// The spaces that count.
    pub spaces: Vec<ListedSpace>,
    /// Who decides in the peer's name.
    pub decide: Vec<PeerKey>,
    /// When it was made, in milliseconds since 1970.
    pub time: i64,
    /// What makes it another one than any that says the same.
    pub nonce: Vec<u8>,
}

/// A document as it is stored: its very bytes, and its signatures in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedDocument {
    /// What it says.
    pub document: IdentityDocument,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The armoured signatures.
    pub signatures: Vec<String>,
}

impl IdentityDocument {
    /// Returns the bytes of the object.
    pub fn to_bytes(&self) -> Vec<u8> {
        let control = Value::map([
            ("keys", key_list(&self.control.keys)),
            ("need", Value::Int(self.control.need as i64)),
        ]);
        let fields = [
            ("project", Value::Link(self.project)),
            ("seq", Value::Int(self.seq as i64)),
            ("previous", optional(self.previous, Value::Link)),
            ("name", Value::text(&*self.name)),
            ("control", control),
            ("spaces", Value::List(self.spaces.iter().map(ListedSpace::to_value).collect())),
            ("decide", key_list(&self.decide)),
            ("time", Value::Int(self.time)),
            ("nonce", Value::Bytes(self.nonce.clone())),
        ];
        let blocks: Map = self
            .all_keys()
            .into_iter()
            .filter_map(|key| Some((key.openpgp()?.to_owned(), Value::text(key.block()?))))
            .collect();
        // A document that names no key of OpenPGP has no such field.
        let blocks = (!blocks.is_empty()).then_some((BLOCKS, Value::Map(blocks)));
        encode_typed(TYPE, fields.into_iter().chain(blocks))
    }

    /// Reads the object.
    ///
    /// # Errors
    /// Fails when the bytes are no document.
    pub fn decode(bytes: &[u8]) -> Result<IdentityDocument, MalformedInput> {
        if bytes.len() > DOCUMENT_BYTES_MAX {
            return Err(MalformedInput::new("a document of an identity is too long"));
        }
        let map = decode_map(TYPE, bytes)?;
        let fields = ObjectReader::typed(TYPE, &map)?;
        let control = ObjectReader::plain("the control keys", fields.map("control")?);
        let spaces: Result<_, _> =
            fields.maps("spaces")?.into_iter().map(ListedSpace::read).collect();
        let mut document = IdentityDocument {
            project: fields.link("project")?,
            seq: fields.count("seq")?,
            previous: fields.optional_link("previous")?,
            name: fields.text("name")?.to_owned(),
            control: ControlKeys { keys: keys(&control, "keys")?, need: control.count("need")? },
            spaces: spaces?,
            decide: keys(&fields, "decide")?,
            time: fields.int("time")?,
            nonce: fields.bytes("nonce")?.to_vec(),
        };
        let blocks = map.contains_key(BLOCKS).then(|| fields.map(BLOCKS)).transpose()?;
        document.take_blocks(blocks.unwrap_or(&Map::new()))?;
        document.check()?;
        Ok(document)
    }

    /// Gives each key of OpenPGP its public block. There is one for each, and none for anything else.
    fn take_blocks(&mut self, blocks: &Map) -> Result<(), MalformedInput> {
        let named: BTreeSet<String> =
            self.all_keys().into_iter().filter_map(|key| Some(key.openpgp()?.to_owned())).collect();
        if !named.iter().eq(blocks.keys()) {
            let why = "its keys of OpenPGP and their public blocks do not fit";
            return Err(MalformedInput(format!("a document of an identity is wrong: {why}")));
        }
        for key in self.keys_mut() {
            let Some(block) = key.openpgp().and_then(|name| blocks.get(name)) else { continue };
            let wrong = || MalformedInput::new("a public block of an identity is no text");
            *key = key.clone().with_block(block.as_text().ok_or_else(wrong)?)?;
        }
        Ok(())
    }

    /// Hands out every place where the document names a key.
    pub(crate) fn keys_mut(&mut self) -> impl Iterator<Item = &mut PeerKey> {
        let of_spaces = self.spaces.iter_mut().flat_map(|listed| &mut listed.keys);
        self.control.keys.iter_mut().chain(of_spaces).chain(&mut self.decide)
    }

    /// Checks what one document must be by itself.
    fn check(&self) -> Result<(), MalformedInput> {
        let (need, n_control) = (self.control.need, self.control.keys.len() as u64);
        let spaces: BTreeSet<_> = self.spaces.iter().map(|listed| listed.space).collect();
        let wrong = if !(1..=n_control).contains(&need) {
            "it needs more control keys than it has, or none"
        } else if spaces.len() != self.spaces.len() || spaces.len() > SPACES_MAX {
            "it lists a space twice, or too many"
        } else if self.spaces.iter().any(|listed| listed.keys.is_empty() || !is_nick(&listed.nick))
        {
            "a space of it has no key or no nick"
        } else if (self.seq == 0) != self.previous.is_none() || self.time < 0 {
            "its number and the document before do not fit"
        } else {
            return Ok(());
        };
        Err(MalformedInput(format!("a document of an identity is wrong: {wrong}")))
    }

    /// Finds what the document says of a space.
    pub fn space(&self, space: SpaceId) -> Option<&ListedSpace> {
        self.spaces.iter().find(|listed| listed.space == space)
    }

    /// Lists all keys of the document.
    pub fn all_keys(&self) -> BTreeSet<&PeerKey> {
        let of_spaces = self.spaces.iter().flat_map(|listed| &listed.keys);
        self.control.keys.iter().chain(of_spaces).chain(&self.decide).collect()
    }
}

impl ListedSpace {
    fn read(map: &Map) -> Result<ListedSpace, MalformedInput> {
        let fields = ObjectReader::plain("a space of an identity", map);
        let space = map.get("space").and_then(SpaceId::of_value);
        Ok(ListedSpace {
            space: space.ok_or_else(|| fields.wrong("space"))?,
            nick: fields.text("nick")?.to_owned(),
            keys: keys(&fields, "keys")?,
            resume: fields.optional_link("resume")?,
        })
    }

    fn to_value(&self) -> Value {
        Value::map([
            ("space", self.space.to_value()),
            ("nick", Value::text(&*self.nick)),
            ("keys", key_list(&self.keys)),
            ("resume", optional(self.resume, Value::Link)),
        ])
    }

    /// Tells whether two lists have the same keys.
    fn has_keys_of(&self, other: &ListedSpace) -> bool {
        let set = |listed: &ListedSpace| listed.keys.iter().cloned().collect::<BTreeSet<_>>();
        set(self) == set(other)
    }
}

impl SignedDocument {
    /// Reads a document with its signatures. Whether these are enough, the chain says.
    ///
    /// # Errors
    /// Fails when the bytes are no document, and when there are too many signatures.
    pub fn read(bytes: Vec<u8>, signatures: Vec<String>) -> Result<SignedDocument, MalformedInput> {
        if signatures.len() > KEYS_MAX {
            return Err(MalformedInput::new("a document of an identity has too many signatures"));
        }
        Ok(SignedDocument { document: IdentityDocument::decode(&bytes)?, bytes, signatures })
    }

    /// Returns the id of the document.
    pub fn cid(&self) -> Cid {
        Cid::of(&self.bytes)
    }

    /// Returns the peer that begins with this document, if it is the first.
    pub fn peer(&self) -> PeerId {
        PeerId(self.cid())
    }

    /// Returns what is signed of a document.
    pub fn text(bytes: &[u8]) -> SignedText<'_> {
        SignedText { namespace: IDENTITY_NAMESPACE, line: LINE, object: bytes }
    }

    /// Finds the keys that signed, among some. Every signature must be one of these keys', and none
    /// may sign twice.
    fn signers<'k>(
        &self,
        among: &BTreeSet<&'k PeerKey>,
    ) -> Result<BTreeSet<&'k PeerKey>, MalformedInput> {
        let mut found = BTreeSet::new();
        for signature in &self.signatures {
            let key = signer(SignedDocument::text(&self.bytes), signature, among.iter().copied());
            let is_new = key.is_some_and(|key| found.insert(key));
            if !is_new {
                return Err(MalformedInput::new(
                    "a signature of an identity is by no key that counts",
                ));
            }
        }
        Ok(found)
    }
}

fn key_list(keys: &[PeerKey]) -> Value {
    Value::List(keys.iter().map(|key| Value::text(key.as_str())).collect())
}

fn keys(fields: &ObjectReader<'_>, field: &str) -> Result<Vec<PeerKey>, MalformedInput> {
    let texts = fields.texts(field)?;
    let keys: Result<Vec<_>, _> = texts.iter().map(|text| PeerKey::exact(text)).collect();
    let keys = keys?;
    let n_different = keys.iter().collect::<BTreeSet<_>>().len();
    match n_different == keys.len() && keys.len() <= KEYS_MAX {
        true => Ok(keys),
        false => Err(fields.wrong(field)),
    }
}
