//! What is kept of peers whom nobody follows here any more.

use std::collections::BTreeSet;

use agentic_model::Oid;
use agentic_session::SessionSpace;

use crate::Result;
use crate::accepted::ACCEPTED_REFS;
use crate::durable::remove_all;
use crate::id::PeerId;
use crate::known::KNOWN_REFS;
use crate::tracking::followed_peers;

/// Takes away what is kept of peers that nobody follows here: what was accepted of them, and what is known.
///
/// # Errors
/// Fails when a ref cannot be read or removed.
pub fn drop_unfollowed(space: &SessionSpace) -> Result<()> {
    let repository = space.repository();
    let mut refs = repository.list_refs(ACCEPTED_REFS)?;
    refs.extend(repository.list_refs(KNOWN_REFS)?);
    if refs.is_empty() {
        return Ok(());
    }
    // Read after the refs: whoever is followed meanwhile is in it.
    let followed: BTreeSet<PeerId> =
        followed_peers(space)?.into_values().map(|followed| followed.peer).collect();
    let is_left = |name: &str| {
        let rest = [ACCEPTED_REFS, KNOWN_REFS].iter().find_map(|prefix| name.strip_prefix(prefix));
        let peer = rest.and_then(|rest| PeerId::parse(rest.split('/').next()?));
        peer.is_some_and(|peer| !followed.contains(&peer))
    };
    let gone = refs.into_iter().filter(|found| is_left(&found.name));
    let gone: Vec<(String, Oid)> = gone.map(|found| (found.name, found.target)).collect();
    if gone.is_empty() { Ok(()) } else { remove_all(repository, &gone) }
}
