//! Holds: what waits for a human, in all sessions.

mod standing;

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::{AgentName, Instant, Oid, Value};
use agentic_replay::{
    AskedRequest, Body, HOLD, Handling, OpenHold, Path, RecordChain, Request, RequestId, SessionId,
    StartRecord, parent_of,
};

pub(crate) use self::standing::HoldStanding;

use crate::beginning::FirstRecord;
use crate::decide::{Action, Decision, Policy};
use crate::error::RequestError;
use crate::language::checked_kinds;
use crate::listing::{list_open, open_sessions_of};
use crate::recent::read_journal;
use crate::summary;
use crate::trust::{self, Look};
use crate::{Error, Result, SessionSpace};

/// How many digits of the id of a request are shown. So many name one.
const DIGITS_SHOWN: usize = 12;
/// How many sessions that wait for each other are listed at most.
const NESTING_MAX: usize = 256;

/// A hold with what it asks of its decision.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingHold {
    /// The hold.
    pub hold: OpenHold,
    /// What it asks of its decision.
    pub policy: Policy,
    /// Whether it is too late to decide it.
    pub overdue: bool,
    /// The decisions so far that count, oldest first: too few to settle it.
    pub votes: Vec<(Oid, Decision)>,
    /// Commits on the branch that say they decide it, and do not count.
    pub unverified: Vec<(Oid, Decision)>,
    /// The sessions that wait for the one that asks, from the outermost on, with their agents.
    pub waiting: Vec<(SessionId, AgentName)>,
}

/// Which holds are wanted.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Of this agent.
    pub agent: Option<AgentName>,
    /// Whether those of its descendants are wanted too.
    pub reach: Reach,
    /// Of this kind of request.
    pub kind: Option<String>,
    /// That this principal may decide.
    pub assignee: Option<String>,
    /// Only those that are overdue.
    pub overdue_only: Overdue,
}

/// Whose holds are wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reach {
    /// Those of the agent.
    #[default]
    Own,
    /// Those of the agent and of all that descend from it.
    Subtree,
}

/// Whether only overdue holds are wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Overdue {
    /// All.
    #[default]
    Any,
    /// Only those.
    Only,
}

/// Lists the open holds, oldest first. Derived from the sessions' records each time.
///
/// # Errors
/// Fails when the sessions cannot be listed; one that is damaged is left out.
pub fn pending(space: &SessionSpace, filter: &Filter) -> Result<Vec<PendingHold>> {
    scan(space, filter, None)
}

/// Finds the open holds that are wanted, and notes the sessions that have none.
pub(crate) fn scan(
    space: &SessionSpace,
    filter: &Filter,
    mut unheld: Option<&mut Vec<(SessionId, AgentName)>>,
) -> Result<Vec<PendingHold>> {
    let mut found = Vec::new();
    let mut family = filter.agent.as_ref().map(|agent| HoldFamily::of(space, agent, filter.reach));
    for id in open_of(space, filter)? {
        if let Some(family) = &mut family
            && let Ok(beginning) = FirstRecord::of(space, &id)
            && !family.has(&beginning.start.agent)
        {
            continue;
        }
        let Ok(journal) = read_journal(space, &id) else { continue };
        let Ok(holds) = summary::holds(space, &journal) else { continue };
        let start = journal.start().clone();
        let n_before = found.len();
        for hold in holds {
            match HoldStanding::of(space, &journal, hold, space.now()) {
                Ok(standing) if !standing.is_settled() => {
                    found.push(PendingHold::of(space, &start, standing));
                }
                Ok(_) | Err(_) => {}
            }
        }
        if found.len() == n_before {
            unheld.iter_mut().for_each(|unheld| unheld.push((id, start.agent.clone())));
        }
    }
    found.retain(|pending| matches(pending, filter));
    found.sort_by(|left, right| order(&left.hold).cmp(&order(&right.hold)));
    Ok(found)
}

