//! The chain of documents, and what follows from it.

use std::collections::BTreeSet;

use agentic_model::Cid;

use super::{IdentityDocument, ListedSpace, SignedDocument};
use crate::announcement::SpaceAnnouncement;
use crate::fields::MalformedInput;
use crate::id::{PeerId, SpaceId};
use crate::key::PeerKey;

/// How many documents a chain may have.
pub const DOCUMENTS_MAX: usize = 10_000;

/// All documents of a peer that count, in their order: at least the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityChain {
    documents: Vec<SignedDocument>,
}

/// What a document is to a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChainGrowth {
    /// The chain has it.
    Known,
    /// The chain has it from now on.
    Grown,
    /// It counts, and another document has its number.
    Forked(Box<IdentityFork>),
}

/// Two documents with one number, each of which counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityFork {
    /// The one that the chain has.
    pub known: SignedDocument,
    /// The other.
    pub other: SignedDocument,
}

impl IdentityChain {
    /// Begins a chain with document 0, which all its keys signed.
    ///
    /// # Errors
    /// Fails when it is another document, and when a key did not sign.
    pub fn begin(first: SignedDocument) -> Result<IdentityChain, MalformedInput> {
        if first.document.seq != 0 {
            return Err(MalformedInput::new("an identity begins with document 0"));
        }
        let keys = first.document.all_keys();
        let n_signed = first.signers(&keys)?.len();
        if n_signed != keys.len() {
            return Err(MalformedInput::new("a key of document 0 did not sign it"));
        }
        Ok(IdentityChain { documents: vec![first] })
    }

    /// Reads a whole chain.
    ///
    /// # Errors
    /// Fails when there is no document, and when one of them does not follow the one before.
    pub fn read(documents: Vec<SignedDocument>) -> Result<IdentityChain, MalformedInput> {
        let mut documents = documents.into_iter();
        let first =
            documents.next().ok_or_else(|| MalformedInput::new("an identity has no document"))?;
        let mut chain = IdentityChain::begin(first)?;
        for document in documents {
            match chain.take_in(document)? {
                ChainGrowth::Grown => {}
                ChainGrowth::Known | ChainGrowth::Forked(_) => {
                    return Err(MalformedInput::new("an identity has one document twice"));
                }
            }
        }
        Ok(chain)
    }

    /// Takes a document in, if it counts and is new.
    ///
    /// # Errors
    /// Fails when it does not count here: the one before is not in the chain, or keys did not sign.
    pub fn take_in(&mut self, document: SignedDocument) -> Result<ChainGrowth, MalformedInput> {
        let number = usize::try_from(document.document.seq).unwrap_or(usize::MAX);
        if let Some(known) = self.documents.get(number) {
            if known.bytes == document.bytes {
                return Ok(ChainGrowth::Known);
            }
            let before = number.checked_sub(1).and_then(|before| self.documents.get(before));
            match before {
                Some(before) => check_follows(before, &document)?,
                // Another document 0 is another peer.
                None => {
                    return Err(MalformedInput::new("this is the first document of another peer"));
                }
            }
            let fork = IdentityFork { known: known.clone(), other: document };
            return Ok(ChainGrowth::Forked(Box::new(fork)));
        }
        if number != self.documents.len() || number >= DOCUMENTS_MAX {
            return Err(MalformedInput::new("a document of an identity is missing"));
        }
        check_follows(self.last(), &document)?;
        self.documents.push(document);
        Ok(ChainGrowth::Grown)
    }

    /// Returns the chain that has the other document of a fork in the place of its own, and nothing after it.
    ///
    /// # Errors
    /// Fails when that document does not go on from this chain.
    pub fn turned(&self, other: SignedDocument) -> Result<IdentityChain, MalformedInput> {
        let number = usize::try_from(other.document.seq).unwrap_or(usize::MAX);
        let kept = self.documents.get(..number).filter(|kept| !kept.is_empty());
        let kept = kept.ok_or_else(|| {
            MalformedInput::new("a document of an identity does not follow the one before")
        })?;
        let mut chain = IdentityChain { documents: kept.to_vec() };
        chain.take_in(other)?;
        Ok(chain)
    }

