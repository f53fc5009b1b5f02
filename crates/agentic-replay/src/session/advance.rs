//! What live sessions and replays share: running on, recording, listing.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use agentic_model::{Cid, Instant, Value, canonical};

use super::WithdrawnRequest;
use super::scope::OpenScopes;
use super::signal::Signals;
use super::{
    Ask, Group, Hold, HoldReason, Performance, Permit, RequestStanding, Session, SessionProgress,
    SessionRefusal,
};
use crate::record::{
    AskRecord, CancelMode, CancelRecord, ContinueRecord, Outcome, PermitRecord, PermitScope, Why,
    WithdrawRecord,
};
use crate::{
    Body, CancelExtent, Chain, DEFECT, EffectClass, End, Grants, Handling, HostStep, Kinds, Path,
    Program, ProgramFailure, ProgramRun, Request, RequestAnswer, RequestHash, RequestId, Start,
    StartRecord, Storage, StoredValue,
};

/// The longest value that a session takes which another host drives, in canonical bytes.
pub const HOSTED_VALUE_BYTES_MAX: usize = 1 << 20;
/// The code of a failure about a longer one.
const TOO_LARGE: &str = "ValueTooLarge";

/// Says that a value is longer than another host takes.
pub fn too_large(what: &str, length: usize) -> ProgramFailure {
    let message = format!(
        "{what} has {length} bytes, more than the {HOSTED_VALUE_BYTES_MAX} that this engine takes"
    );
    ProgramFailure::new(TOO_LARGE, message)
}

/// What a session begins with.
pub(super) struct SessionBeginning<'b> {
    pub(super) start: StartRecord,
    pub(super) input: Value,
    /// The time of the start record.
    pub(super) at: Instant,
    /// The chain to append to.
    pub(super) chain: Chain,
    pub(super) kinds: &'b Kinds,
}

impl<P: Program> Session<P> {
    /// Starts the program.
    pub(super) fn begin(program: P, beginning: SessionBeginning<'_>) -> (Session<P>, Group) {
        let SessionBeginning { start, input, at, chain, kinds } = beginning;
        let mut program = program;
        program.mean_as(start.engine.semantics);
        let (run, step) = ProgramRun::begin(program, &Start { input, seed: start.seed, at });
        let mut session = Session {
            run,
            chain,
            flow: start.flow,
            upgraded: Vec::new(),
            start,
            kinds: kinds.clone(),
            asks: BTreeMap::new(),
            seen: HashSet::new(),
            signals: Signals::default(),
            grants: Grants::default(),
            scopes: OpenScopes::default(),
            ending: None,
            over: None,
        };
        let group = session.group(step);
        (session, group)
    }

    /// Hands an answer to the program.
    pub(super) fn deliver(&mut self, path: &Path, answer: RequestAnswer, at: Instant) -> Group {
        let step = self.run.deliver(path, answer, at);
        self.group(step)
    }

    pub(super) fn stop(&mut self, cancel: &CancelRecord, at: Instant) -> Group {
        self.scopes.clear();
        let step = match cancel.mode {
            CancelMode::Cooperative => self.run.cancel(&cancel.why, at),
            CancelMode::Kill => self.run.kill(),
        };
        self.group(step)
    }

    /// Takes in what the program did. A path that was asked before ends it: two requests with one
    /// id could be taken for each other.
    fn group(&mut self, step: HostStep) -> Group {
        let again = step.opened.iter().find(|request| self.seen.contains(&request.path));
        let step = match again.map(|request| request.path.clone()) {
            Some(path) => self.refuse_path(&path, step),
            None => step,
        };
        self.seen.extend(step.opened.iter().map(|request| request.path.clone()));
        let end = step.end.map(|end| self.bounded(end));
        self.ending = self.ending.take().or(end);
        let by_path = |request: Arc<Request>| (request.path.clone(), request);
        Group {
            scopes: step.scopes.into(),
            asks: step.opened.into_iter().map(by_path).collect(),
            withdrawn: step.withdrawn.into_iter().collect(),
            events: step.events,
        }
    }

    /// Refuses a result that is longer than another host takes. The start record names that host, so every
    /// replay refuses the same.
    fn bounded(&self, end: End) -> End {
        let (Some(_), End::Done(value)) = (&self.start.host, &end) else { return end };
        match canonical::encode(value) {
            Ok(bytes) if bytes.len() > HOSTED_VALUE_BYTES_MAX => {
                End::Failed(too_large("the result", bytes.len()))
            }
            Ok(_) | Err(_) => end,
        }
    }

