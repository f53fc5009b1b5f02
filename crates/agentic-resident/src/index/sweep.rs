//! Comparing everything with what was read, a piece at a time: what others ask is answered in between.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use agentic_index::SweptRefs;
use agentic_model::Instant;
use agentic_replay::SessionId;
use agentic_session::SessionSpace;

use super::kept::{AgentToRead, FoldOutcome, InFlight, KeptIndex, ListedAgent, SeenArchive};
use super::place::journal_mark;

/// How many agents are compared before somebody else has a turn.
const AGENTS_AT_ONCE: usize = 512;

/// Which agents there are.
enum AgentListing {
    /// These, and where they are; and the refs that say so, where those stayed as they were meanwhile.
    All(Vec<ListedAgent>, Option<SweptRefs>),
    /// Those that all were compared with last.
    Same(SweptRefs),
}

/// What there is.
pub(super) struct SweepListing {
    agents: AgentListing,
    /// The agents that have a journal.
    journals: BTreeSet<String>,
    /// All sessions, oldest first.
    sessions: Vec<SessionId>,
    /// The agents of the archive, for the next one.
    pub archive: SeenArchive,
}

/// A listing that a thread of its own makes, so that whoever asks the index does not wait for it: of very
/// many references git takes its time.
pub(super) struct ListingUnderWay(Receiver<FoldOutcome<SweepListing>>);

/// A comparison that is under way.
pub(super) struct IndexSweep {
    /// Where all agents are that are to be compared.
    now: Vec<ListedAgent>,
    /// How many agents there are.
    n_agents: usize,
    /// The refs that say so.
    swept: Option<SweptRefs>,
    /// How many of them were compared.
    n_compared: usize,
    /// The agents that have a journal.
    journals: BTreeSet<String>,
    /// The agents that differ, by when their newest commits were made.
    differing: Vec<(Instant, ListedAgent)>,
    /// The agents that are gone.
    gone: Vec<String>,
    /// All sessions, oldest first.
    sessions: Vec<SessionId>,
    /// Those of which there will never be more.
    pub over: BTreeSet<SessionId>,
}

/// What a comparison found.
pub(super) struct SweepFindings {
    /// The agents that differ: those that are gone, then the newest first.
    pub agents: Vec<AgentToRead>,
    /// The sessions that may have grown, newest first.
    pub sessions: Vec<SessionId>,
    /// With which refs all agents were compared, where none differed.
    pub swept: Option<SweptRefs>,
}

impl SweepListing {
    /// Lists what there is.
    pub fn read<I: KeptIndex>(
        space: &SessionSpace,
        mut archive: SeenArchive,
        known: Option<SweptRefs>,
    ) -> FoldOutcome<SweepListing> {
        let agents = list_agents::<I>(space, &mut archive, known)?;
        let journals = match I::IN_FLIGHT {
            InFlight::Kept => agents_with_journals(space),
            InFlight::Left => BTreeSet::new(),
        };
        Ok(SweepListing { agents, journals, sessions: space.sessions()?, archive })
    }
}

impl ListingUnderWay {
    /// Begins to list.
    ///
    /// # Errors
    /// Fails when no thread can be had.
    pub fn begin<I: KeptIndex>(
        space: &Arc<SessionSpace>,
        archive: SeenArchive,
        known: Option<SweptRefs>,
    ) -> std::io::Result<ListingUnderWay> {
        let (told, listed) = sync_channel(1);
        let space = Arc::clone(space);
        let list = move || {
            // Whoever asked may have gone away.
            let _ = told.try_send(SweepListing::read::<I>(&space, archive, known));
        };
        let thread = std::thread::Builder::new().name(format!("agentic-list-{}", I::NAME));
        thread.spawn(list)?;
        Ok(ListingUnderWay(listed))
    }

    /// Returns what was listed, if that comes soon enough. A thread that panicked has listed nothing.
    pub fn listed(&self, wait: Duration) -> Option<Option<SweepListing>> {
        match self.0.recv_timeout(wait) {
            Ok(listed) => Some(listed.ok()),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(None),
        }
    }
}

