//! Following a session while it goes on: looks at its log alone, or at what another host has sealed, and
//! takes no lock.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::{Instant, Value};
use agentic_replay::{AnswerSource, Body, Path, Record, RecordChain, SessionId, SessionState};

use super::folder::{Folder, Values};
use super::own::read_journal;
use super::replay::plain;
use super::{segment, summary};
use crate::hosted::host_of;
use crate::{Result, SessionSpace};

/// A record, for whoever follows a session.
#[derive(Debug, Clone, PartialEq)]
pub struct NotedRecord {
    /// Its position.
    pub seq: u64,
    /// When it was made.
    pub at: Instant,
    /// The request that it is about.
    pub path: Option<Path>,
    /// Who answered.
    pub by: Option<AnswerSource>,
    /// How long the answer, or the whole session, took, in milliseconds.
    pub took_ms: Option<i64>,
    /// What it says, values as what they are.
    pub data: Value,
}

/// Somebody who follows a session.
pub struct Watch<'a> {
    space: &'a SessionSpace,
    id: SessionId,
    /// Whether another host drives it: what that seals is all there is here.
    is_hosted: bool,
    /// How long its log was when it was looked at last, or how much of it was sealed.
    length: Option<u64>,
    n_seen: usize,
    started_at: Option<Instant>,
    asked: BTreeMap<Path, Instant>,
}

impl<'a> Watch<'a> {
    /// Begins before the first record.
    pub fn new(space: &'a SessionSpace, id: SessionId) -> Watch<'a> {
        let (started_at, asked) = (None, BTreeMap::new());
        let is_hosted = host_of(space, &id).is_some();
        Watch { space, id, is_hosted, length: None, n_seen: 0, started_at, asked }
    }

    /// Returns the records that are new since the last look, and how the session stands; nothing if
    /// its log is as long as it was then.
    ///
    /// # Errors
    /// Fails when there is no such session or its records are damaged.
    pub fn look(&mut self) -> Result<Option<(Vec<NotedRecord>, SessionState)>> {
        // What is appended while the log is read changes the length that is seen next.
        let length = match self.is_hosted {
            false => Folder::of(self.space, &self.id).log_bytes(),
            true => segment::frames(self.space, &self.id)?.len() as u64,
        };
        // What another host has not begun to seal is not there to be read.
        if self.length == Some(length) || (self.is_hosted && length == 0) {
            return Ok(None);
        }
        self.length = Some(length);
        let journal = read_journal(self.space, &self.id)?;
        let values = Values::of(self.space, &journal);
        let new = journal.records().get(self.n_seen..).unwrap_or_default();
        let noted = new.iter().map(|record| self.note(record, &values)).collect();
        self.n_seen = journal.records().len();
        Ok(Some((noted, self.state(&journal)?)))
    }

    fn note(&mut self, record: &Record, values: &Values<'_>) -> NotedRecord {
        let mut map = record.to_value().as_map().cloned().unwrap_or_default();
        for key in ["v", "seq", "prev", "at", "path", "hash"] {
            map.remove(key);
        }
        let (mut since, mut by) = (None, None);
        match &record.body {
            Body::Start(_) => self.started_at = Some(record.at),
            Body::Ask(ask) => drop(self.asked.insert(ask.path.clone(), record.at)),
            Body::Answer(answer) => {
                since = self.asked.remove(&answer.path);
                by = Some(answer.by.clone());
            }
            Body::End(_) | Body::Continue(_) => since = self.started_at,
            Body::Attempt(_)
            | Body::Signal(_)
            | Body::Escalate(_)
            | Body::Vote(_)
            | Body::Publish(_)
            | Body::Found(_)
            | Body::Permit(_)
            | Body::Upgrade(_)
            | Body::Withdraw(_)
            | Body::Cancel(_)
            | Body::ScopeEnd(_) => {}
        }
        NotedRecord {
            seq: record.seq,
            at: record.at,
            path: record.body.path().cloned(),
            by,
            took_ms: since.map(|since| record.at.millis() - since.millis()),
            data: plain(Value::Map(map), values),
        }
    }

    /// Tells how the session stands. Whether somebody drives it would take its lock: what is in
    /// doubt counts as held once it was put before people.
    fn state(&self, journal: &RecordChain) -> Result<SessionState> {
        let state = summary::of_past(self.space, journal)?.state;
        match !state.is_over() && is_before_people(journal) {
            true => Ok(SessionState::Held),
            false => Ok(state),
        }
    }
}

fn is_before_people(journal: &RecordChain) -> bool {
    let mut published = BTreeSet::new();
    for record in journal.records() {
        match &record.body {
            Body::Publish(publish) => drop(published.insert(&publish.path)),
            Body::Answer(answer) => drop(published.remove(&answer.path)),
            Body::Permit(permit) => drop(published.remove(&permit.path)),
            Body::Withdraw(withdraw) => drop(published.remove(&withdraw.path)),
            Body::Start(_) | Body::Cancel(_) => published.clear(),
            Body::Ask(_)
            | Body::Attempt(_)
            | Body::Signal(_)
            | Body::Escalate(_)
            | Body::Vote(_)
            | Body::Found(_)
            | Body::Upgrade(_)
            | Body::ScopeEnd(_)
            | Body::Continue(_)
            | Body::End(_) => {}
        }
    }
    !published.is_empty()
}
