//! Comparing everything, and reading what differs.

use std::collections::BTreeMap;
use std::time::Duration;

use super::super::kept::{AgentToRead, KeptIndex};
use super::super::sweep::{IndexSweep, ListingUnderWay};
use super::{IndexKeeper, IndexWork, READ_MUCH};

/// How often it is believed that agents are where they were because the refs are, before all are listed
/// again.
const BELIEVED_MAX: usize = 15;
/// How many agents are read before somebody else has a turn.
const AGENTS_AT_ONCE: usize = 64;

/// Which agents were read because somebody told of them: what was listed before says less of them.
#[derive(Debug, Default)]
pub(super) struct ToldSince {
    /// How many listings were begun.
    n_listings: u64,
    /// With which listing the work began that there is.
    of_work: u64,
    /// The agents, by how many listings had been begun.
    told: BTreeMap<String, u64>,
}

impl ToldSince {
    /// Notes an agent of which somebody told.
    pub fn tell(&mut self, agent: &str) {
        self.told.insert(agent.to_owned(), self.n_listings);
    }

    fn begin_listing(&mut self) {
        self.n_listings += 1;
    }

    fn begin_work(&mut self) {
        self.of_work = self.n_listings;
        let first = self.of_work;
        self.told.retain(|_, at| *at >= first);
    }

    /// Says whether nobody told of an agent since the work was listed.
    pub fn is_nobody(&self) -> bool {
        self.told.is_empty()
    }

    /// Says how an agent is read that is a part of the work.
    fn wanted(&self, agent: AgentToRead) -> AgentToRead {
        let is_stale = self.told.get(agent.name()).is_some_and(|at| *at >= self.of_work);
        match agent {
            AgentToRead::Listed(listed) if is_stale => AgentToRead::Named(listed.name),
            AgentToRead::Listed(_) | AgentToRead::Named(_) => agent,
        }
    }
}

impl<I: KeptIndex> IndexKeeper<I> {
    /// Begins to list everything, unless that or the comparison is under way.
    pub(super) fn begin_sweep(&mut self) {
        if self.sweep.is_some() || self.listing.is_some() {
            // What is written meanwhile may come behind what was listed: the next one finds it.
            return;
        }
        self.is_sweep_due = false;
        self.told.begin_listing();
        // What could not be listed is listed by the next one.
        let known = self.swept.filter(|_| self.n_believed < BELIEVED_MAX);
        self.n_believed = if known.is_some() { self.n_believed + 1 } else { 0 };
        let archive = std::mem::take(&mut self.archive);
        self.listing = ListingUnderWay::begin::<I>(&self.space, archive, known).ok();
        if self.listing.is_none() {
            self.say_progress();
        }
    }

    /// Goes on with what was listed, if that comes soon enough.
    pub(super) fn take_listing(&mut self, wait: Duration) {
        let Some(listed) = self.listing.as_ref().and_then(|listing| listing.listed(wait)) else {
            return;
        };
        self.listing = None;
        if let Some(mut listing) = listed {
            self.archive = std::mem::take(&mut listing.archive);
            let journals = std::mem::take(&mut self.journals);
            let before = journals.keys().map(String::as_str);
            self.sweep = self.guarded(|index, _| IndexSweep::begin(index, listing, before));
            if self.index.is_some() {
                self.journals = journals;
            }
        }
        self.n_there = self.sweep.as_ref().map(IndexSweep::n_there);
        if self.sweep.is_none() {
            self.say_progress();
        }
    }

    /// Compares some; at the end what differs is the work.
    pub(super) fn sweep_some(&mut self) {
        let Some(mut sweep) = self.sweep.take() else { return };
        let journals = std::mem::take(&mut self.journals);
        let journal_of = |agent: &str| journals.get(agent).copied();
        let compared = self.guarded(|index, space| {
            let has_more = sweep.compare(index, space, journal_of)?;
            Ok((sweep, has_more))
        });
        if self.index.is_some() {
            self.journals = journals;
        }
        // Of what differs it is read when it was written.
        self.count_read(READ_MUCH);
        match compared {
            Some((sweep, true)) => return self.sweep = Some(sweep),
            Some((sweep, false)) => self.end_sweep(sweep),
            None => {}
        }
        self.say_progress();
    }

    fn end_sweep(&mut self, mut sweep: IndexSweep) {
        self.over.append(&mut sweep.over);
        let found = sweep.end(&self.over);
        let is_first = !std::mem::replace(&mut self.was_swept, true);
        self.told.begin_work();
        self.work.retain(|work| matches!(work, IndexWork::Opening(_)));
        if is_first {
            let openings = self.guarded(|index, _| Ok(index.openings()?)).into_iter().flatten();
            self.work.extend(openings.map(IndexWork::Opening));
        }
        // Who was read since is elsewhere than those refs say.
        self.swept = found.swept.filter(|_| self.told.is_nobody());
        if let Some(swept) = self.swept {
            self.guarded(|index, _| Ok(index.note_swept(swept)?));
        }
        self.work.extend(found.agents.into_iter().map(IndexWork::Agent));
        self.work.extend(found.sessions.into_iter().map(IndexWork::Session));
        self.n_all = self.work.len();
    }

    /// Takes the agents that follow one in the work, for a piece of it.
    pub(super) fn next_agents(&mut self, first: AgentToRead) -> Vec<AgentToRead> {
        let mut agents = vec![self.told.wanted(first)];
        while agents.len() < AGENTS_AT_ONCE {
            match self.work.pop_front() {
                Some(IndexWork::Agent(agent)) => agents.push(self.told.wanted(agent)),
                Some(other) => {
                    self.work.push_front(other);
                    break;
                }
                None => break,
            }
        }
        agents
    }
}

#[cfg(test)]
mod tests {
    use agentic_index::SeenAgent;
    use agentic_model::Oid;

    use super::super::super::kept::ListedAgent;
    use super::{AgentToRead, ToldSince};

    #[test]
    fn what_was_told_since_a_listing_is_looked_up() {
        let head = Oid::from_bytes(&[7; 20]).expect("an id");
        let seen = SeenAgent { head, notes: None };
        let listed = |name: &str| {
            AgentToRead::Listed(ListedAgent {
                name: name.to_owned(),
                seen: seen.clone(),
                is_here: true,
            })
        };
        let mut told = ToldSince::default();
        told.tell("before");
        told.begin_listing();
        told.tell("meanwhile");
        assert!(!told.is_nobody());
        told.begin_work();
        assert!(!told.is_nobody(), "one was told of meanwhile");
        assert_eq!(told.wanted(listed("before")), listed("before"));
        assert_eq!(told.wanted(listed("meanwhile")), AgentToRead::Named("meanwhile".to_owned()));
        // The next listing is no work yet.
        told.begin_listing();
        assert_eq!(told.wanted(listed("meanwhile")), AgentToRead::Named("meanwhile".to_owned()));
        told.tell("later");
        assert_eq!(told.wanted(listed("later")), AgentToRead::Named("later".to_owned()));
        told.begin_work();
        assert_eq!(told.wanted(listed("meanwhile")), listed("meanwhile"));
        assert_eq!(told.wanted(listed("later")), AgentToRead::Named("later".to_owned()));
        told.begin_listing();
        told.begin_work();
        assert!(told.is_nobody(), "all were listed again");
    }
}
