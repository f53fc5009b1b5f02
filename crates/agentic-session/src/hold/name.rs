//! What a name of a hold leads to: the one place that turns a text into a request.

use std::sync::Arc;

use agentic_model::{AgentName, Oid};
use agentic_replay::{AskedRequest, HOLD, OpenHold, Path, RecordChain, RequestId, SessionId};

use super::earlier::{EarlierAnswer, is_stopped_hold};
use super::standing::HoldStanding;
use super::{Filter, PendingHold, oldest_first, open_in, pending};
use crate::decide::{Decision, Policy};
use crate::error::{DecisionError, RequestError};
use crate::own::read_journal;
use crate::summary;
use crate::trust::{self, Look};
use crate::{Error, Result, SessionSpace, find_run};

/// How many digits of the id of a request are shown. So many name one.
const DIGITS_SHOWN: usize = 12;

/// How a hold is named from outside.
#[derive(Debug, Clone, Copy)]
pub struct HoldName<'a> {
    /// A request as it is listed, an agent with one open hold, or the key of a run.
    pub request: &'a str,
    /// The node of a pipeline that asks, where `request` names a run.
    pub node: Option<&'a str>,
}

/// What a name of a request leads to.
#[derive(Debug)]
pub enum NamedRequest {
    /// An open hold.
    Open(Box<PendingHold>),
    /// A request that was decided.
    Decided(Box<EarlierAnswer>),
}

impl HoldName<'_> {
    /// Finds the hold that is meant.
    ///
    /// # Errors
    /// Fails when there is none, or several.
    pub fn find(self, space: &SessionSpace) -> Result<NamedRequest> {
        if let Some(node) = self.node {
            return find_at_node(space, &find_run(space, self.request)?, node);
        }
        match find_hold(space, self.request) {
            Ok(named) => Ok(named),
            Err(error @ Error::Request(RequestError::Ambiguous { .. })) => Err(error),
            // What names no run either is told as it was said.
            Err(error) => match find_run(space, self.request) {
                Ok(run) => find_hold_of(space, &run),
                Err(_) => Err(error),
            },
        }
    }

    /// Finds the open hold that is meant; one that was decided is refused with who did that.
    ///
    /// # Errors
    /// Fails when there is none, or several, and when it was decided.
    pub fn open(self, space: &SessionSpace) -> Result<PendingHold> {
        match self.find(space)? {
            NamedRequest::Open(pending) => match EarlierAnswer::of_settled(&pending) {
                // Its session has only not gone on with it yet.
                Some(earlier) => Err(earlier.refusal(space)),
                None => Ok(*pending),
            },
            NamedRequest::Decided(earlier) => Err(earlier.refusal(space)),
        }
    }
}

impl NamedRequest {
    /// Returns the decision that a commit on the agent's branch says it is, to be accepted by somebody
    /// here.
    ///
    /// # Errors
    /// Fails when it is none for this request, and when that is decided already.
    pub fn proposed(&self, space: &SessionSpace, commit: Oid) -> Result<&Decision> {
        let pending = match self {
            NamedRequest::Open(pending) => pending,
            NamedRequest::Decided(earlier) => return Err(earlier.clone().refusal(space)),
        };
        let proposed = pending.unverified.iter().find(|(oid, _)| *oid == commit);
        proposed.map(|(_, decision)| decision).ok_or_else(|| {
            let request = short_request(pending);
            Error::Decision(DecisionError::NotADecision { commit, request })
        })
    }
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
        return find_of_agent(space, agent);
    };
    let session = space.find_session(session).map_err(|_| unknown())?;
    let session = HoldSession::read(space, &session)?;
    let is_named = |id: &RequestId| id.to_string().starts_with(request);
    if request.len() >= DIGITS_SHOWN
        && let Some(hold) = session.holds.iter().find(|hold| is_named(&hold.id))
    {
        return session.open(hold);
    }
    // Only what has its answer needs the whole record, and what could mean several requests.
    let mut asked = session.asked()?;
    asked.retain(|asked| is_named(&asked.id));
    match asked.as_slice() {
        [asked] => session.named(asked)?.ok_or_else(unknown),
        _ => Err(unknown()),
    }
}

/// Finds the request of a session with this id, open or decided.
///
/// # Errors
/// Fails when it has none.
pub(crate) fn find_request(
    space: &SessionSpace,
    id: &SessionId,
    request: &RequestId,
) -> Result<NamedRequest> {
    let session = HoldSession::read(space, id)?;
    let asked = session.asked()?.into_iter().find(|asked| asked.id == *request);
    let named = asked.map_or(Ok(None), |asked| session.named(&asked))?;
    let unknown = || Error::Request(RequestError::Unknown { id: id.short_request(request) });
    named.ok_or_else(unknown)
}

