//! What a session's journal is made of.
//!
//! A journal is a chain of records: each names the hash of the bytes of the one before. Records
//! are data; [`crate::Session`] decides which to append. Payloads and answers stand in a record as
//! a byte string of their own canonical bytes: so they keep their full depth, an answer can never
//! pose as a reference, and a replay compares hashes without decoding what was asked.

use std::fmt;

use agentic_model::{AgentName, Cid, Instant};

use crate::{
    CancelExtent, Handling, Path, ProgramPosition, RecordHash, RequestHash, Seed, SessionId,
};

mod body;
mod codec;
mod stored;

pub use crate::record::codec::{InvalidRecord, UnreadableRecord};
pub use crate::record::stored::{
    INLINE_BYTES_MAX, MissingObject, PurgedValue, StoredObjects, StoredValue,
};

/// One record of a journal.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Its position, from 0.
    pub seq: u64,
    /// The hash of the record before.
    pub prev: RecordHash,
    /// When it was made; never before the one before.
    pub at: Instant,
    /// What it says.
    pub body: Body,
}

/// What a record says.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// A session begins, or a fork leaves the records before.
    Start(Box<StartRecord>),
    /// The program asks; durable before the effect begins.
    Ask(Box<AskRecord>),
    /// The one answer to an ask.
    Answer(AnswerRecord),
    /// An attempt failed and the host will try again by itself.
    Attempt(AttemptRecord),
    /// Something reached the session from outside.
    Signal(SignalRecord),
    /// A hold went on to other people.
    Escalate(EscalateRecord),
    /// One of the votes a hold needs.
    Vote(VoteRecord),
    /// A hold was put before people, on this head of the agent's branch.
    Publish(PublishRecord),
    /// What was found before an effect began that replaces it.
    Found(FoundRecord),
    /// A held effect may be performed: allowed by a decision, or to be tried again after a doubt; or
    /// the next attempt of an effect that may happen once at most begins, by [`RETRY`].
    Permit(PermitRecord),
    /// The session goes on with another program, which made the same requests so far.
    Upgrade(UpgradeRecord),
    /// The program no longer waits for a request.
    Withdraw(WithdrawRecord),
    /// Somebody asked the session to stop.
    Cancel(CancelRecord),
    /// A scope ended, and stands for the records inside.
    ScopeEnd(ScopeEndRecord),
    /// The session is over and goes on as a new one.
    Continue(ContinueRecord),
    /// The session is over.
    End(Outcome),
}

/// How a session, or a fork of one, begins.
#[derive(Debug, Clone, PartialEq)]
pub struct StartRecord {
    /// The session.
    pub session: SessionId,
    /// The agent it runs as.
    pub agent: AgentName,
    /// The program.
    pub flow: Cid,
    /// What runs the program.
    pub engine: Engine,
    /// The input.
    pub input: StoredValue,
    /// What all randomness derives from. In a fork: beyond the cut.
    pub seed: Seed,
    /// The start key.
    pub key: String,
    /// The kinds of effects it may perform unasked; `*` stands for all.
    pub allow: Vec<String>,
    /// The head of the agent's branch, where there is one.
    pub head: Option<String>,
    /// The digest of what was configured when it began, where what it asks needs that.
    pub configuration: Option<Cid>,
    /// The host that drives it, where that is not the embedded engine.
    pub host: Option<String>,
    /// Whether its commits name the program that makes them. Those of earlier releases do not.
    pub stamp: bool,
    /// For a fork: what the chain before belongs to.
    pub parent: Option<ForkPoint>,
}

/// A language and the version of its meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engine {
    /// The language, such as `rhai`.
    pub language: String,
    /// Raised by every change that can alter a request.
    pub semantics: u32,
}

/// Where a fork leaves its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForkPoint {
    /// The parent.
    pub session: SessionId,
    /// The first position that is not shared.
    pub seq: u64,
    /// The hash of the last shared record.
    pub hash: RecordHash,
}

/// A request, as it was asked.
#[derive(Debug, Clone, PartialEq)]
pub struct AskRecord {
    /// Where in the program.
    pub path: Path,
    /// What sort.
    pub kind: String,
    /// The hash that replay compares.
    pub hash: RequestHash,
    /// The data.
    pub payload: StoredValue,
    /// The schema of the answer.
    pub schema: Option<Cid>,
    /// Who answers, by the rule of the day it was asked.
    pub handling: Handling,
    /// The time limit.
    pub timeout_ms: Option<u64>,
    /// Where in the source; for people only.
    pub position: Option<ProgramPosition>,
}

/// The answer to an ask.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerRecord {
    /// Which ask.
    pub path: Path,
    /// What came of it.
    pub outcome: Outcome,
    /// Who answers.
    pub by: AnswerSource,
    /// Which attempt, from 1.
    pub attempt: u32,
}

/// How a request or a whole session went.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// With a value.
    Ok(StoredValue),
    /// With a failure.
    Failed {
        /// What sort.
        code: String,
        /// What happened.
        message: String,
        /// More data.
        details: StoredValue,
    },
    /// The time limit came first. Never the outcome of a session.
    TimedOut,
    /// It was cancelled. Of a session, `Stopped`.
    Cancelled(CancelExtent),
}

