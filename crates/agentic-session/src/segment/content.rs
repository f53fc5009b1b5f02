//! What segments hold together: records in their order, and long values of their pieces.

use std::collections::BTreeMap;

use agentic_model::{Cid, Object, Value};
use agentic_replay::{RecordHash, SessionId};

use super::{SealedLines, SealedSpan};
use crate::Result;
use crate::block;

/// Joins the records that segments hold.
pub(crate) fn joined(id: &SessionId, segments: &[Object]) -> Result<SealedLines> {
    let mut parts = Vec::new();
    for object in segments {
        let from = object.map().get("from").and_then(Value::as_int);
        let from = from.and_then(|from| usize::try_from(from).ok());
        if let (Some(from), Some(records)) = (from, records_in(object)?) {
            parts.push((from, records));
        }
    }
    SealedLines::join(id, parts)
}

/// Returns the records of one segment; nothing if it has none, or other ones than it says.
///
/// # Errors
/// Fails when there is no memory.
pub fn records_in(object: &Object) -> Result<Option<Vec<Vec<u8>>>> {
    let map = object.map();
    let Some(block) = map.get("block").and_then(Value::as_bytes) else {
        let records = map.get("records").and_then(Value::as_list);
        let bytes = |item: &Value| item.as_bytes().map(<[u8]>::to_vec);
        return Ok(records.map(|records| records.iter().filter_map(bytes).collect()));
    };
    let records = block::records(block)?;
    let span = SealedSpan::of(object);
    Ok(records.filter(|records| {
        let head = records.last().map(|last| RecordHash::of_record(last));
        span.is_some_and(|span| span.end - span.from == records.len() && head == Some(span.hash))
    }))
}

/// Finds the pieces of a long value among segments.
pub(crate) fn pieces_of(segments: &[Object], cid: &Cid) -> BTreeMap<i64, Vec<u8>> {
    let piece = |object: &Object| {
        let map = object.map();
        let is_piece = map.get("value").and_then(Value::as_link) == Some(*cid);
        let part = map.get("part").and_then(Value::as_int).filter(|_| is_piece)?;
        Some((part, map.get("bytes").and_then(Value::as_bytes)?.to_vec()))
    };
    segments.iter().filter_map(piece).collect()
}

pub(crate) fn whole_value(pieces: BTreeMap<i64, Vec<u8>>, cid: &Cid) -> Option<Vec<u8>> {
    let bytes: Vec<u8> = pieces.into_values().flatten().collect();
    (Cid::of(&bytes) == *cid).then_some(bytes)
}