impl IndexSweep {
    /// Begins to compare what was listed; some agents had something in their journals before.
    pub fn begin<'j, I: KeptIndex>(
        index: &mut I,
        listing: SweepListing,
        journals_before: impl Iterator<Item = &'j str>,
    ) -> FoldOutcome<IndexSweep> {
        let SweepListing { agents, journals, sessions, archive: _ } = listing;
        let (now, gone, n_agents, swept) = match agents {
            AgentListing::All(now, swept) => {
                let there: BTreeSet<&str> = now.iter().map(|listed| listed.name.as_str()).collect();
                let known = index.agents()?.into_iter();
                let gone = known.filter(|name| !there.contains(name.as_str())).collect();
                let n_agents = now.len();
                (now, gone, n_agents, swept)
            }
            AgentListing::Same(swept) => {
                let with = journals.iter().cloned().chain(journals_before.map(str::to_owned));
                let with: BTreeSet<String> = with.collect();
                let now = known_agents(index, with)?;
                (now, Vec::new(), swept.n_agents, Some(swept))
            }
        };
        let over = index.keep_sessions(&sessions.iter().copied().collect())?;
        let differing = Vec::new();
        Ok(IndexSweep {
            now,
            n_agents,
            swept,
            n_compared: 0,
            journals,
            differing,
            gone,
            sessions,
            over,
        })
    }

    /// Returns how many agents and sessions there are.
    pub fn n_there(&self) -> usize {
        self.n_agents + self.sessions.len()
    }

    /// Compares some agents; `journal_of` tells how the journal of one stood when it was read. Says
    /// whether there are more.
    pub fn compare<I: KeptIndex>(
        &mut self,
        index: &I,
        space: &SessionSpace,
        journal_of: impl Fn(&str) -> Option<u64>,
    ) -> FoldOutcome<bool> {
        let rest = &self.now[self.n_compared..];
        let part = &rest[..rest.len().min(AGENTS_AT_ONCE)];
        for listed in part {
            let ListedAgent { name, seen: now, .. } = listed;
            let is_seen = index.seen(name)?.as_ref() == Some(now);
            // An agent without a journal has nothing in flight, and had nothing if none was read.
            let has_journal = self.journals.contains(name);
            let mark = if has_journal { journal_mark(space, name) } else { None };
            let is_in_flight_seen = match I::IN_FLIGHT {
                InFlight::Kept => mark == journal_of(name),
                InFlight::Left => true,
            };
            let at = match (is_seen, is_in_flight_seen) {
                (true, true) => continue,
                // Its journal alone is read.
                (true, false) => Instant::from_millis(0),
                (false, _) => {
                    space.read_commit(now.head).map_or(Instant::from_millis(0), |it| it.at)
                }
            };
            self.differing.push((at, listed.clone()));
        }
        self.n_compared += part.len();
        Ok(self.n_compared < self.now.len())
    }

    /// Says what was found.
    pub fn end(mut self, over: &BTreeSet<SessionId>) -> SweepFindings {
        let is_same = self.gone.is_empty() && self.differing.is_empty();
        let swept = self.swept.filter(|_| is_same);
        let place = |one: &(Instant, ListedAgent)| (one.0, one.1.name.clone());
        self.differing.sort_by_cached_key(|one| std::cmp::Reverse(place(one)));
        let differing = self.differing.into_iter().map(|(_, listed)| AgentToRead::Listed(listed));
        let sessions = self.sessions.into_iter().rev().filter(|id| !over.contains(id));
        let gone = self.gone.into_iter().map(AgentToRead::Named);
        SweepFindings {
            agents: gone.chain(differing).collect(),
            sessions: sessions.collect(),
            swept,
        }
    }
}

/// Lists all agents, unless the refs are still those with which all were compared.
fn list_agents<I: KeptIndex>(
    space: &SessionSpace,
    archive: &mut SeenArchive,
    known: Option<SweptRefs>,
) -> FoldOutcome<AgentListing> {
    let mark = || space.repository().refs_mark().map(|mark| *mark.as_bytes());
    let before = mark()?;
    if let Some(known) = known.filter(|known| known.mark == before) {
        return Ok(AgentListing::Same(known));
    }
    let agents = I::agents_there(space, archive)?;
    // What moved and moved back meanwhile would be listed where it is not.
    let is_still = mark()? == before;
    let swept = is_still.then_some(SweptRefs { mark: before, n_agents: agents.len() });
    Ok(AgentListing::All(agents, swept))
}

/// Returns what an index knows of some agents. Those that it does not know are not there.
fn known_agents<I: KeptIndex>(index: &I, names: BTreeSet<String>) -> FoldOutcome<Vec<ListedAgent>> {
    let mut known = Vec::new();
    for name in names {
        let seen = index.seen(&name)?;
        known.extend(seen.map(|seen| ListedAgent { name, seen, is_here: true }));
    }
    Ok(known)
}

/// Lists the agents that have a journal.
fn agents_with_journals(space: &SessionSpace) -> BTreeSet<String> {
    let entries = std::fs::read_dir(space.repository().layout().journals());
    let names = entries.into_iter().flatten().flatten();
    names.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}
