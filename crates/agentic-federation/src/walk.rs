//! The way down from what a remote serves to what is accepted already.

mod beginning;

use agentic_git::{Repository, has_openpgp};
use agentic_model::{Cid, Oid};

pub use self::beginning::{ChainBeginning, DocumentsOnTheWay};
use crate::accepted::{AcceptedChain, CHAIN_MAX};
use crate::announcement::{HashName, SignedAnnouncement};
use crate::id::{PeerId, SpaceId};
use crate::identity::IdentityChain;
use crate::key::{live_signer, signer};
use crate::wrapping::{WrappedAnnouncement, read_bare_commit, read_wrapped};
use crate::{Error, MalformedInput, Result};

/// A commit on the way.
#[derive(Debug, Clone)]
pub enum WalkNode {
    /// It carries an announcement, whoever signed it.
    Announced(Box<WrappedAnnouncement>),
    /// It is something else.
    Junk {
        /// The commit.
        commit: Oid,
        /// What is wrong with it.
        why: String,
    },
}

impl WalkNode {
    /// Returns the announcement of a commit, if it is valid.
    pub fn valid(
        &self,
        identity: &IdentityChain,
        subject: WalkSubject,
    ) -> Option<&WrappedAnnouncement> {
        match self {
            WalkNode::Announced(wrapped) => {
                why_invalid(identity, subject, wrapped).is_none().then_some(wrapped)
            }
            WalkNode::Junk { .. } => None,
        }
    }
}

/// Where the way ends.
#[derive(Debug, Clone)]
pub enum WalkEnd {
    /// At an announcement that is in the accepted chain.
    Meets(Box<WrappedAnnouncement>),
    /// At the beginning of the chain.
    Root,
    /// At something that cannot be gone on from.
    Gap,
}

/// The way: its commits, newest first, and where it ends.
#[derive(Debug, Clone)]
pub struct Walk {
    /// The commits.
    pub nodes: Vec<WalkNode>,
    /// The end.
    pub end: WalkEnd,
}

/// Whose announcements are looked for.
#[derive(Debug, Clone, Copy)]
pub struct WalkSubject {
    /// The project, if this repository is pinned to one.
    pub project: Option<Cid>,
    /// The peer.
    pub peer: PeerId,
    /// The space.
    pub space: SpaceId,
}

/// Walks first parents from a commit down to the accepted chain, or to a beginning that counts. Anybody may put an
/// announcement there that says it is the first: the way goes on below it, as below anything else that is nothing.
///
/// # Errors
/// Fails when the disk does, and when the way is longer than [`CHAIN_MAX`].
pub fn walk_down(
    tip: Oid,
    accepted: &mut AcceptedChain<'_>,
    beginning: &mut ChainBeginning<'_>,
) -> Result<Walk> {
    let repository = beginning.repository();
    let (mut nodes, mut next, mut n_to_first) = (Vec::new(), Some(tip), None);
    while let Some(commit) = next.take() {
        if nodes.len() >= CHAIN_MAX {
            if ends_at_first(&mut nodes, n_to_first) {
                return Ok(Walk { nodes, end: WalkEnd::Root });
            }
            let why = format!("it is more than {CHAIN_MAX} announcements long");
            return Err(MalformedInput(why).into());
        }
        match read_wrapped(repository, commit) {
            Ok(wrapped) => {
                let said = &wrapped.signed.announcement;
                if accepted.has(said.number(), wrapped.signed.cid())? {
                    return Ok(Walk { nodes, end: WalkEnd::Meets(Box::new(wrapped)) });
                }
                let is_first = said.is_first();
                next = said.parents.first().copied();
                nodes.push(WalkNode::Announced(Box::new(wrapped)));
                if is_first && beginning.counts(&nodes) {
                    return Ok(Walk { nodes, end: WalkEnd::Root });
                }
                if is_first {
                    n_to_first = Some(nodes.len());
                }
            }
            Err(Error::Malformed(wrong)) => {
                let bare = read_bare_commit(repository, commit);
                next = bare.ok().and_then(|bare| bare.parents.first().copied());
                nodes.push(WalkNode::Junk { commit, why: wrong.0 });
            }
            Err(error) if repository.may_be_commit(commit) => return Err(error),
            Err(_) => nodes.push(WalkNode::Junk { commit, why: "it is no commit".to_owned() }),
        }
    }
    let end = if ends_at_first(&mut nodes, n_to_first) { WalkEnd::Root } else { WalkEnd::Gap };
    Ok(Walk { nodes, end })
}