/// Finds the hold that a session has at a node, open or decided.
///
/// # Errors
/// Fails when there is none, or several.
pub(crate) fn find_at_node(
    space: &SessionSpace,
    id: &SessionId,
    node: &str,
) -> Result<NamedRequest> {
    let session = HoldSession::read(space, id)?;
    let stands_there =
        |path: &Path| path.as_str() == node || path.as_str().split('/').any(|part| part == node);
    let mut holds = session.asked()?;
    holds.retain(|asked| asked.kind == HOLD && stands_there(&asked.path));
    match holds.as_slice() {
        [only] => session.named(only)?.ok_or_else(|| {
            Error::Request(RequestError::Unknown { id: id.short_request(&only.id) })
        }),
        [] => Err(Error::Request(RequestError::NoHold { run: id.short(), node: node.to_owned() })),
        _ => {
            let candidates = holds.iter().map(|asked| id.short_request(&asked.id));
            Err(ambiguous(node.to_owned(), candidates))
        }
    }
}

/// Finds the hold of a session: its only open one, else what its agent's name leads to.
///
/// # Errors
/// Fails when there is none, or several.
pub(crate) fn find_hold_of(space: &SessionSpace, id: &SessionId) -> Result<NamedRequest> {
    let journal = read_journal(space, id)?;
    let mut own = open_in(space, &journal)?;
    oldest_first(&mut own);
    match own.len() {
        // The agent's other sessions may be its children, and what was decided is told as such.
        0 => find_of_agent(space, journal.start().agent.clone()),
        1 => Ok(NamedRequest::Open(Box::new(own.remove(0)))),
        _ => Err(ambiguous(id.short(), own.iter().map(short_request))),
    }
}

/// Finds the only open hold of an agent, else what was decided last in the session that its name
/// stands for.
fn find_of_agent(space: &SessionSpace, agent: AgentName) -> Result<NamedRequest> {
    space.head(&agent)?;
    let name = agent.to_string();
    let filter = Filter { agent: Some(agent), ..Filter::default() };
    let mut open = pending(space, &filter)?;
    match open.len() {
        0 => {
            let session = space.find_session(&name).map(|id| HoldSession::read(space, &id));
            let decided = session.map_or(Ok(None), |session| session?.last_decided())?;
            let decided = decided.map(|decided| NamedRequest::Decided(Box::new(decided)));
            decided.ok_or(Error::Request(RequestError::Unknown { id: name }))
        }
        1 => Ok(NamedRequest::Open(Box::new(open.remove(0)))),
        _ => Err(ambiguous(name, open.iter().map(short_request))),
    }
}

fn short_request(pending: &PendingHold) -> String {
    pending.hold.session.short_request(&pending.hold.id)
}

fn ambiguous(id: String, candidates: impl Iterator<Item = String>) -> Error {
    Error::Request(RequestError::Ambiguous { id, candidates: candidates.collect() })
}

fn is_hex(text: &str) -> bool {
    text.len() >= 4 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A session in which a request is looked for: its records, read once, and what is open in them.
struct HoldSession<'a> {
    space: &'a SessionSpace,
    journal: Arc<RecordChain>,
    holds: Vec<OpenHold>,
}

impl HoldSession<'_> {
    fn read<'a>(space: &'a SessionSpace, id: &SessionId) -> Result<HoldSession<'a>> {
        let journal = read_journal(space, id)?;
        let holds = summary::holds(space, &journal)?;
        Ok(HoldSession { space, journal, holds })
    }

    /// Lists all requests, in order. That takes the whole record.
    fn asked(&self) -> Result<Vec<AskedRequest>> {
        Ok(summary::of_journal(self.space, &self.journal)?.asked)
    }

    /// Tells how a request stands that is open or was decided; nothing if it is neither.
    fn named(&self, asked: &AskedRequest) -> Result<Option<NamedRequest>> {
        if let Some(hold) = self.holds.iter().find(|hold| hold.id == asked.id) {
            return self.open(hold).map(Some);
        }
        let decided = EarlierAnswer::of_request(self.space, &self.journal, asked);
        Ok(decided.map(|decided| NamedRequest::Decided(Box::new(decided))))
    }

    fn open(&self, hold: &OpenHold) -> Result<NamedRequest> {
        let space = self.space;
        let standing = HoldStanding::of(space, &self.journal, hold.clone(), space.now())?;
        let pending = PendingHold::of(space, self.journal.start(), standing);
        Ok(NamedRequest::Open(Box::new(pending)))
    }

    /// Finds what was decided last.
    fn last_decided(&self) -> Result<Option<EarlierAnswer>> {
        let (space, journal) = (self.space, &self.journal);
        for hold in &self.holds {
            // Decided, and nobody has gone on with it yet.
            let policy = Policy::of_payload(hold.reason, &hold.payload);
            let found = trust::find(space, journal, &hold.id, Look::Free)?.counted;
            if let Some((commit, decision)) = policy.settle(&found) {
                let session = hold.session;
                return Ok(Some(EarlierAnswer::of_decision(session, commit, decision, &policy)));
            }
        }
        let asked = self.asked()?;
        let newest_first = || asked.iter().rev();
        let by_person = newest_first().find(|asked| asked.decision().is_some());
        let stopped = || newest_first().find(|asked| is_stopped_hold(journal, asked));
        let last = by_person.or_else(stopped);
        Ok(last.and_then(|asked| EarlierAnswer::of_request(space, journal, asked)))
    }
}
