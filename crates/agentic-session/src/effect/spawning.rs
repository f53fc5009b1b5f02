//! Spawning: the agent of a request, what its child session runs, and what that came to.

use agentic_lang_context::OWN_FLOW;
use agentic_lang_pipeline::part_of;
use agentic_lang_pipeline::run::AgentCall;
use agentic_model::{AgentName, Briefing, Cid, Oid, Value};
use agentic_replay::{
    AnswerSource, End, Performance, ProgramFailure, Request, RequestAnswer, SessionId, child_key,
};
use agentic_space::commit::Asker;
use agentic_space::error::AgentError;
use agentic_space::spawn::{SpawnOrigin, spawn_for};

use super::{AskingSession, PerformedEffect, executed, find_by_request, settled};
use crate::begin::{Begin, KeySource};
use crate::behaviour::within;
use crate::children::{Child, adopted, begins_a_session, close_policy, run_id, runs_a_flow};
use crate::drive::Driver;
use crate::error::ProgramError;
use crate::folder::Folder;
use crate::language::{flow_object, language_of};
use crate::listing::with_key;
use crate::own::read_journal;
use crate::screen::refuse_secrets;
use crate::shelf::{Shelf, flow_of, program_of};
use crate::start::start_child;
use crate::{Error, Result, SessionSpace};

/// How much of an agent's name its children bear, so that those of children stay short enough.
pub(super) const STEM_BYTES_MAX: usize = 45;

/// What becomes of a spawn.
pub enum SpawnStep {
    /// It has an answer: it runs nothing, or cannot.
    Answered(RequestAnswer, AnswerSource),
    /// A session is its child that it did not begin itself.
    Adopted(SessionId),
    /// This is to be run.
    Child(Child),
}

/// Makes the agent of a spawn, and says what it runs.
///
/// # Errors
/// Fails as [`perform`](super::perform) does.
pub fn begin_spawn(
    space: &SessionSpace,
    session: AskingSession<'_>,
    performance: &Performance,
) -> Result<SpawnStep> {
    let request = &performance.request;
    let asker = session.asker(performance);
    let answered = |outcome: Result<Value>| {
        Ok(SpawnStep::Answered(settled(outcome.map(RequestAnswer::Ok))?, AnswerSource::Executor))
    };
    if begins_a_session(request)
        && let Some(child) = adopted(space, session.start, request)
    {
        return Ok(SpawnStep::Adopted(child.id));
    }
    let checked = refuse_secrets(space, request).and_then(|()| check_flow(space, session, request));
    if let Err(error) = checked {
        return answered(Err(error));
    }
    let child = match ensure_agent(space, session, performance, &asker) {
        Ok(child) => child,
        Err(error) => return answered(Err(error)),
    };
    if !runs_a_flow(request) {
        let genesis = child_genesis(space, &child)?;
        let value =
            Value::map([("agent", Value::text(child.as_str())), ("genesis", Value::text(genesis))]);
        return answered(Ok(value));
    }
    match child_of_call(space, session, request, &child) {
        Ok(child) => Ok(SpawnStep::Child(child)),
        Err(error) => answered(Err(error)),
    }
}

/// Makes the agent of a spawn, and runs what it is to run.
pub(super) fn perform_spawn(
    space: &SessionSpace,
    session: AskingSession<'_>,
    performance: &Performance,
) -> Result<PerformedEffect> {
    let id = match begin_spawn(space, session, performance)? {
        SpawnStep::Answered(answer, by) => return Ok(PerformedEffect::Answered(answer, by)),
        SpawnStep::Adopted(id) => id,
        SpawnStep::Child(child) => match start_child(space, child) {
            Ok(id) => id,
            Err(error) => return executed(Err(error)),
        },
    };
    let ended = ended_child(space, session, id)?;
    Ok(ended.map_or(PerformedEffect::Waiting, |(answer, by)| PerformedEffect::Answered(answer, by)))
}

/// Makes the agent of a spawn that runs something, and says what it runs. Nothing for spawns that
/// run nothing, for those that fail, and where another session runs it.
pub fn ready_child(
    space: &SessionSpace,
    session: AskingSession<'_>,
    performance: &Performance,
) -> Option<Child> {
    let request = &performance.request;
    if !begins_a_session(request) {
        return None;
    }
    if let Some(child) = adopted(space, session.start, request) {
        return child.is_own.then_some(Child::Begun(child.id));
    }
    check_flow(space, session, request).ok()?;
    let asker = session.asker(performance);
    let child = ensure_agent(space, session, performance, &asker).ok()?;
    child_of_call(space, session, request, &child).ok()
}

