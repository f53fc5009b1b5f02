//! Pauses that are short enough to be waited for.

use std::path::Path;
use std::time::Duration;

use agentic_model::Instant;
use agentic_replay::SessionId;

use crate::{Begin, Clock, Result, SessionOptions, SessionSpace, SessionState, children};

/// The longest pause that a run is waited for, in milliseconds; after a longer one a worker or
/// `session tick` goes on.
const PAUSE_MS_MAX: i64 = 60_000;

/// Waits for pauses that are short enough, those of a session and of its children, and goes on after
/// each.
///
/// # Errors
/// Fails when a session cannot be read or cannot go on.
pub fn sit_out(space: &SessionSpace, id: &SessionId) -> Result<()> {
    while let Some((until, id)) = next_pause(space, id)? {
        let pause_ms = until.millis().saturating_sub(space.now().millis());
        if pause_ms > PAUSE_MS_MAX {
            break;
        }
        std::thread::sleep(Duration::from_millis(pause_ms.max(1).unsigned_abs()));
        crate::resume(space, &id)?;
    }
    Ok(())
}

/// Starts a session whose clock begins at an instant and moves only as far as the program waits, and runs
/// it as far as it goes without a human: for comparisons with another engine.
///
/// # Errors
/// Fails as [`crate::start`] does.
pub fn start_pinned(
    folder: &Path,
    options: &SessionOptions,
    begin: Begin,
    from: Instant,
) -> Result<SessionId> {
    let open = |at| {
        let mut options = options.clone();
        options.space.clock = Clock::Fixed(at);
        SessionSpace::open_as_is(folder, options)
    };
    let mut at = from;
    let id = crate::start(&open(at)?, begin)?;
    while let Some((until, waiting)) = next_pause(&open(at)?, &id)? {
        at = at.max(until);
        crate::resume(&open(at)?, &waiting)?;
    }
    Ok(id)
}

/// Returns the earliest instant that a session or one of its children waits for, and which it is.
pub(super) fn next_pause(
    space: &SessionSpace,
    id: &SessionId,
) -> Result<Option<(Instant, SessionId)>> {
    let summary = space.session(id)?;
    if summary.state != SessionState::Waiting {
        return Ok(None);
    }
    if let Some(until) = summary.until {
        return Ok(Some((until, *id)));
    }
    let mut pauses = Vec::new();
    for child in children(space, id)? {
        pauses.extend(next_pause(space, &child)?);
    }
    Ok(pauses.into_iter().min())
}
