//! Starting, resuming and stopping sessions.

use agentic_model::{Object, Value, canonical};
use agentic_replay::record::{CancelMode, CancelRecord};
use agentic_replay::{Session, SessionId, SessionOpening, Signal, parent_of};

use super::begin::{Begin, KeySource, bad};
use super::children::Child;
use super::drive::Driver;
use super::executor::Assignment;
use super::folder::Folder;
use super::inbox::{self, InboxMessage};
use super::language::kinds_of;
use super::listing::{list_open_telling, with_key};
use super::own::read_journal;
use super::shelf::{Shelf, flow_of, program_heard};
use super::{hosted, own, seal};
use crate::draft::VALUE_BYTES_MAX;
use crate::error::{RequestError, SessionError};
use crate::{Error, Result, SessionSpace};

/// How much of a session is recorded when it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RecordedExtent {
    /// Its start, and what it asks first.
    All,
    /// Its start alone.
    StartOnly,
}

/// Starts a session, or returns the one that was started with the same agent, flow, input and key,
/// and runs it as far as it goes.
///
/// # Errors
/// Fails when there is no such agent, when the flow does not parse, and when the key was used with
/// another flow or input.
pub fn start(space: &SessionSpace, begin: Begin) -> Result<SessionId> {
    let mut driver = create(space, begin.with_own_allowed())?;
    driver.run()?;
    let id = driver.id();
    follow_up(space, driver)?;
    Ok(id)
}

/// Records a session without running it, or finds the one that there is: whoever drives it later
/// begins with its first effect.
///
/// # Errors
/// Fails as [`start`] does.
pub fn record(space: &SessionSpace, begin: Begin) -> Result<SessionId> {
    let begin = begin.with_own_allowed();
    let id = begin.session()?;
    // One that somebody drives is not waited for.
    let folder = Folder::of(space, &id);
    hosted::refuse(space, &folder)?;
    if !own::has_begun(space, &folder, &begin.agent)? {
        make(space, begin, RecordedExtent::StartOnly)?;
    }
    Ok(id)
}

/// Starts a child and runs it; its parent is waiting for it already.
pub(super) fn start_child(space: &SessionSpace, child: Child) -> Result<SessionId> {
    let mut driver = match child {
        Child::New(begin) => create(space, *begin)?,
        Child::Begun(id) => Driver::load(space, &id)?,
    };
    driver.run()?;
    Ok(driver.id())
}

/// Makes a session, or loads the one that there is.
fn create(space: &SessionSpace, begin: Begin) -> Result<Driver<'_>> {
    let made = make(space, begin, RecordedExtent::All)?;
    Ok(made.expect("BUG: a session that is made whole has a driver"))
}

/// Makes a session, or finds the one that there is; it is loaded only by whoever runs it, because
/// loading records what it asks next.
fn make(space: &SessionSpace, begin: Begin, extent: RecordedExtent) -> Result<Option<Driver<'_>>> {
    let head = space.head(&begin.agent)?;
    let mut opening = begin.opening(Some(head.to_string()))?;
    let id = opening.session().map_err(bad)?;
    let (folder, lock) = Folder::lock(space, &id)?;
    hosted::refuse(space, &folder)?;
    let shelf = Shelf { space, folder: &folder, given: &begin.parts };
    let program = program_heard(shelf, &begin.flow, &opening.engine)?;
    if own::has_begun(space, &folder, &begin.agent)? {
        return match extent {
            RecordedExtent::All => Driver::load_locked(space, folder, lock).map(Some),
            RecordedExtent::StartOnly => Ok(None),
        };
    }
    match begin.key_source {
        KeySource::Named => check_key(space, &opening, &id)?,
        KeySource::Fresh => {}
    }
    // The flow is pinned: in the notes, durably, for whoever gets the session later; here a copy is
    // at hand for this run.
    let parts = shelf.parts(&begin.flow)?;
    let pinned: Vec<Object> =
        std::iter::once(begin.flow.clone()).chain(shelf.beside(&begin.flow)?).collect();
    seal::keep(space, &begin.agent, "flow", &pinned)?;
    for object in parts.iter().chain([&begin.flow]) {
        folder.keep_copy(object)?;
    }
    let kinds = kinds_of(&begin.flow)?;
    let assignment = Assignment { flow: &begin.flow, key: &begin.key, allow: &begin.allow };
    let executor = assignment.executor(shelf)?;
    opening.configuration = executor.pinned(|| space.work_folder(&begin.agent));
    let begun = Session::start(opening, space.now(), program, &kinds).map_err(bad)?;
    match extent {
        // The driver that asks also performs: a later one would have to doubt the effects.
        RecordedExtent::All => Driver::begin(space, (folder, lock), executor, begun).map(Some),
        RecordedExtent::StartOnly => {
            Driver::begin_later(space, (folder, lock), executor, begun).map(|()| None)
        }
    }
}

/// Refuses a key that names another session of the agent.
fn check_key(space: &SessionSpace, opening: &SessionOpening, id: &SessionId) -> Result<()> {
    let taken = with_key(space, &opening.agent, &opening.key)?;
    match taken.into_iter().find(|other| other != id) {
        Some(other) => Err(Error::Session(SessionError::KeyTaken {
            key: opening.key.clone(),
            session: other.short(),
        })),
        None => Ok(()),
    }
}

/// Finishes what a crash left of a session and runs it as far as it goes; then whatever waits for
/// it: its parent, or the session that it continues as.
///
/// # Errors
/// Fails when the records are damaged or the program diverges from them.
pub fn resume(space: &SessionSpace, id: &SessionId) -> Result<()> {
    let mut driver = Driver::load(space, id)?;
    driver.run()?;
    follow_up(space, driver)
}

