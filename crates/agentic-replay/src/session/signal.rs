//! Signals: what reaches a session from outside, and the request that waits for it.
//!
//! A signal is recorded when it is received. The first request of kind [`SUSPEND`] with its name as
//! tag gets it as its answer, which names the signal's position; one that nobody waits for is kept
//! until somebody does. So the order of delivery stands in the journal, and a replay repeats it.

use std::collections::{BTreeMap, HashSet};

use agentic_model::{Instant, Value};

use super::advance::place;
use super::{RequestStanding, Session, SessionProgress, SessionRefusal};
use crate::record::{MissingObject, PublishRecord, SignalRecord};
use crate::settle::settle;
use crate::{AnswerSource, Body, Path, Program, Record, SUSPEND, StoredObjects};

/// The most signals that wait for somebody to ask for them.
pub const SIGNALS_MAX: usize = 1024;

/// Something that is sent to a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Signal {
    /// What tells it from every other.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its data.
    pub value: Value,
}

/// A signal and the request that is to get it.
#[derive(Debug, Clone, PartialEq)]
pub struct SignalDelivery {
    /// The position of the signal's record.
    pub seq: u64,
    /// The request.
    pub path: Path,
    /// The data of the signal.
    pub value: Value,
}

/// The signals of a session.
#[derive(Debug, Default)]
pub(super) struct Signals {
    /// Those that have reached nobody, by their positions.
    waiting: BTreeMap<u64, (String, Value)>,
    /// The ids of all that were received.
    received: HashSet<String>,
}

impl Signals {
    /// Takes in the next record of a journal.
    pub(super) fn read(
        &mut self,
        record: &Record,
        objects: &dyn StoredObjects,
    ) -> Result<(), MissingObject> {
        match &record.body {
            Body::Signal(signal) => {
                let value = signal.value.value(objects)?;
                self.receive(record.seq, signal, value);
            }
            Body::Answer(answer) => self.delivered(&answer.by),
            Body::Start(_)
            | Body::Ask(_)
            | Body::Attempt(_)
            | Body::Found(_)
            | Body::Escalate(_)
            | Body::Vote(_)
            | Body::Publish(_)
            | Body::Permit(_)
            | Body::Upgrade(_)
            | Body::Withdraw(_)
            | Body::Cancel(_)
            | Body::ScopeEnd(_)
            | Body::Continue(_)
            | Body::End(_) => {}
        }
        Ok(())
    }

    /// Notes that an answer has used one.
    pub(super) fn delivered(&mut self, by: &AnswerSource) {
        if let AnswerSource::Signal(seq) = by {
            self.waiting.remove(seq);
        }
    }

    fn receive(&mut self, seq: u64, record: &SignalRecord, value: Value) {
        self.received.insert(record.id.clone());
        self.waiting.insert(seq, (record.name.clone(), value));
    }
}

impl<P: Program> Session<P> {
    /// Records a signal. One that was received before changes nothing.
    ///
    /// # Errors
    /// Fails when the session is over, when too many signals wait already, and when the value is
    /// no data.
    pub fn signal(
        &mut self,
        signal: Signal,
        at: Instant,
    ) -> Result<SessionProgress, SessionRefusal> {
        if self.over.is_some() {
            return Err(SessionRefusal::Over);
        }
        let mut progress = SessionProgress::default();
        if self.signals.received.contains(&signal.id) {
            return Ok(progress);
        }
        if self.signals.waiting.len() >= SIGNALS_MAX {
            return Err(SessionRefusal::TooManySignals);
        }
        let value = settle(signal.value).map_err(SessionRefusal::NotData)?;
        let stored = place(&value, &mut progress.objects);
        let record = SignalRecord { id: signal.id, name: signal.name, value: stored };
        self.signals.receive(self.chain.length(), &record, value);
        self.append(at, Body::Signal(record), &mut progress);
        Ok(progress)
    }

    /// Returns the oldest signal that somebody waits for: whoever has asked first gets it.
    pub fn signalled(&self) -> Option<SignalDelivery> {
        let waiting = |name: &str| {
            let asks = self.asks.iter().filter(|(_, ask)| ask.standing == RequestStanding::Open);
            let asks = asks.filter(|(_, ask)| {
                let tag = ask.request.payload.get("tag").and_then(Value::as_text);
                ask.request.kind == SUSPEND && tag == Some(name)
            });
            asks.min_by_key(|(_, ask)| ask.seq).map(|(path, _)| path.clone())
        };
        self.signals.waiting.iter().find_map(|(seq, (name, value))| {
            Some(SignalDelivery { seq: *seq, path: waiting(name)?, value: value.clone() })
        })
    }

    /// Returns the head on which an open hold was put before people last.
    pub fn published(&self, path: &Path) -> Option<&str> {
        self.asks.get(path)?.published.as_deref()
    }

    /// Notes that a hold was put before people.
    pub(super) fn publish(&mut self, record: &PublishRecord) {
        if let Some(ask) = self.asks.get_mut(&record.path) {
            ask.published = Some(record.head.clone());
        }
    }
}
