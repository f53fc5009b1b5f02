//! What a reader learns from the records of a session without running its program.
//!
//! A [`Session`](crate::Session) needs the program; pages, listings and decisions have the records
//! alone. [`SummaryReader`] takes them in one by one, so that whoever follows a journal can go on
//! where it stopped. A property test holds both to the same answers.

use agentic_model::{AgentName, Cid, Instant, Oid, Value};

use crate::record::{AskRecord, AttemptRecord, PermitScope, VoteRecord};
use crate::{
    AnswerSource, Engine, HoldReason, Path, ProgramFailure, ProgramPosition, RecordHash,
    RequestAnswer, RequestId, SessionId, SessionState,
};

mod reader;
mod wait;

pub use crate::summary::reader::{Attendance, SummaryReader};

/// The code of what a session waits with that nobody could answer.
pub const UNANSWERED: &str = "unanswered";
/// What the start key of a child begins with.
const CHILD: &str = "child ";

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
    pub state: SessionState,
    /// How many records there are, shared ones included.
    pub n_records: u64,
    /// The hash of the last record.
    pub chain: RecordHash,
    /// What it gave, once it is done.
    pub result: Option<Value>,
    /// Why it failed, once it has; while it waits, why nobody could answer what it asks.
    pub failure: Option<ProgramFailure>,
    /// The earliest instant it waits for.
    pub until: Option<Instant>,
    /// When whoever only watches asks again what nobody could answer.
    pub again_at: Option<Instant>,
    /// The session that waits for its result.
    pub child_of: Option<SessionId>,
    /// The session it was forked from, and after how many records.
    pub forked_from: Option<(SessionId, u64)>,
    /// Everything it asked, in order.
    pub asked: Vec<AskedRequest>,
    /// What waits for a human, oldest first.
    pub holds: Vec<OpenHold>,
    /// Whether it would stand otherwise if somebody began or ceased to be at work on it: no record says
    /// so.
    pub depends_on_attendance: bool,
}

/// One request of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedRequest {
    /// Its position in the journal.
    pub seq: u64,
    /// Its id.
    pub id: RequestId,
    /// The program that ran, if what it commits names that.
    pub behaviour: Option<Cid>,
    /// Where in the program.
    pub path: Path,
    /// What sort.
    pub kind: String,
    /// The data.
    pub payload: Value,
    /// Where in the source.
    pub position: Option<ProgramPosition>,
    /// When it was asked.
    pub asked_at: Instant,
    /// When it was answered.
    pub answered_at: Option<Instant>,
    /// What let its effect begin, oldest first: an effect that is in doubt may begin once more.
    pub permissions: Vec<Permission>,
    /// The votes that were noted, where several people must agree.
    pub votes: Vec<VoteRecord>,
    /// The attempts that failed and that the host has made good, or will.
    pub attempts: Vec<AttemptRecord>,
    /// The answer: its position, what came of it and who gave it.
    pub answer: Option<(u64, RequestAnswer, AnswerSource)>,
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

impl AskedRequest {
    /// Returns what let its effect begin last, where it was not allowed.
    pub fn permit(&self) -> Option<&Permission> {
        self.permissions.last()
    }

    /// Returns the commit of the decision that answered it, or that let its effect begin last.
    pub fn decision(&self) -> Option<Oid> {
        let permitted = self.permit().map(|permit| permit.decision.as_str());
        self.answered_by().or(permitted).and_then(|commit| Oid::parse(commit).ok())
    }

    /// Lists the commits of all decisions that answered it or let its effect begin.
    pub fn decisions(&self) -> impl Iterator<Item = Oid> {
        let permitted = self.permissions.iter().map(|permit| permit.decision.as_str());
        permitted.chain(self.answered_by()).filter_map(|commit| Oid::parse(commit).ok())
    }

    /// Returns the decision that it was answered by.
    fn answered_by(&self) -> Option<&str> {
        match &self.answer.as_ref()?.2 {
            AnswerSource::Decision(commit) => Some(commit),
            AnswerSource::Executor
            | AnswerSource::Timer
            | AnswerSource::Child(_)
            | AnswerSource::Edited(_)
            | AnswerSource::Signal(_)
            | AnswerSource::System(_) => None,
        }
    }
}

/// Returns the start key of the child session that a request begins.
pub fn child_key(parent: &SessionId, path: &Path) -> String {
    format!("{CHILD}{parent} {path}")
}

/// Finds the session that a child session answers to, by its start key.
pub fn parent_of(key: &str) -> Option<SessionId> {
    SessionId::parse(key.strip_prefix(CHILD)?.split(' ').next()?)
}
