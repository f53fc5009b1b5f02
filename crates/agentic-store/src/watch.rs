//! Noticing what other processes write, ours and git's alike, soon after they did.
//!
//! | what tells | of what |
//! | --- | --- |
//! | the bell | writes of programs that know it, of every sort |
//! | the folders of refs, of locks and of open sessions | what git and older programs do |
//!
//! Folders are watched by the system, never one for each agent. Where that cannot be had, the times
//! of the same folders are looked at ten times a second. What is noticed is a hint: whoever hears it
//! compares ground state with what is known, and does so for everything at the start, when something
//! was missed, and now and then.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use agentic_model::AgentName;

use crate::Result;
use crate::bell::{Bell, GroundChange, is_session};
use crate::layout::{Layout, Stream};
use crate::os::{FolderEvent, FolderEvents, wait};

/// How often folders are looked at that the system does not watch.
const POLL: Duration = Duration::from_millis(100);
/// How often is tried again to watch a folder that could not be watched.
const RETRY: Duration = Duration::from_secs(30);
/// A file system tells times in steps. What was changed this short a time ago may be changed again
/// without another time.
const TIME_STEP: Duration = Duration::from_millis(20);
/// What git writes beside refs when it changes them; a fetch ends with the last of these.
const GIT_FILES: [&str; 3] = ["packed-refs", "HEAD", "FETCH_HEAD"];
/// How the lock of a session is called.
const SESSION_LOCK: &str = "_session-";

/// How changes of folders are noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchMode {
    /// The system tells of them.
    Events,
    /// Their times are looked at.
    Polling,
}

impl WatchMode {
    /// Returns the word for it.
    pub const fn word(self) -> &'static str {
        match self {
            WatchMode::Events => "inotify",
            WatchMode::Polling => "polling",
        }
    }
}

/// Somebody who notices writes.
#[derive(Debug)]
pub struct WriteWatch {
    /// What writers ring; there is one in a repository, for the process that stays.
    bell: Option<Bell>,
    folders: Vec<WatchedFolder>,
    /// Where the system tells of changes.
    events: Option<FolderEvents>,
    /// When to try again to have it tell.
    retry_at: Instant,
    /// When the folders and files were changed last, as far as they are looked at.
    times: BTreeMap<PathBuf, Option<SystemTime>>,
    /// Whether one of them was so young that it tells nothing of what came right behind.
    is_young: bool,
}

/// A folder whose names are watched.
#[derive(Debug)]
struct WatchedFolder {
    path: PathBuf,
    holds: FolderContent,
}

/// What the names in a folder stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FolderContent {
    /// Everything of git; only where it keeps refs is of interest.
    Git,
    /// Refs of which only the change counts.
    Refs,
    /// A ref for each agent.
    Agents,
    /// Locks, by what they belong to; they are closed when a write is over.
    Locks,
    /// A folder for each session.
    Sessions,
}

impl WriteWatch {
    /// Begins to notice writes to a repository, by its common git directory. From here on nothing is
    /// missed unless [`GroundChange::Anything`] says so.
    ///
    /// # Errors
    /// Fails when there can be no bell.
    pub fn begin(layout: &Layout, common_dir: &Path) -> Result<WriteWatch> {
        let bell = Bell::hang_up(layout)?;
        Ok(WriteWatch::with(Some(bell), layout, common_dir, FolderEvents::new().ok()))
    }

    /// Begins the same by the folders alone, beside whoever has the bell.
    pub fn aside(layout: &Layout, common_dir: &Path) -> WriteWatch {
        WriteWatch::with(None, layout, common_dir, FolderEvents::new().ok())
    }

    fn with(
        bell: Option<Bell>,
        layout: &Layout,
        common_dir: &Path,
        events: Option<FolderEvents>,
    ) -> WriteWatch {
        let folder = |path: PathBuf, holds| WatchedFolder { path, holds };
        let folders = vec![
            folder(common_dir.to_owned(), FolderContent::Git),
            folder(common_dir.join("refs/heads"), FolderContent::Refs),
            folder(common_dir.join("refs/heads/agents"), FolderContent::Agents),
            folder(common_dir.join("refs/notes/agentic"), FolderContent::Agents),
            folder(common_dir.join("refs/agentic"), FolderContent::Refs),
            folder(layout.root().join("lock"), FolderContent::Locks),
            folder(layout.open_sessions(), FolderContent::Sessions),
        ];
        let (retry_at, times) = (Instant::now(), BTreeMap::new());
        let mut watch = WriteWatch { bell, folders, events, retry_at, times, is_young: false };
        watch.watch_all();
        watch.look_at_times();
        watch
    }

    /// Says how changes of folders are noticed.
    pub fn mode(&self) -> WatchMode {
        match self.events {
            Some(_) => WatchMode::Events,
            None => WatchMode::Polling,
        }
    }

    /// Waits until something changed, at most so long, and says what; nothing if nothing did.
    pub fn wait(&mut self, most: Duration) -> BTreeSet<GroundChange> {
        let until = Instant::now() + most;
        loop {
            let changed = self.take();
            let left = until.saturating_duration_since(Instant::now());
            if !changed.is_empty() || left.is_zero() {
                return changed;
            }
            let pause = if self.events.is_some() { left } else { left.min(POLL) };
            let pipe = self.bell.as_ref().map(|bell| bell.pipe.file());
            wait(pipe, self.events.as_ref(), pause);
        }
    }

