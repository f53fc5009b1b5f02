//! The texts of a repository: what agents were asked, said and saw, what sessions asked and were
//! answered, what people decided.
//!
//! Texts are those of agents that have a branch here, that are archived or that only a remote has, and
//! of sessions that `session list` names.

use std::ops::ControlFlow;

use agentic_git::CommitInfo;
use agentic_index::{DocumentPlace, DocumentSource, SearchDocument};
use agentic_model::commit::Claims;
use agentic_model::trace::cid_in_note;
use agentic_model::{Cid, Entry, Instant, Object, Oid, Value, json};
use agentic_replay::{AnswerSource, RequestAnswer, SessionId};
use agentic_session::log::SessionCommit;
use agentic_session::{SessionSpace, Summary};
use agentic_space::agent::is_genesis_of;

use super::TextAgent;

/// The kind of the commit that a decision is.
const DECISION: &str = "decision";
/// The kind of the commit that an agent begins with.
const SPAWN: &str = "spawn";

/// Reads the texts of a repository.
#[derive(Clone, Copy)]
pub struct GroundTexts<'s> {
    /// The space.
    pub space: &'s SessionSpace,
}

/// Takes texts, and says whether more are wanted.
pub type TextVisitor<'v> = dyn FnMut(SearchDocument) -> ControlFlow<()> + 'v;
/// What became of reading texts; damaged ones are left out.
pub type ReadTexts = Result<ControlFlow<()>, agentic_session::Error>;

