//! Whether the scores that a trial has are those that sessions here gave.
//!
//! A run is scored by a session of an agent of its own, which runs the scorer. When a trial is over, these
//! agents are archived: their records are then found in the notes that they had.

use std::collections::BTreeSet;
use std::sync::Arc;

use agentic_model::{AgentName, Value, canonical};
use agentic_replay::record::Outcome;
use agentic_replay::{Body, RecordChain, SessionId, StoredValue};

use super::SCORER_END;
use crate::SessionSpace;
use crate::own::read_journal_with;
use crate::segment::Segments;

/// The runs of a trial that a program scored.
#[derive(Debug, Clone, Copy)]
pub struct ProgramScores<'t> {
    /// What the session of the trial came to.
    pub result: &'t Value,
    /// The behaviour that scored.
    pub scorer: &'t str,
}

impl ProgramScores<'_> {
    /// Says whether a session gave each score: one of the agent that scores this run, by the scorer.
    pub fn are_given(self, space: &SessionSpace) -> bool {
        let blocks = self.result.get("blocks").and_then(Value::as_list).unwrap_or_default();
        let runs = blocks.iter().filter_map(|block| block.get("runs")?.as_list()).flatten();
        let is_scored =
            |run: &&Value| run.get("outcome").and_then(Value::as_text) == Some("scored");
        let mut sessions = BTreeSet::new();
        runs.filter(is_scored).all(|run| {
            let session = self.session(space, run);
            session.is_some_and(|session| sessions.insert(session))
        })
    }

    /// Finds the session that gave a run its score.
    fn session(self, space: &SessionSpace, run: &Value) -> Option<SessionId> {
        let text = |name: &str| run.get(name).and_then(Value::as_text);
        let session = SessionId::parse(text("scored_by")?)?;
        let agent = AgentName::parse(&format!("{}{SCORER_END}", text("agent")?)).ok()?;
        let journal = read_journal(space, &agent, &session)?;
        let Body::Start(start) = &journal.records().first()?.body else { return None };
        let result = result_of(&journal)?;
        let is_its = start.agent == agent && start.flow.to_string() == self.scorer;
        (is_its && score(&result)? == score(run)?).then_some(session)
    }
}

/// Returns the score that something has, with its verdict. A whole number that passed through JSON may be
/// a fraction there.
fn score(told: &Value) -> Option<(f64, &str)> {
    Some((told.get("score")?.as_number()?, told.get("verdict")?.as_text()?))
}

/// Reads the journal of a session of an agent, which may be archived.
fn read_journal(
    space: &SessionSpace,
    agent: &AgentName,
    session: &SessionId,
) -> Option<Arc<RecordChain>> {
    let archived = space.archived_agent(agent).ok()?;
    let segments = match &archived {
        Some(entry) => Segments::of_archived(space, &entry.archived),
        None => Segments::of(space, agent),
    };
    let segments = segments.ok()?;
    read_journal_with(space, session, &|id| segments.frames(id)).ok()
}

/// Returns what a session came to. A score with its verdict is short, and so stands in the record itself.
fn result_of(journal: &RecordChain) -> Option<Value> {
    let Body::End(Outcome::Ok(StoredValue::Inline(bytes))) = &journal.records().last()?.body else {
        return None;
    };
    canonical::decode(bytes).ok()
}
