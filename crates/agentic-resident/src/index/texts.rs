//! The index of texts: what is new of an agent or a session, from refs and records.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use agentic_api::search::{GroundTexts, TextAgent, visit_session};
use agentic_index::{
    DocumentSource, IndexError, SearchDocument, SeenAgent, Tables, TextChange, TextIndex,
    UnreadTexts,
};
use agentic_model::trace::cid_in_note;
use agentic_model::{Cid, Oid};
use agentic_replay::SessionId;
use agentic_session::SessionSpace;
use agentic_store::layout::ARCHIVE_REF;

use super::kept::{FoldOutcome, InFlight, KeptIndex, ReadFailure, SeenAgents, SeenArchive};
use super::place::journal_mark;

/// After how many texts a change is written.
const TEXTS_AT_ONCE: usize = 4_096;

/// Texts that were numbered by an earlier process, and are read again.
#[derive(Debug)]
pub enum NumberedTexts {
    /// Some of them.
    Unread(UnreadTexts),
    /// All were read.
    End,
}

impl KeptIndex for TextIndex {
    type Shared = ();
    type Opening = NumberedTexts;
    const NAME: &'static str = "text";
    /// 16 MiB.
    const CACHE_BYTES: u64 = 16 << 20;
    const IN_FLIGHT: InFlight = InFlight::Kept;

    fn open(tables: Box<dyn Tables>, of: &str, (): &()) -> Result<TextIndex, IndexError> {
        TextIndex::open(tables, of)
    }

    fn openings(&mut self) -> Result<Vec<NumberedTexts>, IndexError> {
        let unread = self.unread()?.into_iter().map(NumberedTexts::Unread);
        Ok(unread.chain([NumberedTexts::End]).collect())
    }

    fn finish_opening(&mut self, space: &SessionSpace, part: &NumberedTexts) -> FoldOutcome<()> {
        match part {
            NumberedTexts::Unread(unread) => read_again(self, space, unread),
            NumberedTexts::End => Ok(self.end_reading_again()?),
        }
    }

    fn agents(&self) -> Result<Vec<String>, IndexError> {
        self.agents()
    }

    fn seen(&self, agent: &str) -> Result<Option<SeenAgent>, IndexError> {
        self.seen(agent)
    }

    fn agents_there(space: &SessionSpace, archive: &mut SeenArchive) -> FoldOutcome<SeenAgents> {
        let ground = GroundTexts { space };
        let seen = |agents: Vec<TextAgent>| agents.into_iter().map(|it| (it.name, it.seen));
        let mut there: SeenAgents = seen(ground.agents_on_branches()?).collect();
        // What the archive has counts as long as there is no branch of that name.
        let mut mark = blake3::Hasher::new();
        for (name, _) in &there {
            mark.update(name.as_bytes()).update(b"\n");
        }
        let of = (space.repository().find_ref(ARCHIVE_REF)?, mark.finalize());
        if archive.of != Some(of) {
            archive.agents = seen(ground.archived_agents()?).collect();
            archive.of = Some(of);
        }
        there.extend(archive.agents.iter().cloned());
        Ok(there)
    }

    fn read_agents(&mut self, space: &SessionSpace, names: &[String]) -> FoldOutcome<Vec<String>> {
        let mut reading = TextReading { space, index: self, changes: Vec::new(), n_texts: 0 };
        let mut read = Vec::with_capacity(names.len());
        for name in names {
            match reading.read(name) {
                Ok(()) => read.push(name.clone()),
                // The next look tries again; the others are read now.
                Err(ReadFailure::Ground) => {}
                Err(failure @ ReadFailure::Index(_)) => return Err(failure),
            }
        }
        reading.write()?;
        Ok(read)
    }

    fn read_session(&mut self, space: &SessionSpace, id: &SessionId) -> FoldOutcome<bool> {
        read_session(space, self, id)
    }

    /// What of a session is gone is found out when a hit is read.
    fn keep_sessions(
        &mut self,
        _there: &BTreeSet<SessionId>,
    ) -> Result<BTreeSet<SessionId>, IndexError> {
        Ok(BTreeSet::new())
    }

    fn flush(&mut self) -> Result<(), IndexError> {
        self.flush()
    }
}

/// Reads texts again that an earlier process numbered.
fn read_again(
    index: &mut TextIndex,
    space: &SessionSpace,
    unread: &UnreadTexts,
) -> FoldOutcome<()> {
    let mut texts = BTreeMap::new();
    let ground = GroundTexts { space };
    if let Some(agent) = ground.agent(&unread.agent)? {
        // What cannot be read is gone.
        let _ = ground.of_source(&agent, &unread.source, &mut |document| {
            texts.insert(document.position, document);
            ControlFlow::Continue(())
        });
    }
    Ok(index.read_again(unread, &texts)?)
}

/// Brings what the index has of agents to where they are. What was read of one is written together with
/// what was read of others.
struct TextReading<'r> {
    space: &'r SessionSpace,
    index: &'r mut TextIndex,
    /// What is not written yet.
    changes: Vec<TextChange>,
    /// How many texts that has.
    n_texts: usize,
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

impl TextReading<'_> {
    /// Reads what is new of an agent.
    fn read(&mut self, name: &str) -> FoldOutcome<()> {
        let ground = GroundTexts { space: self.space };
        let Some(agent) = ground.agent(name)? else { return Ok(self.index.forget_agent(name)?) };
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
        for commit in self.space.log_from(agent, seen.head, seen.notes)? {
            let commit = commit?;
            if Some(commit.info.oid) == since {
                return Ok((new, true));
            }
            let trace = commit.trace;
            new.push(BoundCommit { commit, trace });
        }
        Ok((new, false))
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
            self.add_briefing(texts);
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
        there.extend(self.add_briefing(texts));
        let is_of_session = |it: &DocumentSource| matches!(it, DocumentSource::Session(_));
        let known = texts.known.iter();
        let gone = known.filter(|it| !there.contains(*it) && !is_of_session(it)).cloned();
        texts.change.gone.extend(gone);
    }

    /// Adds the briefing of an agent, and says what holds it.
    fn add_briefing(&self, texts: &mut AgentTexts) -> Option<DocumentSource> {
        let briefing = GroundTexts { space: self.space }.of_briefing(&texts.agent)?;
        let source = briefing.source.clone();
        if !texts.known.contains(&source) {
            texts.change.new.push(briefing);
        }
        Some(source)
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

    fn write(&mut self) -> FoldOutcome<()> {
        self.n_texts = 0;
        Ok(self.index.apply(&std::mem::take(&mut self.changes))?)
    }
}

/// Reads what is new of a session. Says whether there will never be more.
fn read_session(space: &SessionSpace, index: &mut TextIndex, id: &SessionId) -> FoldOutcome<bool> {
    let session = id.to_string();
    let from = index.seen_session(&session)?.unwrap_or(0);
    let summary = space.session(id)?;
    let is_over = summary.state.is_over();
    if summary.n_records == from {
        return Ok(is_over);
    }
    let mut new: Vec<SearchDocument> = Vec::new();
    let _ = visit_session(&summary, from, &mut |document| {
        new.push(document);
        ControlFlow::Continue(())
    });
    let seen_session = Some((session, summary.n_records));
    let agent = summary.agent.to_string();
    index.apply(&[TextChange { agent, new, seen_session, ..TextChange::default() }])?;
    Ok(is_over)
}
