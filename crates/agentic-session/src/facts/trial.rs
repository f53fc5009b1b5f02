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
    for (agent, trial) in proven(read.space)? {
        let verdict = trial.map().get("verdict").and_then(Value::as_text);
        rows.row(|column| match column {
            "cid" => ColumnValue::id(trial.cid()),
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
    for (_, trial) in proven(read.space)? {
        let list = |value: &'_ Value, name: &str| {
            value.get(name).and_then(Value::as_list).map(<[Value]>::to_vec)
        };
        let arms = trial.map().get("input").and_then(|input| list(input, "arms"));
        let arms = arms.unwrap_or_default();
        let blocks = trial.map().get("blocks").and_then(Value::as_list).unwrap_or_default();
        for (place, block) in blocks.iter().enumerate() {
            for run in block.get("runs").and_then(Value::as_list).unwrap_or_default() {
                let whole = |value: Option<&Value>| value.and_then(Value::as_int);
                let text = |name: &str| run.get(name).and_then(Value::as_text);
                let arm = whole(run.get("arm")).and_then(|arm| usize::try_from(arm).ok());
                let arm = arm.and_then(|arm| arms.get(arm)).and_then(Value::as_text);
                // What was not scored says what became of it.
                let verdict = text("verdict").or(text("outcome"));
                rows.row(|column| match column {
                    "trial" => ColumnValue::id(trial.cid()),
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

/// Finds the objects of trials that their sessions bear out.
fn proven(space: &SessionSpace) -> Result<Vec<(String, Object)>> {
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
            if ProvenTrial::of(space, &object).is_ok() {
                found.push((known.agent.to_string(), object));
            }
        }
    }
    Ok(found)
}
