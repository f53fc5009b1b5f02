//! Effects that touch the space: commits, new agents and child sessions.

mod adoption;
mod proposal;
mod store;

use std::collections::BTreeMap;

use agentic_git::FileMode;
use agentic_lang_context::OWN_FLOW;
use agentic_lang_pipeline::part_of;
use agentic_lang_pipeline::run::AgentCall;
use agentic_model::commit::Claims;
use agentic_model::{AgentName, Briefing, Cid, Kind, Map, Oid, Value};
use agentic_replay::{
    AnswerSource, BEHAVIOUR_ADOPT, BEHAVIOUR_PROPOSE, End, PENDING, Path, Performance, Program,
    ProgramFailure, QUERY, RELATE, Request, RequestAnswer, Session, SessionId, StartRecord,
    child_key,
};
use agentic_space::commit::{
    Asker, CommitDraft, Edit, Emptiness, TraceBinding, TreeSource, commit,
};
use agentic_space::error::AgentError;
use agentic_space::spawn::{SpawnOrigin, spawn_for};

use super::begin::{Begin, KeySource};
use super::behaviour::within;
use super::children::{Child, adopted, begins_a_session, close_policy, run_id, runs_a_flow};
use super::drive::Driver;
use super::folder::Folder;
use super::language::{flow_object, language_of};
use super::listing::with_key;
use super::own::read_journal;
use super::shelf::{Shelf, flow_of, program_of};
use super::start::start_child;
use crate::error::ProgramError;
use crate::{Error, Result, SessionSpace};

/// How much of an agent's name its children bear, so that those of children stay short enough.
const STEM_BYTES_MAX: usize = 45;

/// What became of an effect.
pub enum PerformedEffect {
    /// It has an answer.
    Answered(RequestAnswer, AnswerSource),
    /// It will have one later: a child session is not over.
    Waiting,
}

/// The session that asks for an effect, as far as performing it takes: whoever drives it, here or on
/// another host, knows both.
#[derive(Clone, Copy)]
pub struct AskingSession<'a> {
    /// How it began.
    pub start: &'a StartRecord,
    /// The program that it runs now.
    pub flow: Cid,
    /// The program that ran when the effect was asked for, where commits name it.
    pub behaviour: Option<Cid>,
}

