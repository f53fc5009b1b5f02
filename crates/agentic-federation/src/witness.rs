//! Witnesses: what a space has seen of others stands in its own announcements.
//!
//! So one that serves old things, or different ones to different people, is found out by anybody whom two of
//! them reach.

use std::collections::BTreeMap;

use agentic_git::{RefMove, Repository};
use agentic_model::Cid;
use agentic_session::SessionSpace;

use crate::accepted::{AcceptedChain, accepted_ref, accepted_spaces, read_announced};
use crate::announcement::{
    ANNOUNCEMENT_BYTES_MAX, HashName, SignedAnnouncement, SpaceAnnouncement,
};
use crate::durable::{RACES_MAX, read_state};
use crate::folder::{FolderDraft, TreeFolder, TreeNode, read_file, read_folder, read_subfolder};
use crate::id::announce_ref;
use crate::id::{PeerId, SpaceId};
use crate::identity::IdentityChain;
use crate::key::SIGNATURE_BYTES_MAX;
use crate::known::{KnownPeer, evidence_ref, read_one_document};
use crate::own::{IDENTITY, own_peer, read_documents, this_space};
use crate::project::pinned_project;
use crate::tracking::followed_peers;
use crate::walk::{Walk, WalkSubject, why_not_signed};
use crate::wrapping::{body_of, read_bare_commit};
use crate::{MalformedInput, Result};

/// The setting that keeps what was seen out of announcements.
const WITNESS: &str = "agentic.witness";
/// The folder of a snapshot.
const SEEN: &str = "seen";
/// The folders of a peer below it that are no spaces.
const EVIDENCE: &str = "evidence";
const OTHERS: &str = "others";
/// How many peers one space is a witness of.
const SEEN_MAX: usize = 256;

/// Puts what was accepted of others last into a snapshot, with their identities, and what proves that somebody
/// said two things.
///
/// # Errors
/// Fails when a record is damaged.
pub(crate) fn put_seen(space: &SessionSpace, folder: &mut FolderDraft) -> Result<()> {
    let repository = space.repository();
    if repository.config(WITNESS).as_deref() == Some("false") {
        return Ok(());
    }
    for followed in followed_peers(space)?.values().take(SEEN_MAX) {
        let peer = followed.peer;
        let under = format!("{SEEN}/{peer}");
        for (of, record) in accepted_spaces(repository, peer)? {
            let announced = read_bare_commit(repository, read_announced(repository, record)?)?;
            let files = read_folder(repository, announced.tree)?;
            for name in ["announcement", "signature"] {
                if let Some(node) = files.get(name) {
                    folder.keep(&format!("{under}/{of}/{name}"), *node);
                }
            }
        }
        let Some((_, known)) = read_state(repository, &evidence_ref(peer))? else { continue };
        if let Some(node) = known.get(IDENTITY) {
            folder.keep(&format!("{under}/{IDENTITY}"), *node);
        }
        let known = KnownPeer::read(repository, peer)?;
        if known.is_frozen() {
            known.put_evidence(&under, folder);
        }
    }
    Ok(())
}

/// Takes in what the announcements on the way have seen of those who are followed here.
///
/// # Errors
/// Fails when the disk does. What is no valid statement says nothing.
pub(crate) fn hear_seen(
    space: &SessionSpace,
    store: &Repository,
    walk: &Walk,
    (identity, subject): (&IdentityChain, WalkSubject),
) -> Result<()> {
    let followed: Vec<PeerId> =
        followed_peers(space)?.values().map(|followed| followed.peer).collect();
    let mut last: Option<TreeNode> = None;
    for node in &walk.nodes {
        let Some(wrapped) = node.valid(identity, subject) else { continue };
        let Ok(body) = body_of(store, wrapped) else { continue };
        let Some(node) = body.get(SEEN).copied().filter(|node| last != Some(*node)) else {
            continue;
        };
        last = Some(node);
        let Ok(seen) = read_subfolder(store, &body, SEEN) else { continue };
        for (name, peer) in seen.keys().filter_map(|name| Some((name, PeerId::parse(name)?))) {
            if followed.contains(&peer)
                && let Ok(folder) = read_subfolder(store, &seen, name)
            {
                hear_of(space, store, peer, &folder)?;
            }
        }
    }
    Ok(())
}

