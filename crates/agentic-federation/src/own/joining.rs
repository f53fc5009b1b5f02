//! Another machine of one owner: a space that joins a peer which there is already.

use agentic_git::Repository;
use agentic_model::Cid;
use agentic_session::SessionSpace;

use super::{
    ANNOUNCE_KEY, IDENTITY, IDENTITY_REF, InitRequest, absolute_key, own_chain, public_key,
    save_chain, this_space,
};
use crate::durable::read_state;
use crate::folder::{read_file, read_subfolder};
use crate::id::{PeerId, SpaceId};
use crate::identity::{DOCUMENT_BYTES_MAX, IdentityChain};
use crate::key::PeerKey;
use crate::known::KnownPeer;
use crate::project::pin;
use crate::{Error, Result};

/// The setting that names the peer that this space joins, before its identity is here.
const JOINED: &str = "agentic.peer";
/// A space that waits for its peer to list it.
#[derive(Debug, Clone)]
pub struct JoiningSpace {
    /// The project.
    pub project: Cid,
    /// The peer.
    pub peer: PeerId,
    /// This space.
    pub space: SpaceId,
    /// The key by which it will announce.
    pub key: PeerKey,
}

/// Makes this repository a space of a peer that there is already, on another machine. Its identity comes with
/// the first fetch after that machine has listed the space.
///
/// # Errors
/// Fails without a project and a key, and when this repository has an identity of its own.
pub fn join(space: &SessionSpace, peer: PeerId, request: &InitRequest) -> Result<JoiningSpace> {
    let repository = space.repository();
    if let Some(own) = own_peer(repository)?.filter(|own| *own != peer) {
        return Err(Error::conflict(
            format!("this repository is a space of the peer `{own}`"),
            "a fresh clone can join the other one",
        ));
    }
    let (Some(named), Some(key)) = (request.project, &request.key) else {
        return Err(Error::usage(
            "a space that joins a peer needs its project and a key of its own",
            "name them with `--project` and `--key`",
        ));
    };
    let project = pin(space, named, None)?;
    if project != named {
        return Err(Error::conflict(
            format!("this repository is pinned to the project `{project}`"),
            "a fresh clone can join the other one",
        ));
    }
    let (public, of) = (public_key(repository, key)?, this_space(space)?);
    let set = ["config", "--replace-all", ANNOUNCE_KEY, &absolute_key(key)];
    repository.configure(&set)?.checked(&set)?;
    let set = ["config", "--replace-all", JOINED, &peer.to_string()];
    repository.configure(&set)?.checked(&set)?;
    Ok(JoiningSpace { project, peer, space: of, key: public })
}

/// Returns the peer whose space this is, or will be once its identity is here.
///
/// # Errors
/// Fails when our own identity is damaged.
pub fn own_peer(repository: &Repository) -> Result<Option<PeerId>> {
    if let Some((_, folder)) = read_state(repository, IDENTITY_REF)? {
        let identity = read_subfolder(repository, &folder, IDENTITY)?;
        let first = read_file(repository, &identity, "0", DOCUMENT_BYTES_MAX)?;
        let first =
            first.ok_or_else(|| Error::damaged("our own identity has no first document"))?;
        return Ok(Some(PeerId(Cid::of(&first))));
    }
    Ok(repository.config(JOINED).and_then(|peer| PeerId::parse(&peer)))
}

/// Tells whether this space joins a peer whose identity is not here yet, or does not list it.
///
/// # Errors
/// Fails when our own identity is damaged.
pub fn is_joining(repository: &Repository) -> Result<bool> {
    Ok(own_chain(repository)?.is_none() && own_peer(repository)?.is_some())
}

/// Takes over what is known of our own identity by other spaces of ours: newer documents, or all of them once
/// they list this space. Of two documents with one number it takes the one that a person chose.
///
/// # Errors
/// Fails when our own identity is damaged or was changed meanwhile, and when the disk does.
pub fn follow_identity(space: &SessionSpace, known: &KnownPeer) -> Result<()> {
    let Some(chain) = &known.chain else { return Ok(()) };
    let repository = space.repository();
    let tip = read_state(repository, IDENTITY_REF)?.map(|(tip, _)| tip);
    let ours = own_chain(repository)?;
    let is_newer = match &ours {
        None => chain.newest().space(this_space(space)?).is_some(),
        Some(ours) if ours.is_beside(chain) => !known.is_frozen(),
        Some(ours) => chain.documents().len() > ours.documents().len(),
    };
    if is_newer {
        save_chain(space, tip, chain, "agentic fetch")?;
    }
    Ok(())
}

/// Refuses to speak for ourselves while our identity has two documents with one number, and while the one that a
/// person chose is not taken over.
///
/// # Errors
/// Fails with a conflict in these cases.
pub fn require_one_identity(own: &IdentityChain, known: &KnownPeer) -> Result<()> {
    if let Some((number, sides)) = known.forked_documents() {
        return Err(Error::conflict(
            format!(
                "our own identity has two documents with the number {number}: {}",
                sides.join(" and ")
            ),
            "two machines changed it at once: `agentic peer resolve self --at DOCUMENT -m WHY` goes on with one of \
             them, here and on the other machine",
        ));
    }
    match known.chain.as_ref().filter(|chain| chain.is_beside(own)) {
        None => Ok(()),
        Some(_) => Err(Error::conflict(
            "our identity here has a document that a person set aside",
            "repeat `agentic peer resolve self --at DOCUMENT -m WHY`: it was interrupted",
        )),
    }
}
