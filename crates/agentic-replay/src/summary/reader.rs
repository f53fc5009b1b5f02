//! Reading records one by one: what is open, and what came of the rest.

mod standing;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use agentic_model::{Cid, Instant};

pub use self::standing::Attendance;
use super::wait::NextAttempt;
use super::{AskedRequest, Permission};
use crate::grant::{Coverage, Grant, Grants};
use crate::record::{
    AskRecord, CancelMode, ContinueRecord, MissingObject, PermitRecord, PermitScope, RETRY,
    StoredObjects, VoteRecord,
};
use crate::{
    Body, Handling, Path, Record, RecordChain, RecordHash, RequestAnswer, RequestId, StartRecord,
};

/// What was read of a session so far. It can be kept, and read on when there are more records.
#[derive(Debug, Clone, Default)]
pub struct SummaryReader {
    beginning: Option<SessionOrigin>,
    /// The id of the session as text: request ids derive from it.
    session: String,
    n_records: u64,
    chain: Option<RecordHash>,
    /// What the session need not ask for any more.
    grants: Grants,
    /// Everything that was asked, in order.
    asked: Vec<AskedRequest>,
    /// What has no answer.
    open: BTreeMap<Path, UnansweredAsk>,
    /// What was open where a fork parted, and was not asked anew or withdrawn so far.
    parted: BTreeMap<Path, UnansweredAsk>,
    /// The places of what a fork has parted from: it was asked by another session.
    left_out: BTreeSet<usize>,
    /// Whether it was told to stop.
    is_stopping: bool,
    /// How it ended.
    end: Option<RequestAnswer>,
}

/// How the session that owns the records began.
#[derive(Debug, Clone)]
struct SessionOrigin {
    start: Box<StartRecord>,
    at: Instant,
    /// The program, as it was upgraded since.
    flow: Cid,
}

/// An ask without an answer.
#[derive(Debug, Clone)]
struct UnansweredAsk {
    ask: AskRecord,
    /// When it was asked, or permitted: whatever is asked about it since then is another question.
    at: Instant,
    /// Its place among everything that was asked.
    index: usize,
    withdrawn: bool,
    /// What follows the last attempt, while none is under way.
    again: Option<NextAttempt>,
    votes: Vec<VoteRecord>,
    n_escalations: usize,
    /// The head on which it was put before people last.
    published: Option<String>,
    /// Whether people were asked what became of it, since it was let begin last.
    doubted: bool,
}

impl SummaryReader {
    /// Reads all records of a journal.
    ///
    /// # Errors
    /// Fails when a long value is gone.
    pub fn of(
        journal: &RecordChain,
        objects: &dyn StoredObjects,
    ) -> Result<SummaryReader, MissingObject> {
        let mut reader = SummaryReader::default();
        for (record, hash) in journal.records().iter().zip(journal.hashes()) {
            reader.read(record, *hash, objects)?;
        }
        Ok(reader)
    }

    /// Reads no more of a journal than [`SummaryReader::holds`] needs; nothing if no request is
    /// open. What has its answer is not looked at.
    ///
    /// # Errors
    /// Fails when a long value is gone.
    pub fn of_open(
        journal: &RecordChain,
        objects: &dyn StoredObjects,
    ) -> Result<Option<SummaryReader>, MissingObject> {
        let records = journal.records();
        let (start, open) = open_since_start(records);
        let Some(oldest) = open.values().min().copied() else { return Ok(None) };
        let mut reader = SummaryReader::default();
        reader.read(&records[start], journal.hashes()[start], objects)?;
        for (at, record) in records.iter().enumerate().skip(oldest) {
            let since = record.body.path().and_then(|path| open.get(path));
            if since.is_some_and(|since| at >= *since) {
                reader.read(record, journal.hashes()[at], objects)?;
            } else if let Body::Cancel(cancel) = &record.body {
                let is_cancel = |record: &Record| matches!(record.body, Body::Cancel(_));
                reader.is_stopping |= records[..at].iter().any(is_cancel);
                reader.stop(cancel.mode);
            }
        }
        // A permission for the rest of the session may have been given for what has its answer.
        reader.grants = Grants::of(journal, objects)?;
        Ok(Some(reader))
    }

    /// Takes in the next record, which has this hash.
    ///
    /// # Errors
    /// Fails when a long value of it is gone; the reader is of no use then.
    pub fn read(
        &mut self,
        record: &Record,
        hash: RecordHash,
        objects: &dyn StoredObjects,
    ) -> Result<(), MissingObject> {
        self.n_records = record.seq + 1;
        self.chain = Some(hash);
        match &record.body {
            Body::Start(start) => self.begin(record.at, start),
            Body::Ask(ask) => self.ask(record, ask, objects)?,
            Body::Answer(answer) => {
                if let Some(open) = self.open.remove(&answer.path) {
                    let outcome = RequestAnswer::shown(&answer.outcome, objects)?;
                    let asked = &mut self.asked[open.index];
                    asked.answer = Some((record.seq, outcome, answer.by.clone()));
                    asked.answered_at = Some(record.at);
                }
            }
            Body::Permit(permit) => self.permit(record, permit, objects)?,
            Body::Attempt(attempt) => {
                if let Some(open) = self.open.get_mut(&attempt.path) {
                    open.again = Some(match attempt.next_at {
                        Some(at) => NextAttempt::At(at),
                        None => NextAttempt::Left(record.at),
                    });
                    open.doubted = false;
                    self.asked[open.index].attempts.push(attempt.clone());
                }
            }
            Body::Withdraw(withdraw) => self.withdraw(&withdraw.path),
            Body::Vote(vote) => {
                if let Some(open) = self.open.get_mut(&vote.path) {
                    open.votes.push(vote.clone());
                    self.asked[open.index].votes.push(vote.clone());
                }
            }
            Body::Escalate(escalate) => {
                if let Some(open) = self.open.get_mut(&escalate.path) {
                    open.n_escalations += 1;
                }
            }
            Body::Publish(publish) => {
                self.publish(&publish.path, &publish.head);
            }
            Body::Cancel(cancel) => self.stop(cancel.mode),
            Body::End(outcome) => self.end = Some(RequestAnswer::shown(outcome, objects)?),
            Body::Continue(ContinueRecord { state, .. }) => {
                self.end = Some(RequestAnswer::Ok(state.shown(objects)?));
            }
            Body::Upgrade(upgrade) => {
                if let Some(beginning) = &mut self.beginning {
                    beginning.flow = upgrade.to;
                }
            }
            Body::Found(_) | Body::Signal(_) | Body::ScopeEnd(_) => {}
        }
        Ok(())
    }