/// Lists the open sessions that may be of the agent that is wanted.
fn open_of(space: &SessionSpace, filter: &Filter) -> Result<Vec<SessionId>> {
    match (&filter.agent, filter.reach) {
        (Some(agent), Reach::Own) => {
            let open = open_sessions_of(space, &BTreeSet::from([agent]))?;
            Ok(open.into_iter().map(|(id, _)| id).collect())
        }
        (Some(_), Reach::Subtree) | (None, _) => list_open(space),
    }
}

/// The agents whose holds are wanted. What is found out about one is remembered for all that descend
/// from it.
struct HoldFamily<'a> {
    space: &'a SessionSpace,
    reach: Reach,
    /// The agents that were asked about, and whether each belongs to it.
    known: BTreeMap<AgentName, bool>,
}

impl HoldFamily<'_> {
    fn of<'a>(space: &'a SessionSpace, agent: &AgentName, reach: Reach) -> HoldFamily<'a> {
        HoldFamily { space, reach, known: BTreeMap::from([(agent.clone(), true)]) }
    }

    /// Tells whether an agent belongs to it. One whose branch is gone descends from nobody.
    fn has(&mut self, agent: &AgentName) -> bool {
        let mut line: Vec<AgentName> = Vec::new();
        let mut at = Some(agent.clone());
        let mut belongs = false;
        while let Some(name) = at {
            if let Some(known) = self.known.get(&name) {
                belongs = *known;
                break;
            }
            // Until more is known; that also ends a circle.
            self.known.insert(name.clone(), false);
            at = match self.reach {
                Reach::Own => None,
                Reach::Subtree => self.space.parent_of(&name).ok().flatten(),
            };
            line.push(name);
        }
        if belongs {
            self.known.extend(line.into_iter().map(|name| (name, true)));
        }
        belongs
    }
}

/// Lists the sessions that wait for the one with this start key, from the outermost on.
fn waiting_for(space: &SessionSpace, key: &str) -> Vec<(SessionId, AgentName)> {
    let mut waiting = Vec::new();
    let mut parent = parent_of(key);
    while let Some(id) = parent.filter(|_| waiting.len() < NESTING_MAX) {
        let Ok(beginning) = FirstRecord::of(space, &id) else { break };
        parent = parent_of(&beginning.start.key);
        waiting.push((id, beginning.start.agent));
    }
    waiting.reverse();
    waiting
}

/// Oldest first; what was asked at once, in the order of the program.
fn order(hold: &OpenHold) -> (Instant, SessionId, &Path) {
    (hold.asked_at, hold.session, &hold.ask.path)
}

fn matches(pending: &PendingHold, filter: &Filter) -> bool {
    let kind = filter.kind.as_ref().is_none_or(|kind| *kind == pending.hold.ask.kind);
    let assignees = &pending.policy.assignees;
    let assignee = filter
        .assignee
        .as_ref()
        .is_none_or(|assignee| assignees.is_empty() || assignees.contains(assignee));
    kind && assignee && (filter.overdue_only == Overdue::Any || pending.overdue)
}

/// What a name of a request leads to.
#[derive(Debug)]
pub enum NamedRequest {
    /// An open hold.
    Open(Box<PendingHold>),
    /// A request that was decided.
    Decided(Box<EarlierAnswer>),
}

/// A request that was decided, and by whom.
#[derive(Debug, Clone, PartialEq)]
pub struct EarlierAnswer {
    /// The session.
    pub session: SessionId,
    /// The id of the request.
    pub id: RequestId,
    /// The commit, if it was decided by one that can be read.
    pub commit: Option<Oid>,
    /// The decision.
    pub decision: Option<Decision>,
    /// Who told its session to stop, where that closed it.
    pub cancelled_by: Option<String>,
    /// What an approval without a value gave.
    pub subject: Option<Value>,
}

