//! Replaying and comparing sessions without performing anything.

use agentic_model::{Object, Value, canonical};
use agentic_replay::record::{MissingObject, StoredObjects as _};
use agentic_replay::{Divergence, ReplayError, Session, SessionId, SessionSetting};
use agentic_store::error::DamageError;

use super::folder::{Folder, Values};
use super::language::engine_of;
use super::language::kinds_of;
use super::own::read_journal;
use super::shelf::{flow_of, program_of};
use crate::{Error, Result, SessionSpace};

/// What a replay found.
#[derive(Debug)]
pub enum ReplayVerdict {
    /// The program made every recorded request.
    Same,
    /// It did something else.
    Diverged(Box<Divergence>),
    /// The records are damaged.
    Corrupt(String),
    /// Something of them was purged: they say nothing else, and cannot be replayed.
    Purged(String),
}

/// Replays a session with its own program, or with another one.
///
/// # Errors
/// Fails when there is no such session or the program does not parse; damage and divergence are
/// verdicts.
pub fn replay(
    space: &SessionSpace,
    id: &SessionId,
    flow: Option<&Object>,
) -> Result<ReplayVerdict> {
    let journal = match read_journal(space, id) {
        Ok(journal) => journal,
        Err(Error::Space(agentic_space::Error::Store(agentic_store::Error::Damage(
            DamageError { reason, .. },
        )))) => {
            return Ok(ReplayVerdict::Corrupt(reason));
        }
        Err(error) => return Err(error),
    };
    let pinned;
    let flow = match flow {
        Some(flow) => flow,
        None => {
            let wanted = journal.flow();
            pinned = flow_of(space, &Folder::of(space, id), &wanted)?;
            if pinned.cid() != wanted {
                return Ok(ReplayVerdict::Purged(format!("its program `{wanted}` was purged")));
            }
            &pinned
        }
    };
    let values = Values::of(space, &journal);
    let (engine, kinds) = (engine_of(flow, journal.start())?, kinds_of(flow)?);
    let setting = SessionSetting { engine: &engine, kinds: &kinds, objects: &values };
    Ok(
        match Session::load(
            &journal,
            program_of(space, &Folder::of(space, id), flow, &engine)?,
            setting,
            &mut |_, _| {},
        ) {
            Ok(_) => ReplayVerdict::Same,
            Err(ReplayError::Diverged(divergence)) => ReplayVerdict::Diverged(divergence),
            Err(ReplayError::Corrupt(corrupt)) => ReplayVerdict::Corrupt(corrupt.to_string()),
            Err(ReplayError::Missing(missing @ MissingObject::Purged(_))) => {
                ReplayVerdict::Purged(missing.to_string())
            }
            Err(ReplayError::Missing(missing)) => ReplayVerdict::Corrupt(missing.to_string()),
        },
    )
}

/// The first record in which two sessions differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Its position.
    pub at: u64,
    /// What the one records there; nothing if it ends before.
    pub left: Option<agentic_model::Value>,
    /// What the other records there.
    pub right: Option<agentic_model::Value>,
}

/// Compares what two sessions asked and were answered, record by record. Ids, times and positions
/// in the chain are not compared: a fork has its own.
///
/// # Errors
/// Fails when one does not exist or is damaged.
pub fn diff(
    space: &SessionSpace,
    left: &SessionId,
    right: &SessionId,
) -> Result<Option<Difference>> {
    let (left, right) = (read_journal(space, left)?, read_journal(space, right)?);
    let values = [Values::of(space, &left), Values::of(space, &right)];
    let body = |record: &agentic_replay::Record| {
        let value = record.to_value();
        let mut map = value.as_map().cloned().unwrap_or_default();
        for key in ["seq", "prev", "at", "v"] {
            map.remove(key);
        }
        agentic_model::Value::Map(map)
    };
    let is_start =
        |record: &&agentic_replay::Record| !matches!(record.body, agentic_replay::Body::Start(_));
    let one: Vec<_> = left.records().iter().filter(is_start).map(body).collect();
    let other: Vec<_> = right.records().iter().filter(is_start).map(body).collect();
    for at in 0..one.len().max(other.len()) {
        let (left, right) = (one.get(at).cloned(), other.get(at).cloned());
        if left != right {
            let (left, right) =
                (left.map(|it| plain(it, &values[0])), right.map(|it| plain(it, &values[1])));
            return Ok(Some(Difference { at: at as u64 + 1, left, right }));
        }
    }
    Ok(None)
}

/// The fields of a record that hold a value by its canonical bytes, or name it where it is long.
const VALUES: [&str; 8] =
    ["details", "edited", "found", "input", "payload", "result", "state", "value"];

/// Makes a record readable: values as what they are, hashes as digits.
pub(super) fn plain(record: Value, values: &Values<'_>) -> Value {
    let Value::Map(map) = record else { return record };
    let readable = |(key, field): (String, Value)| {
        let field = match field {
            Value::Bytes(bytes) if VALUES.contains(&key.as_str()) => {
                canonical::decode(&bytes).unwrap_or(Value::Bytes(bytes))
            }
            Value::Link(cid) if VALUES.contains(&key.as_str()) => {
                let bytes = values.bytes(&cid);
                bytes.and_then(|bytes| canonical::decode(&bytes).ok()).unwrap_or(Value::Link(cid))
            }
            Value::Bytes(bytes) => {
                Value::Text(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
            }
            other @ (Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::List(_)
            | Value::Map(_)
            | Value::Link(_)) => other,
        };
        (key, field)
    };
    Value::Map(map.into_iter().map(readable).collect())
}

#[cfg(test)]
mod tests;
