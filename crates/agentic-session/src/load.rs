//! Loading: a program brought to the end of its records.

use agentic_host::RunExecutor;
use agentic_model::Object;
use agentic_replay::{
    AnswerFold, LoadedSession, Program, RecordChain, ReplayError, Request, RequestAnswer, Session,
    SessionId, SessionProgress, SessionSetting,
};

use super::executor::Assignment;
use super::folder::{Folder, Values, damaged};
use super::language::engine_of;
use super::shelf::{Shelf, program_of};
use crate::error::SessionError;
use crate::{Error, Result, SessionSpace};

/// A session, and who performs what it asks for.
pub type LoadedRun = (Session<Box<dyn Program>>, RunExecutor);

/// Runs a program over the records of a session: `load` says which of them.
pub fn replayed(
    space: &SessionSpace,
    folder: &Folder,
    (journal, flow): (&RecordChain, &Object),
    load: impl FnOnce(
        &RecordChain,
        Box<dyn Program>,
        SessionSetting<'_>,
        AnswerFold<'_>,
    ) -> LoadedSession<Box<dyn Program>>,
) -> Result<(LoadedRun, SessionProgress)> {
    let values = Values::of(space, journal);
    let shelf = Shelf { space, folder, given: &[] };
    let mut executor = Assignment::of(flow, journal.start()).executor(shelf)?;
    let engine = engine_of(flow, journal.start())?;
    let kinds = executor.kinds().clone();
    let setting = SessionSetting { engine: &engine, kinds: &kinds, objects: &values };
    let mut fold = |request: &Request, answer: &RequestAnswer| executor.fold(request, answer);
    let loaded = load(journal, program_of(space, folder, flow, &engine)?, setting, &mut fold);
    let (session, progress) = loaded.map_err(|error| replay_error(&folder.id, error))?;
    Ok(((session, executor), progress))
}

/// Turns the error of a replay into ours.
pub fn replay_error(id: &SessionId, error: ReplayError) -> Error {
    match error {
        ReplayError::Diverged(divergence) => {
            Error::Session(SessionError::Diverged { id: id.short(), divergence })
        }
        ReplayError::Corrupt(corrupt) => damaged(id, &corrupt.to_string()),
        ReplayError::Missing(missing) => damaged(id, &missing.to_string()),
    }
}
