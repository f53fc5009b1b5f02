//! What is kept of peers whom nobody follows here any more.

use std::collections::BTreeMap;

use agentic_git::Repository;
use agentic_model::Oid;

use crate::Result;
use crate::accepted::ACCEPTED_REFS;
use crate::durable::remove_all;
use crate::id::{PeerId, Petname};
use crate::known::KNOWN_REFS;
use crate::policy::FollowedPeer;

/// The refs that are kept of peers: what was accepted of them, and what is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptRefs(Vec<(String, Oid)>);

impl KeptRefs {
    /// Lists them. Whom somebody follows is read after that, so that whoever is followed meanwhile counts.
    ///
    /// # Errors
    /// Fails when refs cannot be read.
    pub fn list(repository: &Repository) -> Result<KeptRefs> {
        let mut refs = repository.list_refs(ACCEPTED_REFS)?;
        refs.extend(repository.list_refs(KNOWN_REFS)?);
        Ok(KeptRefs(refs.into_iter().map(|found| (found.name, found.target)).collect()))
    }

    /// Takes those away of peers that nobody follows.
    ///
    /// # Errors
    /// Fails when a ref cannot be removed.
    pub fn drop_unfollowed(
        self,
        repository: &Repository,
        followed: &BTreeMap<Petname, FollowedPeer>,
    ) -> Result<()> {
        let is_left = |name: &str| {
            let rest =
                [ACCEPTED_REFS, KNOWN_REFS].iter().find_map(|prefix| name.strip_prefix(prefix));
            let peer = rest.and_then(|rest| PeerId::parse(rest.split('/').next()?));
            peer.is_some_and(|peer| followed.values().all(|followed| followed.peer != peer))
        };
        let gone: Vec<(String, Oid)> =
            self.0.into_iter().filter(|(name, _)| is_left(name)).collect();
        if gone.is_empty() { Ok(()) } else { remove_all(repository, &gone) }
    }
}