/// Takes in what somebody has seen of one peer.
fn hear_of(
    space: &SessionSpace,
    store: &Repository,
    peer: PeerId,
    folder: &TreeFolder,
) -> Result<()> {
    let own = space.repository();
    for _ in 0..RACES_MAX {
        let before = KnownPeer::read(own, peer)?;
        let mut known = before.clone();
        known.hear_own(own, peer)?;
        known.hear_documents(peer, read_documents(store, folder).unwrap_or_default());
        for document in other_documents(store, folder) {
            known.hear_documents(peer, vec![document]);
        }
        let Some(identity) = known.chain.clone() else { return Ok(()) };
        let project = pinned_project(own)?;
        let hash = HashName::of_oid(own.empty_tree());
        let mut heard = Vec::new();
        for signed in seen_announcements(store, folder) {
            let subject = WalkSubject { project, peer, space: signed.announcement.space };
            if why_not_signed(&identity, subject, &signed, hash).is_none() {
                heard.push(signed);
            }
        }
        let mut chains = ChainShelf::new(space, peer)?;
        known.hear(&heard, &mut |stated| {
            let chain = chains.of(stated.space)?;
            Ok(chain.at(stated.number)?.map(|found| found.signed.clone()))
        })?;
        for signed in heard {
            let (of, number) = (signed.announcement.space, signed.announcement.number());
            if !chains.of(of)?.has(number, signed.cid())? {
                known.keep(vec![signed]);
            }
        }
        if known.is_same(&before) || known.save(space, peer)? == RefMove::Moved {
            return Ok(());
        }
    }
    // Others hear of it all the time: what this one has seen is heard at the next fetch.
    Ok(())
}

/// The chains of a peer's spaces, as they are here.
struct ChainShelf<'s> {
    space: &'s SessionSpace,
    peer: PeerId,
    /// The space of this repository, if the peer is its own.
    here: Option<SpaceId>,
    chains: BTreeMap<SpaceId, AcceptedChain<'s>>,
}

impl<'s> ChainShelf<'s> {
    fn new(space: &'s SessionSpace, peer: PeerId) -> Result<ChainShelf<'s>> {
        let is_own = own_peer(space.repository())? == Some(peer);
        let here = if is_own { this_space(space).ok() } else { None };
        Ok(ChainShelf { space, peer, here, chains: BTreeMap::new() })
    }

    fn of(&mut self, space: SpaceId) -> Result<&mut AcceptedChain<'s>> {
        let repository = self.space.repository();
        if !self.chains.contains_key(&space) {
            let chain = match self.here == Some(space) {
                true => {
                    let tip = repository.find_ref(&announce_ref(self.peer, space))?;
                    AcceptedChain::new(repository, tip)
                }
                false => {
                    let record = repository.find_ref(&accepted_ref(self.peer, space))?;
                    AcceptedChain::of_record(repository, record)?
                }
            };
            self.chains.insert(space, chain);
        }
        Ok(self.chains.get_mut(&space).expect("it was just put there"))
    }
}

fn seen_announcements(store: &Repository, folder: &TreeFolder) -> Vec<SignedAnnouncement> {
    let mut found = Vec::new();
    for name in folder.keys().filter(|name| SpaceId::parse(name).is_some()) {
        let Ok(inner) = read_subfolder(store, folder, name) else { continue };
        found.extend(read_signed(store, &inner, ["announcement", "signature"]).ok());
    }
    let evidence = read_subfolder(store, folder, EVIDENCE).unwrap_or_default();
    for name in evidence.keys().filter(|name| Cid::parse(name).is_ok()) {
        found.extend(read_signed(store, &evidence, [name, &format!("{name}.sig")]).ok());
    }
    found
}

fn read_signed(
    store: &Repository,
    folder: &TreeFolder,
    [object, signature]: [&str; 2],
) -> Result<SignedAnnouncement> {
    let bytes = read_file(store, folder, object, ANNOUNCEMENT_BYTES_MAX)?.unwrap_or_default();
    let announcement = SpaceAnnouncement::decode(&bytes)?;
    let signature = read_file(store, folder, signature, SIGNATURE_BYTES_MAX)?.unwrap_or_default();
    let signature = String::from_utf8(signature)
        .map_err(|_| MalformedInput::new("the signature of an announcement is no text"))?;
    Ok(SignedAnnouncement { announcement, bytes, signature })
}

fn other_documents(
    store: &Repository,
    folder: &TreeFolder,
) -> Vec<crate::identity::SignedDocument> {
    let others = read_subfolder(store, folder, OTHERS).unwrap_or_default();
    let read = |name: &String| {
        let inner = read_subfolder(store, &others, name).ok()?;
        read_one_document(store, &inner).ok().flatten()
    };
    others.keys().filter_map(read).collect()
}
