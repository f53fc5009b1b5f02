//! How a session stands, read from its records without running anything.

use std::collections::{BTreeMap, HashSet};

use agentic_model::{AgentName, Cid, Instant, Oid, Value};
use agentic_replay::record::{AskRecord, AttemptRecord, PermitScope, VoteRecord};
use agentic_replay::{
    Body, By, Engine, Failure, HoldReason, Journal, Path, Position, Record, RecordHash, RequestId,
    SessionId, State,
};

use self::reading::Reading;
use super::folder::{Folder, Values};
use super::recent::read_journal;
use crate::{Result, SessionSpace};

mod reading;

/// The code of what a session waits with that nobody could answer.
pub const UNANSWERED: &str = "unanswered";
/// The pause after which whoever only watches asks again, in milliseconds. It doubles each time.
const PAUSE_MS: i64 = 60_000;
/// The longest such pause, in milliseconds.
const PAUSE_MS_MAX: i64 = 3_600_000;

/// A session, as its records tell it.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The session.
    pub id: SessionId,
    /// The agent it runs as.
    pub agent: AgentName,
    /// The flow it runs now.
    pub flow: Cid,
    /// What runs it.
    pub engine: Engine,
    /// Its start key.
    pub key: String,
    /// When it was started.
    pub started_at: Instant,
    /// How it stands.
    pub state: State,
    /// How many records there are, shared ones included.
    pub n_records: u64,
    /// The hash of the last record.
    pub chain: RecordHash,
    /// What it gave, once it is done.
    pub result: Option<Value>,
    /// Why it failed, once it has; while it waits, why nobody could answer what it asks.
    pub failure: Option<Failure>,
    /// The earliest instant it waits for.
    pub until: Option<Instant>,
    /// When whoever only watches asks again what nobody could answer.
    pub again_at: Option<Instant>,
    /// The session that waits for its result.
    pub child_of: Option<SessionId>,
    /// The session it was forked from, and after how many records.
    pub forked_from: Option<(SessionId, u64)>,
    /// Everything it asked, in order.
    pub asked: Vec<Asked>,
    /// What waits for a human, oldest first.
    pub holds: Vec<OpenHold>,
}

/// One request of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// Its position in the journal.
    pub seq: u64,
    /// Its id.
    pub id: RequestId,
    /// Where in the program.
    pub path: Path,
    /// What sort.
    pub kind: String,
    /// The data.
    pub payload: Value,
    /// Where in the source.
    pub position: Option<Position>,
    /// When it was asked.
    pub asked_at: Instant,
    /// When it was answered.
    pub answered_at: Option<Instant>,
    /// What let its effect begin, where it was not allowed.
    pub permit: Option<Permission>,
    /// The votes that were noted, where several people must agree.
    pub votes: Vec<VoteRecord>,
    /// The attempts that failed and that the host has made good, or will.
    pub attempts: Vec<AttemptRecord>,
    /// The answer: its position, what came of it and who gave it.
    pub answer: Option<(u64, Answered, By)>,
}

impl Asked {
    /// Returns the commit of the decision that answered it, or that let its effect begin.
    pub fn decision(&self) -> Option<Oid> {
        let answered = self.answer.as_ref().and_then(|(_, _, by)| match by {
            By::Decision(commit) => Some(commit),
            By::Executor
            | By::Timer
            | By::Child(_)
            | By::Edited(_)
            | By::Signal(_)
            | By::System(_) => None,
        });
        let permitted = self.permit.as_ref().map(|permit| &permit.decision);
        answered.or(permitted).and_then(|commit| Oid::parse(commit).ok())
    }
}

/// What let the effect of a request begin.
#[derive(Debug, Clone, PartialEq)]
pub struct Permission {
    /// The commit of the decision.
    pub decision: String,
    /// The payload that it put in place of the one asked.
    pub edited: Option<Value>,
    /// For how long it counts, or which earlier one covers the request.
    pub scope: PermitScope,
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Answered {
    /// A value.
    Ok(Value),
    /// A failure.
    Failed(Failure),
    /// Its time limit passed.
    TimedOut,
    /// It was cancelled.
    Cancelled,
}

/// Why a request has no answer that nobody could give so far.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Unanswered {
    /// When whoever only watches asks again.
    again_at: Instant,
    /// What stood in the way.
    why: String,
}

impl Unanswered {
    /// Reads it from the last attempt, which was made at an instant.
    fn of(asked: &Asked, at: Instant) -> Option<Unanswered> {
        let last = asked.attempts.last()?;
        let doubled = last.n.saturating_sub(1).min(PAUSE_MS_MAX.ilog2());
        let again_at = at.plus_millis((PAUSE_MS << doubled).min(PAUSE_MS_MAX));
        Some(Unanswered { again_at, why: last.error.clone() })
    }
}

/// A request that waits for a human.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenHold {
    /// The session.
    pub session: SessionId,
    /// The agent.
    pub agent: AgentName,
    /// The id of the request.
    pub id: RequestId,
    /// Its record.
    pub ask: AskRecord,
    /// The data.
    pub payload: Value,
    /// Why a human is asked.
    pub reason: HoldReason,
    /// When it was asked.
    pub asked_at: Instant,
    /// The votes so far.
    pub votes: Vec<VoteRecord>,
    /// How often it went on to other people.
    pub n_escalations: usize,
    /// The head of the agent's branch on which it was put before people last.
    pub published: Option<String>,
}