    /// Waits so long, whatever changes, and says what did. Whoever waits for each change wakes up for each, and has
    /// those who write wait for a processor.
    pub fn gather(&mut self, time: Duration) -> BTreeSet<GroundChange> {
        std::thread::sleep(time);
        self.take()
    }

    /// Says what changed since the last call, without waiting.
    fn take(&mut self) -> BTreeSet<GroundChange> {
        let mut changed = self.bell.as_mut().map(Bell::take).unwrap_or_default();
        match &mut self.events {
            Some(events) => {
                let seen = events.take();
                let mut is_other_folder = false;
                let missing = if seen.is_empty() { Vec::new() } else { self.missing_folders() };
                for event in &seen {
                    changed.extend(self.meaning(event));
                    is_other_folder |= concerns_a_missing_folder(event, &missing);
                }
                // What was there before the watch was is seen by a look at everything.
                if is_other_folder && self.watch_all() {
                    changed.insert(GroundChange::Anything);
                }
            }
            None => {
                if self.look_at_times() {
                    changed.insert(GroundChange::Anything);
                }
                if Instant::now() >= self.retry_at {
                    self.events = FolderEvents::new().ok();
                    if self.watch_all() {
                        changed.insert(GroundChange::Anything);
                    }
                }
            }
        }
        changed
    }

    /// Has the system watch every folder that is there, and of one that is not the nearest above that
    /// is. Where one cannot be watched, none is. Tells whether a folder is watched that was not.
    fn watch_all(&mut self) -> bool {
        let Some(events) = &mut self.events else { return false };
        let mut is_new = false;
        for folder in &self.folders {
            let there = folder.path.ancestors().find(|path| path.is_dir());
            let Some(there) = there.filter(|path| !events.is_watched(path)) else { continue };
            match events.watch(there) {
                Ok(()) => is_new = true,
                // It went away between the two: its parent tells.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => {
                    tracing::debug!(%error, "folders cannot be watched");
                    self.events = None;
                    self.retry_at = Instant::now() + RETRY;
                    self.look_at_times();
                    return true;
                }
            }
        }
        is_new
    }

    /// Lists the folders that are to be watched and are not.
    fn missing_folders(&self) -> Vec<PathBuf> {
        let is_watched = |path| self.events.as_ref().is_some_and(|events| events.is_watched(path));
        let missing = self.folders.iter().filter(|folder| !is_watched(&folder.path));
        missing.map(|folder| folder.path.clone()).collect()
    }

    /// Says what an event means.
    fn meaning(&self, event: &FolderEvent) -> Option<GroundChange> {
        let path = match event {
            FolderEvent::Missed => return Some(GroundChange::Anything),
            // Git removes folders of refs that became empty.
            FolderEvent::Gone(_) => return Some(GroundChange::Refs),
            FolderEvent::Name(path) => path,
        };
        let name = path.file_name()?.to_str()?;
        // By their bytes, for this is asked for every name.
        let above = path.parent()?.as_os_str();
        let folder = self.folders.iter().find(|folder| folder.path.as_os_str() == above)?;
        match folder.holds {
            FolderContent::Git => GIT_FILES.contains(&name).then_some(GroundChange::Refs),
            FolderContent::Refs => (!name.ends_with(".lock")).then_some(GroundChange::Refs),
            FolderContent::Agents => {
                let agent = AgentName::parse(name).ok()?;
                (!name.ends_with(".lock")).then_some(GroundChange::Stream(Stream::Agent(agent)))
            }
            FolderContent::Locks => match name.strip_prefix(SESSION_LOCK) {
                Some(session) => {
                    is_session(session).then(|| GroundChange::Session(session.to_owned()))
                }
                None => Stream::parse(name).map(GroundChange::Stream),
            },
            FolderContent::Sessions => {
                is_session(name).then(|| GroundChange::Session(name.to_owned()))
            }
        }
    }

    /// Looks when folders and files of refs were changed last. Tells whether one was since the look
    /// before.
    fn look_at_times(&mut self) -> bool {
        let git = self.folders.iter().filter(|folder| folder.holds == FolderContent::Git);
        let files = git.flat_map(|git| GIT_FILES.map(|name| git.path.join(name)));
        let folders = self.folders.iter().filter(|folder| folder.holds != FolderContent::Git);
        let paths = files.chain(folders.map(|folder| folder.path.clone()));
        let time = |path: &Path| std::fs::metadata(path).and_then(|found| found.modified()).ok();
        let now = SystemTime::now();
        let times =
            paths.map(|path| (time(&path), path)).map(|(time, path)| (path, time)).collect();
        let before = std::mem::replace(&mut self.times, times);
        // A time that is still to come is that of a clock which was set.
        let is_young = |time: &SystemTime| {
            now.duration_since(*time).unwrap_or_else(|early| early.duration()) < TIME_STEP
        };
        let was_young = self.is_young;
        self.is_young = self.times.values().flatten().any(is_young);
        was_young || before != self.times
    }
}

/// Tells whether an event is a reason to look which folders are there.
fn concerns_a_missing_folder(event: &FolderEvent, missing: &[PathBuf]) -> bool {
    match event {
        FolderEvent::Gone(_) | FolderEvent::Missed => true,
        FolderEvent::Name(path) => missing.iter().any(|folder| folder.starts_with(path)),
    }
}

#[cfg(test)]
mod tests;
