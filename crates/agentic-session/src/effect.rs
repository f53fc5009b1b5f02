//! Effects that touch the space: commits here, new agents and child sessions (`spawning`), and what else a
//! program asks of the store.

mod adoption;
mod proposal;
mod spawning;
mod store;

use std::collections::BTreeMap;

use agentic_git::FileMode;
use agentic_model::commit::Claims;
use agentic_model::{AgentName, Cid, Kind, Map, Oid, Value};
use agentic_replay::{
    AnswerSource, BEHAVIOUR_ADOPT, BEHAVIOUR_PROPOSE, PENDING, Path, Performance, Program,
    ProgramFailure, QUERY, RELATE, RequestAnswer, Session, StartRecord,
};
use agentic_space::commit::{
    Asker, CommitDraft, Edit, Emptiness, TraceBinding, TreeSource, commit,
};

pub use self::spawning::{SpawnStep, answer_of, begin_spawn, ended_child, ready_child};
use crate::error::ProgramError;
use crate::screen::refuse_secrets;
use crate::{Error, Result, SessionSpace};

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

    /// Names it and the request for what that makes.
    fn asker(&self, performance: &Performance) -> Asker {
        Asker {
            session: self.start.session.to_string(),
            request: Some(performance.id.to_string()),
            behaviour: self.behaviour,
        }
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
    let (start, asker) = (session.start, session.asker(performance));
    let clean = || refuse_secrets(space, &performance.request);
    match performance.request.kind.as_str() {
        "commit" => executed(perform_commit(space, &start.agent, performance, &asker)),
        "spawn" => spawning::perform_spawn(space, session, performance),
        RELATE => executed(clean().and_then(|()| store::relate(space, start, performance, asker))),
        PENDING => executed(store::pending(space, performance)),
        QUERY => executed(store::query(space, performance)),
        BEHAVIOUR_PROPOSE => {
            executed(clean().and_then(|()| proposal::propose(space, start, performance)))
        }
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
    refuse_secrets(space, &performance.request)?;
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

#[cfg(test)]
mod tests;
