//! Runs as sessions: recorded, and finished after a crash.

use std::process::ExitCode;
use std::time::Duration;

use agentic_model::{AgentName, Briefing, Instant, Object, Value};
use agentic_replay::{End, Event, SessionId};
use agentic_space::Space;
use agentic_space::session::{self, Begin, State};
use agentic_space::spawn::{Origin, spawn};

use crate::commands::session::{answer, fresh_key};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::talk;

/// The longest pause that a run is waited for; after a longer one `agentic session tick` goes on.
const PAUSE_MS_MAX: i64 = 60_000;

/// As whom and under which key a session runs.
#[derive(Debug, Clone, Default)]
pub struct Setting {
    /// The agent; that of the surroundings, else a new one.
    pub agent: Option<AgentName>,
    /// The start key; a fresh one without.
    pub key: Option<String>,
}

impl Setting {
    /// Says whether nothing was asked for.
    pub fn is_empty(&self) -> bool {
        self.agent.is_none() && self.key.is_none()
    }
}

/// Where a session got to.
pub enum Reached {
    /// It is over.
    End(End),
    /// It waits, and has said so.
    Waiting(ExitCode),
}

/// A session that was run.
pub struct Ran {
    /// Its id.
    pub session: SessionId,
    /// Where it got to.
    pub reached: Reached,
}

/// Runs a program as a session, as far as it goes without a human.
pub fn run(
    context: &Context,
    setting: Setting,
    flow: Object,
    input: Value,
    briefing: &str,
) -> Result<Ran, Failure> {
    let space = context.space()?;
    let begin = begin(context, &space, setting, (flow, input), briefing)?;
    let agent = begin.agent.clone();
    let id = session::start(&space, begin)?;
    talk(&format!("session {} of {agent}", id.short()));
    sit_out_pauses(&space, &id)?;
    let summary = space.session(&id)?;
    let reached = match (summary.state, summary.result, summary.failure) {
        (State::Done, Some(result), _) => Reached::End(End::Done(result)),
        (State::Failed, _, Some(failure)) => Reached::End(End::Failed(failure)),
        (State::Cancelled, ..) => Reached::End(End::Cancelled),
        _ => Reached::Waiting(answer(context, &space, &id)?),
    };
    Ok(Ran { session: id, reached })
}

/// Returns what a session has said since it was started, also before a crash.
pub fn said(context: &Context, session: &SessionId) -> Result<Vec<Event>, Failure> {
    let mut events = Vec::new();
    tell_again(context, session, &mut |event| events.push(event))?;
    Ok(events)
}

/// Tells what a session has said since it was started, event by event.
pub fn tell_again(
    context: &Context,
    session: &SessionId,
    sink: &mut dyn FnMut(Event),
) -> Result<(), Failure> {
    Ok(session::retell(&context.space()?, session, sink)?)
}

/// Decides as whom and under which key a program runs; makes the agent if it is one of its own.
pub fn begin(
    context: &Context,
    space: &Space,
    setting: Setting,
    (flow, input): (Object, Value),
    briefing: &str,
) -> Result<Begin, Failure> {
    let key = setting.key.unwrap_or_else(|| fresh_key(space));
    let agent = match context.known_agent(space, setting.agent.as_ref())? {
        Some(agent) => agent,
        None => own_agent(space, &key, briefing)?,
    };
    // What a program can do is what its builtins and handlers are, and those were named.
    let allow = vec!["*".to_owned()];
    Ok(Begin { agent, flow, input, key, allow })
}

/// Waits for pauses that are short enough, its own and those of its children, and goes on after
/// each.
fn sit_out_pauses(space: &Space, id: &SessionId) -> Result<(), Failure> {
    loop {
        let Some((until, id)) = next_pause(space, id)? else { return Ok(()) };
        let pause_ms = until.millis().saturating_sub(space.now().millis());
        if pause_ms > PAUSE_MS_MAX {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(pause_ms.max(1).unsigned_abs()));
        session::resume(space, &id)?;
    }
}

/// Returns the earliest instant that a session or one of its children waits for, and which it is.
fn next_pause(space: &Space, id: &SessionId) -> Result<Option<(Instant, SessionId)>, Failure> {
    let summary = space.session(id)?;
    if summary.state != State::Waiting {
        return Ok(None);
    }
    if let Some(until) = summary.until {
        return Ok(Some((until, *id)));
    }
    let mut pauses = Vec::new();
    for child in session::children(space, id)? {
        pauses.extend(next_pause(space, &child)?);
    }
    Ok(pauses.into_iter().min())
}

/// Returns the start key that was named, else a fresh one.
pub fn base_key(context: &Context, setting: &Setting) -> Result<String, Failure> {
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
) -> Result<AgentName, Failure> {
    let space = context.space()?;
    match context.known_agent(&space, parent)? {
        Some(parent) => {
            let origin = Origin::Agent(parent.clone());
            ensure_agent(&space, &format!("{parent}-{key}"), briefing, &origin)
        }
        None => own_agent(&space, key, briefing),
    }
}

/// Returns the agent that is named after the start key; makes it if it is not there yet.
fn own_agent(space: &Space, key: &str, briefing: &str) -> Result<AgentName, Failure> {
    ensure_agent(space, &format!("run-{key}"), briefing, &Origin::Root)
}

fn ensure_agent(
    space: &Space,
    name: &str,
    briefing: &str,
    origin: &Origin,
) -> Result<AgentName, Failure> {
    let name = AgentName::parse(name).map_err(|error| {
        Failure::usage(&error.to_string(), "name an agent with `--agent`, or choose another key")
    })?;
    if space.head(&name).is_err() {
        let briefing = Briefing::of_text(briefing).to_object();
        let briefing = briefing.map_err(agentic_space::Error::from)?;
        spawn(space, &name, &briefing, origin)?;
    }
    Ok(name)
}
