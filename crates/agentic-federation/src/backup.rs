//! Whether a remote has an announcement of this very space that this repository lacks.
//!
//! Then the repository is an older state of itself, such as a backup. A number that has left the machine
//! is never signed again with other content, so nothing is announced before it was taken over.

use agentic_git::{DownloadSource, Quarantine, Repository};
use agentic_session::SessionSpace;

use crate::accepted::AcceptedChain;
use crate::announce::{announce_ref, own_announcement};
use crate::announcement::SpaceAnnouncement;
use crate::exchange::{SeenRemote, bytes_max, served_refs};
use crate::identity::IdentityChain;
use crate::own::{OwnIdentity, read_documents, require_listed, require_own};
use crate::walk::{Walk, WalkEnd, WalkNode, WalkSubject, walk_down, why_invalid};
use crate::wrapping::{WrappedAnnouncement, body_of};
use crate::{Error, Result};

/// Looks what a remote has in the place of our announcement, and refuses to go on where that is one of this
/// space that this repository lacks. What is no announcement of ours is passed over: the push replaces it,
/// and says so.
///
/// # Errors
/// Fails with a conflict in that case, before `peer init`, and when the remote cannot be reached.
pub fn require_newest(space: &SessionSpace, remote: &str) -> Result<SeenRemote> {
    let repository = space.repository();
    let own = require_own(space)?;
    require_listed(&own)?;
    let name = announce_ref(own.peer(), own.space);
    let served = served_refs(repository, remote, &name)?;
    let there = served.into_iter().find(|(found, _)| *found == name).map(|(_, oid)| oid);
    let seen = SeenRemote { remote: remote.to_owned(), there };
    let ours = own_announcement(repository, &own)?;
    let is_known = match (there, &ours) {
        (None, _) => true,
        (Some(there), Some(ours)) => {
            repository.has_object(there) && repository.is_ancestor(there, ours.commit)?
        }
        (Some(_), None) => false,
    };
    if !is_known {
        refuse_newer(repository, &own, ours.as_ref(), &seen)?;
    }
    Ok(seen)
}

/// Refuses what a remote has, if others would take it for a newer announcement of ours.
fn refuse_newer(
    repository: &Repository,
    own: &OwnIdentity,
    ours: Option<&WrappedAnnouncement>,
    seen: &SeenRemote,
) -> Result<()> {
    let (remote, Some(there)) = (&seen.remote, seen.there) else { return Ok(()) };
    let name = announce_ref(own.peer(), own.space);
    let quarantine = Quarantine::make(repository)?;
    let source = DownloadSource { at: remote, name: &name };
    let end = quarantine.download(repository, &source, bytes_max(repository))?;
    if !end.success || !quarantine.repository().has_object(there) {
        let said = end.stderr.lines().last().unwrap_or("it has moved meanwhile");
        return Err(Error::refused(
            format!(
                "`{remote}` has something in place of our announcement, which cannot be downloaded: {said}"
            ),
            "nothing is announced before it was looked at: try again",
        ));
    }
    let mut chain = AcceptedChain::new(repository, ours.map(|ours| ours.commit));
    let walk = match walk_down(quarantine.repository(), there, &mut chain) {
        Ok(walk) => walk,
        // It is longer than any chain: nobody would take it for ours.
        Err(Error::Malformed(_)) => return Ok(()),
        Err(error) => return Err(error),
    };
    let Some(found) = newest_of_ours(quarantine.repository(), own, &walk) else {
        return Ok(());
    };
    let goes_on = match (ours, &walk.end) {
        (Some(ours), WalkEnd::Meets(met)) => ours.commit == met.commit,
        (None, WalkEnd::Root) => true,
        (Some(_) | None, WalkEnd::Meets(_) | WalkEnd::Root | WalkEnd::Gap) => false,
    };
    match goes_on {
        true => Err(older_state(remote, found, ours)),
        false => Err(Error::conflict(
            format!("`{remote}` has another announcement {} of this space than we have", found.seq),
            "this repository and another one announced as one space: `agentic peer space --new` here",
        )),
    }
}

/// Finds the newest announcement on the way that others would take for ours.
fn newest_of_ours<'w>(
    repository: &Repository,
    own: &OwnIdentity,
    walk: &'w Walk,
) -> Option<&'w SpaceAnnouncement> {
    let identity = grown(repository, own, walk);
    let subject = WalkSubject { project: Some(own.project), peer: own.peer(), space: own.space };
    walk.nodes.iter().find_map(|node| match node {
        WalkNode::Announced(wrapped) if why_invalid(&identity, subject, wrapped).is_none() => {
            Some(&wrapped.signed.announcement)
        }
        WalkNode::Announced(_) | WalkNode::Junk { .. } => None,
    })
}

/// Returns our identity with the documents that are on the way: an older state lacks the newest.
fn grown(repository: &Repository, own: &OwnIdentity, walk: &Walk) -> IdentityChain {
    let mut identity = own.chain.clone();
    for node in walk.nodes.iter().rev() {
        let WalkNode::Announced(wrapped) = node else { continue };
        let documents =
            body_of(repository, wrapped).and_then(|body| read_documents(repository, &body));
        for document in documents.unwrap_or_default() {
            // One that does not go on from ours says nothing of us.
            let _grew_or_not = identity.take_in(document);
        }
    }
    identity
}

fn older_state(
    remote: &str,
    found: &SpaceAnnouncement,
    ours: Option<&WrappedAnnouncement>,
) -> Error {
    let name = announce_ref(found.peer, found.space);
    let have = ours.map_or_else(
        || "none".to_owned(),
        |ours| format!("announcement {}", ours.signed.announcement.seq),
    );
    Error::conflict(
        format!(
            "`{remote}` has announcement {} of this space, and here is {have}: this repository is an \
             older state of itself",
            found.seq
        ),
        format!(
            "take it over with `git fetch {remote} {name}:{name}`; then `agentic announce --dry-run` \
             names the agents that are behind or gone here, and their commits are there to go on from"
        ),
    )
}
