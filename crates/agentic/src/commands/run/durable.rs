//! Runs as sessions: recorded, and finished after a crash.

use std::process::ExitCode;

use agentic_model::{AgentName, Object, Value};
use agentic_replay::{End, ProgramEvent, SessionId};
use agentic_session as session;
use agentic_session::engine::{ensure_agent, fresh_key, key_or_fresh, own_agent, sit_out};
use agentic_session::{Begin, SessionSpace, SessionState};
use agentic_space::spawn::SpawnOrigin;

use crate::commands::session::answer;
use crate::context::Context;
use crate::failure::CommandFailure;
use crate::output::talk;

/// As whom and under which key a session runs.
#[derive(Debug, Clone, Default)]
pub struct DurableSetting {
    /// The agent; that of the surroundings, else a new one.
    pub agent: Option<AgentName>,
    /// The start key; a fresh one without.
    pub key: Option<String>,
}

impl DurableSetting {
    /// Says whether nothing was asked for.
    pub fn is_empty(&self) -> bool {
        self.agent.is_none() && self.key.is_none()
    }
}

/// Where a session got to.
pub enum RunProgress {
    /// It is over.
    End(End),
    /// It waits, and has said so.
    Waiting(ExitCode),
}

/// A session that was run.
pub struct DurableRun {
    /// Its id.
    pub session: SessionId,
    /// Where it got to.
    pub reached: RunProgress,
}

/// Runs a program as a session, as far as it goes without a human.
pub fn run(
    context: &Context,
    setting: DurableSetting,
    flow: Object,
    input: Value,
    briefing: &str,
) -> Result<DurableRun, CommandFailure> {
    let space = context.watched_space()?;
    let begin = begin(context, &space, setting, flow, input, briefing)?;
    let agent = begin.agent.clone();
    let id = session::start(&space, begin)?;
    talk(&format!("session {} of {agent}", id.short()));
    sit_out(&space, &id)?;
    space.take_mended().iter().for_each(|what| talk(what));
    let summary = space.session(&id)?;
    let reached = match (summary.state, summary.result, summary.failure) {
        (SessionState::Done, Some(result), _) => RunProgress::End(End::Done(result)),
        (SessionState::Failed, _, Some(failure)) => RunProgress::End(End::Failed(failure)),
        (SessionState::Cancelled, ..) => RunProgress::End(End::Cancelled),
        _ => RunProgress::Waiting(answer(context, &space, &id)?),
    };
    Ok(DurableRun { session: id, reached })
}

/// Tells a listener what a session has said since it was started, also before a crash.
pub fn retell(
    context: &Context,
    session: &SessionId,
    listener: &mut dyn FnMut(ProgramEvent),
) -> Result<(), CommandFailure> {
    Ok(session::retell(&context.space()?, session, listener)?)
}

/// Decides as whom and under which key a program runs; makes the agent if it is one of its own.
pub fn begin(
    context: &Context,
    space: &SessionSpace,
    setting: DurableSetting,
    flow: Object,
    input: Value,
    briefing: &str,
) -> Result<Begin, CommandFailure> {
    let (key, key_source) = key_or_fresh(space, setting.key);
    let agent = match context.known_agent(space, setting.agent.as_ref())? {
        Some(agent) => agent,
        None => own_agent(space, &key, briefing)?,
    };
    // What a program can do is what its builtins and handlers are, and those were named.
    let allow = vec!["*".to_owned()];
    Ok(Begin { agent, flow, parts: Vec::new(), input, key, key_source, allow })
}

/// Returns the start key that was named, else a fresh one.
pub fn base_key(context: &Context, setting: &DurableSetting) -> Result<String, CommandFailure> {
    match &setting.key {
        Some(key) => Ok(key.clone()),
        None => Ok(fresh_key(&context.space()?)),
    }
}

/// Returns the agent of one of several runs that begin at the same place: where an agent stands, or
/// from nothing. Makes it if it is not there yet.
pub fn sibling(
    context: &Context,
    parent: Option<&AgentName>,
    key: &str,
    briefing: &str,
) -> Result<AgentName, CommandFailure> {
    let space = context.space()?;
    match context.known_agent(&space, parent)? {
        Some(parent) => {
            let origin = SpawnOrigin::Agent(parent.clone());
            Ok(ensure_agent(&space, &format!("{parent}-{key}"), briefing, &origin)?)
        }
        None => Ok(own_agent(&space, key, briefing)?),
    }
}