impl GroundTexts<'_> {
    /// Reads what belongs to an agent: pending entries, then commits and their traces, newest first,
    /// then the briefing.
    ///
    /// # Errors
    /// Fails when its commits or its journal cannot be read. What of them is damaged is left out.
    pub fn of_agent(&self, agent: &TextAgent, visit: &mut TextVisitor<'_>) -> ReadTexts {
        // Before the commits: an entry that is bound meanwhile is seen twice, and never not at all.
        if self.pending(agent, visit)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        let mut genesis = None;
        for commit in self.space.log_from(&agent.agent, agent.seen.head, agent.seen.notes)? {
            let Ok(commit) = commit else { break };
            let trace = commit.trace;
            let oid = commit.info.oid;
            genesis = (commit.kind.as_str() == SPAWN).then(|| commit.info.clone());
            if self.of_commit(agent, commit, visit).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            let Some(trace) = trace else { continue };
            if self.of_trace(agent, oid, trace, visit).is_ok_and(|read| read.is_break()) {
                return Ok(ControlFlow::Break(()));
            }
        }
        match genesis.and_then(|genesis| self.briefing_of(agent, &genesis)) {
            Some(document) => Ok(visit(document)),
            None => Ok(ControlFlow::Continue(())),
        }
    }

    /// Reads the entries of an agent that are bound to no commit yet.
    ///
    /// # Errors
    /// Fails when its journal is damaged.
    pub fn pending(&self, agent: &TextAgent, visit: &mut TextVisitor<'_>) -> ReadTexts {
        if !agent.is_here {
            return Ok(ControlFlow::Continue(()));
        }
        let entries = self.space.pending_trace(&agent.agent)?;
        Ok(visit_entries(agent, &DocumentSource::Pending, &entries, visit))
    }

    /// Reads the texts that something holds once more; none where it is gone.
    ///
    /// # Errors
    /// Fails when it cannot be read.
    pub fn of_source(
        &self,
        agent: &TextAgent,
        source: &DocumentSource,
        visit: &mut TextVisitor<'_>,
    ) -> ReadTexts {
        match source {
            DocumentSource::Pending => self.pending(agent, visit),
            DocumentSource::Commit(oid) => {
                let commit = self.space.commit_as_of(&agent.agent, *oid)?;
                Ok(self.of_commit(agent, commit, visit))
            }
            DocumentSource::Trace { commit, trace } => {
                let notes = self.space.repository().notes_at(agent.seen.notes);
                let note = notes.and_then(|notes| notes.note(*commit));
                let bound = note.map_err(agentic_space::Error::from)?;
                match bound.as_deref().and_then(cid_in_note) == Some(*trace) {
                    true => self.of_trace(agent, *commit, *trace, visit),
                    false => Ok(ControlFlow::Continue(())),
                }
            }
            DocumentSource::Briefing(_) => {
                let document = self.of_briefing(agent);
                let document = document.filter(|document| document.source == *source);
                Ok(document.map_or(ControlFlow::Continue(()), &mut *visit))
            }
            DocumentSource::Session(id) => match SessionId::parse(id) {
                Some(id) => self.of_session(&id, 0, visit),
                None => Ok(ControlFlow::Continue(())),
            },
        }
    }

    /// Makes the text of a commit.
    pub fn of_commit(
        &self,
        agent: &TextAgent,
        commit: SessionCommit,
        visit: &mut TextVisitor<'_>,
    ) -> ControlFlow<()> {
        let is_decision = commit.kind.as_str() == DECISION;
        let mut text = commit.subject;
        if !commit.body.is_empty() {
            text = format!("{text}\n{}", commit.body);
        }
        let field = |name: &str| commit.fields.get(name).filter(|value| **value != Value::Null);
        let mut by = commit.info.author;
        if is_decision {
            if let Some(value) = field("value") {
                text = format!("{text}\n{}", json::to_plain_text(value));
            }
            if let Some(principal) = field("principal").and_then(Value::as_text) {
                by = principal.to_owned();
            }
        }
        let place = if is_decision { DocumentPlace::Decision } else { DocumentPlace::Commit };
        let document = SearchDocument {
            source: DocumentSource::Commit(commit.info.oid),
            position: 0,
            place,
            agent: agent.name.clone(),
            kind: commit.kind.to_string(),
            by,
            at: commit.info.at,
            text,
        };
        visit(document.bounded())
    }

    /// Reads the entries of a trace that is bound to a commit of an agent.
    ///
    /// # Errors
    /// Fails when the trace is not here or is damaged.
    pub fn of_trace(
        &self,
        agent: &TextAgent,
        commit: Oid,
        trace: Cid,
        visit: &mut TextVisitor<'_>,
    ) -> ReadTexts {
        let found = self.space.trace_in_notes(agent.seen.notes, trace, commit)?.trace;
        let source = DocumentSource::Trace { commit, trace };
        Ok(visit_entries(agent, &source, &found.entries, visit))
    }

    /// Makes the text of an agent's briefing; nothing if it has none that can be read.
    ///
    /// A journal may know a genesis that is not on the agent's own line: who moved the branch elsewhere
    /// may have left it among the ancestors. Only the line counts, as in every list.
    pub fn of_briefing(&self, agent: &TextAgent) -> Option<SearchDocument> {
        let line = self.space.walk_own_commits(&agent.agent, agent.seen.head);
        let (oldest, _) = line.last()?.ok()?;
        self.briefing_of(agent, &oldest)
    }

    /// Makes the text of the briefing that an agent's oldest own commit names, if that is its genesis.
    pub fn briefing_of(&self, agent: &TextAgent, oldest: &CommitInfo) -> Option<SearchDocument> {
        let claims = Claims::read(&oldest.message);
        let cid = claims.briefing.filter(|_| is_genesis_of(&agent.agent, &claims))?;
        let notes = self.space.repository().notes_at(agent.seen.notes).ok()?;
        let object = match notes.object(cid).ok()? {
            Some(bytes) => Object::decode(&bytes).ok()?,
            None => self.space.object(cid).ok()?,
        };
        let text = object.map().get("text").and_then(Value::as_text)?.to_owned();
        let document = SearchDocument {
            source: DocumentSource::Briefing(cid),
            position: 0,
            place: DocumentPlace::Briefing,
            agent: agent.name.clone(),
            kind: SPAWN.to_owned(),
            by: oldest.author.clone(),
            at: oldest.at,
            text,
        };
        Some(document.bounded())
    }

    /// Reads what a session asked and was answered from one of its records on.
    ///
    /// # Errors
    /// Fails when there is no such session or its records are damaged.
    pub fn of_session(&self, id: &SessionId, from: u64, visit: &mut TextVisitor<'_>) -> ReadTexts {
        Ok(visit_session(&self.space.session(id)?, from, visit))
    }
}

