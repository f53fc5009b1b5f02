//! The configuration that a session was started with: whoever goes on with it under another one is
//! told so. It is no failure, since models and servers may move, but an answer may be another one.

use agentic_model::Cid;
use agentic_replay::SessionId;

use super::executor::Assignment;
use super::folder::Folder;
use super::own::read_journal;
use super::shelf::Shelf;
use super::shelf::flow_of;
use crate::{Result, SessionSpace};

/// The configuration that a session was started with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PinnedConfiguration {
    /// Its digest.
    pub digest: Cid,
    /// Whether another one counts by now, and the session is not over.
    pub is_changed: bool,
}

/// Returns the configuration that a session was started with; nothing where it needs none, and where
/// it was started by a release that did not look.
///
/// # Errors
/// Fails when there is no such session, and when its records are damaged.
pub fn configuration(space: &SessionSpace, id: &SessionId) -> Result<Option<PinnedConfiguration>> {
    let journal = read_journal(space, id)?;
    let start = journal.start();
    let Some(digest) = start.configuration else { return Ok(None) };
    if journal.is_over() {
        return Ok(Some(PinnedConfiguration { digest, is_changed: false }));
    }
    let folder = Folder::of(space, id);
    let shelf = Shelf { space, folder: &folder, given: &[] };
    // A program that is not here changes nothing about what was pinned.
    let executor = flow_of(space, &folder, &journal.flow())
        .and_then(|flow| Assignment::of(&flow, start).executor(shelf));
    let now =
        executor.ok().and_then(|executor| executor.pinned(|| space.work_folder(&start.agent)));
    Ok(Some(PinnedConfiguration { digest, is_changed: now.is_some_and(|now| now != digest) }))
}
