//! What is known of a peer whatever was accepted of it: its identity, what it stated, and the proofs that
//! it said two things of one number.
//!
//! It is kept durably before anything else follows from it: that a refusal is forgotten must not make a
//! second try look like a first.

mod proof;

use std::collections::{BTreeMap, BTreeSet};

use agentic_git::{RefMove, Repository};
use agentic_model::{Cid, Oid};
use agentic_session::SessionSpace;

use crate::announcement::{
    ANNOUNCEMENT_BYTES_MAX, ChainNumber, SignedAnnouncement, SpaceAnnouncement,
};
use crate::durable::{ChainContent, mover, next_state, read_state};
use crate::folder::{FolderDraft, TreeFolder, read_file, read_subfolder};
use crate::id::{PeerId, SpaceId};
use crate::identity::{ChainGrowth, IdentityChain, SignedDocument};
use crate::key::SIGNATURE_BYTES_MAX;
use crate::own::{own_chain, own_peer, put_documents, read_documents};
use crate::statement::{Contradiction, Statement, Statements, statements_of};
use crate::{Error, MalformedInput, Result};

/// How many announcements that are in no accepted chain are kept of a peer; more are a flood.
pub const STATEMENTS_MAX: usize = 10_000;
/// The longest note of a proof, in bytes.
const NOTE_BYTES_MAX: usize = 64 << 10;
/// How the names of proofs begin that are about an identity.
const OF_IDENTITY: &str = "identity-";
/// The folder of the names of what was served and refused.
const REFUSED: &str = "refused";
/// The folder of what an identity was before a person chose another document.
const LEFT: &str = "left";
/// The name of the proof that a peer states without end.
const FLOOD: &str = "flood";

/// What is known of a peer.
#[derive(Debug, Clone, Default)]
pub struct KnownPeer {
    /// The commit that has it; nothing before the first fetch.
    pub tip: Option<Oid>,
    /// Its identity.
    pub chain: Option<IdentityChain>,
    /// What its identity was before a person chose another document, by the last document of each.
    left: BTreeMap<Cid, IdentityChain>,
    /// Signed announcements that are in no accepted chain, or that prove something.
    said: BTreeMap<Cid, SignedAnnouncement>,
    /// Those of them that were served and refused. Nobody has seen more where there is nothing but these.
    refused: BTreeSet<Cid>,
    /// Documents that prove something.
    documents: BTreeMap<Cid, SignedDocument>,
    /// The proofs by their names, each with what it says.
    proofs: BTreeMap<String, String>,
    /// The proofs that a person has dealt with, each with the side that was chosen, and why.
    resolved: BTreeMap<String, String>,
}

/// Where what is known of peers is. It is never pushed.
pub(crate) const KNOWN_REFS: &str = "refs/agentic/evidence/";

/// Names the ref of what is known of a peer.
pub fn evidence_ref(peer: PeerId) -> String {
    format!("{KNOWN_REFS}{peer}")
}

impl KnownPeer {
    /// Reads what is known.
    ///
    /// # Errors
    /// Fails when it is damaged.
    pub fn read(repository: &Repository, peer: PeerId) -> Result<KnownPeer> {
        let Some((tip, folder)) = read_state(repository, &evidence_ref(peer))? else {
            return Ok(KnownPeer::default());
        };
        let damaged =
            |error: Error| Error::damaged(format!("what is known of `{peer}` is damaged: {error}"));
        let mut known = KnownPeer::read_folder(repository, &folder).map_err(damaged)?;
        known.tip = Some(tip);
        Ok(known)
    }

    /// Reads what is known with our own documents, if the peer is ourselves: they count before anybody is asked.
    ///
    /// # Errors
    /// Fails when it, or our own identity, is damaged.
    pub fn read_newest(repository: &Repository, peer: PeerId) -> Result<KnownPeer> {
        let mut known = KnownPeer::read(repository, peer)?;
        known.hear_own(repository, peer)?;
        Ok(known)
    }