/// Reads a session.
pub fn read(space: &SessionSpace, id: &SessionId) -> Result<Summary> {
    let journal = read_journal(space, id)?;
    of_journal(space, &journal)
}

/// Summarises the journal of a session as it stands now.
pub fn of_journal(space: &SessionSpace, journal: &Journal) -> Result<Summary> {
    let id = journal.start().session;
    summarise(space, journal, &|| Folder::of(space, &id).is_driven(space))
}

/// Reads what waits for a human in the journal of a session as it stands now, oldest first. What has
/// its answer is not looked at.
pub(crate) fn holds(space: &SessionSpace, journal: &Journal) -> Result<Vec<OpenHold>> {
    let id = journal.start().session;
    open_holds(space, journal, &|| Folder::of(space, &id).is_driven(space))
}

/// Does the same as if nobody were at work on it, so that what is under way counts as in doubt.
pub(crate) fn holds_at_rest(space: &SessionSpace, journal: &Journal) -> Result<Vec<OpenHold>> {
    open_holds(space, journal, &|| Ok(false))
}

fn open_holds(
    space: &SessionSpace,
    journal: &Journal,
    is_driven: &dyn Fn() -> Result<bool>,
) -> Result<Vec<OpenHold>> {
    let (start, open) = unanswered(journal.records());
    let Some(oldest) = open.values().min().copied() else { return Ok(Vec::new()) };
    let values = Values::of(space, journal);
    let mut reading = Reading::new(&values);
    reading.read(&journal.records()[start])?;
    for (at, record) in journal.records().iter().enumerate().skip(oldest) {
        let since = record.body.path().and_then(|path| open.get(path));
        if since.is_some_and(|since| at >= *since) {
            reading.read(record)?;
        }
    }
    reading.take_grants(journal)?;
    reading.holds(journal.start(), is_driven)
}

/// Finds the last start of a journal, and the requests since then that have no answer, by their
/// paths, with their places. Looks back from the end, no further than the oldest of them.
fn unanswered(records: &[Record]) -> (usize, BTreeMap<&Path, usize>) {
    let is_start = |record: &Record| matches!(record.body, Body::Start(_));
    let start = records.iter().rposition(is_start).expect("a journal begins with a start");
    let own = &records[start..];
    let n_asked = own.iter().filter(|record| matches!(record.body, Body::Ask(_))).count();
    let n_answered = own.iter().filter(|record| matches!(record.body, Body::Answer(_))).count();
    let (mut answered, mut open) = (HashSet::new(), BTreeMap::new());
    for (at, record) in records.iter().enumerate().skip(start).rev() {
        if open.len() + n_answered >= n_asked {
            break;
        }
        if let Body::Answer(answer) = &record.body {
            answered.insert(&answer.path);
        } else if let Body::Ask(ask) = &record.body
            && !answered.contains(&ask.path)
        {
            open.insert(&ask.path, at);
        }
    }
    (start, open)
}

/// Summarises a journal as it stood, when whoever appended to it was at work.
pub fn of_past(space: &SessionSpace, journal: &Journal) -> Result<Summary> {
    summarise(space, journal, &|| Ok(true))
}

fn summarise(
    space: &SessionSpace,
    journal: &Journal,
    is_driven: &dyn Fn() -> Result<bool>,
) -> Result<Summary> {
    let values = Values::of(space, journal);
    let start = journal.start().clone();
    let mut reading = Reading::new(&values);
    for record in journal.records() {
        reading.read(record)?;
    }
    reading.take_grants(journal)?;
    let holds = reading.holds(&start, is_driven)?;
    let started_at = journal
        .records()
        .iter()
        .rev()
        .find(|record| matches!(record.body, Body::Start(_)))
        .map_or(Instant::from_millis(0), |record| record.at);
    let (end, until, asked) = (reading.end, reading.until, reading.asked);
    let unanswered = reading.unanswered.filter(|_| end.is_none());
    let n_open = reading.open.len();
    let (mut result, mut failure) = (None, None);
    let state = match end {
        Some(Answered::Ok(value)) => {
            result = Some(value);
            State::Done
        }
        Some(Answered::Failed(why)) => {
            failure = Some(why);
            State::Failed
        }
        Some(Answered::TimedOut | Answered::Cancelled) => State::Cancelled,
        None if !holds.is_empty() => State::Held,
        None if until.is_some() || unanswered.is_some() => State::Waiting,
        None if n_open > 0 && reading.n_children == n_open => State::Waiting,
        None => State::Running,
    };
    if let Some(unanswered) = &unanswered {
        failure = Some(Failure::new(UNANSWERED, unanswered.why.as_str()));
    }
    Ok(Summary {
        id: start.session,
        agent: start.agent,
        flow: journal.flow(),
        engine: start.engine,
        key: start.key.clone(),
        started_at,
        state,
        n_records: journal.records().len() as u64,
        chain: journal.chain().head(),
        result,
        failure,
        until,
        again_at: unanswered.map(|unanswered| unanswered.again_at),
        child_of: super::children::parent_of(&start.key),
        forked_from: start.parent.map(|point| (point.session, point.seq)),
        asked,
        holds,
    })
}
