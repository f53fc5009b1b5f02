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

use super::kept::{FoldOutcome, InFlight, KeptIndex, SeenAgents, SeenArchive};

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
    /// 32 MiB.
    const CACHE_BYTES: u64 = 32 << 20;
    const IN_FLIGHT: InFlight = InFlight::Kept;

    fn open(tables: Box<dyn Tables>, of: &str, (): &()) -> Result<TextIndex, IndexError> {
        TextIndex::open(tables, of)
    }

    fn openings(&self) -> Result<Vec<NumberedTexts>, IndexError> {
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

    fn read_agent(&mut self, space: &SessionSpace, name: &str) -> FoldOutcome<()> {
        match (GroundTexts { space }).agent(name)? {
            Some(agent) => AgentReading { space, index: self, agent }.read(),
            None => Ok(self.forget_agent(name)?),
        }
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

/// Brings what the index has of an agent to where the agent is.
struct AgentReading<'r> {
    space: &'r SessionSpace,
    index: &'r mut TextIndex,
    agent: TextAgent,
}

/// A commit, and the trace that is bound to it.
struct BoundCommit {
    commit: agentic_session::log::SessionCommit,
    trace: Option<Cid>,
}

impl AgentReading<'_> {
    /// Reads what is new.
    fn read(mut self) -> FoldOutcome<()> {
        let name = self.agent.name.clone();
        let ground = GroundTexts { space: self.space };
        let mut in_flight = Vec::new();
        let pending = ground.pending(&self.agent, &mut |document| {
            in_flight.push(document);
            ControlFlow::Continue(())
        });
        // Before refs: what is bound meanwhile is seen in both, and counts as bound.
        let Some(agent) = ground.agent(&name)? else { return Ok(self.index.forget_agent(&name)?) };
        self.agent = agent;
        let now = self.agent.seen.clone();
        let seen = self.index.seen(&name)?;
        if seen.as_ref() != Some(&now) {
            self.read_from(seen, now)?;
        }
        // A journal that cannot be read has nothing to be found.
        self.index.put_in_flight(&name, if pending.is_ok() { in_flight } else { Vec::new() });
        Ok(())
    }

    fn read_from(&mut self, seen: Option<SeenAgent>, now: SeenAgent) -> FoldOutcome<()> {
        let (new, is_continued) = self.commits_since(seen.as_ref().map(|seen| seen.head))?;
        let mut change = TextChange { agent: self.agent.name.clone(), ..TextChange::default() };
        match seen.filter(|_| is_continued) {
            Some(seen) => self.rebound(&seen, &now, &new, &mut change)?,
            None => self.compare(&new, &mut change)?,
        }
        // Oldest first: what is read first has the lower number.
        for bound in new.into_iter().rev() {
            self.add(bound, &mut change)?;
        }
        change.seen = Some(now);
        Ok(self.index.apply(&change)?)
    }

    /// Lists the commits since one, newest first; says whether that one was found.
    fn commits_since(&self, since: Option<Oid>) -> FoldOutcome<(Vec<BoundCommit>, bool)> {
        let TextAgent { agent, seen, .. } = &self.agent;
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
        change: &mut TextChange,
    ) -> FoldOutcome<()> {
        if seen.notes == now.notes {
            return Ok(());
        }
        if seen.notes.is_none() {
            // A branch is there a moment before the notes that keep its briefing.
            let briefing = GroundTexts { space: self.space }.of_briefing(&self.agent);
            change.new.extend(briefing);
        }
        let changed = self.space.repository().changed_notes(seen.notes, now.notes)?;
        let is_new = |oid: &Oid| new.iter().any(|bound| bound.commit.info.oid == *oid);
        let changed: Vec<_> = changed.into_iter().filter(|note| !is_new(&note.commit)).collect();
        if changed.is_empty() {
            return Ok(());
        }
        let known = self.index.sources(&change.agent)?;
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
            change.gone.extend(known.iter().filter(is_bound).cloned());
            let is_own = known.contains(&DocumentSource::Commit(note.commit));
            if let Some(trace) = trace.filter(|_| is_own) {
                self.add_trace(note.commit, trace, change)?;
            }
        }
        Ok(())
    }

    /// Compares all that the index has of the agent with all that there is.
    fn compare(&mut self, all: &[BoundCommit], change: &mut TextChange) -> FoldOutcome<()> {
        let briefing = GroundTexts { space: self.space }.of_briefing(&self.agent);
        let mut there = BTreeSet::new();
        for bound in all {
            let commit = bound.commit.info.oid;
            there.insert(DocumentSource::Commit(commit));
            there.extend(bound.trace.map(|trace| DocumentSource::Trace { commit, trace }));
        }
        there.extend(briefing.as_ref().map(|briefing| briefing.source.clone()));
        let known = self.index.sources(&change.agent)?;
        let is_of_session = |it: &DocumentSource| matches!(it, DocumentSource::Session(_));
        let gone = known.into_iter().filter(|it| !there.contains(it) && !is_of_session(it));
        change.gone.extend(gone);
        if let Some(briefing) = briefing
            && !self.index.has_source(&change.agent, &briefing.source)?
        {
            change.new.push(briefing);
        }
        Ok(())
    }

    fn add(&mut self, bound: BoundCommit, change: &mut TextChange) -> FoldOutcome<()> {
        let oid = bound.commit.info.oid;
        if !self.index.has_source(&change.agent, &DocumentSource::Commit(oid))? {
            let ground = GroundTexts { space: self.space };
            let _ = ground.of_commit(&self.agent, bound.commit, &mut |document| {
                change.new.push(document);
                ControlFlow::Continue(())
            });
        }
        match bound.trace {
            Some(trace) => self.add_trace(oid, trace, change),
            None => Ok(()),
        }
    }

    fn add_trace(&mut self, commit: Oid, trace: Cid, change: &mut TextChange) -> FoldOutcome<()> {
        let source = DocumentSource::Trace { commit, trace };
        if self.index.has_source(&change.agent, &source)? {
            return Ok(());
        }
        let ground = GroundTexts { space: self.space };
        // One that is damaged or not here has nothing to be found.
        let _ = ground.of_trace(&self.agent, commit, trace, &mut |document| {
            change.new.push(document);
            ControlFlow::Continue(())
        });
        self.write_if_large(change)
    }

    /// Writes what was read so far, so that it need not be in memory; how far that is, is said last.
    fn write_if_large(&mut self, change: &mut TextChange) -> FoldOutcome<()> {
        if change.new.len() < TEXTS_AT_ONCE {
            return Ok(());
        }
        let part = TextChange {
            agent: change.agent.clone(),
            gone: std::mem::take(&mut change.gone),
            new: std::mem::take(&mut change.new),
            ..TextChange::default()
        };
        Ok(self.index.apply(&part)?)
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
    index.apply(&TextChange { agent, new, seen_session, ..TextChange::default() })?;
    Ok(is_over)
}
