//! First contact by a key: which peer on a remote it belongs to.

use std::collections::{BTreeMap, BTreeSet};

use agentic_git::{DownloadSource, Quarantine, Repository};
use agentic_session::SessionSpace;

use crate::accepted::AcceptedChain;
use crate::exchange::{served_folder, served_refs};
use crate::fetch::bytes_max;
use crate::id::{PeerId, SpaceId};
use crate::identity::IdentityChain;
use crate::key::PeerKey;
use crate::own::read_documents;
use crate::walk::{WalkNode, walk_down};
use crate::wrapping::body_of;
use crate::{Error, Result};

/// How many peers are looked at on one remote.
const PEERS_MAX: usize = 64;

/// Finds the peer on a remote whose newest identity has a key. Nothing of what is looked at is kept.
///
/// # Errors
/// Fails when the remote cannot be reached, and when no peer there has the key, or several have it.
pub fn find_peer(space: &SessionSpace, remote: &str, key: &PeerKey) -> Result<PeerId> {
    let repository = space.repository();
    let folder = format!("{}announce/", served_folder(repository, remote)?);
    let served = served_refs(repository, remote, &[format!("{folder}*")])?;
    let mut by_peer: BTreeMap<PeerId, Vec<String>> = BTreeMap::new();
    for (name, _) in served {
        let place = name.strip_prefix(&folder).and_then(|place| place.split_once('/'));
        let Some((peer, of)) = place else { continue };
        if let (Some(peer), Some(_)) = (PeerId::parse(peer), SpaceId::parse(of)) {
            by_peer.entry(peer).or_default().push(name);
        }
    }
    let mut found = BTreeSet::new();
    for (peer, names) in by_peer.iter().take(PEERS_MAX) {
        for name in names {
            let source = DownloadSource { at: remote, name };
            let identity = identity_at(repository, &source)?;
            if identity.is_some_and(|identity| {
                identity.peer() == *peer && identity.newest().all_keys().contains(key)
            }) {
                found.insert(*peer);
            }
        }
    }
    let print = key.fingerprint();
    match found.iter().collect::<Vec<_>>().as_slice() {
        [peer] => Ok(**peer),
        [] => Err(Error::refused(
            format!("no peer on `{remote}` has the key {print}"),
            "its owner announces with `agentic push`; or name the peer by its id",
        )),
        several => Err(Error::refused(
            format!("{} peers on `{remote}` have the key {print}", several.len()),
            "name the peer by its id, as `agentic peer init` printed it there",
        )),
    }
}

/// Reads the newest identity that a ref of a remote brings, if it brings one.
fn identity_at(
    repository: &Repository,
    source: &DownloadSource<'_>,
) -> Result<Option<IdentityChain>> {
    let quarantine = Quarantine::make(repository)?;
    let served = served_refs(repository, source.at, &[source.name.to_owned()])?;
    let Some((_, tip)) = served.into_iter().find(|(name, _)| name == source.name) else {
        return Ok(None);
    };
    let end = quarantine.download(repository, source, bytes_max(repository))?;
    let store = quarantine.repository();
    if !end.success || !store.has_object(tip) {
        return Ok(None);
    }
    let walk = match walk_down(store, tip, &mut AcceptedChain::new(repository, None)) {
        Ok(walk) => walk,
        Err(Error::Malformed(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    // What lies above a valid announcement says nothing; the longest chain of documents is the newest.
    let chains = walk.nodes.iter().filter_map(|node| match node {
        WalkNode::Announced(wrapped) => {
            let body = body_of(store, wrapped).ok()?;
            IdentityChain::read(read_documents(store, &body).ok()?).ok()
        }
        WalkNode::Junk { .. } => None,
    });
    Ok(chains.max_by_key(|chain| chain.documents().len()))
}
