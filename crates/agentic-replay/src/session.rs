//! A durable session: a program whose every answer is recorded before it matters.
//!
//! A [`Session`] decides what to append, what to perform and what to wait for; it does none of it
//! itself. Its host makes the records of each [`SessionProgress`] durable, performs what it lists,
//! and comes back with [`Session::answered`]. After a crash [`Session::load`] replays the journal:
//! every request is compared with its record before the recorded answer is used, and what had no
//! answer yet is performed again, asked again or put to a human, as its effect class says.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::sync::Arc;

use agentic_model::canonical::{self, CanonicalError};
use agentic_model::{AgentName, Cid, Instant, Value};

use crate::record::{
    AnswerRecord, AttemptRecord, CancelRecord, FoundRecord, PermitRecord, PermitScope, RETRY,
};
use crate::settle::settle;
use crate::{
    AnswerSource, Body, Chain, Coverage, End, Engine, Grant, Grants, Handling, Kinds, Path,
    Program, ProgramEvent, ProgramFailure, ProgramRun, Request, RequestAnswer, RequestHash,
    ScopeStep, SessionId, StartRecord, StoredObjects,
};

mod advance;
mod doubt;
mod fork;
mod progress;
mod replay;
mod scope;
mod signal;

use crate::session::advance::{SessionBeginning, outcome_of, place};
use crate::session::signal::Signals;

pub use crate::session::advance::{HOSTED_VALUE_BYTES_MAX, too_large};
pub use crate::session::fork::{ForkDraft, ForkError, PartedSession};
pub use crate::session::progress::{
    Hold, HoldReason, Performance, SessionProgress, WithdrawnRequest,
};
pub use crate::session::replay::{AnswerFold, LoadedSession, ReplayError, Upgrade};
pub use crate::session::signal::{SIGNALS_MAX, Signal, SignalDelivery};

/// What a session is opened with.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionOpening {
    /// The agent it runs as.
    pub agent: AgentName,
    /// The program, by its id.
    pub flow: Cid,
    /// What runs the program.
    pub engine: Engine,
    /// The input.
    pub input: Value,
    /// The start key: the same agent, program, input and key give the same session.
    pub key: String,
    /// The kinds of effects it may perform unasked; `*` stands for all.
    pub allow: Vec<String>,
    /// The head of the agent's branch, where there is one.
    pub head: Option<String>,
    /// The digest of what is configured, where what it asks needs that.
    pub configuration: Option<Cid>,
    /// The host that drives it, where that is not the embedded engine.
    pub host: Option<String>,
    /// Whether its commits name the program that makes them.
    pub stamp: bool,
}

/// What a session needs to know of its host.
#[derive(Clone, Copy)]
pub struct SessionSetting<'s> {
    /// What runs the program here.
    pub engine: &'s Engine,
    /// The kinds of requests.
    pub kinds: &'s Kinds,
    /// Where long values are found.
    pub objects: &'s dyn StoredObjects,
}

/// A session under way.
#[derive(Debug)]
pub struct Session<P> {
    run: ProgramRun<P>,
    chain: Chain,
    start: StartRecord,
    flow: Cid,
    /// The programs before, each with the position of the record that ended it.
    upgraded: Vec<(u64, Cid)>,
    kinds: Kinds,
    /// Requests without an answer.
    asks: BTreeMap<Path, Ask>,
    /// All paths ever asked.
    seen: HashSet<Path>,
    /// What was sent and has reached nobody.
    signals: Signals,
    /// What need not be asked for any more.
    grants: Grants,
    /// Scopes under way.
    scopes: scope::OpenScopes,
    /// How the program ended, while withdrawn requests have no answer yet.
    ending: Option<End>,
    /// How the session ended, once every request is answered.
    over: Option<End>,
}

