//! Which sessions there are, and which one a text names.
//!
//! There is no index to keep true: the folders are listed, of each session no more than its first
//! record is read ([`own::first`]), once for all commands ([`roster`]), and the journal only of
//! those that come into question, those that are not over before those that are.

use std::collections::BTreeSet;

use agentic_model::{AgentName, Instant, guidance};
use agentic_replay::SessionId;

use super::folder::{sessions_below, sessions_like};
use super::own::read_journal;
use super::{own, roster, segment};
use crate::error::SessionError;
use crate::{Error, Result, SessionSpace};

/// The fewest digits of an id that are accepted.
const PREFIX_DIGITS_MIN: usize = 8;

/// Lists the sessions that are not over. What is damaged is left out.
pub fn list_open(space: &SessionSpace) -> Result<Vec<SessionId>> {
    list_open_telling(space, &mut |_| ())
}

/// Does the same, and tells of whom some may be left out.
pub fn list_open_telling(
    space: &SessionSpace,
    tell: &mut dyn FnMut(String),
) -> Result<Vec<SessionId>> {
    let mut ids = list_local_open(space)?;
    // Of an agent that nothing was written to here, sessions may have come by fetch alone.
    note_missing(space);
    for notes in segment::notes_with_sessions(space)? {
        let name = AgentName::from_notes_ref(&notes);
        let Some(agent) = name else { continue };
        match fetched_alone(space, &agent) {
            Ok(sealed) => {
                let is_open =
                    |id: &SessionId| read_journal(space, id).is_ok_and(|read| !read.is_over());
                ids.extend(sealed.into_iter().filter(is_open));
            }
            Err(why) => {
                tell(format!("sessions of `{agent}` are left out: {}", guidance::chain(&why)));
            }
        }
    }
    ids.sort();
    ids.dedup();
    Ok(ids)
}

/// Lists the sessions of an agent with a branch that nothing was written to here.
fn fetched_alone(space: &SessionSpace, agent: &AgentName) -> Result<BTreeSet<SessionId>> {
    let layout = space.repository().layout();
    if layout.journal(&agentic_store::Stream::Agent(agent.clone())).exists()
        || space.repository().find_ref(&agent.branch_ref())?.is_none()
    {
        return Ok(BTreeSet::new());
    }
    Ok(segment::sessions_of(space, agent)?.into_iter().collect())
}

/// Notes for the next command whose branch is missing, as whoever lists agents does.
fn note_missing(space: &SessionSpace) {
    let repository = space.repository();
    let is_there = |name: &AgentName| {
        repository.find_ref(&name.branch_ref()).map_or(true, |found| found.is_some())
    };
    agentic_store::recovery::note_missing(repository, is_there);
}

/// Lists the sessions that have a folder here among those that are not over, in no order.
pub fn list_local_open(space: &SessionSpace) -> Result<Vec<SessionId>> {
    sessions_below(&space.repository().layout().open_sessions())
}

/// Lists the sessions that may be open ones of some agents, as their marks say: whoever reads their
/// records finds whether they are.
pub fn may_be_open(space: &SessionSpace, agents: &BTreeSet<&AgentName>) -> Result<Vec<SessionId>> {
    let layout = space.repository().layout();
    let mut ids = sessions_below(&layout.open_sessions())?;
    for agent in agents {
        // Nothing was written to it here; its sessions may have come by fetch alone.
        if !layout.journal(&agentic_store::Stream::Agent((*agent).clone())).exists() {
            ids.extend(segment::sessions_of(space, agent)?);
        }
    }
    // One that was fetched and has gone on here stands in both.
    ids.sort();
    ids.dedup();
    let wanted: BTreeSet<_> = agents.iter().map(|agent| roster::hash_of_agent(agent)).collect();
    Ok(roster::select(space, ids, |mark| wanted.contains(&mark.agent)))
}

