//! What agents did: their commits, their traces and the relations that they assert.

use std::collections::{BTreeMap, BTreeSet};

use agentic_api::roster::agents_now;
use agentic_api::view::{EventName, EventView, LogView};
use agentic_index::SeenAgent;
use agentic_model::commit::Claims;
use agentic_model::trace::cid_in_note;
use agentic_model::{AgentName, Kind, Oid};
use agentic_replay::{RequestId, SessionId};
use agentic_store::Stream;
use agentic_store::bell::GroundChange;

use super::told::{JournalMark, ToldAgent, ToldAgents};
use super::{Follower, RefsSince, blank};
use crate::index::{AgentToRead, ListedAgent};

/// How many new commits of one agent are told one by one.
const COMMITS_TOLD_MAX: usize = 64;
/// How many commits are looked through for the one that was the head before.
const COMMITS_READ_MAX: usize = 4_096;
/// How many agents are indexed before their events are told; more are left to a sweep.
pub(super) const AGENTS_READ_AT_ONCE: usize = 16;
/// How many bindings of one agent's notes are told one by one.
const BINDINGS_TOLD_MAX: usize = 64;
/// The kind of the commit that a decision is.
const DECISION: &str = "decision";
/// The type of the objects that relations are.
const EDGE: &str = "edge";

impl Follower {
    /// Reads how all agents stand.
    pub(super) fn read_agents(&self) -> Option<ToldAgents> {
        let mut journals = self.read_journals();
        let mut agents = ToldAgents::default();
        for (agent, seen) in agents_now(&self.space).ok()? {
            let journal = journals.remove(&agent);
            let told = ToldAgent { head: Some(seen.head), notes: seen.notes, journal };
            agents.put(&agent, &told);
        }
        Some(agents)
    }

    fn read_journals(&self) -> BTreeMap<AgentName, JournalMark> {
        let entries = std::fs::read_dir(self.space.repository().layout().journals());
        let entries = entries.into_iter().flatten().flatten();
        let journal = |entry: std::fs::DirEntry| {
            let name = AgentName::parse(entry.file_name().to_str()?).ok()?;
            Some((name, JournalMark::read(&entry.path())?))
        };
        entries.filter_map(journal).collect()
    }

    /// Compares all agents; of refs that are as they were only their journals.
    pub(super) fn sweep_agents(&mut self, refs: RefsSince) {
        let moved = match refs {
            RefsSince::Same => self.agents.with_other_journals(self.read_journals()),
            RefsSince::Other => {
                let Some(found) = self.read_agents() else { return };
                self.agents.moved_in(&found)
            }
        };
        if moved.len() <= AGENTS_READ_AT_ONCE {
            let there = moved.iter().filter(|(_, now)| now.head.is_some());
            self.index.follow_agents(there.map(|(agent, now)| to_read(agent, now)).collect());
        }
        self.index.sweep();
        for (agent, now) in moved {
            self.tell_of_agent(&agent, now);
        }
    }

    pub(super) fn look_at_agents(&mut self, agents: &[&AgentName]) {
        let read = |agent: &&AgentName| Some(((*agent).clone(), self.read_agent(agent)?));
        let found: Vec<_> = agents.iter().filter_map(read).collect();
        // Together: each time that it is written costs the index as much as what it is told.
        self.index.follow_agents(found.iter().map(|(agent, now)| to_read(agent, now)).collect());
        for (agent, now) in found {
            self.tell_of_agent(&agent, now);
        }
    }

    fn read_agent(&self, agent: &AgentName) -> Option<ToldAgent> {
        let repository = self.space.repository();
        // The journal first: what is written meanwhile is seen by the next look.
        let stream = Stream::Agent(agent.clone());
        let journal = JournalMark::read(&repository.layout().journal(&stream));
        let head = repository.find_ref(&agent.branch_ref()).ok()?;
        let notes = repository.find_ref(&agent.notes_ref()).ok()?;
        Some(match head {
            Some(_) => ToldAgent { head, notes, journal },
            None => ToldAgent::default(),
        })
    }

    /// Tells how an agent differs from what was told of it.
    fn tell_of_agent(&mut self, agent: &AgentName, now: ToldAgent) {
        let before = match now.head {
            Some(_) => self.agents.put(agent, &now),
            None => self.agents.remove(agent),
        };
        let before = before.unwrap_or_default();
        if before == now {
            return;
        }
        // What is told of is not what was compared any more.
        self.swept = None;
        match (before.head, now.head) {
            (Some(_), None) => self.tell_of_end(agent),
            (None, Some(head)) => {
                self.archived.remove(agent);
                self.tell_of_state(agent, Some(head), "new");
            }
            (Some(old), Some(head)) if old != head => self.tell_of_commits(agent, old, &now),
            (Some(_), Some(_)) | (None, None) => {}
        }
        if now.notes != before.notes && now.notes.is_some() {
            self.tell_of_notes(agent, before.notes, now.notes);
        } else if now.head == before.head && now.journal != before.journal {
            self.tell(EventName::Trace, of(agent));
        }
    }