/// A request without an answer.
#[derive(Debug)]
struct Ask {
    /// The position of its record.
    seq: u64,
    request: Arc<Request>,
    hash: RequestHash,
    handling: Handling,
    attempt: u32,
    /// When the next attempt is due, if one failed.
    next_at: Option<Instant>,
    standing: RequestStanding,
    /// Whether a record says that it was put before people since its effect was let begin last.
    is_doubted: bool,
    /// What was found before its effect began.
    found: Option<Value>,
    permit: Option<Permit>,
    /// The head of the branch on which it was put before people last.
    published: Option<String>,
}

/// A human let the effect of a request begin.
#[derive(Debug)]
struct Permit {
    /// The payload to use, where the decision edited it.
    edited: Option<Value>,
}

/// Where an unanswered request stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequestStanding {
    Open,
    /// Its effect may have happened before a crash.
    InDoubt,
    Withdrawn,
}

/// Something was done to a session that it is not open for.
#[derive(Debug, thiserror::Error)]
pub enum SessionRefusal {
    /// There is no such request, or it has its answer.
    #[error("request `{path}` is not open")]
    NotOpen {
        /// Where.
        path: Path,
    },
    /// The session is over, or its program has ended.
    #[error("the session is over")]
    Over,
    /// So many signals wait that no other is taken.
    #[error("too many signals wait for somebody to ask for them")]
    TooManySignals,
    /// A value has no canonical form.
    #[error("the value is no data")]
    NotData(#[source] CanonicalError),
}

/// What a program did between two answers, before it is compared or recorded.
#[derive(Debug, Default)]
struct Group {
    scopes: VecDeque<ScopeStep>,
    asks: BTreeMap<Path, Arc<Request>>,
    withdrawn: BTreeSet<Path>,
    events: Vec<ProgramEvent>,
}

impl Group {
    /// Joins what the program did when it was woken once more.
    fn join(&mut self, more: Group) {
        self.scopes.extend(more.scopes);
        self.asks.extend(more.asks);
        self.withdrawn.extend(more.withdrawn);
        self.events.extend(more.events);
    }
}

/// Something to record that changes nothing for the program.
#[derive(Debug, Clone, PartialEq)]
pub enum Note {
    /// A hold went on to other people.
    Escalate(crate::record::EscalateRecord),
    /// One of the votes a hold needs.
    Vote(crate::record::VoteRecord),
    /// A hold was put before people.
    Publish(crate::record::PublishRecord),
}

impl SessionOpening {
    /// Derives the id of the session.
    ///
    /// # Errors
    /// Fails when the input has no canonical form.
    pub fn session(&self) -> Result<SessionId, CanonicalError> {
        let input = Cid::of(&canonical::encode(&self.input)?);
        Ok(SessionId::derive(&self.agent, &self.flow, &input, &self.key))
    }
}

impl<P: Program> Session<P> {
    /// Starts a session.
    ///
    /// # Errors
    /// Fails when the input has no canonical form.
    pub fn start(
        opening: SessionOpening,
        at: Instant,
        program: P,
        kinds: &Kinds,
    ) -> Result<(Session<P>, SessionProgress), CanonicalError> {
        let session = opening.session()?;
        let mut progress = SessionProgress::default();
        let input = settle(opening.input)?;
        let start = StartRecord {
            session,
            agent: opening.agent,
            flow: opening.flow,
            engine: opening.engine,
            input: place(&input, &mut progress.objects),
            seed: session.seed(),
            key: opening.key,
            allow: opening.allow,
            head: opening.head,
            configuration: opening.configuration,
            host: opening.host,
            stamp: opening.stamp,
            parent: None,
        };
        let mut chain = Chain::empty();
        progress.links.push(chain.append(at, Body::Start(Box::new(start.clone()))));
        let beginning = SessionBeginning { start, input, at, chain, kinds };
        let (mut session, group) = Session::begin(program, beginning);
        session.record(group, &mut progress);
        Ok((session, progress))
    }