    fn refuse_path(&mut self, path: &Path, step: HostStep) -> HostStep {
        let message = format!("request `{path}` is asked a second time");
        let opened: BTreeSet<&Path> = step.opened.iter().map(|request| &request.path).collect();
        let mut failed = self.run.fail(ProgramFailure::new(DEFECT, message));
        failed.withdrawn.retain(|path| !opened.contains(path));
        failed.withdrawn.extend(step.withdrawn);
        HostStep { events: step.events, scopes: step.scopes, ..failed }
    }

    /// Records what the program did since the last record, and lists what is to be done.
    pub(super) fn record(&mut self, group: Group, progress: &mut SessionProgress) {
        let at = self.chain.at();
        for step in group.scopes {
            let seq = self.chain.length();
            if let Some(ended) = self.scopes.step(step, seq, &mut progress.objects) {
                self.append(at, Body::ScopeEnd(ended), progress);
            }
        }
        let why = if self.ending.is_some() { Why::Ended } else { Why::Dropped };
        for path in group.withdrawn {
            // After a crash it was listed like everything that has no answer.
            progress.unlist(&path);
            self.append(at, Body::Withdraw(WithdrawRecord { path: path.clone(), why }), progress);
            self.withdraw(&path);
            self.list(&path, progress);
        }
        for (path, request) in group.asks {
            let body = self.ask(request, progress);
            self.append(at, Body::Ask(Box::new(body)), progress);
            self.permit_covered(&path, progress);
            self.list(&path, progress);
        }
        progress.events.extend(group.events);
        self.close(progress);
    }

    /// Lets the effect of a request begin that an earlier permission covers, and records so. Nobody is
    /// asked.
    pub(super) fn permit_covered(&mut self, path: &Path, progress: &mut SessionProgress) {
        if self.grants.is_empty() {
            return;
        }
        let held = self.hold(path).filter(|hold| hold.reason == HoldReason::NotAllowed);
        let (Some(hold), Some(ask)) = (held, self.asks.get_mut(path)) else { return };
        let Request { kind, payload, .. } = &*hold.request;
        let Some(grant) = self.grants.covering(ask.seq, kind, payload) else { return };
        ask.permit = Some(Permit { edited: None });
        let decision = grant.decision.clone();
        let scope = PermitScope::Under(grant.seq);
        let record = PermitRecord { path: path.clone(), decision, edited: None, scope };
        self.append(self.chain.at(), Body::Permit(record), progress);
    }

    /// Appends the end once the program has ended and every request has its answer.
    fn close(&mut self, progress: &mut SessionProgress) {
        if !self.asks.is_empty() {
            return;
        }
        let Some(end) = self.ending.take() else { return };
        let body = end_body(&end, self.flow, &mut progress.objects);
        self.append(self.chain.at(), body, progress);
        progress.end = Some(end.clone());
        self.over = Some(end);
    }

    pub(super) fn append(&mut self, at: Instant, body: Body, progress: &mut SessionProgress) {
        let link = self.chain.append(at, body);
        self.scopes.note(&link.record.body, link.hash);
        progress.links.push(link);
    }

    /// Notes a new request and makes its record.
    fn ask(&mut self, request: Arc<Request>, progress: &mut SessionProgress) -> AskRecord {
        let bytes = canonical::encode(&request.payload).expect("a run settles every payload");
        let hash = request.hash_with(&bytes);
        let rule = self.kinds.rule(&request);
        let record = AskRecord {
            path: request.path.clone(),
            kind: request.kind.clone(),
            hash,
            payload: StoredValue::place_bytes(bytes, rule.storage, &mut progress.objects),
            schema: request.schema,
            handling: rule.handling,
            timeout_ms: request.timeout_ms,
            position: request.position,
        };
        self.insert(self.chain.length(), request, hash, rule.handling);
        record
    }

    /// Notes a new request whose record stands at `seq`.
    pub(super) fn insert(
        &mut self,
        seq: u64,
        request: Arc<Request>,
        hash: RequestHash,
        handling: Handling,
    ) {
        let path = request.path.clone();
        let ask = Ask {
            seq,
            request,
            hash,
            handling,
            attempt: 1,
            next_at: None,
            standing: RequestStanding::Open,
            is_doubted: false,
            found: None,
            permit: None,
            published: None,
        };
        self.asks.insert(path, ask);
    }

    pub(super) fn withdraw(&mut self, path: &Path) {
        if let Some(ask) = self.asks.get_mut(path) {
            ask.standing = RequestStanding::Withdrawn;
        }
    }

    pub(super) fn take(&mut self, path: &Path) -> Result<Ask, SessionRefusal> {
        self.asks.remove(path).ok_or_else(|| SessionRefusal::NotOpen { path: path.clone() })
    }

    pub(super) fn ask_mut(&mut self, path: &Path) -> Result<&mut Ask, SessionRefusal> {
        let ask = self.asks.get_mut(path).filter(|ask| ask.standing != RequestStanding::Withdrawn);
        ask.ok_or_else(|| SessionRefusal::NotOpen { path: path.clone() })
    }

