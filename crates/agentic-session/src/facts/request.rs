//! What sessions asked of the world, and what came of it: requests, payloads, attempts, answers and
//! signals. Of a fork only what it asked itself: what it shares is its parent's.

use std::collections::BTreeMap;

use agentic_replay::record::{AskRecord, AttemptRecord, CancelMode, Outcome, SignalRecord};
use agentic_replay::{AnswerSource, Body, Path, Record, RecordChain, RequestId, SessionId};

use super::reading::{ReadSessions, SessionValues};
use super::row::{ColumnValue, SessionRows};

/// A request that a session asked itself, with what its records say about it.
pub(super) struct OwnAsk<'j> {
    /// Its record.
    pub(super) record: &'j Record,
    /// What was asked.
    pub(super) ask: &'j AskRecord,
    /// What was recorded about it afterwards, in order; also the cancellation that closed it.
    pub(super) later: Vec<&'j Record>,
}

/// Returns the records of a session that no other has: those from its start on.
pub(super) fn own_records(journal: &RecordChain) -> &[Record] {
    let records = journal.records();
    let start = records.iter().rposition(|record| matches!(record.body, Body::Start(_)));
    &records[start.unwrap_or(0)..]
}

/// Lists what a session asked itself, in order.
pub(super) fn own_asks(journal: &RecordChain) -> Vec<OwnAsk<'_>> {
    let mut asks: Vec<OwnAsk<'_>> = Vec::new();
    let mut unanswered: BTreeMap<&Path, usize> = BTreeMap::new();
    let mut is_stopping = false;
    for record in own_records(journal) {
        if let Body::Ask(ask) = &record.body {
            unanswered.insert(&ask.path, asks.len());
            asks.push(OwnAsk { record, ask, later: Vec::new() });
        } else if let Body::Cancel(cancel) = &record.body {
            // A program that cleans up already is not told again.
            if !is_stopping || cancel.mode == CancelMode::Kill {
                unanswered.values().for_each(|at| asks[*at].later.push(record));
            }
            is_stopping = true;
        } else if let Some(at) = record.body.path().and_then(|path| unanswered.get(path).copied()) {
            asks[at].later.push(record);
            if let Body::Answer(answer) = &record.body {
                unanswered.remove(&answer.path);
            }
        }
    }
    asks
}

impl OwnAsk<'_> {
    /// Derives its id.
    pub(super) fn id(&self, session: &SessionId) -> RequestId {
        RequestId::derive(&session.to_string(), &self.ask.path, &self.ask.hash)
    }

    /// Returns its answer.
    pub(super) fn answer(&self) -> Option<(&Record, &Outcome, &AnswerSource)> {
        let record = self.later.last()?;
        if let Body::Answer(answer) = &record.body {
            Some((record, &answer.outcome, &answer.by))
        } else {
            None
        }
    }
}

/// Makes the id of a request as columns have it.
pub(super) fn request_id<'c>(session: &SessionId, asked: &OwnAsk<'_>) -> ColumnValue<'c> {
    ColumnValue::text(format!("{session}.{}", asked.id(session)))
}

/// Reads `request` rows.
pub(super) fn requests(
    id: &SessionId,
    journal: &RecordChain,
    _: &ReadSessions<'_>,
    rows: &mut SessionRows<'_, '_>,
) {
    for asked in own_asks(journal) {
        let ask = asked.ask;
        rows.row(|column| match column {
            "id" => request_id(id, &asked),
            "session" => ColumnValue::id(id),
            "seq" => ColumnValue::count(asked.record.seq),
            "path" => ColumnValue::text(ask.path.as_str()),
            "kind" => ColumnValue::text(&ask.kind),
            "class" => ColumnValue::text(ask.handling.name()),
            "at" => ColumnValue::at(asked.record.at),
            _ => ColumnValue::id(ask.hash),
        });
    }
}

/// Reads `payload` rows.
pub(super) fn payloads(
    id: &SessionId,
    journal: &RecordChain,
    read: &ReadSessions<'_>,
    rows: &mut SessionRows<'_, '_>,
) {
    let values = read.values(journal);
    for asked in own_asks(journal) {
        rows.row(|column| match column {
            "request" => request_id(id, &asked),
            _ => values.data(&asked.ask.payload),
        });
    }
}

/// Reads `attempt` rows.
pub(super) fn attempts(
    id: &SessionId,
    journal: &RecordChain,
    _: &ReadSessions<'_>,
    rows: &mut SessionRows<'_, '_>,
) {
    for asked in own_asks(journal) {
        let attempts = asked.later.iter().filter_map(|record| attempt_of(&record.body));
        for attempt in attempts {
            rows.row(|column| match column {
                "request" => request_id(id, &asked),
                "n" => ColumnValue::count(u64::from(attempt.n)),
                "error" => ColumnValue::text(&attempt.error),
                _ => ColumnValue::maybe(attempt.next_at, ColumnValue::at),
            });
        }
    }
}

/// Reads `answer` rows.
pub(super) fn answers(
    id: &SessionId,
    journal: &RecordChain,
    read: &ReadSessions<'_>,
    rows: &mut SessionRows<'_, '_>,
) {
    let values = read.values(journal);
    for asked in own_asks(journal) {
        let Some((record, outcome, by)) = asked.answer() else { continue };
        rows.row(|column| match column {
            "request" => request_id(id, &asked),
            "outcome" => ColumnValue::text(outcome_name(outcome)),
            "by" => ColumnValue::text(by.to_string()),
            "at" => ColumnValue::at(record.at),
            "millis" => {
                let (asked_at, at) = (asked.record.at.millis(), record.at.millis());
                ColumnValue::Int(at.saturating_sub(asked_at))
            }
            _ => outcome_value(outcome, &values),
        });
    }
}

/// Reads `signal` rows.
pub(super) fn signals(
    id: &SessionId,
    journal: &RecordChain,
    read: &ReadSessions<'_>,
    rows: &mut SessionRows<'_, '_>,
) {
    let values = read.values(journal);
    for record in own_records(journal) {
        let Some(signal) = signal_of(&record.body) else { continue };
        rows.row(|column| match column {
            "session" => ColumnValue::id(id),
            "name" => ColumnValue::text(&signal.name),
            "at" => ColumnValue::at(record.at),
            _ => values.data(&signal.value),
        });
    }
}

fn attempt_of(body: &Body) -> Option<&AttemptRecord> {
    if let Body::Attempt(attempt) = body { Some(attempt) } else { None }
}

fn signal_of(body: &Body) -> Option<&SignalRecord> {
    if let Body::Signal(signal) = body { Some(signal) } else { None }
}

/// Writes what a request or a session came to, as columns show it.
pub(super) fn outcome_value<'c>(
    outcome: &Outcome,
    values: &SessionValues<'_, '_>,
) -> ColumnValue<'c> {
    match outcome {
        Outcome::Ok(value) => values.data(value),
        Outcome::Failed { code, message, details } => match values.value(details) {
            Ok(details) => ColumnValue::failure(code, message, details),
            Err(why) => ColumnValue::Gone(why),
        },
        Outcome::TimedOut | Outcome::Cancelled(_) => ColumnValue::Null,
    }
}

fn outcome_name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Ok(_) => "ok",
        Outcome::Failed { .. } => "failed",
        Outcome::TimedOut => "timed-out",
        Outcome::Cancelled(_) => "cancelled",
    }
}