/// Says who closed a hold and how: whoever decided, whoever told its session to stop, or the session
/// itself.
pub fn winner(decision: Option<&Decision>, cancelled_by: Option<&str>) -> (String, &'static str) {
    match (decision, cancelled_by) {
        // The engine closed it for whoever did that.
        (Some(Decision { action: Action::Withdrawn, .. }) | None, Some(who)) => {
            (who.to_owned(), "cancelled")
        }
        (Some(decision), _) => (decision.principal.clone(), decision.action.name()),
        (None, None) => ("the session".to_owned(), "answered"),
    }
}

/// Finds who told a session to stop while a request was open.
pub(crate) fn cancelled_by(journal: &RecordChain, path: &Path) -> Option<String> {
    let mut who = None;
    for record in journal.records().iter().rev() {
        if let Body::Cancel(cancel) = &record.body {
            // The first one counts: nothing could be decided from then on.
            who = Some(cancel.who.clone());
        } else if matches!(&record.body, Body::Answer(answer) if answer.path == *path) {
            // What came after the answer did not close it.
            who = None;
        } else if matches!(&record.body, Body::Ask(ask) if ask.path == *path) {
            return who;
        } else if matches!(record.body, Body::Start(_)) {
            return None;
        }
    }
    None
}

/// Finds the hold that a text names: `<session>.<request>`, or an agent with exactly one open hold.
///
/// # Errors
/// Fails when it names none, or several.
pub fn find_hold(space: &SessionSpace, text: &str) -> Result<NamedRequest> {
    let unknown = || Error::Request(RequestError::Unknown { id: text.to_owned() });
    let Some((session, request)) = text.split_once('.').filter(|(_, request)| is_hex(request))
    else {
        let agent = AgentName::parse(text).map_err(|_| unknown())?;
        space.head(&agent)?;
        let filter = Filter { agent: Some(agent), ..Filter::default() };
        let mut open = pending(space, &filter)?;
        return match open.len() {
            0 => {
                let decided = last_decided(space, text)?.ok_or_else(unknown)?;
                Ok(NamedRequest::Decided(Box::new(decided)))
            }
            1 => Ok(NamedRequest::Open(Box::new(open.remove(0)))),
            _ => {
                let id =
                    |pending: &PendingHold| pending.hold.session.short_request(&pending.hold.id);
                let candidates = open.iter().map(id).collect();
                Err(Error::Request(RequestError::Ambiguous { id: text.to_owned(), candidates }))
            }
        };
    };
    let session = space.find_session(session).map_err(|_| unknown())?;
    let journal = read_journal(space, &session)?;
    let holds = summary::holds(space, &journal)?;
    let is_named = |id: &RequestId| id.to_string().starts_with(request);
    if request.len() >= DIGITS_SHOWN
        && let Some(hold) = holds.iter().find(|hold| is_named(&hold.id))
    {
        return open(space, &journal, hold.clone());
    }
    // Only what has its answer needs the whole record, and what could mean several requests.
    let summary = summary::of_journal(space, &journal)?;
    let named: Vec<&AskedRequest> =
        summary.asked.iter().filter(|asked| is_named(&asked.id)).collect();
    let [asked] = named.as_slice() else { return Err(unknown()) };
    match holds.into_iter().find(|hold| hold.id == asked.id) {
        Some(hold) => open(space, &journal, hold),
        None => {
            let decided = decided(space, &journal, asked).ok_or_else(unknown)?;
            Ok(NamedRequest::Decided(Box::new(decided)))
        }
    }
}

fn open(space: &SessionSpace, journal: &RecordChain, hold: OpenHold) -> Result<NamedRequest> {
    let standing = HoldStanding::of(space, journal, hold, space.now())?;
    Ok(NamedRequest::Open(Box::new(PendingHold::of(space, journal.start(), standing))))
}