    /// Lists an unanswered request under what has to be done about it.
    pub(super) fn list(&self, path: &Path, progress: &mut SessionProgress) {
        let ask = self.asks.get(path).expect("only unanswered requests are listed");
        if ask.standing == RequestStanding::Withdrawn {
            let (request, id) = (Arc::clone(&ask.request), self.id(path, &ask.hash));
            progress.withdrawn.push(WithdrawnRequest {
                request,
                id,
                stopped: CancelExtent::NotStarted,
            });
        } else if let Some(hold) = self.hold(path) {
            progress.holds.push(hold);
        } else if let Handling::Effect(class) = ask.handling {
            progress.perform.push(self.performance(path, ask, class));
        } else {
            let until = ask.request.sleeps_until().unwrap_or(self.chain.at());
            progress.timers.push((until, path.clone()));
        }
    }

    /// Says how the effect of a request is to be performed.
    pub(super) fn performance(&self, path: &Path, ask: &Ask, class: EffectClass) -> Performance {
        Performance {
            request: ask.permitted_request(),
            id: self.id(path, &ask.hash),
            class,
            attempt: ask.attempt,
            not_before: ask.next_at,
            found: ask.found.clone(),
        }
    }

    /// Says whether, and why, a request waits for a human.
    pub(super) fn hold(&self, path: &Path) -> Option<Hold> {
        let ask = self.asks.get(path)?;
        let reason = match (ask.standing, ask.handling) {
            (RequestStanding::Withdrawn, _) | (_, Handling::Timer) => return None,
            (_, Handling::Decision) => HoldReason::Asked,
            (RequestStanding::InDoubt, Handling::Effect(_)) => HoldReason::InDoubt,
            (RequestStanding::Open, Handling::Effect(_)) if self.may_begin(ask) => return None,
            (RequestStanding::Open, Handling::Effect(_)) => HoldReason::NotAllowed,
        };
        let (request, id) = (Arc::clone(&ask.request), self.id(path, &ask.hash));
        Some(Hold { request, id, hash: ask.hash, reason })
    }

    /// Says whether the effect of a request may begin without a human.
    pub(super) fn may_begin(&self, ask: &Ask) -> bool {
        ask.handling == Handling::Effect(EffectClass::Pure)
            || ask.permit.is_some()
            || self.start.allows(&ask.request.kind)
    }

    /// Derives the id of a request of this session.
    fn id(&self, path: &Path, hash: &RequestHash) -> RequestId {
        RequestId::derive(&self.start.session.to_string(), path, hash)
    }
}

impl Ask {
    /// Returns what to perform: the request, with the payload that a decision put in its place.
    fn permitted_request(&self) -> Arc<Request> {
        match self.permit.as_ref().and_then(|permit| permit.edited.clone()) {
            Some(payload) => Arc::new(Request { payload, ..(*self.request).clone() }),
            None => Arc::clone(&self.request),
        }
    }
}

/// Makes the last record of a session.
pub(super) fn end_body(end: &End, flow: Cid, objects: &mut Vec<(Cid, Vec<u8>)>) -> Body {
    if let Some(state) = end.continued_with() {
        return Body::Continue(ContinueRecord { state: place(state, objects), flow });
    }
    Body::End(match end {
        End::Done(value) => Outcome::Ok(place(value, objects)),
        End::Failed(failure) => outcome_of_failure(failure, objects),
        End::Cancelled => Outcome::Cancelled(CancelExtent::Stopped),
    })
}

/// Turns a settled answer into what its record holds.
pub(super) fn outcome_of(answer: &RequestAnswer, objects: &mut Vec<(Cid, Vec<u8>)>) -> Outcome {
    match answer {
        RequestAnswer::Ok(value) => Outcome::Ok(place(value, objects)),
        RequestAnswer::Failed(failure) => outcome_of_failure(failure, objects),
        RequestAnswer::TimedOut => Outcome::TimedOut,
        RequestAnswer::Cancelled(stopped) => Outcome::Cancelled(*stopped),
    }
}

fn outcome_of_failure(failure: &ProgramFailure, objects: &mut Vec<(Cid, Vec<u8>)>) -> Outcome {
    Outcome::Failed {
        code: failure.code.clone(),
        message: failure.message.clone(),
        details: place(&failure.details, objects),
    }
}

/// Places a value that was settled before.
pub(super) fn place(value: &Value, objects: &mut Vec<(Cid, Vec<u8>)>) -> StoredValue {
    let bytes = canonical::encode(value).expect("a settled value has a canonical form");
    StoredValue::place_bytes(bytes, Storage::Record, objects)
}