    /// Records the answer to a request and runs on. An answer to a withdrawn request is recorded
    /// and goes no further.
    ///
    /// # Errors
    /// Fails when the request is not open.
    pub fn answered(
        &mut self,
        path: &Path,
        answer: RequestAnswer,
        by: AnswerSource,
        at: Instant,
    ) -> Result<SessionProgress, SessionRefusal> {
        let ask = self.take(path)?;
        let mut progress = SessionProgress::default();
        let answer = answer.settled();
        self.signals.delivered(&by);
        let outcome = outcome_of(&answer, &mut progress.objects);
        let record = AnswerRecord { path: path.clone(), outcome, by, attempt: ask.attempt };
        self.append(at, Body::Answer(record), &mut progress);
        let group = match ask.standing {
            RequestStanding::Withdrawn => Group::default(),
            RequestStanding::Open | RequestStanding::InDoubt => {
                self.deliver(path, answer, self.chain.at())
            }
        };
        self.record(group, &mut progress);
        Ok(progress)
    }

    /// Records a failed attempt, and lists the effect to be performed again at `next_at`; without an
    /// instant it is left to whoever goes on with the session.
    ///
    /// # Errors
    /// Fails when the request is not open.
    pub fn attempted(
        &mut self,
        path: &Path,
        error: &str,
        next_at: Option<Instant>,
        at: Instant,
    ) -> Result<SessionProgress, SessionRefusal> {
        let ask = self.ask_mut(path)?;
        let n = ask.attempt;
        ask.attempt += 1;
        ask.next_at = Some(next_at.unwrap_or(at));
        let mut progress = SessionProgress::default();
        let error = ProgramFailure::new("", error).settled().message;
        let record = AttemptRecord { path: path.clone(), n, error, next_at };
        self.append(at, Body::Attempt(record), &mut progress);
        if next_at.is_some() {
            self.list(path, &mut progress);
        }
        Ok(progress)
    }

    /// Records what was found before an effect begins that replaces it. When the effect is performed
    /// again after a crash, that is given along.
    ///
    /// # Errors
    /// Fails when the request is not open, and when what was found is no data.
    pub fn found(
        &mut self,
        path: &Path,
        found: Value,
        at: Instant,
    ) -> Result<SessionProgress, SessionRefusal> {
        let mut progress = SessionProgress::default();
        let found = settle(found).map_err(SessionRefusal::NotData)?;
        let stored = place(&found, &mut progress.objects);
        self.ask_mut(path)?.found = Some(found);
        let record = FoundRecord { path: path.clone(), found: stored };
        self.append(at, Body::Found(record), &mut progress);
        Ok(progress)
    }

    /// Records that the next attempt of an effect begins, so that a crash during it can be told
    /// from one before it. Only effects that may happen once at most need it.
    ///
    /// # Errors
    /// Fails when the request is not open.
    pub fn retried(&mut self, path: &Path, at: Instant) -> Result<SessionProgress, SessionRefusal> {
        self.ask_mut(path)?.next_at = None;
        let mut progress = SessionProgress::default();
        let decision = RETRY.to_owned();
        let scope = PermitScope::Once;
        let record = PermitRecord { path: path.clone(), decision, edited: None, scope };
        self.append(at, Body::Permit(record), &mut progress);
        Ok(progress)
    }