impl<'a> AskingSession<'a> {
    /// Returns what of a session it takes.
    pub fn of(session: &'a Session<Box<dyn Program>>) -> AskingSession<'a> {
        AskingSession { start: session.started(), flow: session.flow(), behaviour: None }
    }

    /// Does the same for what a request asks.
    pub fn asking(session: &'a Session<Box<dyn Program>>, path: &Path) -> AskingSession<'a> {
        AskingSession { behaviour: session.behaviour_of(path), ..AskingSession::of(session) }
    }
}

/// Performs an effect of the space. What the program caused itself (an unknown kind, a malformed
/// field, a taken name) is a failure that it can catch, and so is a kind that nobody here performs.
///
/// # Errors
/// Fails with a fault of our own store, of which the program must not hear: the effect has no
/// answer then, and is performed again, or found done, by whoever drives the session next.
pub fn perform(
    space: &SessionSpace,
    session: AskingSession<'_>,
    performance: &Performance,
) -> Result<PerformedEffect> {
    let start = session.start;
    let request = Some(performance.id.to_string());
    let behaviour = session.behaviour;
    let asker = Asker { session: start.session.to_string(), request, behaviour };
    match performance.request.kind.as_str() {
        "commit" => executed(perform_commit(space, &start.agent, performance, &asker)),
        "spawn" => perform_spawn(space, session, performance),
        RELATE => executed(store::relate(space, start, performance, asker)),
        PENDING => executed(store::pending(space, performance)),
        QUERY => executed(store::query(space, performance)),
        BEHAVIOUR_PROPOSE => executed(proposal::propose(space, start, performance)),
        BEHAVIOUR_ADOPT => answered(adoption::adopt(space, start, performance, asker)),
        kind => {
            let failure =
                ProgramFailure::new("unknown-kind", format!("nothing here performs `{kind}`"));
            Ok(PerformedEffect::Answered(RequestAnswer::Failed(failure), AnswerSource::Executor))
        }
    }
}

/// What a refused verb is for a program: a failure that it can catch. A fault of the store is none.
fn executed(outcome: Result<Value>) -> Result<PerformedEffect> {
    answered(outcome.map(RequestAnswer::Ok))
}

fn answered(outcome: Result<RequestAnswer>) -> Result<PerformedEffect> {
    Ok(PerformedEffect::Answered(settled(outcome)?, AnswerSource::Executor))
}

fn settled(outcome: Result<RequestAnswer>) -> Result<RequestAnswer> {
    match outcome {
        Ok(answer) => Ok(answer),
        Err(error) if error.is_fault() => Err(error),
        Err(error) => Ok(RequestAnswer::Failed(ProgramFailure::new("refused", error.to_string()))),
    }
}

fn perform_commit(
    space: &SessionSpace,
    agent: &AgentName,
    performance: &Performance,
    asker: &Asker,
) -> Result<Value> {
    if let Some(done) = find_by_request(space, agent, &performance.id.to_string())? {
        return commit_value(space, done);
    }
    let payload = &performance.request.payload;
    let text = |key: &str| payload.get(key).and_then(Value::as_text);
    let bad = |reason: &str| Error::Program(ProgramError::BadRequest { reason: reason.to_owned() });
    let kind = match text("kind") {
        Some(kind) => Some(Kind::parse(kind).map_err(|_| bad("`kind` is no kind"))?),
        None => None,
    };
    let draft = CommitDraft {
        message: text("message").ok_or_else(|| bad("a commit needs a `message`"))?.to_owned(),
        kind,
        fields: fields(payload).ok_or_else(|| bad("`fields` is no map"))?,
        source: TreeSource::Edits(edits(payload).ok_or_else(|| bad("`files` is malformed"))?),
        capture: TraceBinding::Nothing,
        expect: None,
        emptiness: Emptiness::Allowed,
        asker: Some(asker.clone()),
        behaviour: None,
    };
    let done = commit(space, agent, &draft)?;
    // One that is merely decided is found by whoever performs the effect again.
    done.written.visible()?;
    commit_value(space, done.commit)
}

fn commit_value(space: &SessionSpace, commit: Oid) -> Result<Value> {
    let info = space.read_commit(commit)?;
    let parent = info.parents.first().map_or(Value::Null, |oid| Value::text(oid.to_string()));
    // A rebuild makes the commit again from this.
    let bytes = space.repository().verify_object(commit)?.bytes;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let committer = text.lines().find_map(|line| line.strip_prefix("committer ")).unwrap_or("");
    Ok(Value::map([
        ("commit", Value::text(commit.to_string())),
        ("parent", parent),
        ("committer", Value::text(committer)),
    ]))
}

/// Reads the open fields of a commit request.
fn fields(payload: &Value) -> Option<Map> {
    match payload.get("fields") {
        None | Some(Value::Null) => Some(Map::new()),
        Some(fields) => fields.as_map().cloned(),
    }
}

/// Reads the files of a commit request: text, bytes, or null for those that go.
pub(super) fn edits(payload: &Value) -> Option<BTreeMap<String, Edit>> {
    let Some(files) = payload.get("files") else { return Some(BTreeMap::new()) };
    let edit = |(path, value): (&String, &Value)| {
        let edit = match value {
            Value::Null => Edit::Delete,
            Value::Text(text) => {
                Edit::Write { content: text.clone().into_bytes(), mode: FileMode::Plain }
            }
            Value::Bytes(bytes) => Edit::Write { content: bytes.clone(), mode: FileMode::Plain },
            Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::List(_)
            | Value::Map(_)
            | Value::Link(_) => return None,
        };
        Some((path.clone(), edit))
    };
    files.as_map()?.iter().map(edit).collect()
}

/// Finds the commit on an agent's branch that a request has made already.
pub fn find_by_request(
    space: &SessionSpace,
    agent: &AgentName,
    request: &str,
) -> Result<Option<Oid>> {
    let head = space.head(agent)?;
    for commit in space.own_commits(agent, head)? {
        let claims = Claims::read(&commit.message);
        let is_effect = claims.kind.as_ref().is_none_or(|kind| kind.as_str() != "decision");
        if is_effect && claims.request.as_deref() == Some(request) {
            return Ok(Some(commit.oid));
        }
    }
    Ok(None)
}

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
/// Fails as [`perform`] does.
pub fn begin_spawn(
    space: &SessionSpace,
    session: AskingSession<'_>,
    performance: &Performance,
) -> Result<SpawnStep> {
    let request = &performance.request;
    let asker = Asker {
        session: session.start.session.to_string(),
        request: Some(performance.id.to_string()),
        behaviour: session.behaviour,
    };
    let answered = |outcome: Result<Value>| {
        Ok(SpawnStep::Answered(settled(outcome.map(RequestAnswer::Ok))?, AnswerSource::Executor))
    };
    if begins_a_session(request)
        && let Some(child) = adopted(space, session.start, request)
    {
        return Ok(SpawnStep::Adopted(child.id));
    }
    if let Err(error) = check_flow(space, session, request) {
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

fn perform_spawn(
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
    let start = session.start;
    let asker = Asker {
        session: start.session.to_string(),
        request: Some(performance.id.to_string()),
        behaviour: session.behaviour,
    };
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
fn called_agent(request: &Request) -> Option<String> {
    let call = request.payload.get("input")?.get("call")?.as_text()?;
    let (called, _) = call.split_once('.')?;
    Some(called.to_lowercase()).filter(|called| called.len() <= STEM_BYTES_MAX)
}

/// Returns how the names of an agent's children begin.
fn stem(parent: &AgentName) -> &str {
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

#[cfg(test)]
mod tests;
