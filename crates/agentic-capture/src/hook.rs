//! One event of a coding agent: what `agentic hook SOURCE` does with what it is given.
//!
//! Capture never stands in the way: whatever happens it prints nothing, ends with 0 and leaves a line
//! in the error log. A gate stops what it cannot check. How far a hook gets, in this order: it reads
//! the event, glances at the folder, opens the repository, finds the agent, and only then writes.

mod capture;
pub(crate) mod end;
mod gate;
pub mod git;
mod keep;
mod log;
mod names;
mod own;
mod plain_worktree;
mod tell;
mod weight;
mod worktree;

use std::error::Error;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use agentic_session::{SessionOptions, SessionSpace};
use agentic_store::{Layout, Patience};

use self::log::HookLog;
use crate::bind::{Binder, Binding, HookPlace};
use crate::event::{HookEvent, HookMoment, Payload};
use crate::glance::{git_folders, may_be_captured};
use crate::{CaptureError, HookEnvironment, Source};

/// The exit code of a gate that could not check.
const BLOCKED: u8 = 2;
/// The exit code of what was asked for and refused.
const REFUSED: u8 = 1;

/// How long a hook waits for a lock.
const LOCK_WAIT: Duration = Duration::from_millis(20);
/// How long at the end of a conversation, and for what follows once an event is kept.
const LOCK_WAIT_AT_END: Duration = Duration::from_secs(1);
/// How long a gate does, and whoever is asked for a worktree.
const LOCK_WAIT_OF_GATE: Duration = Duration::from_secs(5);

/// What a hook is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookRole {
    /// To keep what happens.
    Capture,
    /// To say whether a tool may run.
    Gate,
}

/// What a hook is started with, beside its input.
#[derive(Debug, Clone)]
pub struct HookRequest<'r> {
    /// Whose hook it is.
    pub source: Source,
    /// What it is for.
    pub role: HookRole,
    /// The name of the event, where the payload has none.
    pub named: Option<&'r str>,
    /// The environment.
    pub environment: &'r HookEnvironment,
    /// How the repository is opened.
    pub options: SessionOptions,
}

/// What a hook prints, and how it ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookAnswer {
    /// For whoever started it.
    pub stdout: String,
    /// For people.
    pub stderr: String,
    /// The exit code.
    pub exit: u8,
}

impl HookAnswer {
    /// Says nothing.
    pub fn silent() -> HookAnswer {
        HookAnswer::default()
    }

    fn printed(stdout: String) -> HookAnswer {
        HookAnswer { stdout, ..HookAnswer::default() }
    }

    /// Stops a call, and says what is in the way, down to what the system says.
    fn unchecked(error: &dyn Error) -> HookAnswer {
        let mut why = format!("cannot check this call: {error}");
        let mut cause = error.source();
        while let Some(error) = cause {
            why.push_str(&format!(": {error}"));
            cause = error.source();
        }
        HookAnswer::failed(BLOCKED, &why)
    }

    fn failed(exit: u8, why: &str) -> HookAnswer {
        HookAnswer { stdout: String::new(), stderr: format!("agentic: {why}\n"), exit }
    }
}

/// What a hook works with once it knows the repository.
pub(crate) struct HookScene<'s> {
    pub space: &'s SessionSpace,
    pub request: &'s HookRequest<'s>,
    pub event: &'s HookEvent,
    pub place: HookPlace,
    pub log: &'s HookLog,
}

impl HookScene<'_> {
    /// Finds the agent that the event concerns, and logs what was odd about it.
    fn bind(&self) -> Result<Option<Binding>, CaptureError> {
        let mut binder = Binder {
            space: self.space,
            environment: self.request.environment,
            place: &self.place,
            patience: Patience::of(self.lock_wait()),
            remarks: Vec::new(),
        };
        let bound = binder.bind(self.event);
        for remark in &binder.remarks {
            self.log.note(remark.code());
        }
        bound
    }

    /// Returns how long this event waits for a lock.
    fn lock_wait(&self) -> Duration {
        match (self.request.role, self.event.moment) {
            (HookRole::Gate, _) if self.event.asks_for_leave() => LOCK_WAIT_OF_GATE,
            // No later one would make up for what it leaves.
            (_, HookMoment::WorktreeWanted | HookMoment::WorktreeDone) => LOCK_WAIT_OF_GATE,
            (_, HookMoment::Ends) => LOCK_WAIT_AT_END,
            (HookRole::Gate | HookRole::Capture, _) => LOCK_WAIT,
        }
    }
}

/// Does what a hook does. Nothing that goes wrong comes out of it, a panic neither.
pub fn answer(request: &HookRequest<'_>, input: impl Read) -> HookAnswer {
    let log = HookLog::new(request);
    let answered = catch_unwind(AssertUnwindSafe(|| answer_within(request, input, &log)));
    match answered {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => fail(request, &log, &error),
        Err(_) => fail(request, &log, &CaptureError::Panic),
    }
}