/// Lists the sessions of some agents that are not over, with their agents. One that is damaged is
/// nobody's.
pub fn open_sessions_of(
    space: &SessionSpace,
    agents: &BTreeSet<&AgentName>,
) -> Result<Vec<(SessionId, AgentName)>> {
    let open = |id| {
        let journal = read_journal(space, &id).ok().filter(|journal| !journal.is_over())?;
        Some((id, journal.start().agent.clone()))
    };
    let open = may_be_open(space, agents)?.into_iter().filter_map(open);
    Ok(open.filter(|(_, agent)| agents.contains(agent)).collect())
}

/// Lists all sessions that are known here, in no order.
pub fn list_known(space: &SessionSpace) -> Result<BTreeSet<SessionId>> {
    let mut ids = list_local(space)?;
    ids.extend(segment::sessions(space)?);
    Ok(ids)
}

/// Lists all sessions that are known here, oldest first. A folder in which nothing was recorded is
/// what is left of a start that was broken off: there is no such session.
pub fn list_all(space: &SessionSpace) -> Result<Vec<SessionId>> {
    Ok(begun_among(space, list_known(space)?))
}

/// Does the same, and tells of which notes some may be left out.
pub fn list_all_telling(
    space: &SessionSpace,
    tell: &mut dyn FnMut(String),
) -> Result<Vec<SessionId>> {
    let mut ids = list_local(space)?;
    ids.extend(segment::sessions_telling(space, tell)?);
    Ok(begun_among(space, ids))
}

/// Sorts those of some sessions in which something was recorded, oldest first.
fn begun_among(space: &SessionSpace, ids: BTreeSet<SessionId>) -> Vec<SessionId> {
    let begun = |id: SessionId| match own::first(space, &id) {
        Ok(beginning) => Some((beginning.at.millis(), id)),
        Err(Error::Session(SessionError::Unknown { .. })) => None,
        Err(_) => Some((i64::MAX, id)),
    };
    let mut ids: Vec<(i64, SessionId)> = ids.into_iter().filter_map(begun).collect();
    ids.sort();
    ids.into_iter().map(|(_, id)| id).collect()
}

/// Finds the sessions that were started, by nobody's fork, as an agent with a key.
pub fn with_key(space: &SessionSpace, agent: &AgentName, key: &str) -> Result<Vec<SessionId>> {
    let (of_agent, of_key) = (roster::hash_of_agent(agent), roster::hash_of_key(key));
    let is_meant = |mark: &roster::Mark| mark.agent == of_agent && mark.key == of_key;
    let mut may_be = roster::select_local(space, is_meant)?;
    may_be.extend(roster::select(space, segment::sessions_of(space, agent)?, is_meant));
    let has_key =
        |id: &SessionId| own::first(space, id).is_ok_and(|beginning| beginning.has_key(agent, key));
    Ok(may_be.into_iter().filter(has_key).collect())
}

/// Finds the newest session of any agent that was started with a key.
pub fn newest_with_key(space: &SessionSpace, key: &str) -> Result<Option<SessionId>> {
    let mut newest: Option<(Instant, SessionId)> = None;
    let of_key = roster::hash_of_key(key);
    for id in roster::select(space, list_known(space)?, |mark| mark.key == of_key) {
        match own::first(space, &id) {
            Ok(beginning) if beginning.start.key == key => {
                newest = newest.max(Some((beginning.at, id)));
            }
            Ok(_) | Err(_) => {}
        }
    }
    Ok(newest.map(|(_, id)| id))
}

