//! Comparing everything with what was read, a piece at a time: what others ask is answered in between.

use std::collections::BTreeSet;

use agentic_model::Instant;
use agentic_replay::SessionId;
use agentic_session::SessionSpace;

use super::kept::{FoldOutcome, InFlight, KeptIndex, SeenAgents, SeenArchive};
use super::place::journal_mark;

/// How many agents are compared before somebody else has a turn.
const AGENTS_AT_ONCE: usize = 512;

/// A comparison that is under way.
pub(super) struct IndexSweep {
    /// Where all agents are.
    now: SeenAgents,
    /// How many of them were compared.
    n_compared: usize,
    /// The agents that have a journal.
    journals: BTreeSet<String>,
    /// The agents that differ, and when their newest commits were made.
    differing: Vec<(Instant, String)>,
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
    pub agents: Vec<String>,
    /// The sessions that may have grown, newest first.
    pub sessions: Vec<SessionId>,
}

impl IndexSweep {
    /// Lists what there is.
    pub fn begin<I: KeptIndex>(
        index: &mut I,
        space: &SessionSpace,
        archive: &mut SeenArchive,
    ) -> FoldOutcome<IndexSweep> {
        let now = I::agents_there(space, archive)?;
        let there: BTreeSet<&str> = now.iter().map(|(name, _)| name.as_str()).collect();
        let known = index.agents()?.into_iter();
        let gone = known.filter(|name| !there.contains(name.as_str())).collect();
        let journals = match I::IN_FLIGHT {
            InFlight::Kept => agents_with_journals(space),
            InFlight::Left => BTreeSet::new(),
        };
        let sessions = space.sessions()?;
        let over = index.keep_sessions(&sessions.iter().copied().collect())?;
        Ok(IndexSweep { now, n_compared: 0, journals, differing: Vec::new(), gone, sessions, over })
    }

    /// Returns how many agents and sessions there are.
    pub fn n_there(&self) -> usize {
        self.now.len() + self.sessions.len()
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
        for (agent, now) in part {
            let is_seen = index.seen(agent)?.as_ref() == Some(now);
            // An agent without a journal has nothing in flight, and had nothing if none was read.
            let has_journal = self.journals.contains(agent);
            let mark = if has_journal { journal_mark(space, agent) } else { None };
            let is_in_flight_seen = match I::IN_FLIGHT {
                InFlight::Kept => mark == journal_of(agent),
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
            self.differing.push((at, agent.clone()));
        }
        self.n_compared += part.len();
        Ok(self.n_compared < self.now.len())
    }

    /// Says what was found.
    pub fn end(mut self, over: &BTreeSet<SessionId>) -> SweepFindings {
        self.differing.sort_by(|one, other| other.cmp(one));
        let differing = self.differing.into_iter().map(|(_, name)| name);
        let sessions = self.sessions.into_iter().rev().filter(|id| !over.contains(id));
        SweepFindings {
            agents: self.gone.into_iter().chain(differing).collect(),
            sessions: sessions.collect(),
        }
    }
}

/// Lists the agents that have a journal.
fn agents_with_journals(space: &SessionSpace) -> BTreeSet<String> {
    let entries = std::fs::read_dir(space.repository().layout().journals());
    let names = entries.into_iter().flatten().flatten();
    names.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}