/// Tells how a request was closed. One that has no answer yet is closed all the same once its session
/// was told to stop.
fn decided(
    space: &SessionSpace,
    journal: &RecordChain,
    asked: &AskedRequest,
) -> Option<EarlierAnswer> {
    let cancelled_by = cancelled_by(journal, &asked.path);
    let start = journal.start();
    if asked.answer.is_none() && (cancelled_by.is_none() || start.allows(&asked.kind)) {
        return None;
    }
    let commit = asked.decision();
    let decision = commit.and_then(|commit| Decision::of_commit(space, commit).ok().flatten());
    let subject = decision.as_ref().and_then(|decision| decision.subject_of(&asked.payload));
    let (session, id) = (start.session, asked.id);
    Some(EarlierAnswer { session, id, commit, decision, cancelled_by, subject })
}

/// Finds what was decided last in the session that an agent's name stands for.
fn last_decided(space: &SessionSpace, agent: &str) -> Result<Option<EarlierAnswer>> {
    let Ok(session) = space.find_session(agent) else { return Ok(None) };
    let journal = read_journal(space, &session)?;
    for hold in summary::holds(space, &journal)? {
        // Decided, and nobody has gone on with it yet.
        let policy = Policy::of_payload(hold.reason, &hold.payload);
        let found = trust::find(space, journal.start(), &hold.id, Look::Free)?.counted;
        if let Some((commit, decision)) = policy.settle(&found) {
            let (commit, decision) = (Some(commit), Some(decision.clone()));
            let (id, cancelled_by, subject) = (hold.id, None, policy.subject);
            return Ok(Some(EarlierAnswer {
                session,
                id,
                commit,
                decision,
                cancelled_by,
                subject,
            }));
        }
    }
    let summary = summary::of_journal(space, &journal)?;
    let newest_first = || summary.asked.iter().rev();
    let by_person = newest_first().find(|asked| asked.decision().is_some());
    let stopped = || newest_first().find(|asked| is_stopped_hold(&journal, asked));
    Ok(by_person.or_else(stopped).and_then(|asked| decided(space, &journal, asked)))
}

/// Tells whether a request waited for a human when its session was told to stop.
fn is_stopped_hold(journal: &RecordChain, asked: &AskedRequest) -> bool {
    asked.kind == HOLD && cancelled_by(journal, &asked.path).is_some()
}

fn is_hex(text: &str) -> bool {
    text.len() >= 4 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl PendingHold {
    fn of(space: &SessionSpace, start: &StartRecord, standing: HoldStanding) -> PendingHold {
        let HoldStanding { hold, policy, found } = standing;
        let overdue = policy.is_overdue(space.now());
        let (votes, unverified) = (found.counted, found.unverified);
        let waiting = waiting_for(space, &start.key);
        PendingHold { hold, policy, overdue, votes, unverified, waiting }
    }

    /// Returns the question that is asked, if there is one.
    pub fn question(&self) -> Option<&str> {
        self.hold.payload.get("question").and_then(Value::as_text)
    }

    /// Says why nobody could ask it so any more: its policy is malformed, or its program was cancelled
    /// before it asked.
    ///
    /// # Errors
    /// Fails when the records cannot be read.
    pub fn flaw(&self, space: &SessionSpace) -> Result<Option<String>> {
        let (ask, payload) = (&self.hold.ask, self.hold.payload.clone());
        if ask.handling != Handling::Decision {
            return Ok(None);
        }
        let request = Request::new(ask.path.clone(), ask.kind.clone(), payload);
        if let Some(failure) = checked_kinds().refusal(&request) {
            return Ok(Some(failure.message));
        }
        let journal = read_journal(space, &self.hold.session)?;
        let newest_first = journal.records().iter().rev();
        let mut older = newest_first.skip_while(
            |record| !matches!(&record.body, Body::Ask(asked) if asked.path == ask.path),
        );
        let is_cancelled = older.any(|record| matches!(record.body, Body::Cancel(_)));
        Ok(is_cancelled.then(|| "it was asked after its session was cancelled".to_owned()))
    }

    /// Returns how long it has been waiting, in milliseconds.
    pub fn age_millis(&self, now: Instant) -> i64 {
        (now.millis() - self.hold.asked_at.millis()).max(0)
    }
}