    /// Tells whether another chain has another document with a number that this one has, too.
    pub fn is_beside(&self, other: &IdentityChain) -> bool {
        let both = self.documents.iter().zip(&other.documents);
        both.into_iter().any(|(one, other)| one.bytes != other.bytes)
    }

    /// Tells whether an announcement goes by a document and an epoch of this chain. One that does not was made on the
    /// side of a fork that was set aside, or by what is not known yet.
    pub fn covers(&self, said: &SpaceAnnouncement) -> bool {
        let number = self.number_of(said.identity);
        number.is_some_and(|number| number >= said.epoch)
            && self.in_epoch(said.space, said.epoch).is_some()
    }

    /// Returns the peer.
    pub fn peer(&self) -> PeerId {
        self.documents[0].peer()
    }

    /// Returns the newest document with its signatures.
    pub fn last(&self) -> &SignedDocument {
        self.documents.last().expect("a chain has at least its first document")
    }

    /// Returns what the newest document says.
    pub fn newest(&self) -> &IdentityDocument {
        &self.last().document
    }

    /// Lists the documents in their order.
    pub fn documents(&self) -> &[SignedDocument] {
        &self.documents
    }

    /// Finds the number of a document by its id.
    pub fn number_of(&self, cid: Cid) -> Option<u64> {
        let found = self.documents.iter().position(|document| document.cid() == cid)?;
        Some(found as u64)
    }

    /// Returns the epoch of a space: the number of the last document that changed its keys. Nothing
    /// where the newest document does not list the space.
    pub fn epoch(&self, space: SpaceId) -> Option<u64> {
        self.newest().space(space)?;
        self.epochs(space).last()
    }

    /// Returns what the document of an epoch says of a space; nothing where that is no epoch of it.
    pub fn in_epoch(&self, space: SpaceId, epoch: u64) -> Option<&ListedSpace> {
        self.epochs(space).find(|found| *found == epoch)?;
        self.documents.get(usize::try_from(epoch).ok()?)?.document.space(space)
    }

    /// Lists the numbers of the documents that gave a space other keys than it had.
    fn epochs(&self, space: SpaceId) -> impl Iterator<Item = u64> + '_ {
        let numbered = self.documents.iter().enumerate();
        numbered.filter_map(move |(at, document)| {
            let listed = document.document.space(space)?;
            let before =
                at.checked_sub(1).and_then(|before| self.documents[before].document.space(space));
            let is_changed = before.is_none_or(|before| !before.has_keys_of(listed));
            is_changed.then_some(at as u64)
        })
    }
}

/// Checks that a document counts after another: its number, the project, and who signed.
fn check_follows(before: &SignedDocument, next: &SignedDocument) -> Result<(), MalformedInput> {
    let (old, new) = (&before.document, &next.document);
    let follows = new.previous == Some(before.cid())
        && Some(new.seq) == old.seq.checked_add(1)
        && new.project == old.project;
    if !follows {
        return Err(MalformedInput::new(
            "a document of an identity does not follow the one before",
        ));
    }
    let known = old.all_keys();
    let fresh: BTreeSet<&PeerKey> =
        new.all_keys().into_iter().filter(|key| !known.contains(key)).collect();
    let control: BTreeSet<&PeerKey> = old.control.keys.iter().collect();
    let signers = next.signers(&control.union(&fresh).copied().collect())?;
    let n_control = signers.intersection(&control).count() as u64;
    if n_control < old.control.need || !fresh.is_subset(&signers) {
        return Err(MalformedInput::new(
            "a document of an identity lacks a signature that it needs",
        ));
    }
    Ok(())
}
