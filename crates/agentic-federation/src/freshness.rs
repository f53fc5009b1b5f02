//! Whether what was accepted of a space is the newest that there is, as far as anybody here can tell.

use agentic_git::Repository;
use agentic_model::{Instant, Oid};
use agentic_session::SessionSpace;

use crate::accepted::{AcceptedChain, accepted_ref, read_announced};
use crate::id::SpaceId;
use crate::known::KnownPeer;
use crate::policy::FollowedPeer;
use crate::wrapping::read_wrapped;
use crate::{Error, Result};

/// The setting that refuses to go on from what may be old.
const REQUIRE_FRESH: &str = "agentic.requireFresh";

/// How far the clock of a peer may be ahead of ours before that is said, in milliseconds: ten minutes.
const AHEAD_MS_MAX: i64 = 600_000;

/// How new something is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeerFreshness {
    /// Nothing newer is known.
    Current,
    /// Somebody has seen more than was accepted.
    Behind,
    /// So has somebody else, and nothing here connects what they have seen: it may be a fork.
    Unconnected,
    /// The next announcement should have come.
    Overdue {
        /// When.
        since: Instant,
    },
}

impl PeerFreshness {
    /// Returns the word for it.
    pub fn as_str(&self) -> &'static str {
        match self {
            PeerFreshness::Current => "current",
            PeerFreshness::Behind => "behind",
            PeerFreshness::Unconnected => "unconnected",
            PeerFreshness::Overdue { .. } => "overdue",
        }
    }
}

/// Says how new what was accepted of a space is.
///
/// # Errors
/// Fails when what was accepted is damaged.
pub fn freshness(
    space: &SessionSpace,
    followed: &FollowedPeer,
    of: SpaceId,
) -> Result<PeerFreshness> {
    let repository = space.repository();
    let Some(record) = repository.find_ref(&accepted_ref(followed.peer, of))? else {
        return Ok(PeerFreshness::Current);
    };
    let wrapped = read_wrapped(repository, read_announced(repository, record)?)?;
    let said = &wrapped.signed.announcement;
    let known = KnownPeer::read(repository, followed.peer)?;
    if known.is_unconnected(of, said.number()) {
        return Ok(PeerFreshness::Unconnected);
    }
    let is_behind = known.newest_said(of).is_some_and(|newest| newest > said.number())
        || lacks_named(repository, followed, of, record)?;
    if is_behind {
        return Ok(PeerFreshness::Behind);
    }
    Ok(match said.next_by.filter(|next_by| *next_by < space.now().millis()) {
        Some(next_by) => PeerFreshness::Overdue { since: Instant::from_millis(next_by) },
        None => PeerFreshness::Current,
    })
}

/// Says when what was accepted of a space was announced, where that is far ahead of our clock. Nothing is decided by it.
///
/// # Errors
/// Fails when what was accepted is damaged.
pub fn announced_ahead(
    space: &SessionSpace,
    followed: &FollowedPeer,
    of: SpaceId,
) -> Result<Option<Instant>> {
    let repository = space.repository();
    let Some(record) = repository.find_ref(&accepted_ref(followed.peer, of))? else {
        return Ok(None);
    };
    let said = read_wrapped(repository, read_announced(repository, record)?)?.signed.announcement;
    let is_ahead = said.time.saturating_sub(space.now().millis()) > AHEAD_MS_MAX;
    Ok(is_ahead.then(|| Instant::from_millis(said.time)))
}

/// Tells whether the announcement that somebody named when the peer was added is not there yet. Nobody said of
/// which space it is: it counts for the first one.
fn lacks_named(
    repository: &Repository,
    followed: &FollowedPeer,
    of: SpaceId,
    record: Oid,
) -> Result<bool> {
    let Some(named) = followed.at else { return Ok(false) };
    let known = KnownPeer::read(repository, followed.peer)?;
    let first = known
        .chain
        .as_ref()
        .and_then(|chain| chain.documents()[0].document.spaces.first().map(|listed| listed.space));
    if first != Some(of) {
        return Ok(false);
    }
    Ok(!AcceptedChain::of_record(repository, Some(record))?.holds(named)?)
}

/// Refuses to go on from a space of which something newer is known, or overdue, where the configuration says so.
///
/// # Errors
/// Fails in that case.
pub fn require_fresh(
    space: &SessionSpace,
    followed: &FollowedPeer,
    (label, of): (&str, SpaceId),
) -> Result<()> {
    if !space.repository().is_set(REQUIRE_FRESH)? {
        return Ok(());
    }
    match freshness(space, followed, of)? {
        PeerFreshness::Current => Ok(()),
        PeerFreshness::Behind | PeerFreshness::Unconnected => Err(Error::overdue(format!(
            "others have seen more of `{label}` than was accepted here"
        ))),
        PeerFreshness::Overdue { since } => {
            Err(Error::overdue(format!("`{label}` should have announced by {since}")))
        }
    }
}
