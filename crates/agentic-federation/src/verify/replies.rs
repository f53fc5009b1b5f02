//! Checking decisions that went to others or came from them: each is whole, and one that decides was signed by a key
//! of its peer.

use agentic_git::Repository;
use agentic_model::Oid;
use agentic_session::SessionSpace;
use agentic_session::decide::{Decision, ForeignStanding};
use agentic_store::journal::GitKind;

use crate::commit_signature::commit_signer;
use crate::identity::IdentityChain;
use crate::reply::{ArrivedReply, own_replies};
use crate::{Error, Result};

/// Checks our own decisions of holds elsewhere.
pub(super) fn verify_own_replies(space: &SessionSpace, identity: &IdentityChain) -> Result<()> {
    for (commit, to) in own_replies(space)? {
        let what = format!("the decision {commit} for `{}`", to.agent);
        let bytes = whole(space.repository(), commit, &what)?;
        if Decision::of_commit(space, commit)?.is_none() {
            return Err(Error::damaged(format!("{what} is none")));
        }
        require_signed(identity, commit, &bytes).map_err(|why| Error::damaged(what + why))?;
    }
    Ok(())
}

/// Checks what a peer decided of holds here.
pub(super) fn verify_arrived(
    space: &SessionSpace,
    identity: &IdentityChain,
    replies: &[ArrivedReply],
) -> Result<()> {
    let peer = identity.documents()[0].peer();
    for reply in replies.iter().filter(|reply| reply.peer == peer) {
        let what = format!("the decision {} for `{}`", reply.commit, reply.to.agent);
        let bytes = whole(space.repository(), reply.commit, &what)?;
        let Some(made) = &reply.decision else { continue };
        let standing = made.standing(space)?;
        // What somebody here made their own is theirs.
        let decides = matches!(standing, ForeignStanding::Taken { by, .. } if by == reply.commit);
        if decides {
            require_signed(identity, reply.commit, &bytes)
                .map_err(|why| Error::damaged(what + why))?;
        }
    }
    Ok(())
}

fn whole(repository: &Repository, commit: Oid, what: &str) -> Result<Vec<u8>> {
    let damaged = |error| Error::damaged(format!("{what} is damaged: {error}"));
    let object = repository.verify_object(commit).map_err(damaged)?;
    match object.kind {
        GitKind::Commit => Ok(object.bytes),
        GitKind::Blob | GitKind::Tree => Err(Error::damaged(format!("{what} is no commit"))),
    }
}

/// Refuses a decision that no key signed by which its peer ever decided. Whether that key counts still is asked
/// when the decision arrives.
fn require_signed(
    identity: &IdentityChain,
    commit: Oid,
    bytes: &[u8],
) -> std::result::Result<(), &'static str> {
    let keys = identity.documents().iter().flat_map(|signed| &signed.document.decide);
    match commit_signer(commit, bytes, keys) {
        Some(_) => Ok(()),
        None => Err(" was signed by no key that decides"),
    }
}
