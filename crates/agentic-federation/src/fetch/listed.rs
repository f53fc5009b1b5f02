//! Which spaces of a peer are received: those that its newest identity lists.

use agentic_git::Repository;
use agentic_session::SessionSpace;

use super::MeantPeer;
use super::unlisted::{not_seen, remember};
use crate::Result;
use crate::contact::{REFS_MAX, UNLISTED_MAX, first_contact, newer_identity};
use crate::id::{Petname, SpaceId};
use crate::identity::IdentityChain;
use crate::known::KnownPeer;
use crate::own::this_space;
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
    meant: MeantPeer<'_>,
    served: &[ServedSpace],
    refs_max: usize,
) -> Result<ListedSpaces> {
    let repository = space.repository();
    let mut counted = CountedSpaces::read(space, meant)?;
    let named = remote_named(repository, meant.petname);
    match &counted.chain {
        _ if named.is_some() => {}
        Some(chain) => {
            let newer = newer_chain(space, chain, counted.unlisted(served), refs_max)?;
            counted.chain = newer.or(counted.chain);
        }
        None if served.len() > 1 => match first_contact(repository, served, refs_max)? {
            Ok(chain) => counted.chain = Some(chain),
            Err(why) => {
                let of = served.iter().take(1).cloned().collect();
                return Ok(ListedSpaces::Hindered { why, of });
            }
        },
        None => {}
    }
    let counts = |served: &&ServedSpace| counted.has(served.space);
    let listed = served.iter().filter(counts).take(SPACES_MAX).cloned().collect();
    Ok(match named {
        Some(why) => ListedSpaces::Hindered { why, of: listed },
        None => ListedSpaces::Wanted(listed),
    })
}

/// Looks for a newer identity of a peer in what no known one lists: at everything where a person names the peer, else
/// at what is new there.
fn newer_chain(
    space: &SessionSpace,
    known: &IdentityChain,
    unlisted: Vec<ServedSpace>,
    refs_max: usize,
) -> Result<Option<IdentityChain>> {
    let repository = space.repository();
    if refs_max > REFS_MAX {
        return newer_identity(repository, known, &unlisted, refs_max);
    }
    let mut looked = not_seen(space, unlisted)?;
    looked.truncate(UNLISTED_MAX);
    let newer = newer_identity(repository, known, &looked, UNLISTED_MAX)?;
    if newer.is_none() {
        remember(space, &looked)?;
    }
    Ok(newer)
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
    fn read(space: &SessionSpace, meant: MeantPeer<'_>) -> Result<CountedSpaces> {
        let here = if meant.is_own() { this_space(space).ok() } else { None };
        let chain = KnownPeer::read(space.repository(), meant.followed.peer)?.chain;
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
