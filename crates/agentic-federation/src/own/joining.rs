//! Another machine of one owner: a space that joins a peer which there is already.

use agentic_git::Repository;
use agentic_model::Cid;
use agentic_session::SessionSpace;

use super::{
    ANNOUNCE_KEY, IDENTITY_REF, InitRequest, absolute_key, own_chain, public_key, save_chain,
    this_space,
};
use crate::durable::read_state;
use crate::id::{PeerId, SpaceId};
use crate::identity::IdentityChain;
use crate::key::PeerKey;
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
    if let Some(chain) = own_chain(repository)? {
        return Ok(Some(chain.peer()));
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
/// they list this space.
///
/// # Errors
/// Fails when our own identity is damaged or was changed meanwhile, and when the disk does.
pub fn follow_identity(space: &SessionSpace, known: &IdentityChain) -> Result<()> {
    let repository = space.repository();
    let tip = read_state(repository, IDENTITY_REF)?.map(|(tip, _)| tip);
    let ours = own_chain(repository)?;
    let is_newer = match &ours {
        None => known.newest().space(this_space(space)?).is_some(),
        Some(ours) => {
            let n_ours = ours.documents().len();
            known.documents().len() > n_ours
                && known.documents()[n_ours - 1].cid() == ours.last().cid()
        }
    };
    if is_newer {
        save_chain(space, tip, known, "agentic fetch")?;
    }
    Ok(())
}