    fn read_folder(repository: &Repository, folder: &TreeFolder) -> Result<KnownPeer> {
        let mut known = KnownPeer::default();
        let documents = read_documents(repository, folder)?;
        if !documents.is_empty() {
            known.chain = Some(IdentityChain::read(documents)?);
        }
        let left = read_subfolder(repository, folder, LEFT)?;
        for name in left.keys() {
            let inner = read_subfolder(repository, &left, name)?;
            let chain = IdentityChain::read(read_documents(repository, &inner)?)?;
            known.left.insert(chain.last().cid(), chain);
        }
        let said = read_subfolder(repository, folder, "said")?;
        let text = |bytes: Vec<u8>| {
            String::from_utf8(bytes).map_err(|_| MalformedInput::new("a signature is no text"))
        };
        for name in said.keys().filter(|name| !name.ends_with(".sig")) {
            let bytes = read_file(repository, &said, name, ANNOUNCEMENT_BYTES_MAX)?;
            let bytes = bytes.unwrap_or_default();
            let announcement = SpaceAnnouncement::decode(&bytes)?;
            let signature =
                read_file(repository, &said, &format!("{name}.sig"), SIGNATURE_BYTES_MAX)?;
            let signature = text(signature.unwrap_or_default())?;
            let signed = SignedAnnouncement { announcement, bytes, signature };
            known.said.insert(signed.cid(), signed);
        }
        let refused = read_subfolder(repository, folder, REFUSED)?;
        known.refused = refused.keys().filter_map(|name| Cid::parse(name).ok()).collect();
        let others = read_subfolder(repository, folder, "others")?;
        for name in others.keys() {
            let inner = read_subfolder(repository, &others, name)?;
            if let Some(document) = read_one_document(repository, &inner)? {
                known.documents.insert(document.cid(), document);
            }
        }
        for (name, notes) in [("proof", &mut known.proofs), ("resolved", &mut known.resolved)] {
            let inner = read_subfolder(repository, folder, name)?;
            for name in inner.keys() {
                let note = read_file(repository, &inner, name, NOTE_BYTES_MAX)?.unwrap_or_default();
                notes.insert(name.clone(), text(note)?);
            }
        }
        Ok(known)
    }

    fn to_folder(&self) -> FolderDraft {
        let mut folder = FolderDraft::default();
        if let Some(chain) = &self.chain {
            put_documents(chain, "", &mut folder);
        }
        for (cid, chain) in &self.left {
            put_documents(chain, &format!("{LEFT}/{cid}/"), &mut folder);
        }
        for (cid, signed) in &self.said {
            folder.put(&format!("said/{cid}"), signed.bytes.clone());
            folder.put(&format!("said/{cid}.sig"), signed.signature.clone().into_bytes());
        }
        for cid in self.refused.iter().filter(|cid| self.said.contains_key(*cid)) {
            folder.put(&format!("{REFUSED}/{cid}"), Vec::new());
        }
        for (cid, document) in &self.documents {
            folder.put(&format!("others/{cid}/document"), document.bytes.clone());
            for (at, signature) in document.signatures.iter().enumerate() {
                let path = format!("others/{cid}/{at}.sig");
                folder.put(&path, signature.clone().into_bytes());
            }
        }
        for (under, notes) in [("proof", &self.proofs), ("resolved", &self.resolved)] {
            for (name, note) in notes {
                folder.put(&format!("{under}/{name}"), note.clone().into_bytes());
            }
        }
        folder
    }

    /// Keeps what is known, durably. Nothing if somebody else wrote meanwhile.
    ///
    /// # Errors
    /// Fails when the disk does.
    pub fn save(&mut self, space: &SessionSpace, peer: PeerId) -> Result<RefMove> {
        let (repository, at) = (space.repository(), space.now());
        let content = ChainContent {
            folder: self.to_folder(),
            also: Vec::new(),
            at,
            message: "agentic known".to_owned(),
        };
        let next = next_state(repository, &evidence_ref(peer), self.tip, content);
        let commit = next.commit;
        let moved = next.publish(repository, &mover(repository, at)?)?;
        if moved == RefMove::Moved {
            self.tip = Some(commit);
        }
        Ok(moved)
    }

    /// Finds the documents by which something was announced: those of the identity, or of a side that was set aside.
    pub fn chain_with(&self, document: Cid) -> Option<&IdentityChain> {
        let has = |chain: &&IdentityChain| chain.number_of(document).is_some();
        self.chain.iter().chain(self.left.values()).find(has)
    }

    /// Tells whether the newest document lists a space: only then does it count.
    pub fn lists(&self, space: SpaceId) -> bool {
        self.chain.as_ref().is_some_and(|chain| chain.newest().space(space).is_some())
    }

    /// Tells whether two say the same.
    pub fn is_same(&self, other: &KnownPeer) -> bool {
        self.chain == other.chain
            && self.left == other.left
            && self.said == other.said
            && self.refused == other.refused
            && self.documents == other.documents
            && self.proofs == other.proofs
            && self.resolved == other.resolved
    }

