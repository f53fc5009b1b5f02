//! The program of a run of another host, made from what the space has.

use agentic_host::RunExecutor;
use agentic_replay::{Program, RecordChain, Session, SessionProgress};

use super::HostedStart;
use crate::executor::Assignment;
use crate::folder::{Folder, damaged};
use crate::load::replayed;
use crate::shelf::{Shelf, flow_of, program_of};
use crate::{Result, SessionSpace, segment};

/// A program, and who computes what it asks.
pub struct HostedProgram {
    /// The program, before its start.
    pub program: Box<dyn Program>,
    /// Who answers what is only computed, and says who carries out the rest.
    pub executor: RunExecutor,
}

/// Makes the program of a run anew. Its content decides: the same id gives the same program.
///
/// # Errors
/// Fails when the program is not here, or nobody here runs it.
pub fn program_of_hosted(space: &SessionSpace, start: &HostedStart) -> Result<HostedProgram> {
    let folder = Folder::of(space, &start.session);
    let flow = flow_of(space, &folder, &start.flow)?;
    let shelf = Shelf { space, folder: &folder, given: &[] };
    let assignment = Assignment { flow: &flow, key: &start.key, allow: &start.allow };
    let executor = assignment.executor(shelf)?;
    let program = program_of(space, &folder, &flow, &start.engine)?;
    Ok(HostedProgram { program, executor })
}

/// A run of another host, as it stands.
pub struct HostedRun {
    /// The session.
    pub session: Session<Box<dyn Program>>,
    /// Who answers what is only computed, and says who carries out the rest.
    pub executor: RunExecutor,
}

/// Brings a run to where it was when so many of its records were sealed, the last of which has this hash.
///
/// # Errors
/// Fails when they are not here, and with [`Diverged`](crate::error::SessionError::Diverged) when the program does something
/// else than was recorded.
pub fn load_hosted(
    space: &SessionSpace,
    start: &HostedStart,
    n_records: usize,
    head: &str,
) -> Result<(HostedRun, SessionProgress)> {
    let id = &start.session;
    let mut frames = segment::frames(space, id)?;
    frames.truncate(n_records);
    let journal = RecordChain::read(&frames).map_err(|error| damaged(id, &error.to_string()))?;
    if frames.len() < n_records || journal.chain().head().to_string() != head {
        return Err(damaged(id, &format!("its first {n_records} records are not sealed here")));
    }
    let folder = Folder::of(space, id);
    let flow = flow_of(space, &folder, &journal.flow())?;
    let loaded = replayed(space, &folder, (&journal, &flow), Session::resume)?;
    let ((session, executor), progress) = loaded;
    Ok((HostedRun { session, executor }, progress))
}