    /// Records that a held effect may be performed after all, with another payload where the
    /// decision edited it, and lists it for performing. For the rest of the session only what was not
    /// allowed can be permitted, as it was asked: otherwise it is permitted once.
    ///
    /// # Errors
    /// Fails when the request is not held for permission or for doubt, and when the edited
    /// payload is no data.
    pub fn permit(
        &mut self,
        path: &Path,
        decision: &str,
        edited: Option<Value>,
        scope: PermitScope,
        at: Instant,
    ) -> Result<SessionProgress, SessionRefusal> {
        let held = self.hold(path).map(|hold| hold.reason);
        let Some(reason @ (HoldReason::NotAllowed | HoldReason::InDoubt)) = held else {
            return Err(SessionRefusal::NotOpen { path: path.clone() });
        };
        let is_wide = scope == PermitScope::RestOfSession
            && reason == HoldReason::NotAllowed
            && edited.is_none();
        let scope = if is_wide { scope } else { PermitScope::Once };
        let mut progress = SessionProgress::default();
        let edited = edited.map(settle).transpose().map_err(SessionRefusal::NotData)?;
        let stored = edited.as_ref().map(|value| place(value, &mut progress.objects));
        let ask = self.ask_mut(path)?;
        ask.standing = RequestStanding::Open;
        ask.permit = Some(Permit { edited });
        let decision = decision.to_owned();
        if is_wide {
            let coverage = Coverage::of(&ask.request.kind, &ask.request.payload);
            let seq = self.chain.length();
            self.grants.add(Grant { seq, decision: decision.clone(), coverage });
        }
        let record = PermitRecord { path: path.clone(), decision, edited: stored, scope };
        self.append(at, Body::Permit(record), &mut progress);
        self.list(path, &mut progress);
        Ok(progress)
    }

    /// Records that the session is to stop, and tells the program; or ends it at once.
    ///
    /// # Errors
    /// Fails when the program has ended.
    pub fn cancel(
        &mut self,
        cancel: CancelRecord,
        at: Instant,
    ) -> Result<SessionProgress, SessionRefusal> {
        if self.run.has_ended() {
            return Err(SessionRefusal::Over);
        }
        let mut progress = SessionProgress::default();
        self.append(at, Body::Cancel(cancel.clone()), &mut progress);
        let group = self.stop(&cancel, self.chain.at());
        self.record(group, &mut progress);
        Ok(progress)
    }

    /// Records something that changes nothing for the program: a vote, an escalation, a publication.
    ///
    /// # Errors
    /// Fails when the session is over.
    pub fn note(&mut self, note: Note, at: Instant) -> Result<SessionProgress, SessionRefusal> {
        if self.over.is_some() {
            return Err(SessionRefusal::Over);
        }
        let mut progress = SessionProgress::default();
        let body = match note {
            Note::Escalate(record) => Body::Escalate(record),
            Note::Vote(record) => Body::Vote(record),
            Note::Publish(record) => {
                self.publish(&record);
                Body::Publish(record)
            }
        };
        self.append(at, body, &mut progress);
        Ok(progress)
    }

    /// Returns the requests that wait for a human, by path.
    pub fn pending(&self) -> Vec<Hold> {
        self.asks.keys().filter_map(|path| self.hold(path)).collect()
    }

    /// Returns the unanswered requests, withdrawn ones included, by path.
    pub fn unanswered(&self) -> impl Iterator<Item = &Arc<Request>> {
        self.asks.values().map(|ask| &ask.request)
    }

    /// Returns the program as it stands, to be looked at.
    pub fn program(&self) -> &P {
        self.run.program()
    }

    /// Says whether the program has ended, be there requests that have no answer yet or not.
    pub fn program_has_ended(&self) -> bool {
        self.run.has_ended()
    }

    /// Returns how the session began.
    pub fn started(&self) -> &StartRecord {
        &self.start
    }

    /// Returns the program that the session runs now.
    pub fn flow(&self) -> Cid {
        self.flow
    }

    /// Returns the program that ran when a request was asked, which its commits name; nothing where the
    /// session is of a release that named none.
    pub fn behaviour_of(&self, path: &Path) -> Option<Cid> {
        let seq = self.asks.get(path).map_or(u64::MAX, |ask| ask.seq);
        let before = self.upgraded.iter().find(|(ended, _)| *ended > seq);
        self.start.stamp.then(|| before.map_or(self.flow, |(_, flow)| *flow))
    }

    /// Returns the end of the chain.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// Returns how the session ended, once it has and every request is answered.
    pub fn end(&self) -> Option<&End> {
        self.over.as_ref()
    }
}
