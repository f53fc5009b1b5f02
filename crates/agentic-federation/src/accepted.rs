//! What was accepted of a space, as refs have it: the record, and the chain of announcements below it.

use std::collections::BTreeMap;

use agentic_git::Repository;
use agentic_model::{Cid, Oid};

use crate::acceptance::Acceptance;
use crate::announcement::ChainNumber;
use crate::id::{PeerId, SpaceId};
use crate::wrapping::{WrappedAnnouncement, read_bare_commit, read_wrapped};
use crate::{Error, Result};

/// The folder of the refs of records. They are never pushed.
pub const ACCEPTED_REFS: &str = "refs/agentic/accepted/";
/// How many announcements a chain may have.
pub const CHAIN_MAX: usize = 100_000;

/// Names the ref of the record of a space.
pub fn accepted_ref(peer: PeerId, space: SpaceId) -> String {
    format!("{ACCEPTED_REFS}{peer}/{space}")
}

/// A record and its commit.
#[derive(Debug, Clone)]
pub struct AcceptedState {
    /// The commit.
    pub record: Oid,
    /// What it says.
    pub acceptance: Acceptance,
}

/// Reads the record of a space; nothing before anything was accepted.
///
/// # Errors
/// Fails when it is damaged.
pub fn read_accepted(
    repository: &Repository,
    peer: PeerId,
    space: SpaceId,
) -> Result<Option<AcceptedState>> {
    let Some(record) = repository.find_ref(&accepted_ref(peer, space))? else { return Ok(None) };
    Ok(Some(AcceptedState { record, acceptance: Acceptance::read(repository, record)? }))
}

/// Lists the spaces of a peer of which something was accepted, with the commits of their records.
///
/// # Errors
/// Fails when refs cannot be read.
pub fn accepted_spaces(repository: &Repository, peer: PeerId) -> Result<Vec<(SpaceId, Oid)>> {
    let prefix = format!("{ACCEPTED_REFS}{peer}/");
    let refs = repository.list_refs(&prefix)?.into_iter();
    let spaces = refs.filter_map(|found| {
        Some((SpaceId::parse(found.name.strip_prefix(&prefix)?)?, found.target))
    });
    Ok(spaces.collect())
}

/// Finds the commit of the announcement that a record accepted, without reading what is believed.
///
/// # Errors
/// Fails when the record is damaged.
pub fn read_announced(repository: &Repository, record: Oid) -> Result<Oid> {
    let damaged = || Error::damaged(format!("the record {record} is damaged"));
    let bare = read_bare_commit(repository, record).map_err(|_| damaged())?;
    bare.parents.last().copied().ok_or_else(damaged)
}

/// The chain of announcements below an accepted one, read as far down as somebody asks.
pub struct AcceptedChain<'r> {
    repository: &'r Repository,
    next: Option<Oid>,
    known: BTreeMap<ChainNumber, WrappedAnnouncement>,
}

impl<'r> AcceptedChain<'r> {
    /// Begins at the commit of an announcement; there is no chain without.
    pub fn new(repository: &'r Repository, tip: Option<Oid>) -> AcceptedChain<'r> {
        AcceptedChain { repository, next: tip, known: BTreeMap::new() }
    }

    /// Finds the announcement that the chain has for a number.
    ///
    /// # Errors
    /// Fails when the chain is damaged.
    pub fn at(&mut self, number: ChainNumber) -> Result<Option<&WrappedAnnouncement>> {
        while self.known.first_key_value().is_none_or(|(lowest, _)| *lowest > number)
            && self.known.len() < CHAIN_MAX
        {
            if self.read_next()?.is_none() {
                break;
            }
        }
        Ok(self.known.get(&number))
    }

    /// Reads one announcement further down; nothing at the end of the chain.
    fn read_next(&mut self) -> Result<Option<Cid>> {
        let Some(commit) = self.next.take() else { return Ok(None) };
        let read = read_wrapped(self.repository, commit);
        let wrapped = read.map_err(|error| {
            Error::damaged(format!("the accepted announcement {commit} is damaged: {error}"))
        })?;
        let (said, cid) = (&wrapped.signed.announcement, wrapped.signed.cid());
        let goes_on = said.previous.is_some() && said.cut.is_none();
        self.next = said.parents.first().copied().filter(|_| goes_on);
        self.known.insert(said.number(), wrapped);
        Ok(Some(cid))
    }

    /// Tells whether the chain has an announcement, whatever its number.
    ///
    /// # Errors
    /// Fails when the chain is damaged.
    pub fn holds(&mut self, cid: Cid) -> Result<bool> {
        if self.known.values().any(|found| found.signed.cid() == cid) {
            return Ok(true);
        }
        while self.known.len() < CHAIN_MAX {
            match self.read_next()? {
                None => return Ok(false),
                Some(found) if found == cid => return Ok(true),
                Some(_) => {}
            }
        }
        Ok(false)
    }

    /// Tells whether the chain has an announcement.
    ///
    /// # Errors
    /// Fails when the chain is damaged.
    pub fn has(&mut self, number: ChainNumber, cid: Cid) -> Result<bool> {
        Ok(self.at(number)?.is_some_and(|found| found.signed.cid() == cid))
    }
}