/// Says what is to be run as a child: the session that was begun for the request before, or a new
/// one.
fn child_of_call(
    space: &SessionSpace,
    session: AskingSession<'_>,
    request: &Request,
    child: &AgentName,
) -> Result<Child> {
    let key = child_key(&session.start.session, &request.path);
    // What is told to agents may have grown since it began; it is still the one that was asked for.
    if request.origin.is_some()
        && let Some(begun) = with_key(space, child, &key)?.pop()
    {
        return Ok(Child::Begun(begun));
    }
    child_begin(space, session, request, child).map(|begin| Child::New(Box::new(begin)))
}

/// Returns what a child has come to, once it is over.
pub fn ended_child(
    space: &SessionSpace,
    session: AskingSession<'_>,
    id: SessionId,
) -> Result<Option<(RequestAnswer, AnswerSource)>> {
    if !read_journal(space, &id)?.is_over() {
        return Ok(None);
    }
    let driver = Driver::load(space, &id)?;
    let end = driver.session().end();
    Ok(end.map(|end| (for_parent(space, session, answer_of(end)), AnswerSource::Child(id))))
}

/// Gives a program of the result of a child what its language is given.
fn for_parent(
    space: &SessionSpace,
    session: AskingSession<'_>,
    answer: RequestAnswer,
) -> RequestAnswer {
    let folder = Folder::of(space, &session.start.session);
    let language = flow_of(space, &folder, &session.flow).and_then(|flow| language_of(&flow));
    match (answer, language) {
        (RequestAnswer::Ok(value), Ok(language)) => RequestAnswer::Ok(language.child_result(value)),
        (answer, _) => answer,
    }
}

/// Refuses a flow that does not parse, and a close policy that is none, before an agent is made.
fn check_flow(space: &SessionSpace, session: AskingSession<'_>, request: &Request) -> Result<()> {
    if !runs_a_flow(request) {
        return Ok(());
    }
    if close_policy(request).is_none() {
        let reason = "`close` is `cancel`, `abandon` or `wait`".to_owned();
        return Err(Error::Program(ProgramError::BadRequest { reason }));
    }
    let folder = Folder::of(space, &session.start.session);
    let flow = child_flow(space, session, request)?;
    program_of(space, &folder, &flow, &language_of(&flow)?.engine())?;
    Ok(())
}

/// Reads the flow of a child: that of its parent, a stored one by its id, its source, or a program
/// that is a part of the session's own.
fn child_flow(
    space: &SessionSpace,
    session: AskingSession<'_>,
    request: &Request,
) -> Result<agentic_model::Object> {
    if let Some(program) = request.payload.get("program").and_then(Value::as_text) {
        let folder = Folder::of(space, &session.start.session);
        return Ok(part_of(&flow_of(space, &folder, &session.flow)?, program)?);
    }
    let flow = request.payload.get("flow").and_then(Value::as_text).unwrap_or_default();
    if flow == OWN_FLOW {
        let folder = Folder::of(space, &session.start.session);
        return flow_of(space, &folder, &session.flow);
    }
    match Cid::parse(flow) {
        Ok(cid) => flow_of(space, &Folder::of(space, &session.start.session), &cid),
        Err(_) => flow_object(flow),
    }
}

/// Returns what a session tells the one that waits for it.
pub fn answer_of(end: &End) -> RequestAnswer {
    match end {
        End::Done(value) => RequestAnswer::Ok(value.clone()),
        End::Failed(failure) => RequestAnswer::Failed(failure.clone()),
        End::Cancelled => {
            RequestAnswer::Failed(ProgramFailure::new("cancelled", "the child was cancelled"))
        }
    }
}