/// Goes on with a session after a decision: here if nobody drives it, else whoever does is told and
/// goes on with it while other branches are busy.
///
/// # Errors
/// Fails as [`resume`] does.
pub fn go_on(space: &SessionSpace, id: &SessionId) -> Result<()> {
    let Some(mut driver) = inbox::wake(space, id)? else { return Ok(()) };
    driver.run()?;
    follow_up(space, driver)
}

/// Goes on with whatever waited for a session that has just run: its parent, or the session that
/// it continues as.
fn follow_up(space: &SessionSpace, driver: Driver<'_>) -> Result<()> {
    let mut ran = driver;
    loop {
        let Some(end) = ran.session().end().cloned() else { return Ok(()) };
        let (id, start, flow) = (ran.id(), ran.session().started().clone(), ran.session().flow());
        drop(ran);
        ran = match (end.continued_with(), parent_of(&start.key)) {
            (Some(state), _) => {
                let flow = flow_of(space, &Folder::of(space, &id), &flow)?;
                let (agent, allow, input) = (start.agent, start.allow, state.clone());
                {
                    let (key, parts) = (continuation_key(&id), Vec::new());
                    let key_source = KeySource::Named;
                    create(space, Begin { agent, flow, parts, input, key, key_source, allow })?
                }
            }
            (None, Some(parent)) => match inbox::wake(space, &parent)? {
                Some(driver) => driver,
                None => return Ok(()),
            },
            (None, None) => return Ok(()),
        };
        ran.run()?;
    }
}

/// Returns the start key of the session that another goes on as.
pub(crate) fn continuation_key(id: &SessionId) -> String {
    format!("continue {id}")
}

/// Stops a session: children first, then with a chance to clean up, or at once.
///
/// # Errors
/// Fails with [`SessionError::Over`] when it is over.
pub fn cancel(
    space: &SessionSpace,
    id: &SessionId,
    mode: CancelMode,
    who: &str,
    why: &str,
) -> Result<()> {
    if read_journal(space, id)?.is_over() {
        return Err(Error::Session(SessionError::Over { id: id.short() }));
    }
    let cancel = CancelRecord { who: who.to_owned(), why: why.to_owned(), mode };
    let sent = inbox::send(space, id, InboxMessage::Cancel(cancel));
    if let Err(Error::Session(SessionError::Over { .. })) = sent {
        // Its program has ended, but what a crash left of the end may still be open.
        resume(space, id)?;
    }
    let Some(mut driver) = sent? else { return Ok(()) };
    driver.run()?;
    let start = driver.session().started().clone();
    drop(driver);
    if let Some(parent) = parent_of(&start.key) {
        resume(space, &parent)?;
    }
    Ok(())
}

/// Sends a signal to a session. When this returns it is durable: it has reached the request that
/// waits for it, or waits for one that will. Whoever drives the session goes on with it; else it
/// goes on here.
///
/// # Errors
/// Fails with [`SessionError::Over`] when the session is over, with [`SessionError::InboxFull`] when too
/// many signals wait, and with [`RequestError::ValueMisfit`] when the value is too long.
pub fn signal(space: &SessionSpace, id: &SessionId, name: &str, value: Value) -> Result<()> {
    if read_journal(space, id)?.is_over() {
        return Err(Error::Session(SessionError::Over { id: id.short() }));
    }
    let length = canonical::encode(&value).map_err(bad)?.len();
    if length > VALUE_BYTES_MAX {
        let reason = format!("it is longer than {VALUE_BYTES_MAX} bytes");
        return Err(Error::Request(RequestError::ValueMisfit { pointer: String::new(), reason }));
    }
    let signal = Signal { id: inbox::token(), name: name.to_owned(), value };
    let Some(mut driver) = inbox::send(space, id, InboxMessage::Signal(signal))? else {
        return Ok(());
    };
    driver.run()?;
    follow_up(space, driver)
}

/// Goes on with every session that is not over and that nobody drives: fires timers that are due,
/// expires holds, applies decisions. Returns those that got further. One that cannot go on keeps no
/// other from it; what stood in its way is noted ([`Space::take_mended`]).
///
/// # Errors
/// Fails when the sessions cannot be listed.
pub fn tick(space: &SessionSpace) -> Result<Vec<SessionId>> {
    let mut due: Vec<(i64, SessionId)> = Vec::new();
    for id in list_open_telling(space, &mut |told| space.note_mended(told))? {
        match super::summary::read(space, &id) {
            Ok(summary) => due.push((summary.until.map_or(i64::MAX, |at| at.millis()), id)),
            Err(Error::Session(SessionError::Unknown { .. })) => {
                // Mostly what is left of a start that was broken off before anything was recorded.
                if Folder::of(space, &id).has_bytes() {
                    let why = "its log has no record that can be read";
                    space.note_mended(format!("session {} cannot go on: {why}", id.short()));
                }
            }
            Err(error) => {
                space.note_mended(format!("session {} cannot go on: {error}", id.short()));
            }
        }
    }
    due.sort();
    let mut moved = Vec::new();
    for (_, id) in due {
        let Ok(before) = read_journal(space, &id) else { continue };
        if Folder::of(space, &id).is_driven(space)? {
            continue;
        }
        if let Err(error) = resume(space, &id) {
            space.note_mended(format!("session {} cannot go on: {error}", id.short()));
        }
        let after = read_journal(space, &id).map_or(0, |journal| journal.records().len());
        if after > before.records().len() {
            moved.push(id);
        }
    }
    Ok(moved)
}