/// Visits what a session asked and was answered, by the positions of its records.
pub fn visit_session(summary: &Summary, from: u64, visit: &mut TextVisitor<'_>) -> ControlFlow<()> {
    let shared = summary.forked_from.as_ref().map_or(0, |(_, seq)| *seq);
    let mut tell = |position: u64, kind: &str, by: String, at: Instant, text: String| {
        // What a fork shares is its parent's.
        if position < from.max(shared) {
            return ControlFlow::Continue(());
        }
        let document = SearchDocument {
            source: DocumentSource::Session(summary.id.to_string()),
            position,
            place: DocumentPlace::Session,
            agent: summary.agent.to_string(),
            kind: kind.to_owned(),
            by,
            at,
            text,
        };
        visit(document.bounded())
    };
    for asked in &summary.asked {
        let (payload, by) = (json::to_plain_text(&asked.payload), summary.agent.to_string());
        if asked.payload != Value::Null {
            tell(asked.seq, &asked.kind, by, asked.asked_at, payload)?;
        }
        let Some((seq, answer, by)) = &asked.answer else { continue };
        let at = asked.answered_at.unwrap_or(asked.asked_at);
        if let Some(text) = answer_text(answer) {
            tell(*seq, &asked.kind, answerer(by), at, text)?;
        }
    }
    ControlFlow::Continue(())
}

fn answer_text(answer: &RequestAnswer) -> Option<String> {
    match answer {
        RequestAnswer::Ok(Value::Null) | RequestAnswer::TimedOut | RequestAnswer::Cancelled(_) => {
            None
        }
        RequestAnswer::Ok(value) => Some(json::to_plain_text(value)),
        RequestAnswer::Failed(failure) => {
            let mut text = format!("{}: {}", failure.code, failure.message);
            if failure.details != Value::Null {
                text = format!("{text}\n{}", json::to_plain_text(&failure.details));
            }
            Some(text)
        }
    }
}

fn answerer(by: &AnswerSource) -> String {
    match by {
        AnswerSource::Executor => "executor".to_owned(),
        AnswerSource::Decision(_) => "decision".to_owned(),
        AnswerSource::Timer => "timer".to_owned(),
        AnswerSource::Child(_) => "child".to_owned(),
        AnswerSource::Edited(who) | AnswerSource::System(who) => who.clone(),
        AnswerSource::Signal(_) => "signal".to_owned(),
    }
}

/// Visits entries with the pieces of long ones put together; those that are no text are left out.
fn visit_entries(
    agent: &TextAgent,
    source: &DocumentSource,
    entries: &[Entry],
    visit: &mut TextVisitor<'_>,
) -> ControlFlow<()> {
    let whole = entries.chunk_by(|piece, _| piece.continues);
    for (position, pieces) in (0..).zip(whole) {
        let texts: Option<Vec<&str>> = pieces.iter().map(|piece| piece.body.as_text()).collect();
        let Some(texts) = texts else { continue };
        let document = SearchDocument {
            source: source.clone(),
            position,
            place: DocumentPlace::Trace,
            agent: agent.name.clone(),
            kind: pieces[0].kind.to_string(),
            by: agent.agent.to_string(),
            at: pieces[0].at,
            text: texts.concat(),
        };
        visit(document.bounded())?;
    }
    ControlFlow::Continue(())
}
