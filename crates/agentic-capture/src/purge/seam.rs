//! What stands across the seams of traces: a long entry is cut into pieces, and a long trace into
//! objects, so that a value may begin in one object and end in the next. Neither holds it by itself.
//! What is cut within one object [`PurgeAim::is_in_object`] finds.

use std::collections::BTreeMap;

use agentic_model::{Cid, ConsoleTrace, Entry, Object};
use agentic_space::Space;
use agentic_space::purging::PurgeHistory;

use super::aim::{PurgeScrub, entries_of};
use super::{PurgeAim, PurgeError};
use crate::cursor::CaptureKey;
use crate::redaction;

/// Where objects of traces stand in notes.
const TRACES: &str = "objects/console-trace/";

/// What pieces of entries become that stand at the seams of objects: by object and place in it.
pub type SeamPieces = BTreeMap<Cid, BTreeMap<usize, Entry>>;

/// A piece of a happening, and where it stands.
struct SeamPiece {
    object: Cid,
    at: usize,
    entry: Entry,
}

/// What is taken out, and what marks its places.
struct SeamScrub<'s> {
    aim: &'s PurgeAim,
    id: &'s str,
    key: CaptureKey,
}

/// Finds what becomes of the pieces that hold it only together with those of the next object.
///
/// # Errors
/// Fails when an object of a trace cannot be read.
pub fn seams(
    space: &Space,
    history: &PurgeHistory,
    aim: &PurgeAim,
    id: &str,
) -> Result<SeamPieces, PurgeError> {
    let mut found = SeamPieces::new();
    match aim {
        PurgeAim::Value(_) | PurgeAim::Rule { .. } => {}
        PurgeAim::Conversation(_)
        | PurgeAim::Agent { .. }
        | PurgeAim::Object(_)
        | PurgeAim::Tombstones(_) => return Ok(found),
    }
    let key = redaction::key(space.repository().layout())?;
    let seams = SeamScrub { aim, id, key };
    let traces = history.leaves.iter().filter(|leaf| leaf.path.starts_with(TRACES));
    let blobs: BTreeMap<Cid, _> =
        traces.filter_map(|leaf| Some((leaf.object?, leaf.blob))).collect();
    let read = |cid: Cid| -> Result<Option<Object>, PurgeError> {
        let Some(blob) = blobs.get(&cid) else { return Ok(None) };
        let bytes = space.repository().read_blob(*blob).map_err(agentic_space::Error::from)?;
        // What is damaged is no part of anything.
        Ok(Object::decode(&bytes).ok())
    };
    for cid in blobs.keys() {
        let Some(object) = read(*cid)? else { continue };
        if !object.map().contains_key("parts") {
            continue;
        }
        let mut run: Vec<SeamPiece> = Vec::new();
        for part in ConsoleTrace::holders(&object).map_err(PurgeError::object)? {
            let Some(object) = read(part)? else {
                run.clear();
                continue;
            };
            for (at, entry) in entries_of(&object).into_iter().enumerate() {
                let goes_on = entry.continues;
                run.push(SeamPiece { object: part, at, entry });
                if !goes_on {
                    close(&mut run, &seams, &mut found);
                }
            }
        }
        close(&mut run, &seams, &mut found);
    }
    Ok(found)
}

/// Looks at the pieces of one happening.
fn close(run: &mut Vec<SeamPiece>, seams: &SeamScrub<'_>, found: &mut SeamPieces) {
    let pieces = std::mem::take(run);
    let is_one = pieces.windows(2).all(|pair| pair[0].object == pair[1].object);
    if is_one {
        return;
    }
    let mut scrub = PurgeScrub { key: Some(seams.key), ..PurgeScrub::new(seams.aim, seams.id) };
    let entries: Vec<Entry> = pieces.iter().map(|piece| piece.entry.clone()).collect();
    for (piece, clean) in pieces.into_iter().zip(scrub.entries("", None, entries)) {
        if clean != piece.entry {
            found.entry(piece.object).or_default().insert(piece.at, clean);
        }
    }
}
