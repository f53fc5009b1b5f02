//! Bringing what the index of texts has of agents to where they are.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use agentic_api::search::{GroundTexts, TextAgent};
use agentic_index::{DocumentSource, SearchDocument, SeenAgent, TextChange, TextIndex};
use agentic_model::trace::cid_in_note;
use agentic_model::{AgentName, Cid, Oid};
use agentic_session::SessionSpace;

use super::super::kept::{AgentToRead, FoldOutcome, ListedAgent};
use super::super::place::journal_mark;

/// After how many texts a change is written.
const TEXTS_AT_ONCE: usize = 4_096;

/// Makes an agent of one that was listed.
fn listed_agent(listed: &ListedAgent) -> Option<TextAgent> {
    let name = listed.name.rsplit('/').next().unwrap_or(&listed.name);
    Some(TextAgent {
        name: listed.name.clone(),
        agent: AgentName::parse(name).ok()?,
        seen: listed.seen.clone(),
        is_here: listed.is_here,
    })
}

/// Brings what the index has of agents to where they are. What was read of one is written together with
/// what was read of others.
pub(super) struct TextReading<'r> {
    pub space: &'r SessionSpace,
    pub index: &'r mut TextIndex,
    /// What is not written yet.
    pub changes: Vec<TextChange>,
    /// How many texts that has.
    pub n_texts: usize,
}

/// What is read of one agent.
struct AgentTexts {
    agent: TextAgent,
    change: TextChange,
    /// What the index has of the agent that may come up again.
    known: BTreeSet<DocumentSource>,
}

/// A commit, and the trace that is bound to it.
struct BoundCommit {
    commit: agentic_session::log::SessionCommit,
    trace: Option<Cid>,
}

impl AgentTexts {
    /// Adds the briefing of the agent, and says what holds it.
    fn add_briefing(&mut self, briefing: SearchDocument) -> DocumentSource {
        let source = briefing.source.clone();
        if !self.known.contains(&source) {
            self.change.new.push(briefing);
        }
        source
    }
}

