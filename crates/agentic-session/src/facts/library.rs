//! The library of behaviours: what there is, what is in force by which name, and who adopted what.

use std::collections::BTreeSet;

use agentic_model::{Cid, StoredBehaviour, Value};
use agentic_replay::{Body, SessionId};
use agentic_space::library::Library;

use super::reading::ReadSessions;
use super::request::own_records;
use super::row::{ColumnValue, SessionRows};
use super::scope::SessionScope;
use crate::Result;

/// Reads `behaviour` rows: what the library has, and what sessions ran.
pub(super) fn behaviours(
    read: &ReadSessions<'_>,
    scope: &SessionScope,
    rows: &mut SessionRows<'_, '_>,
) -> Result<()> {
    let mut known: BTreeSet<Cid> =
        read.space.library(Library::Behaviours)?.objects()?.into_iter().collect();
    let sessions: Vec<SessionId> = scope.sessions(read)?.into_iter().collect();
    for (n_done, id) in sessions.iter().enumerate() {
        if read.ahead(&sessions, n_done).is_break() {
            return Ok(());
        }
        let Some(journal) = read.journal_or_note(id, rows) else { continue };
        for record in own_records(&journal) {
            if let Body::Start(start) = &record.body {
                known.insert(start.flow);
            } else if let Body::Upgrade(upgrade) = &record.body {
                known.insert(upgrade.to);
            }
        }
    }
    for cid in known {
        if rows.is_over() {
            break;
        }
        let Ok(object) = read.space.object(cid) else { continue };
        let Ok(behaviour) = StoredBehaviour::from_object(&object) else { continue };
        rows.row(|column| match column {
            "cid" => ColumnValue::id(cid),
            "form" => ColumnValue::text(behaviour.form.word()),
            _ => ColumnValue::maybe(behaviour.language.as_deref(), ColumnValue::text),
        });
    }
    Ok(())
}

/// Reads `adopted` rows: what is in force here.
pub(super) fn adopted(
    read: &ReadSessions<'_>,
    _: &SessionScope,
    rows: &mut SessionRows<'_, '_>,
) -> Result<()> {
    let names = read.space.behaviours_in_force()?;
    names.damaged.into_iter().for_each(|told| rows.note(told));
    for name in names.names {
        let Some(pointer) = &name.pointer else { continue };
        rows.row(|column| match column {
            "name" => ColumnValue::text(name.shared.name.as_str()),
            "cid" => ColumnValue::id(pointer.cid),
            _ => ColumnValue::at(pointer.at),
        });
    }
    Ok(())
}

/// Reads `adoption` rows: every change of what a name means.
pub(super) fn adoptions(
    read: &ReadSessions<'_>,
    _: &SessionScope,
    rows: &mut SessionRows<'_, '_>,
) -> Result<()> {
    for entry in read.space.library(Library::Behaviours)?.entries()?.entries {
        if !rows.may_be("name", entry.name.as_str()) {
            continue;
        }
        for change in read.space.behaviour_changes(&entry.name)? {
            let from = change.fields.get("from").and_then(Value::as_text);
            let decided_by = change.fields.get("decided_by").and_then(Value::as_text);
            let by = change.by.as_ref().map(ToString::to_string);
            rows.row(|column| match column {
                "commit" => ColumnValue::id(change.commit),
                "name" => ColumnValue::text(entry.name.as_str()),
                "from" => ColumnValue::maybe(from, ColumnValue::text),
                "to" => ColumnValue::maybe(change.cid, ColumnValue::id),
                "by" => match decided_by {
                    Some(by) => ColumnValue::text(by),
                    None => ColumnValue::maybe(by.clone(), ColumnValue::text),
                },
                _ => ColumnValue::at(change.at),
            });
        }
    }
    Ok(())
}
