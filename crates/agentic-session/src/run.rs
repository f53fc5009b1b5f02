//! Runs of programs, for whoever looks on: which one is meant, and how far it came.

use agentic_model::{AgentName, Value};
use agentic_providers::model::Adapter;
use agentic_replay::{
    Body, Program as _, RecordChain, Session, SessionId, SessionSetting, TraceDetail,
};

use super::executor::executor_of;
use super::folder::{Folder, Values};
use super::language::{engine_of, kinds_of, language_of};
use super::listing::{newest_with_key, with_key};
use super::load::replay_error;
use super::own::read_journal;
use super::shelf::Shelf;
use super::shelf::flow_of;
use super::{SessionState, own, summary};
use crate::error::SessionError;
use crate::{Error, Result, SessionSpace};

/// Finds the run that a text names: by its session or agent, or by the key it was started with.
///
/// # Errors
/// Fails when there is none.
pub fn find_run(space: &SessionSpace, text: &str) -> Result<SessionId> {
    let unknown = match space.find_session(text) {
        Err(error @ Error::Session(SessionError::Unknown { .. })) => error,
        found => return found,
    };
    let own = AgentName::parse(&format!("run-{text}"));
    if let Some(id) = own.ok().and_then(|name| space.find_session(name.as_str()).ok()) {
        return Ok(id);
    }
    newest_with_key(space, text)?.ok_or(unknown)
}

/// Returns how far the blocks of a run came, as a list of `{"index","backend","mode","status",
/// "node_states", …}`. Runs the program over its records and performs nothing. Empty where the
/// program has no blocks.
///
/// # Errors
/// Fails when the records are damaged or the program diverges from them.
pub fn blocks(space: &SessionSpace, id: &SessionId) -> Result<Vec<Value>> {
    let standing = summary::read(space, id)?;
    let ended = match standing.state {
        SessionState::Done => standing.result,
        SessionState::Failed => standing.failure.map(|failure| failure.details),
        SessionState::Running
        | SessionState::Held
        | SessionState::Waiting
        | SessionState::Cancelled
        | SessionState::Diverged => None,
    };
    if let Some(blocks) = ended.as_ref().and_then(|value| value.get("blocks")?.as_list()) {
        return Ok(blocks.to_vec());
    }
    let journal = read_journal(space, id)?;
    let folder = Folder::of(space, id);
    let flow = flow_of(space, &folder, &journal.flow())?;
    if !language_of(&flow)?.reports_progress() {
        return Ok(Vec::new());
    }
    let before_cancel = before_cancel(&journal);
    let values = Values::of(space, &journal);
    let (engine, kinds) = (engine_of(&flow, journal.start())?, kinds_of(&flow)?);
    let setting = SessionSetting { engine: &engine, kinds: &kinds, objects: &values };
    let shelf = Shelf { space, folder: &folder, given: &[] };
    let program = shelf.program(&flow, &engine, TraceDetail::Told)?;
    let loaded = Session::load(&before_cancel, program, setting, &mut |_, _| {});
    let (session, _) = loaded.map_err(|error| replay_error(id, error))?;
    Ok(session.program().progress())
}

/// Returns who performs the tasks of agents in the session that was started as an agent with a key;
/// nothing where there is none, and where its program has no such tasks.
///
/// # Errors
/// Fails when the sessions cannot be read.
pub fn pinned_adapter(
    space: &SessionSpace,
    agent: &AgentName,
    key: &str,
) -> Result<Option<Adapter>> {
    let Some(id) = with_key(space, agent, key)?.pop() else { return Ok(None) };
    let flow = own::first(space, &id)?.start.flow;
    let flow = flow_of(space, &Folder::of(space, &id), &flow)?;
    Ok(executor_of(&flow)?.adapter())
}

/// Cuts a journal where the run was stopped: what counts is how far it came until then.
fn before_cancel(journal: &RecordChain) -> RecordChain {
    let stop = journal.records().iter().find(|record| matches!(record.body, Body::Cancel(_)));
    let n_records = stop.map_or(journal.records().len() as u64, |record| record.seq);
    journal.up_to(n_records)
}