    /// Takes the documents of an identity in, as far as they count.
    pub fn hear_documents(&mut self, peer: PeerId, documents: Vec<SignedDocument>) {
        for document in documents {
            let Some(chain) = &mut self.chain else {
                if document.peer() == peer {
                    self.chain = IdentityChain::begin(document).ok();
                }
                continue;
            };
            match chain.take_in(document) {
                Ok(ChainGrowth::Known | ChainGrowth::Grown) => {}
                Ok(ChainGrowth::Forked(fork)) => self.prove_fork(*fork),
                // What does not count says nothing, and neither does what follows it.
                Err(_) => break,
            }
        }
    }

    /// Takes the documents of our own identity in, if the peer is ourselves: what our other spaces say is held against
    /// them.
    ///
    /// # Errors
    /// Fails when our own identity is damaged.
    pub fn hear_own(&mut self, repository: &Repository, peer: PeerId) -> Result<()> {
        if own_peer(repository)? == Some(peer)
            && let Some(own) = own_chain(repository)?
        {
            self.hear_documents(peer, own.documents().to_vec());
        }
        Ok(())
    }

    /// Takes in what valid announcements state. `accepted` tells which announcement the accepted chain
    /// has for a statement's number, with its signed form.
    ///
    /// # Errors
    /// Fails as `accepted` does.
    pub fn hear(
        &mut self,
        heard: &[SignedAnnouncement],
        accepted: &mut dyn FnMut(Statement) -> Result<Option<SignedAnnouncement>>,
    ) -> Result<()> {
        let Some(chain) = self.chain.clone() else { return Ok(()) };
        let mut book = Statements::default();
        let mut by: BTreeMap<Statement, Cid> = BTreeMap::new();
        // What was said by a document that a person set aside states nothing.
        let counts = |signed: &&SignedAnnouncement| chain.covers(&signed.announcement);
        let before: Vec<SignedAnnouncement> = self.said.values().filter(counts).cloned().collect();
        for signed in before.iter().chain(heard) {
            for stated in statements_of(&chain, signed) {
                by.entry(stated).or_insert(signed.cid());
                if let Some(found) = book.hear(stated) {
                    let known = Statement { cid: found.known, ..stated };
                    let first = by.get(&known).and_then(|cid| find(cid, &before, heard));
                    self.prove(found, [first, Some(signed.clone())]);
                }
                let own = accepted(stated)?;
                if let Some(own) = own.filter(|own| own.cid() != stated.cid && counts(&own)) {
                    let number = stated.number;
                    let contradiction = Contradiction {
                        space: stated.space,
                        number,
                        known: own.cid(),
                        other: stated.cid,
                    };
                    self.prove(contradiction, [Some(own), Some(signed.clone())]);
                }
            }
        }
        Ok(())
    }

    /// Keeps announcements that no accepted chain has. Too many are a flood, which is a proof, too.
    pub fn keep(&mut self, heard: Vec<SignedAnnouncement>) {
        for signed in heard {
            if self.said.len() >= STATEMENTS_MAX {
                let note = format!("more than {STATEMENTS_MAX} announcements that lead nowhere\n");
                self.proofs.entry(FLOOD.to_owned()).or_insert(note);
                return;
            }
            self.said.insert(signed.cid(), signed);
        }
    }

    /// Keeps announcements that were served and refused.
    pub fn refuse(&mut self, heard: Vec<SignedAnnouncement>) {
        self.refused.extend(heard.iter().map(SignedAnnouncement::cid));
        self.keep(heard);
        self.refused.retain(|cid| self.said.contains_key(cid));
    }

    /// Forgets announcements that an accepted chain has by now, unless a proof names them.
    ///
    /// # Errors
    /// Fails as `is_accepted` does.
    pub fn forget(
        &mut self,
        is_accepted: &mut dyn FnMut(&SignedAnnouncement) -> Result<bool>,
    ) -> Result<()> {
        let notes: String = self.proofs.values().cloned().collect();
        let is_named = |cid: &Cid| notes.contains(&cid.to_string());
        let mut gone = Vec::new();
        for (cid, signed) in &self.said {
            let proves = is_named(cid)
                || signed.announcement.previous.is_some_and(|previous| is_named(&previous));
            if !proves && is_accepted(signed)? {
                gone.push(*cid);
            }
        }
        for cid in gone {
            self.said.remove(&cid);
            self.refused.remove(&cid);
        }
        Ok(())
    }

