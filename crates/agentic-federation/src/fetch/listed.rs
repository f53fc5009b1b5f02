//! Which spaces of a peer are received: those that its newest identity lists.

use agentic_git::Repository;
use agentic_session::SessionSpace;

use crate::Result;
use crate::contact::{REFS_MAX, UNLISTED_MAX, first_contact, newer_identity};
use crate::id::{Petname, SpaceId};
use crate::identity::IdentityChain;
use crate::known::KnownPeer;
use crate::own::this_space;
use crate::policy::FollowedPeer;
use crate::receive::ServedSpace;

/// How many spaces of one peer are looked at on one remote.
const SPACES_MAX: usize = 256;

/// What of that which is served of a peer is looked at.
pub(super) enum ListedSpaces {
    /// These spaces.
    Wanted(Vec<ServedSpace>),
    /// None, and why; with those of which that is said.
    Hindered { why: String, of: Vec<ServedSpace> },
}

/// Finds the spaces that a peer lists itself. Before its identity is here, it is looked for among what is served, since
/// anybody can put more below the name of a peer.
pub(super) fn listed_of(
    space: &SessionSpace,
    (petname, followed): (&Petname, &FollowedPeer),
    served: &[ServedSpace],
    refs_max: usize,
) -> Result<ListedSpaces> {
    let repository = space.repository();
    let mut counted = CountedSpaces::read(space, petname, followed)?;
    let named = remote_named(repository, petname);
    if counted.chain.is_none() && served.len() > 1 && named.is_none() {
        match first_contact(repository, served, refs_max)? {
            Ok(chain) => counted.chain = Some(chain),
            Err(why) => {
                let of = served.iter().take(1).cloned().collect();
                return Ok(ListedSpaces::Hindered { why, of });
            }
        }
    }
    let (unlisted, is_named) = (counted.unlisted(served), refs_max > REFS_MAX);
    if let Some(chain) = counted.chain.as_ref().filter(|_| named.is_none()) {
        let refs_max = if is_named { refs_max } else { UNLISTED_MAX };
        let newer = newer_identity(repository, chain, &unlisted, refs_max)?;
        counted.chain = newer.or(counted.chain);
    }
    let counts = |served: &&ServedSpace| counted.has(served.space);
    let listed = served.iter().filter(counts).take(SPACES_MAX).cloned().collect();
    Ok(match named {
        Some(why) => ListedSpaces::Hindered { why, of: listed },
        None => ListedSpaces::Wanted(listed),
    })
}

/// Says why nothing of a peer is received where a remote of git's has its name: their refs would be mixed.
fn remote_named(repository: &Repository, petname: &Petname) -> Option<String> {
    let spaces = format!("{petname}+");
    let is_like = |remote: &String| remote == petname.as_str() || remote.starts_with(&spaces);
    let remote = repository.remotes().into_iter().find(is_like)?;
    Some(format!(
        "`{petname}` is a peer, and a remote of git's is called `{remote}`: \
         `git remote rename {remote} NAME` mends that"
    ))
}

/// Which spaces of a peer are looked at.
struct CountedSpaces {
    /// This one, if it is one of the peer: what is there of it is looked at before it announces.
    here: Option<SpaceId>,
    /// The identity of the peer; nothing before the first fetch.
    chain: Option<IdentityChain>,
}

impl CountedSpaces {
    fn read(
        space: &SessionSpace,
        petname: &Petname,
        followed: &FollowedPeer,
    ) -> Result<CountedSpaces> {
        let here = match *petname == Petname::own() {
            true => this_space(space).ok(),
            false => None,
        };
        let chain = KnownPeer::read(space.repository(), followed.peer)?.chain;
        Ok(CountedSpaces { here, chain })
    }

    /// Lists what is served of spaces that the identity does not list.
    fn unlisted(&self, served: &[ServedSpace]) -> Vec<ServedSpace> {
        let is_unlisted =
            |served: &&ServedSpace| Some(served.space) != self.here && !self.has(served.space);
        served.iter().filter(is_unlisted).cloned().collect()
    }

    /// Tells whether a space is looked at: one that the identity does not list is nobody's.
    fn has(&self, of: SpaceId) -> bool {
        let is_listed = self.chain.as_ref().is_none_or(|chain| chain.newest().space(of).is_some());
        is_listed && Some(of) != self.here
    }
}