    fn begin(&mut self, at: Instant, start: &StartRecord) {
        self.session = start.session.to_string();
        self.beginning =
            Some(SessionOrigin { start: Box::new(start.clone()), at, flow: start.flow });
        self.grants.clear();
        // A fork asks anew what was open, and what it does not ask it withdraws.
        for (path, open) in std::mem::take(&mut self.open) {
            if open.withdrawn {
                self.open.insert(path, open);
            } else {
                self.left_out.insert(open.index);
                self.parted.insert(path, open);
            }
        }
    }

    /// Notes that something was put before people. What may begin without them has begun: they are asked
    /// what became of it.
    fn publish(&mut self, path: &Path, head: &str) {
        let Some(open) = self.open.get(path) else { return };
        let doubted = match open.ask.handling {
            Handling::Effect(class) => self.may_begin(&self.asked[open.index], class),
            Handling::Decision | Handling::Timer => false,
        };
        if let Some(open) = self.open.get_mut(path) {
            open.published = Some(head.to_owned());
            open.doubted = doubted;
        }
    }

    fn withdraw(&mut self, path: &Path) {
        if let Some(open) = self.parted.remove(path) {
            self.left_out.remove(&open.index);
            self.open.insert(path.clone(), open);
        }
        if let Some(open) = self.open.get_mut(path) {
            open.withdrawn = true;
        }
    }

    /// From here on nothing that was asked before can be decided. A program that cleans up already is
    /// not told again, and goes on with what it has asked for that.
    fn stop(&mut self, mode: CancelMode) {
        if !self.is_stopping || mode == CancelMode::Kill {
            self.open.values_mut().for_each(|open| open.withdrawn = true);
        }
        self.is_stopping = true;
    }

    fn ask(
        &mut self,
        record: &Record,
        ask: &AskRecord,
        objects: &dyn StoredObjects,
    ) -> Result<(), MissingObject> {
        let index = self.asked.len();
        let running = self.beginning.as_ref().filter(|it| it.start.stamp).map(|it| it.flow);
        self.asked.push(AskedRequest {
            seq: record.seq,
            id: RequestId::derive(&self.session, &ask.path, &ask.hash),
            behaviour: running,
            path: ask.path.clone(),
            kind: ask.kind.clone(),
            payload: ask.payload.shown(objects)?,
            position: ask.position,
            asked_at: record.at,
            answered_at: None,
            permissions: Vec::new(),
            votes: Vec::new(),
            attempts: Vec::new(),
            answer: None,
        });
        let open = UnansweredAsk {
            ask: ask.clone(),
            at: record.at,
            index,
            withdrawn: false,
            again: None,
            votes: Vec::new(),
            n_escalations: 0,
            published: None,
            doubted: false,
        };
        self.parted.remove(&ask.path);
        self.open.insert(ask.path.clone(), open);
        Ok(())
    }

    fn permit(
        &mut self,
        record: &Record,
        permit: &PermitRecord,
        objects: &dyn StoredObjects,
    ) -> Result<(), MissingObject> {
        let Some(open) = self.open.get_mut(&permit.path) else { return Ok(()) };
        open.at = record.at;
        open.again = None;
        open.doubted = false;
        // The host lets another attempt begin: nobody has permitted anything.
        if permit.decision == RETRY {
            return Ok(());
        }
        let edited = permit.edited.as_ref().map(|edited| edited.shown(objects)).transpose()?;
        let (decision, scope) = (permit.decision.clone(), permit.scope);
        let asked = &mut self.asked[open.index];
        if scope == PermitScope::RestOfSession {
            let coverage = Coverage::of(&asked.kind, &asked.payload);
            self.grants.add(Grant { seq: record.seq, decision: decision.clone(), coverage });
        }
        asked.permissions.push(Permission { decision, edited, scope });
        Ok(())
    }
}

/// Finds the last start, and the requests since then that have no answer, by their paths, with their
/// places. Looks back from the end, no further than the oldest of them.
fn open_since_start(records: &[Record]) -> (usize, BTreeMap<&Path, usize>) {
    let is_start = |record: &Record| matches!(record.body, Body::Start(_));
    let start = records.iter().rposition(is_start).expect("a journal begins with a start");
    let own = &records[start..];
    let n_asked = own.iter().filter(|record| matches!(record.body, Body::Ask(_))).count();
    // A fork answers what its parent has withdrawn, too: nothing follows from their number.
    let n_answered = match own.first().map(|record| &record.body) {
        Some(Body::Start(start)) if start.parent.is_some() => 0,
        _ => own.iter().filter(|record| matches!(record.body, Body::Answer(_))).count(),
    };
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
