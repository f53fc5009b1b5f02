//! Transcripts that their vendor is about to delete: Claude Code does so 30 days after their last word.

use std::path::PathBuf;

use agentic_session::SessionSpace;

use super::belonging::Belonging;
use super::find::transcripts;
use super::head::TranscriptHead;
use crate::cursor::{CursorOwner, TranscriptCursor};
use crate::{CaptureError, HookEnvironment, Source, VendorRoots};

/// From which day on a person is told, in milliseconds.
const ENDANGERED_MS: i64 = 25 * 24 * 60 * 60 * 1000;

/// Lists transcripts of this repository that their vendor is about to delete, and that were not read to
/// their end.
///
/// # Errors
/// Fails when the repository cannot be read.
pub fn endangered(
    space: &SessionSpace,
    environment: &HookEnvironment,
) -> Result<Vec<PathBuf>, CaptureError> {
    let captures = space.repository().layout().capture();
    let before = space.now().plus_millis(-ENDANGERED_MS);
    let (roots, belonging) = (VendorRoots::of(environment, None), Belonging::of(space)?);
    let mut old = Vec::new();
    for found in transcripts(Source::Claude, environment) {
        let Ok(file) = roots.open(&found.path) else { continue };
        if file.modified().is_ok_and(|at| at > before) {
            continue;
        }
        let Ok(head) = TranscriptHead::read(found, &file) else { continue };
        let subagent = head.found.subagent.as_deref();
        let cursor = TranscriptCursor::load(
            &captures,
            CursorOwner { conversation: &head.found.id, subagent },
        );
        let is_read = match (cursor, file.stamp()) {
            (Some(cursor), Ok(stamp)) => cursor.is_at_rest(stamp),
            (None, _) | (_, Err(_)) => false,
        };
        if !is_read && belonging.has_facts(Source::Claude, &head.facts) {
            old.push(file.path);
        }
    }
    Ok(old)
}