impl TextReading<'_> {
    /// Reads what is new of an agent.
    pub fn read(&mut self, wanted: &AgentToRead) -> FoldOutcome<()> {
        let (ground, name) = (GroundTexts { space: self.space }, wanted.name());
        let found = match wanted {
            AgentToRead::Listed(listed) => listed_agent(listed),
            AgentToRead::Named(name) => ground.agent(name)?,
        };
        let Some(agent) = found else { return Ok(self.index.forget_agent(name)?) };
        // Most agents wait for nothing, and have no journal: they are where they were found.
        let (agent, in_flight) = match journal_mark(self.space, name).filter(|_| agent.is_here) {
            None => (agent, Vec::new()),
            Some(_) => {
                let in_flight = self.in_flight(&agent);
                // Behind it: what is bound meanwhile is seen in both, and counts as bound.
                let again = ground.agent(name)?;
                let Some(agent) = again else { return Ok(self.index.forget_agent(name)?) };
                (agent, in_flight)
            }
        };
        let seen = self.index.seen(name)?;
        if seen.as_ref() != Some(&agent.seen) {
            self.read_from(agent, seen)?;
        }
        self.index.put_in_flight(name, in_flight);
        Ok(())
    }

    /// Reads what an agent has in flight. A journal that cannot be read has nothing to be found.
    fn in_flight(&self, agent: &TextAgent) -> Vec<SearchDocument> {
        let mut in_flight = Vec::new();
        let pending = GroundTexts { space: self.space }.pending(agent, &mut |document| {
            in_flight.push(document);
            ControlFlow::Continue(())
        });
        if pending.is_ok() { in_flight } else { Vec::new() }
    }

    fn read_from(&mut self, agent: TextAgent, seen: Option<SeenAgent>) -> FoldOutcome<()> {
        let (name, now) = (agent.name.clone(), agent.seen.clone());
        let (new, is_continued) =
            self.commits_since(&agent, seen.as_ref().map(|seen| seen.head))?;
        // Of an agent that was never read there is nothing, and nothing new of one that was read to a
        // commit; unless a process ended in the middle.
        let is_known = self.index.is_partial(&name) || (seen.is_some() && !is_continued);
        let known = if is_known { self.index.sources(&name)? } else { BTreeSet::new() };
        let change = TextChange { agent: name, ..TextChange::default() };
        let mut texts = AgentTexts { agent, change, known };
        match seen.filter(|_| is_continued) {
            Some(seen) => self.rebound(&seen, &now, &new, &mut texts)?,
            None => self.compare(&new, &mut texts),
        }
        // Oldest first: what is read first has the lower number.
        for bound in new.into_iter().rev() {
            self.add(bound, &mut texts)?;
        }
        texts.change.seen = Some(now);
        self.push(texts.change)
    }

    /// Lists the commits since one, newest first; says whether that one was found.
    fn commits_since(
        &self,
        agent: &TextAgent,
        since: Option<Oid>,
    ) -> FoldOutcome<(Vec<BoundCommit>, bool)> {
        let TextAgent { agent, seen, .. } = agent;
        let mut new = Vec::new();
        let mut commits = self.space.log_from(agent, seen.head, seen.notes)?;
        while since.is_none() || commits.next_oid() != since {
            let Some(commit) = commits.next().transpose()? else { return Ok((new, false)) };
            let trace = commit.trace;
            new.push(BoundCommit { commit, trace });
        }
        Ok((new, true))
    }

    /// Finds the notes of earlier commits that changed.
    fn rebound(
        &mut self,
        seen: &SeenAgent,
        now: &SeenAgent,
        new: &[BoundCommit],
        texts: &mut AgentTexts,
    ) -> FoldOutcome<()> {
        if seen.notes == now.notes {
            return Ok(());
        }
        if seen.notes.is_none() {
            // A branch is there a moment before the notes that keep its briefing.
            let briefing = GroundTexts { space: self.space }.of_briefing(&texts.agent);
            if let Some(briefing) = briefing {
                texts.add_briefing(briefing);
            }
        }
        let changed = self.space.repository().changed_notes(seen.notes, now.notes)?;
        let is_new = |oid: &Oid| new.iter().any(|bound| bound.commit.info.oid == *oid);
        let changed: Vec<_> = changed.into_iter().filter(|note| !is_new(&note.commit)).collect();
        if changed.is_empty() {
            return Ok(());
        }
        // What a part that was not read to the end has, too.
        let known = self.index.sources(&texts.change.agent)?;
        texts.known.clone_from(&known);
        for note in changed {
            let trace = note.text.as_deref().and_then(cid_in_note);
            let is_bound = |source: &&DocumentSource| match source {
                DocumentSource::Trace { commit, trace: other } => {
                    *commit == note.commit && Some(*other) != trace
                }
                DocumentSource::Commit(_)
                | DocumentSource::Pending
                | DocumentSource::Briefing(_)
                | DocumentSource::Session(_) => false,
            };
            texts.change.gone.extend(known.iter().filter(is_bound).cloned());
            let is_own = known.contains(&DocumentSource::Commit(note.commit));
            if let Some(trace) = trace.filter(|_| is_own) {
                self.add_trace(note.commit, trace, texts)?;
            }
        }
        Ok(())
    }

    /// Compares all that the index has of the agent with all that there is.
    fn compare(&self, all: &[BoundCommit], texts: &mut AgentTexts) {
        let mut there = BTreeSet::new();
        for bound in all {
            let commit = bound.commit.info.oid;
            there.insert(DocumentSource::Commit(commit));
            there.extend(bound.trace.map(|trace| DocumentSource::Trace { commit, trace }));
        }
        let ground = GroundTexts { space: self.space };
        let oldest = all.last().map(|bound| &bound.commit.info);
        let briefing = oldest.and_then(|oldest| ground.briefing_of(&texts.agent, oldest));
        there.extend(briefing.map(|briefing| texts.add_briefing(briefing)));
        let is_of_session = |it: &DocumentSource| matches!(it, DocumentSource::Session(_));
        let known = texts.known.iter();
        let gone = known.filter(|it| !there.contains(*it) && !is_of_session(it)).cloned();
        texts.change.gone.extend(gone);
    }

    fn add(&mut self, bound: BoundCommit, texts: &mut AgentTexts) -> FoldOutcome<()> {
        let oid = bound.commit.info.oid;
        if !texts.known.contains(&DocumentSource::Commit(oid)) {
            let ground = GroundTexts { space: self.space };
            let _ = ground.of_commit(&texts.agent, bound.commit, &mut |document| {
                texts.change.new.push(document);
                ControlFlow::Continue(())
            });
        }
        match bound.trace {
            Some(trace) => self.add_trace(oid, trace, texts),
            None => Ok(()),
        }
    }

    fn add_trace(&mut self, commit: Oid, trace: Cid, texts: &mut AgentTexts) -> FoldOutcome<()> {
        let source = DocumentSource::Trace { commit, trace };
        if texts.known.contains(&source) {
            return Ok(());
        }
        let ground = GroundTexts { space: self.space };
        // One that is damaged or not here has nothing to be found.
        let _ = ground.of_trace(&texts.agent, commit, trace, &mut |document| {
            texts.change.new.push(document);
            ControlFlow::Continue(())
        });
        self.write_if_large(texts)
    }

    /// Writes what was read of an agent so far, so that it need not be in memory; how far that is, is said
    /// last.
    fn write_if_large(&mut self, texts: &mut AgentTexts) -> FoldOutcome<()> {
        if texts.change.new.len() < TEXTS_AT_ONCE {
            return Ok(());
        }
        let part = TextChange {
            agent: texts.change.agent.clone(),
            gone: std::mem::take(&mut texts.change.gone),
            new: std::mem::take(&mut texts.change.new),
            ..TextChange::default()
        };
        self.push(part)
    }

    /// Takes a change, and writes all where that is much.
    fn push(&mut self, change: TextChange) -> FoldOutcome<()> {
        self.n_texts += change.new.len();
        self.changes.push(change);
        if self.n_texts >= TEXTS_AT_ONCE { self.write() } else { Ok(()) }
    }

    pub fn write(&mut self) -> FoldOutcome<()> {
        self.n_texts = 0;
        Ok(self.index.apply(&std::mem::take(&mut self.changes))?)
    }
}