/// Who gave an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerSource {
    /// An executor.
    Executor,
    /// A decision, by its commit.
    Decision(String),
    /// The clock.
    Timer,
    /// A child session.
    Child(SessionId),
    /// A person who forked the session and set another answer.
    Edited(String),
    /// A signal, by the position of its record.
    Signal(u64),
    /// The engine itself, such as `system:fork`.
    System(String),
}

impl fmt::Display for AnswerSource {
    /// Says who answered, as it is shown of a session.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AnswerSource::Executor => f.write_str("executor"),
            AnswerSource::Decision(commit) => write!(f, "decision {commit}"),
            AnswerSource::Timer => f.write_str("timer"),
            AnswerSource::Child(session) => write!(f, "child {session}"),
            AnswerSource::Edited(who) => write!(f, "edited {who}"),
            AnswerSource::Signal(seq) => write!(f, "signal {seq}"),
            AnswerSource::System(what) => write!(f, "system {what}"),
        }
    }
}

/// A failed attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptRecord {
    /// Which ask.
    pub path: Path,
    /// Which attempt, from 1.
    pub n: u32,
    /// What happened.
    pub error: String,
    /// When to try again; without an instant, when somebody goes on with the session.
    pub next_at: Option<Instant>,
}

/// What stood before an effect began: what it takes to tell, after a crash, what it replaced.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundRecord {
    /// Which ask.
    pub path: Path,
    /// What was found, as whoever performs the effect says it.
    pub found: StoredValue,
}

/// A signal. What it is delivered to names the position of this record.
#[derive(Debug, Clone, PartialEq)]
pub struct SignalRecord {
    /// What tells it from every other, so that one that is received twice counts once.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its data.
    pub value: StoredValue,
}

/// An escalation.
#[derive(Debug, Clone, PartialEq)]
pub struct EscalateRecord {
    /// Which hold.
    pub path: Path,
    /// Whom it went to.
    pub to: Vec<String>,
    /// Why.
    pub why: String,
}

/// A vote.
#[derive(Debug, Clone, PartialEq)]
pub struct VoteRecord {
    /// Which hold.
    pub path: Path,
    /// The commit that holds the vote.
    pub decision: String,
    /// Who voted.
    pub principal: String,
    /// For what action.
    pub action: String,
}

/// A publication: decisions of the hold stand behind this head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishRecord {
    /// Which hold.
    pub path: Path,
    /// The head of the agent's branch.
    pub head: String,
}

/// What stands in place of a decision where the host lets another attempt begin by itself.
pub const RETRY: &str = "system:retry";

/// A permission.
#[derive(Debug, Clone, PartialEq)]
pub struct PermitRecord {
    /// Which ask.
    pub path: Path,
    /// The decision, or [`RETRY`].
    pub decision: String,
    /// The payload to use in place of the one asked, where the decision edited it.
    pub edited: Option<StoredValue>,
    /// For how long.
    pub scope: PermitScope,
}

/// For how long a permission counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PermitScope {
    /// For this request.
    #[default]
    Once,
    /// For later requests like it too ([`crate::Grants`]).
    RestOfSession,
    /// For this request, because an earlier permission covers it: the position of its record.
    Under(u64),
}

/// A change of program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpgradeRecord {
    /// The program before.
    pub from: Cid,
    /// The program from here on.
    pub to: Cid,
    /// The first position that was not compared.
    pub verified: u64,
}

/// A withdrawal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithdrawRecord {
    /// Which ask.
    pub path: Path,
    /// Why.
    pub why: Why,
}

/// Why a request was withdrawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The program dropped it and went on.
    Dropped,
    /// The program ended.
    Ended,
}

/// A cancellation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CancelRecord {
    /// Who asked.
    pub who: String,
    /// Why.
    pub why: String,
    /// How.
    pub mode: CancelMode,
}

/// How a session is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelMode {
    /// The program may clean up.
    Cooperative,
    /// At once.
    Kill,
}

/// A finished scope.
#[derive(Debug, Clone, PartialEq)]
pub struct ScopeEndRecord {
    /// The path of the scope.
    pub path: Path,
    /// The first position inside.
    pub from: u64,
    /// One past the last position inside.
    pub to: u64,
    /// The hash over the records inside.
    pub hash: RecordHash,
    /// What the scope gave.
    pub result: StoredValue,
}

/// A session that goes on as a new one.
#[derive(Debug, Clone, PartialEq)]
pub struct ContinueRecord {
    /// The input of the new one.
    pub state: StoredValue,
    /// Its program.
    pub flow: Cid,
}

impl ForkPoint {
    /// Returns the key by which the id of a fork that leaves here is derived.
    pub(crate) fn key_of_fork(&self, key: &str) -> String {
        format!("fork {} {} {key}", self.session, self.seq)
    }
}

impl StartRecord {
    /// Says whether the session has the id that follows from how it began.
    pub fn is_named_rightly(&self) -> bool {
        let key = match &self.parent {
            None => self.key.clone(),
            Some(point) => point.key_of_fork(&self.key),
        };
        self.session == SessionId::derive(&self.agent, &self.flow, &self.input.cid(), &key)
    }

    /// Says whether effects of a kind may be performed unasked.
    pub fn allows(&self, kind: &str) -> bool {
        is_allowed(&self.allow, kind)
    }
}

/// Says whether effects of a kind are among those that may be performed unasked.
pub fn is_allowed(allow: &[String], kind: &str) -> bool {
    allow.iter().any(|allowed| allowed == kind || allowed == "*")
}