/// Tells whether a text may be the beginning of an id.
pub fn is_prefix(text: &str) -> bool {
    text.len() >= PREFIX_DIGITS_MIN
        && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// Lists the sessions that have a folder here and an id that begins like this.
pub fn local_with_prefix(space: &SessionSpace, prefix: &str) -> Result<BTreeSet<SessionId>> {
    let layout = space.repository().layout();
    // One that comes to its end meanwhile is seen in both places, and is one all the same.
    let mut found: BTreeSet<SessionId> = sessions_like(&layout.open_sessions(), prefix)?.collect();
    found.extend(sessions_like(&layout.ended_sessions(), prefix)?);
    Ok(found)
}

/// Finds the session that a text names.
pub fn find(space: &SessionSpace, text: &str) -> Result<SessionId> {
    let unknown = || Error::Session(SessionError::Unknown { id: text.to_owned() });
    if is_prefix(text) {
        let mut found = local_with_prefix(space, text)?;
        if found.is_empty() {
            let sealed = segment::sessions(space)?.into_iter();
            found.extend(sealed.filter(|id| id.to_string().starts_with(text)));
        }
        if found.len() > 1 {
            let candidates = found.iter().map(SessionId::short).collect();
            return Err(Error::Session(SessionError::Ambiguous {
                prefix: text.to_owned(),
                candidates,
            }));
        }
        if let Some(only) = found.pop_first() {
            return Ok(only);
        }
    }
    let agent = AgentName::parse(text).map_err(|_| unknown())?;
    Search { space, agent: &agent, damage: None }.run()?.ok_or_else(unknown)
}

/// The search for the session that the name of an agent means.
struct Search<'a> {
    space: &'a SessionSpace,
    agent: &'a AgentName,
    /// What was wrong with a session that may be the agent's.
    damage: Option<Error>,
}

impl Search<'_> {
    /// Returns the agent's newest session that is not over, else its newest.
    fn run(mut self) -> Result<Option<SessionId>> {
        let layout = self.space.repository().layout();
        // In this order, so that one that comes to its end meanwhile is in one of them.
        let mut open: BTreeSet<SessionId> =
            sessions_below(&layout.open_sessions())?.into_iter().collect();
        let mut ended: BTreeSet<SessionId> =
            sessions_below(&layout.ended_sessions())?.into_iter().collect();
        open.extend(segment::sessions_of(self.space, self.agent)?);
        open.retain(|id| !ended.contains(id));
        for id in self.own_newest_first(open) {
            match self.is_over(&id) {
                Some(false) => return Ok(Some(id)),
                // Fetched, or its folder was about to be put to the others.
                Some(true) => _ = ended.insert(id),
                None => {}
            }
        }
        let own = self.own_newest_first(ended);
        let newest = own.into_iter().find(|id| self.is_over(id).is_some());
        // One that is damaged is nobody's newest; but where nothing else is found it may be meant.
        match (newest, self.damage) {
            (None, Some(damage)) if self.space.head(self.agent).is_ok() => Err(damage),
            (newest, _) => Ok(newest),
        }
    }

    fn own_newest_first(&mut self, ids: BTreeSet<SessionId>) -> Vec<SessionId> {
        let mut own = Vec::new();
        let of_agent = roster::hash_of_agent(self.agent);
        for id in roster::select(self.space, ids, |mark| mark.agent == of_agent) {
            match own::first(self.space, &id) {
                Ok(beginning) if beginning.start.agent == *self.agent => {
                    own.push((beginning.at, id));
                }
                Ok(_) | Err(Error::Session(SessionError::Unknown { .. })) => {}
                Err(error) => self.damage = Some(error),
            }
        }
        own.sort();
        own.into_iter().rev().map(|(_, id)| id).collect()
    }

    /// Says whether a session is over; nothing if its records are damaged.
    fn is_over(&mut self, id: &SessionId) -> Option<bool> {
        match read_journal(self.space, id) {
            Ok(journal) => Some(journal.is_over()),
            Err(error) => {
                self.damage = Some(error);
                None
            }
        }
    }
}

/// Lists the sessions that have a folder here.
pub fn list_local(space: &SessionSpace) -> Result<BTreeSet<SessionId>> {
    let mut ids: BTreeSet<SessionId> = list_local_open(space)?.into_iter().collect();
    ids.extend(sessions_below(&space.repository().layout().ended_sessions())?);
    Ok(ids)
}

#[cfg(test)]
mod tests;
