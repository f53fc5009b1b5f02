//! Sessions whose host is gone, or has ended them: they go on here, or end here, from what is sealed.

use agentic_replay::SessionId;
use agentic_replay::record::CancelRecord;
use agentic_store::file;

use super::claim::{host_in, is_claimed};
use crate::drive::Driver;
use crate::error::SessionError;
use crate::folder::Folder;
use crate::own::restore_journal;
use crate::segment;
use crate::{Result, SessionSpace};

/// What is left of a session whose host is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostedRemains {
    /// Its sealed records: it goes on from the last one.
    Records,
    /// Nothing: it begins anew where it is started again.
    Nothing,
}

/// Takes a session from its host, which is gone for good: from now on it is one of the embedded engine.
/// It does not go on yet. What may happen only once and was under way is in doubt.
///
/// Whoever takes over a session whose host is alive has two hosts of it: the other one fails at its next
/// seal.
///
/// # Errors
/// Fails when no other host drives the session, when it is over, and when its records cannot be written.
pub fn take_over(space: &SessionSpace, id: &SessionId) -> Result<HostedRemains> {
    let (folder, _lock) = Folder::lock(space, id)?;
    if host_in(space, &folder).is_none() {
        return Err(SessionError::NotHosted { id: id.short() }.into());
    }
    let is_sealed = !segment::frames(space, id)?.is_empty();
    let remains = if is_sealed { HostedRemains::Records } else { HostedRemains::Nothing };
    if remains == HostedRemains::Records && restore_journal(space, &folder)?.is_over() {
        return Err(SessionError::Over { id: id.short() }.into());
    }
    // The records are here, durably: only now nobody else has a claim on them.
    if is_claimed(&folder) {
        file::remove(&folder.host())?;
    }
    Ok(remains)
}

/// Ends a session as its host has ended it, without the program's own end: its records say so. One that is
/// over stays as it is.
///
/// # Errors
/// Fails when nothing of it is sealed, and when its records cannot be written.
pub fn end_hosted(space: &SessionSpace, id: &SessionId, cancel: &CancelRecord) -> Result<()> {
    let (folder, lock) = Folder::lock(space, id)?;
    if restore_journal(space, &folder)?.is_over() {
        return Ok(());
    }
    let mut driver = Driver::load_any(space, folder, lock)?;
    if !driver.session().program_has_ended() {
        driver.cancel(cancel)?;
    }
    driver.run()
}
