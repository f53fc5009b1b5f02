//! Which executor performs what a program asks, as a session and in memory: the performer of its
//! language, and the kinds of requests that are checked before anybody is asked.

use std::path::PathBuf;

use agentic_host::performer::agents::{AgentPerformer, SharedTasks};
use agentic_host::performer::answerers::AnswererPerformer;
use agentic_host::performer::roles::RolePerformer;
use agentic_host::{PerformerSetting, RunExecutor};
use agentic_lang_context::ProgramAnswerers;
use agentic_lang_pipeline::PlannedRun;
use agentic_model::{Cid, Object};
use agentic_replay::{PinnedProgram, ProgramFault, StartRecord, TraceDetail};

use super::language::{checked_kinds, kinds_of, of_fault, registered};
use super::shelf::Shelf;
use crate::error::ProgramError;
use crate::{Error, Result};

/// What an executor is made for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Assignment<'a> {
    /// The program.
    pub flow: &'a Object,
    /// The start key of its session.
    pub key: &'a str,
    /// The kinds of effects that the session may perform unasked.
    pub allow: &'a [String],
}

impl<'a> Assignment<'a> {
    /// Returns the assignment of a session that has begun.
    pub fn of(flow: &'a Object, start: &'a StartRecord) -> Assignment<'a> {
        Assignment { flow, key: &start.key, allow: &start.allow }
    }

    /// Makes the executor of the session.
    ///
    /// # Errors
    /// Fails when its object is no program.
    pub fn executor(self, shelf: Shelf<'_>) -> Result<RunExecutor> {
        let Assignment { flow, key, allow } = self;
        let executor = RunExecutor::of(kinds_of(flow)?, shelf.performer(flow, key, allow)?);
        Ok(executor.watched_by(shelf.space.observer()))
    }
}

/// Makes the executor of a program that runs in memory.
///
/// # Errors
/// Fails when the object is no program.
pub fn executor_of(flow: &Object) -> Result<RunExecutor> {
    let registered = registered(flow)?;
    let (objects, semantics) = (|_: &Cid| None, registered.language.semantics());
    let detail = TraceDetail::Told;
    let pinned = PinnedProgram { flow, objects: &objects, semantics, detail };
    let performer = (registered.performer)(&PerformerSetting { pinned, run: None });
    let performer = performer.map_err(|fault| of_fault(flow, fault))?;
    Ok(RunExecutor::of(kinds_of(flow)?, performer))
}

/// Makes the executor of a program of AgentLang that runs in memory, whose built-in tasks go on from
/// what they remember.
///
/// # Errors
/// Fails when the object is no program.
pub fn executor_of_agents(flow: &Object, tasks: SharedTasks) -> Result<RunExecutor> {
    let performer = AgentPerformer::new(flow, tasks).map_err(|fault| of_fault(flow, fault))?;
    Ok(RunExecutor::of(kinds_of(flow)?, Box::new(performer)))
}

/// Makes the executor of a program of the context language that runs in memory.
pub fn executor_of_answerers(answerers: &ProgramAnswerers) -> RunExecutor {
    let mut kinds = checked_kinds();
    answerers.add_kinds(&mut kinds);
    RunExecutor::of(kinds, Box::new(AnswererPerformer::new(answerers)))
}

/// Makes the executor of a program of the pipeline language that runs in memory, whose agents are
/// told that this run calls them.
///
/// # Errors
/// Fails when its script is none.
pub fn executor_of_pipeline(run: &PlannedRun, run_id: String) -> Result<RunExecutor> {
    let mut kinds = checked_kinds();
    agentic_lang_pipeline::run::add_kinds(&mut kinds);
    let performer = RolePerformer::of_planned(run, run_id).map_err(bad_script)?;
    Ok(RunExecutor::of(kinds, Box::new(performer)))
}

/// Says why the script of a run that is pinned nowhere cannot be read.
fn bad_script(fault: ProgramFault) -> Error {
    Error::Program(ProgramError::BadScript { reason: fault.to_string() })
}

/// Says that a session goes on under another configuration than it was started with, if it does.
pub(super) fn changed_since(
    executor: &RunExecutor,
    start: &StartRecord,
    folder: impl FnOnce() -> PathBuf,
) -> Option<String> {
    let pinned = start.configuration?;
    let id = start.session.short();
    (executor.pinned(folder)? != pinned).then(|| {
        format!("warning: the configuration is another one than session {id} was started with: other models, tools or servers may answer from here on")
    })
}
