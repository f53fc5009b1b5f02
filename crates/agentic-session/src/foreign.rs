//! Sealed records that no log of this place has: they come by fetch, or anybody put them into the notes.
//!
//! Whoever goes on with a session performs what its records let happen. So they are put back only where
//! nothing in them pretends to be a person: a question to people is answered by a decision alone, and where
//! `agentic.deciders` names whose decisions count, one that came from elsewhere is signed by such a key.

use std::collections::BTreeSet;

use agentic_model::Oid;
use agentic_replay::record::{AnswerRecord, Outcome};
use agentic_replay::{AnswerSource, Body, Handling, RecordChain};
use agentic_store::Stream;
use agentic_store::journal;

use crate::error::SessionError;
use crate::trust;
use crate::{Error, Result, SessionSpace};

/// How the records of a session before one of them are found.
type RecordsBefore<'a> = dyn Fn(usize) -> Result<RecordChain> + 'a;

/// Checks the newest records of a session, which are to be put back: as many of its own as `n_new` says.
///
/// # Errors
/// Fails at the first that lets something happen which no decision that counts here has let happen.
pub(crate) fn check(
    space: &SessionSpace,
    journal: &RecordChain,
    n_new: usize,
    before: &RecordsBefore<'_>,
) -> Result<()> {
    let records = journal.records();
    let wants_keys = trust::has_deciders(space)?;
    let n_old = records.len().saturating_sub(n_new);
    for (at, record) in records.iter().enumerate().skip(n_old) {
        let body = &record.body;
        let pretends = matches!(body, Body::Answer(answer) if pretends(journal, at, answer));
        let decision = body.decision().filter(|_| wants_keys);
        let counts = || decision.map_or(Ok(true), |commit| counts(space, commit, &before(at)?));
        if pretends || !counts()? {
            let id = journal.start().session.to_string();
            return Err(Error::Session(SessionError::Foreign { id, seq: record.seq }));
        }
    }
    Ok(())
}

/// Tells whether an answer to a question for people names nobody who decided.
fn pretends(journal: &RecordChain, at: usize, answer: &AnswerRecord) -> bool {
    let asks = journal.records()[..at].iter().rev().filter_map(|record| record.body.as_ask());
    let ask = asks.into_iter().find(|ask| ask.path == answer.path);
    answer.by == AnswerSource::Executor
        && matches!(answer.outcome, Outcome::Ok(_))
        && ask.is_some_and(|ask| ask.handling == Handling::Decision)
}

/// Tells whether a decision was recorded here, or counts by its signature.
fn counts(space: &SessionSpace, commit: &str, before: &RecordChain) -> Result<bool> {
    let Some(commit) = Oid::parse(commit).ok() else { return Ok(false) };
    let stream = Stream::Agent(before.start().agent.clone());
    let recorded =
        journal::decided(space.repository().layout(), &stream, &BTreeSet::from([commit]))?;
    if recorded.contains_key(&commit) {
        return Ok(true);
    }
    let Ok(told) = space.deciding().commit(space, commit) else { return Ok(false) };
    let Some(decision) = &told.decision else { return Ok(false) };
    trust::is_signed(space, before, commit, decision)
}
