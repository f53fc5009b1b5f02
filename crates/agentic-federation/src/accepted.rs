//! What was accepted of a space, as refs have it: the record, and the chain of announcements below it.

use std::collections::BTreeMap;
use std::ops::Bound;

use agentic_git::Repository;
use agentic_model::{Cid, Oid};
pub use agentic_space::purging::ACCEPTED_REFS;

use crate::acceptance::{Acceptance, AcceptanceOutline};
use crate::announcement::ChainNumber;
use crate::id::{PeerId, SpaceId};
use crate::shard::HeadChange;
use crate::wrapping::{WrappedAnnouncement, read_bare_commit, read_wrapped};
use crate::{Error, Result};

/// How many announcements a chain may have.
pub const CHAIN_MAX: usize = 100_000;

/// Names the ref of the record of a space.
pub fn accepted_ref(peer: PeerId, space: SpaceId) -> String {
    format!("{ACCEPTED_REFS}{peer}/{space}")
}

/// A record and its commit.
#[derive(Debug, Clone)]
pub struct AcceptedState<A = Acceptance> {
    /// The commit.
    pub record: Oid,
    /// What it says.
    pub acceptance: A,
}

/// A record of which the shards of what is believed are not read, and its commit.
pub type AcceptedOutline = AcceptedState<AcceptanceOutline>;

/// A record that was written.
#[derive(Debug, Clone)]
pub struct WrittenRecord {
    /// Its commit.
    pub record: Oid,
    /// The record before.
    pub before: Option<Oid>,
    /// What it believes else than that one.
    pub changes: Vec<HeadChange>,
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

/// Reads the record of a space likewise, without the shards of what is believed.
///
/// # Errors
/// Fails when what is read of it is damaged.
pub fn read_accepted_outline(
    repository: &Repository,
    peer: PeerId,
    space: SpaceId,
) -> Result<Option<AcceptedOutline>> {
    let Some(record) = repository.find_ref(&accepted_ref(peer, space))? else { return Ok(None) };
    let acceptance = AcceptanceOutline::read_outline(repository, record)?;
    Ok(Some(AcceptedState { record, acceptance }))
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

/// The chain of announcements below an accepted one, read as far down as somebody asks. Where it was cut, it goes on
/// with what was accepted before the cut.
pub struct AcceptedChain<'r> {
    repository: &'r Repository,
    next: Option<Oid>,
    /// The record after the ones that may know what was before a cut.
    record: Option<Oid>,
    known: BTreeMap<ChainNumber, WrappedAnnouncement>,
}

impl<'r> AcceptedChain<'r> {
    /// Begins at the commit of an announcement; there is no chain without.
    pub fn new(repository: &'r Repository, tip: Option<Oid>) -> AcceptedChain<'r> {
        AcceptedChain { repository, next: tip, record: None, known: BTreeMap::new() }
    }

    /// Begins at what a record accepted; there is no chain without.
    ///
    /// # Errors
    /// Fails when the record is damaged.
    pub fn of_record(repository: &'r Repository, record: Option<Oid>) -> Result<AcceptedChain<'r>> {
        let tip = record.map(|record| read_announced(repository, record)).transpose()?;
        Ok(AcceptedChain { record, ..AcceptedChain::new(repository, tip) })
    }

    /// Tells whether the chain was cut after a number.
    ///
    /// # Errors
    /// Fails when the chain is damaged.
    pub fn is_cut_after(&mut self, number: ChainNumber) -> Result<bool> {
        self.at(number)?;
        let mut after = self.known.range((Bound::Excluded(number), Bound::Unbounded));
        Ok(after.any(|(_, found)| found.signed.announcement.cut.is_some()))
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
        self.next = match said.cut {
            Some(_) => self.before_cut(said.number()),
            None => said.parents.first().copied().filter(|_| !said.is_first()),
        };
        self.known.insert(said.number(), wrapped);
        Ok(Some(cid))
    }

    /// Finds the announcement that was accepted before the one with which a chain begins anew. What is damaged
    /// there, or was purged, is as if it had never been accepted.
    fn before_cut(&mut self, cut: ChainNumber) -> Option<Oid> {
        for _ in 0..CHAIN_MAX {
            let parents = read_bare_commit(self.repository, self.record?).ok()?.parents;
            let [before, _] = parents.as_slice() else { return None };
            self.record = Some(*before);
            let announced = read_announced(self.repository, *before).ok()?;
            let wrapped = read_wrapped(self.repository, announced).ok()?;
            if wrapped.signed.announcement.number() < cut {
                return Some(announced);
            }
        }
        None
    }

    /// Tells whether the chain has an announcement, whatever its number.
    ///
    /// # Errors
    /// Fails when the chain is damaged.
    pub fn holds(&mut self, cid: Cid) -> Result<bool> {
        Ok(self.find(cid)?.is_some())
    }

    /// Finds an announcement of the chain, whatever its number.
    ///
    /// # Errors
    /// Fails when the chain is damaged.
    pub fn find(&mut self, cid: Cid) -> Result<Option<&WrappedAnnouncement>> {
        let is_known = self.known.values().any(|found| found.signed.cid() == cid);
        let mut is_found = is_known;
        while !is_found && self.known.len() < CHAIN_MAX {
            match self.read_next()? {
                None => break,
                Some(read) => is_found = read == cid,
            }
        }
        Ok(self.known.values().find(|found| found.signed.cid() == cid))
    }

    /// Tells whether the chain has an announcement.
    ///
    /// # Errors
    /// Fails when the chain is damaged.
    pub fn has(&mut self, number: ChainNumber, cid: Cid) -> Result<bool> {
        Ok(self.at(number)?.is_some_and(|found| found.signed.cid() == cid))
    }
}