fn fail(request: &HookRequest<'_>, log: &HookLog, error: &CaptureError) -> HookAnswer {
    log.note(error.code());
    match request.role {
        HookRole::Gate if log.asks_for_leave() => HookAnswer::unchecked(error),
        HookRole::Capture | HookRole::Gate => HookAnswer::silent(),
    }
}

fn answer_within(
    request: &HookRequest<'_>,
    input: impl Read,
    log: &HookLog,
) -> Result<HookAnswer, CaptureError> {
    let read = Payload::read(input);
    let mut event = match read.and_then(|it| HookEvent::read(request.source, it, request.named)) {
        Ok(event) => event,
        Err(error) => return Ok(unreadable(request, log, error)),
    };
    log.hears_of(&event);
    let is_gated = request.role == HookRole::Gate && event.asks_for_leave();
    if is_gated {
        stand_in_folder(&mut event)?;
    }
    let Some(folder) = captured_folder(request, &event)? else {
        return Ok(uncaptured(&event));
    };
    let space = match SessionSpace::open(&folder, request.options.clone()) {
        Ok(space) => space,
        Err(error) => {
            log.opens(layout_above(&folder));
            log.note("cannot-open");
            return Ok(match is_gated {
                true => HookAnswer::unchecked(&error),
                false => HookAnswer::silent(),
            });
        }
    };
    if !is_on(&space, &folder) {
        return Ok(uncaptured(&event));
    }
    log.opens(Some(space.repository().layout().clone()));
    space.repository().keep_until_exit();
    names::clean_names(&space, &mut event)?;
    let place = event.folder.as_deref().map(|folder| HookPlace::of(&space, folder));
    let place = place.unwrap_or_default();
    let scene = HookScene { space: &space, request, event: &event, place, log };
    space.wait_at_most(scene.lock_wait());
    match (request.role, event.moment) {
        (_, HookMoment::WorktreeWanted) => Ok(worktree::create(&scene)),
        (_, HookMoment::WorktreeDone) => Ok(worktree::remove(&scene)),
        (HookRole::Gate, _) if is_gated => gate::gate(&scene),
        (HookRole::Gate | HookRole::Capture, _) => capture::capture(&scene),
    }
}

/// Answers where nothing is captured: with silence, but for worktrees, which the vendor leaves to us
/// wherever it runs.
fn uncaptured(event: &HookEvent) -> HookAnswer {
    if event.moment == HookMoment::WorktreeWanted {
        return plain_worktree::create(event);
    }
    if event.moment == HookMoment::WorktreeDone {
        return plain_worktree::remove(event);
    }
    HookAnswer::silent()
}

/// Says of what nobody can read that it is so: capture keeps quiet, a gate stops.
fn unreadable(
    request: &HookRequest<'_>,
    log: &HookLog,
    error: crate::event::PayloadError,
) -> HookAnswer {
    let may = |here: &PathBuf| may_be_captured(here, request.environment).unwrap_or(false);
    let here = std::env::current_dir().ok().filter(may);
    log.opens(here.and_then(|here| layout_above(&here)));
    log.note(error.code());
    match request.role {
        HookRole::Gate => HookAnswer::unchecked(&error),
        HookRole::Capture => HookAnswer::silent(),
    }
}

/// Has a call whose folder is none run in the folder of this process: there it would.
fn stand_in_folder(event: &mut HookEvent) -> Result<(), CaptureError> {
    let is_folder = |folder: &PathBuf| folder.is_absolute() && folder.is_dir();
    if !event.folder.as_ref().is_some_and(is_folder) {
        let here = std::env::current_dir().map_err(|source| CaptureError::Io { source })?;
        event.folder = Some(here);
    }
    Ok(())
}

/// Finds a folder of the event in which something may have to be captured: its own, else that of the
/// project, which a conversation may have left for a moment. A gate looks where it was started, too.
fn captured_folder(
    request: &HookRequest<'_>,
    event: &HookEvent,
) -> Result<Option<PathBuf>, CaptureError> {
    let environment = request.environment;
    let own = event.folder.clone().filter(|folder| folder.is_absolute());
    let project = environment.path("CLAUDE_PROJECT_DIR");
    let here = match request.role {
        HookRole::Gate if event.asks_for_leave() => std::env::current_dir().ok(),
        HookRole::Gate | HookRole::Capture => None,
    };
    let folders = [own, project, here].into_iter().flatten();
    for folder in folders.filter_map(|it| it.canonicalize().ok()) {
        if may_be_captured(&folder, environment)? {
            return Ok(Some(folder));
        }
    }
    Ok(None)
}

/// Finds where the repository of a folder keeps what is ours.
fn layout_above(folder: &Path) -> Option<Layout> {
    let git = git_folders(folder).ok().flatten()?;
    Some(Layout::new(&git.common))
}

/// Tells whether the repository of a folder wants to be captured. A variable may have led to another.
fn is_on(space: &SessionSpace, folder: &Path) -> bool {
    let repository = space.repository();
    let is_here = git_folders(folder)
        .ok()
        .flatten()
        .and_then(|git| git.common.canonicalize().ok())
        .is_some_and(|common| common == repository.common_dir());
    is_here && repository.is_set("agentic.capture").unwrap_or(false)
}