/// Takes away what lies below the lowest announcement that says it is the first, unless one is among it: that is what
/// the space announced, not the way to it. Tells whether it did.
fn ends_at_first(nodes: &mut Vec<WalkNode>, n_to_first: Option<usize>) -> bool {
    let is_announced = |node: &WalkNode| matches!(node, WalkNode::Announced(_));
    let Some(n) = n_to_first.filter(|n| !nodes[*n..].iter().any(is_announced)) else {
        return false;
    };
    nodes.truncate(n);
    true
}

/// Finds the newest announcement, from a commit down, that goes by a document of an identity. Above it may be some
/// that went by a document which was set aside.
///
/// # Errors
/// Fails when one of them is damaged.
pub fn newest_covered(
    repository: &Repository,
    identity: &IdentityChain,
    tip: Oid,
) -> Result<Option<WrappedAnnouncement>> {
    let mut next = Some(tip);
    for _ in 0..CHAIN_MAX {
        let Some(commit) = next.take() else { break };
        let wrapped = read_wrapped(repository, commit)?;
        let said = &wrapped.signed.announcement;
        if identity.covers(said) {
            return Ok(Some(wrapped));
        }
        next = said.parents.first().copied().filter(|_| !said.is_first());
    }
    Ok(None)
}

/// Tells why an announcement is none that counts; nothing if it is valid.
pub fn why_invalid(
    identity: &IdentityChain,
    subject: WalkSubject,
    wrapped: &WrappedAnnouncement,
) -> Option<&'static str> {
    why_not_signed(identity, subject, &wrapped.signed, HashName::of_oid(wrapped.commit))
}

/// Tells likewise why a signed announcement is none that counts, whatever commit carries it.
pub fn why_not_signed(
    identity: &IdentityChain,
    subject: WalkSubject,
    signed: &SignedAnnouncement,
    hash: HashName,
) -> Option<&'static str> {
    let said = &signed.announcement;
    if said.peer != subject.peer || said.space != subject.space {
        return Some("it is of another peer or space");
    }
    if said.project != identity.newest().project
        || subject.project.is_some_and(|project| project != said.project)
    {
        return Some("it is of another project");
    }
    if said.hash != hash {
        return Some("it is of a repository with another hash");
    }
    let number = identity.number_of(said.identity);
    if number.is_none_or(|number| number < said.epoch) {
        return Some("it names an identity that is not known");
    }
    let Some(listed) = identity.in_epoch(said.space, said.epoch) else {
        return Some("its epoch is none of that space");
    };
    let text = SignedAnnouncement::text(&signed.bytes);
    match signer(text, &signed.signature, &listed.keys) {
        Some(_) => None,
        None if listed.keys.iter().any(|key| key.openpgp().is_some()) && !has_openpgp() => {
            Some("its keys are of OpenPGP, and there is no `gpg` here to verify it")
        }
        None => Some("no key of that space signed it"),
    }
}

/// Tells whether the newest known document lists a key that signed a valid announcement, and that signs no more.
pub fn is_expired(identity: &IdentityChain, wrapped: &WrappedAnnouncement) -> bool {
    let Some(listed) = identity.newest().space(wrapped.signed.announcement.space) else {
        return false;
    };
    let text = SignedAnnouncement::text(&wrapped.signed.bytes);
    let key = signer(text, &wrapped.signed.signature, &listed.keys);
    key.is_some_and(|key| live_signer(text, &wrapped.signed.signature, [key]).is_none())
}

/// Tells whether the newest known document lists a key that signed a valid announcement, or names that as the one to
/// go on from.
pub fn is_listed(identity: &IdentityChain, wrapped: &WrappedAnnouncement) -> bool {
    let said = &wrapped.signed.announcement;
    let Some(listed) = identity.newest().space(said.space) else { return false };
    let text = SignedAnnouncement::text(&wrapped.signed.bytes);
    listed.resume == Some(wrapped.signed.cid())
        || signer(text, &wrapped.signed.signature, &listed.keys).is_some()
}

/// Tells whether the newest known document stands behind a valid announcement: it lists a key that
/// signed it and has not expired, or names it as the one to go on from.
pub fn is_backed(identity: &IdentityChain, wrapped: &WrappedAnnouncement) -> bool {
    let said = &wrapped.signed.announcement;
    let Some(listed) = identity.newest().space(said.space) else { return false };
    let text = SignedAnnouncement::text(&wrapped.signed.bytes);
    listed.resume == Some(wrapped.signed.cid())
        || live_signer(text, &wrapped.signed.signature, &listed.keys).is_some()
}
