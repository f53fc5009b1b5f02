//! Loading: a program brought to the end of its records, and the driver that goes on with it from
//! there.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::mpsc;
use std::time::Instant as Moment;

use agentic_host::{ObservedRun, RunExecutor};
use agentic_model::Object;
use agentic_replay::{
    AnswerFold, Body, LoadedSession, Program, RecordChain, ReplayError, Request, RequestAnswer,
    Session, SessionId, SessionProgress, SessionSetting, Upgrade,
};
use agentic_store::Lock;
use agentic_store::journal::LogFile;

use super::backlog::Backlog;
use super::drive::Driver;
use super::executor::Assignment;
use super::folder::{Folder, Values, damaged};
use super::language::engine_of;
use super::own::restore_journal;
use super::room::ProgramRoom;
use super::shelf::{Shelf, flow_of, program_of};
use super::unsynced::UnsyncedRecords;
use super::{hosted, seal};
use crate::error::SessionError;
use crate::{Error, Result, SessionSpace};

/// A session, and who performs what it asks for.
pub type LoadedRun = (Session<Box<dyn Program>>, RunExecutor);

impl<'a> Driver<'a> {
    /// Takes over a session that was just started: nothing of it is durable yet.
    pub fn begin(
        space: &'a SessionSpace,
        (folder, lock): (Folder, Lock),
        executor: RunExecutor,
        (session, progress): (Session<Box<dyn Program>>, SessionProgress),
    ) -> Result<Driver<'a>> {
        let mut driver = Driver::new(space, folder, lock, (session, executor))?;
        driver.take_in(progress)?;
        Ok(driver)
    }

    /// Makes the start of a session durable and nothing else: what it asks first is asked again by
    /// whoever loads it.
    pub fn begin_later(
        space: &'a SessionSpace,
        (folder, lock): (Folder, Lock),
        executor: RunExecutor,
        (session, mut progress): (Session<Box<dyn Program>>, SessionProgress),
    ) -> Result<()> {
        progress.links.truncate(1);
        let mut driver = Driver::new(space, folder, lock, (session, executor))?;
        driver.append(&progress.objects, progress.links)
    }

    /// Loads a session and brings it to the end of its records.
    ///
    /// # Errors
    /// Fails when the records are damaged, and with `SessionError::Diverged` when its program does
    /// something else than was recorded; nothing is performed then.
    pub fn load(space: &'a SessionSpace, id: &SessionId) -> Result<Driver<'a>> {
        let (folder, lock) = Folder::lock(space, id)?;
        Driver::load_locked(space, folder, lock)
    }

    /// Does the same if nobody else drives the session.
    ///
    /// # Errors
    /// Fails as [`Driver::load`] does.
    pub fn try_load(space: &'a SessionSpace, id: &SessionId) -> Result<Option<Driver<'a>>> {
        match Folder::try_lock(space, id)? {
            Some((folder, lock)) => Driver::load_locked(space, folder, lock).map(Some),
            None => Ok(None),
        }
    }

    /// Loads a session whose lock is held.
    pub fn load_locked(space: &'a SessionSpace, folder: Folder, lock: Lock) -> Result<Driver<'a>> {
        hosted::refuse(space, &folder)?;
        Driver::load_any(space, folder, lock)
    }

    /// Loads a session whose lock is held, and which another host may have driven.
    pub fn load_any(space: &'a SessionSpace, folder: Folder, lock: Lock) -> Result<Driver<'a>> {
        let journal = restore_journal(space, &folder)?;
        let flow = flow_of(space, &folder, &journal.flow())?;
        let loaded = replayed(space, &folder, (&journal, &flow), Session::resume)?;
        Driver::at_the_end(space, (folder, lock), &journal, loaded)
    }

    /// Loads a session with another program than its own, which must make every recorded request,
    /// and records that it goes on with that.
    ///
    /// # Errors
    /// Fails as [`Driver::load`] does, and with `SessionError::Over` when the session is over.
    pub fn load_upgraded(
        space: &'a SessionSpace,
        id: &SessionId,
        flow: &Object,
    ) -> Result<Driver<'a>> {
        let (folder, lock) = Folder::lock(space, id)?;
        hosted::refuse(space, &folder)?;
        let journal = restore_journal(space, &folder)?;
        if journal.is_over() {
            return Err(SessionError::Over { id: id.short() }.into());
        }
        let upgrade = Upgrade { to: flow.cid(), at: space.now() };
        let loaded =
            replayed(space, &folder, (&journal, flow), |journal, program, setting, fold| {
                Session::upgrade(journal, program, setting, upgrade, fold)
            })?;
        // A program that is refused leaves nothing behind; one that records name is kept.
        folder.keep_object(&upgrade.to, flow.bytes())?;
        seal::keep(space, &journal.start().agent, "flow", std::slice::from_ref(flow))?;
        Driver::at_the_end(space, (folder, lock), &journal, loaded)
    }

    /// Takes over a session whose program has come to the end of its records.
    fn at_the_end(
        space: &'a SessionSpace,
        (folder, lock): (Folder, Lock),
        journal: &RecordChain,
        (ran, progress): (LoadedRun, SessionProgress),
    ) -> Result<Driver<'a>> {
        let mut driver = Driver::new(space, folder, lock, ran)?;
        let asked = progress.asked();
        let held = driver.session.pending().into_iter();
        let known = held.filter(|hold| !asked.contains(&hold.request.path));
        driver.told = known.map(|hold| hold.id).collect();
        driver.was_over = journal.is_over();
        driver.is_cancelled = is_cancelled(journal);
        driver.take_in(progress)?;
        Ok(driver)
    }

    fn new(
        space: &'a SessionSpace,
        folder: Folder,
        lock: Lock,
        (session, executor): LoadedRun,
    ) -> Result<Driver<'a>> {
        let (log, cut) = LogFile::open(&folder.log())?;
        if cut > 0 {
            let id = folder.id.short();
            space.note_mended(format!("session {id}: repaired a tail of {cut} bytes"));
        }
        let observed = ObservedRun::new(space.observer(), folder.id);
        Ok(Driver {
            space,
            folder,
            _lock: lock,
            log,
            session,
            executor,
            unsynced: UnsyncedRecords::default(),
            ready: VecDeque::new(),
            backlog: Backlog::default(),
            room: ProgramRoom::default(),
            running: BTreeMap::new(),
            timers: BTreeMap::new(),
            arrivals: mpsc::channel(),
            faulted: BTreeMap::new(),
            told: BTreeSet::new(),
            looked_at: Moment::now(),
            is_cancelled: false,
            asks_too_late: false,
            was_over: false,
            observed,
        })
    }
}

/// Says whether a session was told to stop.
fn is_cancelled(journal: &RecordChain) -> bool {
    let own = journal.records().iter().rev();
    let mut own = own.take_while(|record| !matches!(record.body, Body::Start(_)));
    own.any(|record| matches!(record.body, Body::Cancel(_)))
}

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