    /// Tells of the agents among these that came and were archived since the last look.
    pub(super) fn tell_of_short_lives(&mut self, changed: &BTreeSet<GroundChange>) {
        for change in changed {
            let GroundChange::Stream(Stream::Agent(agent)) = change else { continue };
            let is_told = self.agents.has(agent) || self.archived.contains(agent);
            if !is_told && self.is_archived(agent) {
                self.tell_of_archive(agent);
            }
        }
    }

    fn is_archived(&self, agent: &AgentName) -> bool {
        self.space.archived_agent(agent).is_ok_and(|found| found.is_some())
    }

    fn tell_of_end(&mut self, agent: &AgentName) {
        match self.is_archived(agent) {
            true => self.tell_of_archive(agent),
            false => self.tell_of_state(agent, None, "gone"),
        }
    }

    fn tell_of_archive(&mut self, agent: &AgentName) {
        self.archived.insert(agent.clone());
        self.tell_of_state(agent, None, "archived");
    }

    fn tell_of_state(&self, agent: &AgentName, head: Option<Oid>, state: &str) {
        let (commit, state) = (head.map(|head| head.to_string()), Some(state.to_owned()));
        self.tell(EventName::Agent, EventView { commit, state, ..of(agent) });
    }

    /// Tells of the commits since one, oldest first; where the branch left that one, only of the branch.
    fn tell_of_commits(&self, agent: &AgentName, before: Oid, now: &ToldAgent) {
        match self.commits_since(agent, before, now) {
            Some(new) => new.into_iter().rev().for_each(|view| self.tell_of_commit(agent, view)),
            None => self.tell_of_state(agent, now.head, "moved"),
        }
    }

    /// Lists the newest commits since one, newest first; nothing where that one is not found.
    fn commits_since(
        &self,
        agent: &AgentName,
        since: Oid,
        now: &ToldAgent,
    ) -> Option<Vec<LogView>> {
        let mut commits = self.space.log_from(agent, now.head?, now.notes).ok()?;
        let mut new = Vec::new();
        for _ in 0..COMMITS_READ_MAX {
            if commits.next_oid() == Some(since) {
                return Some(new);
            }
            let commit = commits.next()?.ok()?;
            if new.len() < COMMITS_TOLD_MAX {
                new.push(LogView::new(&commit, None));
            }
        }
        None
    }

    fn tell_of_commit(&self, agent: &AgentName, view: LogView) {
        // One that only looks like a decision is a commit.
        let decided = (view.kind == DECISION && !view.unverified).then(|| self.decision(&view));
        let name = if decided.is_some() { EventName::Decision } else { EventName::Commit };
        let told = decided.flatten().unwrap_or_default();
        let (commit, kind, cid) = (Some(view.commit), Some(view.kind), view.trace);
        self.tell(
            name,
            EventView { commit, kind, cid, ..EventView { agent: of(agent).agent, ..told } },
        );
    }

    /// Says which request a decision answers, and who decided.
    fn decision(&self, view: &LogView) -> Option<EventView> {
        let message = self.space.read_commit(Oid::parse(&view.commit).ok()?).ok()?.message;
        let claims = Claims::read(&message);
        let session = SessionId::parse(&claims.session?)?;
        let request = session.short_request(&RequestId::parse(&claims.request?)?);
        let by = view.fields.get("principal").and_then(|by| by.as_str()).map(str::to_owned);
        let (session, request) = (Some(session.to_string()), Some(request));
        Some(EventView { session, request, by, ..blank() })
    }

    /// Tells what changed in an agent's notes: the traces of commits, and relations.
    fn tell_of_notes(&self, agent: &AgentName, before: Option<Oid>, now: Option<Oid>) {
        let repository = self.space.repository();
        // Of an agent that is new here its history is not told.
        if before.is_none() {
            return;
        }
        let changed = repository.changed_notes(before, now).unwrap_or_default();
        for note in changed.iter().take(BINDINGS_TOLD_MAX) {
            let cid = note.text.as_deref().and_then(cid_in_note).map(|cid| cid.to_string());
            let commit = Some(note.commit.to_string());
            self.tell(EventName::Trace, EventView { commit, cid, ..of(agent) });
        }
        let Ok(edge) = Kind::parse(EDGE) else { return };
        let edges = |tip| repository.notes_at(tip).and_then(|notes| notes.blobs_of(&edge));
        let (Ok(old), Ok(new)) = (edges(before), edges(now)) else { return };
        for cid in new.keys().filter(|cid| !old.contains_key(cid)) {
            let cid = Some(cid.to_string());
            self.tell(EventName::Relation, EventView { cid, ..of(agent) });
        }
    }
}

/// Has an index read an agent where it was found: what moved it since is told of later.
fn to_read(agent: &AgentName, found: &ToldAgent) -> AgentToRead {
    let name = agent.to_string();
    match found.head {
        Some(head) => {
            let seen = SeenAgent { head, notes: found.notes };
            AgentToRead::Listed(ListedAgent { name, seen, is_here: true })
        }
        None => AgentToRead::Named(name),
    }
}

fn of(agent: &AgentName) -> EventView {
    EventView { agent: Some(agent.to_string()), ..blank() }
}