/// Makes the agent of a spawn request, or adopts the one that it made before a crash.
fn ensure_agent(
    space: &SessionSpace,
    session: AskingSession<'_>,
    performance: &Performance,
    asker: &Asker,
) -> Result<AgentName> {
    let (payload, id) = (&performance.request.payload, performance.id.to_string());
    let bad = |reason: &str| Error::Program(ProgramError::BadRequest { reason: reason.to_owned() });
    let mut found = None;
    for name in child_names(session, performance)? {
        if space.head(&name).is_err() {
            found.get_or_insert(name);
        } else if find_by_request(space, &name, &id)?.is_some() {
            return Ok(name);
        } else if payload.get("name").is_some() {
            return Err(agentic_space::Error::Agent(AgentError::Exists { name }).into());
        }
    }
    let name = found.ok_or_else(|| bad("no name is left for the agent"))?;
    let text = payload.get("briefing").and_then(Value::as_text);
    let text = text.ok_or_else(|| bad("a spawn needs a `briefing`"))?;
    let briefing = Briefing::of_text(text).to_object()?;
    let from = payload.get("from").and_then(Value::as_text);
    let from = from.map(AgentName::parse).transpose().map_err(|error| bad(&error.to_string()))?;
    let at = payload.get("at").and_then(Value::as_text).map(Oid::parse).transpose();
    let origin = match at.map_err(|error| bad(&error.to_string()))? {
        Some(commit) => SpawnOrigin::Commit(commit),
        None => SpawnOrigin::Agent(from.unwrap_or_else(|| session.start.agent.clone())),
    };
    match spawn_for(space, &name, &briefing, &origin, Some(asker.clone())) {
        // What an attempt had decided before has become visible only now.
        Err(agentic_space::Error::Agent(AgentError::Exists { .. }))
            if find_by_request(space, &name, &id)?.is_some() =>
        {
            Ok(name)
        }
        spawned => {
            spawned?.written.visible()?;
            Ok(name)
        }
    }
}

/// Returns the names that the agent of a request may have, best first: the one that was asked for,
/// else one that tells its place or what it runs, else one that nobody else has.
fn child_names(session: AskingSession<'_>, performance: &Performance) -> Result<Vec<AgentName>> {
    let id = performance.id.to_string();
    let text = |key: &str| performance.request.payload.get(key).and_then(Value::as_text);
    let parse = |name: &str| AgentName::parse(name);
    let agent = &session.start.agent;
    let bad = |error: agentic_model::InvalidName| {
        Error::Program(ProgramError::BadRequest { reason: error.to_string() })
    };
    if let Some(name) = text("name") {
        return Ok(vec![parse(name).map_err(bad)?]);
    }
    let own = parse(&format!("{}-{}", stem(agent), &id[..8])).map_err(bad)?;
    let telling = text("suffix").and_then(|suffix| parse(&format!("{agent}-{suffix}")).ok());
    let of_call = called_agent(&performance.request)
        .and_then(|called| parse(&format!("{}-{called}-{}", stem(agent), &id[..8])).ok());
    Ok(telling.into_iter().chain(of_call).chain([own]).collect())
}

/// Returns the agent of a program that a request calls, as names of branches are written.
pub(super) fn called_agent(request: &Request) -> Option<String> {
    let call = request.payload.get("input")?.get("call")?.as_text()?;
    let (called, _) = call.split_once('.')?;
    Some(called.to_lowercase()).filter(|called| called.len() <= STEM_BYTES_MAX)
}

/// Returns how the names of an agent's children begin.
pub(super) fn stem(parent: &AgentName) -> &str {
    let parent = parent.as_str();
    parent.get(..STEM_BYTES_MAX).unwrap_or(parent)
}

fn child_genesis(space: &SessionSpace, child: &AgentName) -> Result<String> {
    Ok(space.agent(child)?.genesis.map_or(String::new(), |oid| oid.to_string()))
}

fn child_begin(
    space: &SessionSpace,
    session: AskingSession<'_>,
    request: &Request,
    child: &AgentName,
) -> Result<Begin> {
    let start = session.start;
    let flow = child_flow(space, session, request)?;
    let folder = Folder::of(space, &start.session);
    let parts = Shelf { space, folder: &folder, given: &[] }.parts(&flow)?;
    let wanted = request.payload.get("allow").and_then(Value::as_list).unwrap_or_default();
    let wanted = wanted.iter().filter_map(Value::as_text);
    // A child may do no more than its parent.
    let wanted = wanted.chain(["commit", "spawn"]);
    let granted = wanted.filter(|kind| start.allows(kind)).map(str::to_owned);
    let allow = within(&flow, granted.collect())?;
    Ok(Begin {
        agent: child.clone(),
        flow,
        parts,
        input: match AgentCall::of_spawn(request) {
            Some(call) => call.to_input(&run_id(space, &start.key)),
            None => request.payload.get("input").cloned().unwrap_or(Value::Null),
        },
        key: child_key(&start.session, &request.path),
        key_source: KeySource::Named,
        allow,
    })
}
