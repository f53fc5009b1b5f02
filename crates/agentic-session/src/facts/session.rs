//! Sessions: how each began, how it stands, and what it came to.

use agentic_replay::record::{ContinueRecord, Outcome};
use agentic_replay::{Body, RecordChain, SessionId, SessionState, Summary, parent_of};

use super::reading::ReadSessions;
use super::row::{ColumnValue, SessionRows};
use crate::folder::Folder;
use crate::own::FirstRecord;
use crate::start::continuation_key;
use crate::{Result, summary};

/// The columns of `session` that stand in its first record.
const IN_FIRST: [&str; 4] = ["id", "language", "key", "started"];
/// The other columns.
const IN_OTHERS: [&str; 4] = ["flow", "state", "ended", "records"];

/// Reads a `session` row. One whose later records are damaged has a row all the same.
pub(super) fn session(id: &SessionId, read: &ReadSessions<'_>, rows: &mut SessionRows<'_, '_>) {
    let Some(first) = read.first_or_note(id, rows) else { return };
    let needs_journal = IN_OTHERS.iter().any(|column| rows.wants(column));
    let journal = match needs_journal {
        true => read.journal_or_note(id, rows),
        false => None,
    };
    let state = match &journal {
        Some(journal) if rows.wants("state") => {
            let state = state_of(read, journal);
            read.or_note(id, rows, state.map(Some))
        }
        Some(_) | None => None,
    };
    rows.row(|column| match (&journal, column) {
        (_, "agent") => ColumnValue::text(read.agent_of(id, &first.start.agent)),
        (_, "host") => {
            let is_here = Folder::of(read.space, id).exists();
            ColumnValue::text(if is_here { "here" } else { "elsewhere" })
        }
        (_, column) if IN_FIRST.contains(&column) => of_first(id, &first, column),
        (None, _) => ColumnValue::Null,
        (Some(_), "state") => ColumnValue::maybe(state, |state| ColumnValue::text(state.as_str())),
        (Some(journal), column) => of_journal(journal, column),
    });
}

fn of_first<'v>(id: &SessionId, first: &'v FirstRecord, column: &str) -> ColumnValue<'v> {
    match column {
        "id" => ColumnValue::id(id),
        "language" => ColumnValue::text(&first.start.engine.language),
        "key" => ColumnValue::text(&first.start.key),
        _ => ColumnValue::at(first.at),
    }
}

fn of_journal<'v>(journal: &RecordChain, column: &str) -> ColumnValue<'v> {
    match column {
        "flow" => ColumnValue::id(journal.flow()),
        "ended" => {
            let last = journal.records().last().filter(|_| journal.is_over());
            ColumnValue::maybe(last, |last| ColumnValue::at(last.at))
        }
        _ => ColumnValue::count(journal.records().len() as u64),
    }
}

/// Tells how a session stands. Of one that is over its last record says so.
fn state_of(read: &ReadSessions<'_>, journal: &RecordChain) -> Result<SessionState> {
    Ok(match journal.records().last().map(|last| &last.body) {
        Some(Body::End(Outcome::Ok(_)) | Body::Continue(_)) => SessionState::Done,
        Some(Body::End(Outcome::Failed { .. })) => SessionState::Failed,
        Some(Body::End(Outcome::TimedOut | Outcome::Cancelled(_))) => SessionState::Cancelled,
        Some(_) | None => summary_of(read, journal)?.state,
    })
}

fn summary_of(read: &ReadSessions<'_>, journal: &RecordChain) -> Result<Summary> {
    Ok(read.space.judged(summary::of_journal(read.space, journal)?))
}

/// Reads a `forked` row.
pub(super) fn forked(id: &SessionId, read: &ReadSessions<'_>, rows: &mut SessionRows<'_, '_>) {
    let Some(first) = read.first_or_note(id, rows) else { return };
    let Some(point) = first.start.parent else { return };
    rows.row(|column| match column {
        "session" => ColumnValue::id(id),
        "from" => ColumnValue::id(point.session),
        _ => ColumnValue::count(point.seq),
    });
}

/// Reads a `child` row.
pub(super) fn child(id: &SessionId, read: &ReadSessions<'_>, rows: &mut SessionRows<'_, '_>) {
    let Some(first) = read.first_or_note(id, rows) else { return };
    let Some(parent) = parent_of(&first.start.key) else { return };
    rows.row(|column| match column {
        "session" => ColumnValue::id(id),
        _ => ColumnValue::id(parent),
    });
}

/// Reads a `continued` row. The id of the new session follows from what it begins with.
pub(super) fn continued(
    id: &SessionId,
    journal: &RecordChain,
    _: &ReadSessions<'_>,
    rows: &mut SessionRows<'_, '_>,
) {
    let Some(Body::Continue(ContinueRecord { state, flow })) =
        journal.records().last().map(|last| &last.body)
    else {
        return;
    };
    let key = continuation_key(id);
    let next = SessionId::derive(&journal.start().agent, flow, &state.cid(), &key);
    rows.row(|column| match column {
        "session" => ColumnValue::id(id),
        _ => ColumnValue::id(next),
    });
}

/// Reads a `result` row.
pub(super) fn result(
    id: &SessionId,
    journal: &RecordChain,
    read: &ReadSessions<'_>,
    rows: &mut SessionRows<'_, '_>,
) {
    let Some(Body::End(Outcome::Ok(value)) | Body::Continue(ContinueRecord { state: value, .. })) =
        journal.records().last().map(|last| &last.body)
    else {
        return;
    };
    let values = read.values(journal);
    rows.row(|column| match column {
        "session" => ColumnValue::id(id),
        _ => values.data(value),
    });
}

/// Reads a `failure` row.
pub(super) fn failure(
    id: &SessionId,
    journal: &RecordChain,
    read: &ReadSessions<'_>,
    rows: &mut SessionRows<'_, '_>,
) {
    let found = match journal.records().last().map(|last| &last.body) {
        Some(Body::End(Outcome::Failed { code, message, .. })) => {
            Some((code.clone(), message.clone()))
        }
        Some(Body::End(_) | Body::Continue(_)) | None => None,
        // What it waits for may be what nobody here can answer.
        Some(_) => {
            let summary = summary_of(read, journal).map(Some);
            let failure = read.or_note(id, rows, summary).and_then(|summary| summary.failure);
            failure.map(|failure| (failure.code, failure.message))
        }
    };
    let Some((code, message)) = found else { return };
    rows.row(|column| match column {
        "session" => ColumnValue::id(id),
        "code" => ColumnValue::text(&code),
        _ => ColumnValue::text(&message),
    });
}