    /// Puts what proves something into a folder.
    pub(crate) fn put_evidence(&self, under: &str, folder: &mut FolderDraft) {
        let notes: String = self.proofs.values().cloned().collect();
        let is_named = |cid: &Cid| notes.contains(&cid.to_string());
        for (cid, signed) in &self.said {
            if is_named(cid) || signed.announcement.previous.is_some_and(|cid| is_named(&cid)) {
                folder.put(&format!("{under}/evidence/{cid}"), signed.bytes.clone());
                let signature = signed.signature.clone().into_bytes();
                folder.put(&format!("{under}/evidence/{cid}.sig"), signature);
            }
        }
        self.put_documents(under, folder);
    }

    fn put_documents(&self, under: &str, folder: &mut FolderDraft) {
        for (cid, document) in &self.documents {
            folder.put(&format!("{under}/others/{cid}/document"), document.bytes.clone());
            for (at, signature) in document.signatures.iter().enumerate() {
                let path = format!("{under}/others/{cid}/{at}.sig");
                folder.put(&path, signature.clone().into_bytes());
            }
        }
    }

    /// Lists the proofs that nobody has dealt with: the name and the two sides of each.
    pub fn open_proofs(&self) -> impl Iterator<Item = (&str, Vec<&str>)> {
        let open = self.proofs.iter().filter(|(name, _)| !self.resolved.contains_key(*name));
        open.map(|(name, note)| (name.as_str(), note.lines().collect()))
    }

    /// Tells whether the peer is believed in nothing new.
    pub fn is_frozen(&self) -> bool {
        self.open_proofs().next().is_some()
    }

    /// Tells whether it is proved that a space said two things, or that the identity did.
    pub fn contradicts(&self, space: SpaceId) -> bool {
        let of_space = format!("{space}-");
        let is_about = |name: &str| name.starts_with(&of_space) || name.starts_with(OF_IDENTITY);
        self.open_proofs().any(|(name, _)| is_about(name))
    }

    /// Finds the highest number that anybody has stated of a space, beyond what was accepted. What was served and
    /// refused is no news.
    pub fn newest_said(&self, space: SpaceId) -> Option<ChainNumber> {
        self.news(space).map(SpaceAnnouncement::number).max()
    }

    /// Lists what was stated of a space, but for what was served and refused.
    fn news(&self, space: SpaceId) -> impl Iterator<Item = &SpaceAnnouncement> {
        let news = self.said.iter().filter(|(cid, _)| !self.refused.contains(cid));
        news.map(|(_, signed)| &signed.announcement).filter(move |said| said.space == space)
    }

    /// Tells whether several announcements beyond what was accepted were stated that nothing here connects: each
    /// that follows another one in number should go on from it.
    pub fn is_unconnected(&self, space: SpaceId, accepted: ChainNumber) -> bool {
        let beyond = self.news(space).filter(|said| said.number() > accepted);
        let numbers: BTreeSet<ChainNumber> = beyond.map(SpaceAnnouncement::number).collect();
        let goes_on = |[one, next]: [&ChainNumber; 2]| {
            // Those of one number more state each other, and contradict each other if they differ.
            next.epoch == one.epoch && next.seq == one.seq + 1
        };
        numbers.iter().zip(numbers.iter().skip(1)).any(|(one, next)| !goes_on([one, next]))
    }
}

fn find(
    cid: &Cid,
    before: &[SignedAnnouncement],
    heard: &[SignedAnnouncement],
) -> Option<SignedAnnouncement> {
    before.iter().chain(heard).find(|signed| signed.cid() == *cid).cloned()
}

pub(crate) fn read_one_document(
    repository: &Repository,
    folder: &TreeFolder,
) -> Result<Option<SignedDocument>> {
    let bytes = read_file(repository, folder, "document", ANNOUNCEMENT_BYTES_MAX)?;
    let Some(bytes) = bytes else { return Ok(None) };
    let mut signatures = Vec::new();
    while let Some(signature) =
        read_file(repository, folder, &format!("{}.sig", signatures.len()), SIGNATURE_BYTES_MAX)?
    {
        let text = String::from_utf8(signature);
        signatures.push(text.map_err(|_| MalformedInput::new("a signature is no text"))?);
    }
    Ok(Some(SignedDocument::read(bytes, signatures)?))
}
