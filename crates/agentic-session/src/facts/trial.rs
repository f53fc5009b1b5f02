//! Trials, and what their runs scored: those that a session here ran by the flow that ships.

use agentic_model::kind::TRIAL;
use agentic_model::{Object, Value};

use super::reading::ReadSessions;
use super::row::{ColumnValue, SessionRows};
use super::scope::SessionScope;
use crate::trial::{KnownTrials, ProvenTrial};
use crate::{Result, SessionSpace};

/// Reads `trial` rows.
pub(super) fn trials(
    read: &ReadSessions<'_>,
    _: &SessionScope,
    rows: &mut SessionRows<'_, '_>,
) -> Result<()> {
    for BorneOutTrial { agent, object, .. } in borne_out(read.space)? {
        let verdict = object.map().get("verdict").and_then(Value::as_text);
        rows.row(|column| match column {
            "cid" => ColumnValue::id(object.cid()),
            "agent" => ColumnValue::text(agent.as_str()),
            _ => ColumnValue::maybe(verdict, ColumnValue::text),
        });
    }
    Ok(())
}

/// Reads `score` rows.
pub(super) fn scores(
    read: &ReadSessions<'_>,
    _: &SessionScope,
    rows: &mut SessionRows<'_, '_>,
) -> Result<()> {
    for BorneOutTrial { object, proven, .. } in borne_out(read.space)? {
        let blocks = object.map().get("blocks").and_then(Value::as_list).unwrap_or_default();
        for (place, block) in blocks.iter().enumerate() {
            for run in block.get("runs").and_then(Value::as_list).unwrap_or_default() {
                let whole = |value: Option<&Value>| value.and_then(Value::as_int);
                let text = |name: &str| run.get(name).and_then(Value::as_text);
                let arm = whole(run.get("arm")).and_then(|arm| usize::try_from(arm).ok());
                let arm = arm.and_then(|arm| proven.arms.get(arm)).map(String::as_str);
                // What was not scored says what became of it.
                let verdict = text("verdict").or(text("outcome"));
                rows.row(|column| match column {
                    "trial" => ColumnValue::id(object.cid()),
                    "task" => ColumnValue::maybe(whole(block.get("task")), ColumnValue::Int),
                    "arm" => ColumnValue::maybe(arm, ColumnValue::text),
                    "run" => ColumnValue::count(place as u64),
                    "agent" => ColumnValue::maybe(text("agent"), ColumnValue::text),
                    "value" => {
                        let score = run.get("score").and_then(Value::as_number);
                        ColumnValue::maybe(score, ColumnValue::Float)
                    }
                    _ => ColumnValue::maybe(verdict, ColumnValue::text),
                });
            }
        }
    }
    Ok(())
}

/// A trial that its session bears out.
struct BorneOutTrial {
    /// Its agent.
    agent: String,
    /// What says so.
    object: Object,
    /// What the session bears out.
    proven: ProvenTrial,
}

/// Finds the objects of trials that their sessions bear out.
fn borne_out(space: &SessionSpace) -> Result<Vec<BorneOutTrial>> {
    let mut found = Vec::new();
    for known in KnownTrials::read(space)?.all().iter().filter(|known| known.is_here) {
        let entry = space.repository().archive_entry(&known.agent)?;
        let notes = match space.repository().find_ref(&known.agent.notes_ref())? {
            Some(tip) => Some(tip),
            None => entry.and_then(|entry| entry.archived.notes),
        };
        for (kind, cid) in space.repository().notes_at(notes)?.typed_objects()? {
            if kind.as_str() != TRIAL {
                continue;
            }
            let Ok(object) = space.object(cid) else { continue };
            if let Ok(proven) = ProvenTrial::of(space, &object) {
                found.push(BorneOutTrial { agent: known.agent.to_string(), object, proven });
            }
        }
    }
    Ok(found)
}
