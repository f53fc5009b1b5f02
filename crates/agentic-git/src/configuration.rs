//! Git's configuration, and who commits by it.
//!
//! It is read when a repository is opened, and that is the end of it for a command. A process that stays
//! has to notice what people say of themselves and their remotes meanwhile: from the moment on that it says
//! so, or once it is older than any short command gets, the files that it comes from are looked at before
//! each answer, and all of it is read again where one of them has changed, came or went.

mod change;

use std::cell::RefCell;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use agentic_model::Person;
use agentic_store::error::GitError;
use agentic_store::file::unique_number;
use agentic_store::{Error, Result};
use gix::config::Source;

use crate::Repository;

/// For how long a configuration is taken as it was read, without a look at its files. A command is over
/// before that, also where its instructions are counted.
const SETTLED_FOR: Duration = Duration::from_secs(3);
/// How far apart two changes are at least that the times of a file tell apart: systems count in ticks of
/// up to ten milliseconds.
const TICK: Duration = Duration::from_millis(20);
/// The same where times are whole seconds.
const COARSE_TICK: Duration = Duration::from_secs(2);

/// Where git's configuration, or its environment seen as such, names the committer.
const COMMITTER_NAMES: [&str; 3] =
    ["committer.name", "user.name", "gitoxide.committer.nameFallback"];

/// The same for the address.
const COMMITTER_ADDRESSES: [&str; 3] =
    ["committer.email", "user.email", "gitoxide.user.emailFallback"];

/// What a repository knows of its configuration beyond what it was opened with.
#[derive(Default)]
pub(super) struct ConfigurationWatch {
    start: ConfigurationStart,
    /// What its files said later.
    later: RefCell<Option<LaterConfiguration>>,
}

/// How the threads of a process that share a repository began with its configuration.
#[derive(Debug, Clone, Default)]
pub(super) struct ConfigurationStart {
    /// When it was read; nothing if it is that of the beginning, whatever its files say.
    read_at: Option<Instant>,
    /// Whether the process stays, so that the files are followed from then on.
    is_followed: Arc<AtomicBool>,
}

/// A configuration that was read again.
struct LaterConfiguration {
    /// The files that it may come from, as they were before that.
    files: Vec<(PathBuf, Option<FileMark>)>,
    /// Whether one of them had changed so shortly before that its next change may leave the same mark.
    is_unsettled: bool,
    /// The same repository, with it.
    repository: gix::Repository,
}

/// What tells a file from what it was before anybody wrote to it, or put another in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileMark {
    place: (u64, u64),
    length: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl ConfigurationWatch {
    /// Begins as other threads have.
    pub(super) fn new(start: ConfigurationStart) -> ConfigurationWatch {
        ConfigurationWatch { start, later: RefCell::new(None) }
    }

    /// Returns how it began, for other threads.
    pub(super) fn start(&self) -> ConfigurationStart {
        self.start.clone()
    }
}

impl ConfigurationStart {
    /// Begins with a configuration that was read at a moment, and may be followed from then on.
    pub(super) fn at(read_at: Option<Instant>) -> ConfigurationStart {
        ConfigurationStart { read_at, ..ConfigurationStart::default() }
    }

    /// Tells whether the files have to be looked at.
    fn is_due(&self) -> bool {
        let is_followed = || self.is_followed.load(Ordering::Relaxed);
        self.read_at.is_some_and(|read_at| is_followed() || read_at.elapsed() >= SETTLED_FOR)
    }
}

impl Repository {
    /// Looks at the files of the configuration before each answer from it, from now on and in all threads
    /// that share the repository: this process stays.
    pub fn follow_configuration(&self) {
        self.configuration.start.is_followed.store(true, Ordering::Relaxed);
    }

    /// Returns a value of git's configuration.
    pub fn config(&self, key: &str) -> Option<String> {
        self.configured(|inner| inner.config_snapshot().string(key).map(|value| value.to_string()))
    }

    /// Returns a number of git's configuration, as git reads it: with `k`, `m` or `g` behind it, or without.
    /// Nothing where it is none.
    pub fn config_number(&self, key: &str) -> Option<i64> {
        self.configured(|inner| inner.config_snapshot().integer(key))
    }

    /// Returns all values of `agentic.NAME` in the user's own configuration: not in the repository's, a
    /// worktree's or the system's, not from the environment, and not from a file that lies in the
    /// repository or one of its worktrees, where others may have written it: neither one that the
    /// user's includes, nor one that a variable makes the user's.
    pub fn values_of_user(&self, name: &str) -> Vec<String> {
        let found: Vec<(String, PathBuf)> = self.configured(|inner| {
            let config = inner.config_snapshot();
            let sections = config.plumbing().sections_by_name("agentic").into_iter().flatten();
            let of_user = sections.filter(|section| {
                section.header().subsection_name().is_none()
                    && matches!(section.meta().source, Source::Git | Source::User)
            });
            let values = of_user.flat_map(|section| {
                let meta = section.meta();
                let path = meta.path.clone().unwrap_or_default();
                section.values(name).into_iter().map(move |value| (value.to_string(), path.clone()))
            });
            values.collect()
        });
        if found.is_empty() {
            return Vec::new();
        }
        let places = self.places_of_others();
        let is_elsewhere = |path: &PathBuf| {
            let path = path.canonicalize();
            path.is_ok_and(|path| !places.iter().any(|place| path.starts_with(place)))
        };
        let of_user = found.into_iter().filter(|(_, path)| is_elsewhere(path));
        of_user.map(|(value, _)| value).collect()
    }

    /// Returns the real folders in which others may have written: the repository's own, and all of its
    /// worktrees, whichever of them this is.
    fn places_of_others(&self) -> Vec<PathBuf> {
        let linked = self.inner.worktrees().unwrap_or_default();
        let linked = linked.into_iter().filter_map(|worktree| worktree.base().ok());
        let main = self.inner.main_repo().ok();
        let main = main.and_then(|main| main.workdir().map(Path::to_owned));
        let own = [self.work_dir(), Some(self.common_dir())];
        let own = own.into_iter().flatten().map(Path::to_owned);
        let all = own.chain(main).chain(linked);
        all.filter_map(|place| place.canonicalize().ok()).collect()
    }

    /// Tells whether a switch of git's configuration is on; one that is not there is off.
    ///
    /// # Errors
    /// Fails when it says neither.
    pub fn is_set(&self, key: &'static str) -> Result<bool> {
        let found = self.configured(|inner| inner.config_snapshot().try_boolean(key));
        Ok(found.map_err(|_| Error::Git(GitError::NoSwitch { key }))?.unwrap_or(false))
    }

    /// Tells whether a switch of git's own is off. One that is not there, or says neither, is on.
    pub(super) fn is_switched_off(&self, key: &str) -> bool {
        self.configured(|inner| inner.config_snapshot().boolean(key)) == Some(false)
    }

    /// Returns a path of git's configuration, such as `~/.ssh/key`, as far as whoever wrote it may
    /// name programs and files.
    ///
    /// # Errors
    /// Fails when it cannot be told what the path means.
    pub(super) fn configured_path(&self, key: &str) -> Result<Option<PathBuf>> {
        let found = self.configured(|inner| inner.config_snapshot().trusted_path(key));
        found.map_err(Error::git_with(|| format!("read `{key}` of git's configuration")))
    }

    /// Returns the names of the remotes.
    pub fn remotes(&self) -> Vec<String> {
        self.configured(|inner| inner.remote_names().iter().map(|name| name.to_string()).collect())
    }

    /// Tells who commits here.
    ///
    /// # Errors
    /// Fails with [`GitError::NoIdentity`] when git does not know either.
    pub fn committer(&self) -> Result<Person> {
        self.configured(|inner| {
            let config = inner.config_snapshot();
            let first = |keys: [&str; 3]| keys.iter().find_map(|key| config.string(*key));
            let (Some(name), Some(email)) = (first(COMMITTER_NAMES), first(COMMITTER_ADDRESSES))
            else {
                return Err(Error::Git(GitError::NoIdentity));
            };
            Ok(Person::new(&name.to_string(), &email.to_string()))
        })
    }

    /// Returns what tells the configuration that is asked now from what it was before. As long as that
    /// is the same, so is every answer from it.
    pub fn configuration_mark(&self) -> String {
        let ConfigurationWatch { start, later } = &self.configuration;
        if start.read_at.is_some() && later.borrow().is_none() {
            // Whoever wants to know stays: its files are followed from now on.
            later.replace(LaterConfiguration::read(&self.inner).ok());
        }
        // Whatever is asked has it read again where it has to be.
        self.configured(|_| ());
        let later = later.borrow();
        later.as_ref().map(LaterConfiguration::mark).unwrap_or_default()
    }

    /// Asks the configuration as it is now. While it cannot be read, it is what it was.
    fn configured<T>(&self, ask: impl FnOnce(&gix::Repository) -> T) -> T {
        let ConfigurationWatch { start, later } = &self.configuration;
        if later.borrow().is_none() && !start.is_due() {
            return ask(&self.inner);
        }
        let mut later = later.borrow_mut();
        if later.as_ref().is_none_or(LaterConfiguration::is_old)
            && let Ok(read) = LaterConfiguration::read(&self.inner)
        {
            *later = Some(read);
        }
        ask(later.as_ref().map_or(&self.inner, |later| &later.repository))
    }
}

impl LaterConfiguration {
    /// Reads the configuration of a repository once more.
    fn read(opened: &gix::Repository) -> Result<LaterConfiguration> {
        let reading = || Error::git("read the configuration");
        let mut repository = opened.clone();
        // Marked before they are read: what changes meanwhile is found the next time.
        let marked_at = SystemTime::now();
        let known = marked(files_of(opened));
        let mut anew = opened.clone();
        anew.reload().map_err(reading())?;
        let mut config = repository.config_snapshot_mut();
        *config = anew.config_snapshot().plumbing().clone();
        config.commit().map_err(reading())?;
        let mut files = marked(files_of(&repository));
        for (path, mark) in &mut files {
            if let Some((_, before)) = known.iter().find(|(known, _)| known == path) {
                *mark = *before;
            }
        }
        let mut marks = files.iter().filter_map(|(_, mark)| mark.as_ref());
        let is_unsettled = marks.any(|mark| mark.is_younger_than_a_tick(marked_at));
        Ok(LaterConfiguration { files, is_unsettled, repository })
    }

    /// Tells whether one of its files is not what it was, or may not be.
    fn is_old(&self) -> bool {
        self.is_unsettled || self.files.iter().any(|(path, mark)| FileMark::of(path) != *mark)
    }

    /// Returns what tells it from what it is once it was read again: what may change behind the same marks
    /// is never the same.
    fn mark(&self) -> String {
        let number = self.is_unsettled.then(unique_number);
        format!("{:?}{number:?}", self.files)
    }
}

impl FileMark {
    /// Looks at a file; nothing if it is not there.
    fn of(path: &Path) -> Option<FileMark> {
        let mark = |found: Metadata| FileMark {
            place: (found.dev(), found.ino()),
            length: found.len(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        };
        std::fs::metadata(path).ok().map(mark)
    }

    /// Tells whether another change at or after an instant may leave the same times.
    fn is_younger_than_a_tick(&self, now: SystemTime) -> bool {
        let (seconds, nanoseconds) = self.changed;
        let is_coarse = (nanoseconds, self.modified.1) == (0, 0);
        let tick = if is_coarse { COARSE_TICK } else { TICK };
        let changed = Duration::new(
            u64::try_from(seconds).unwrap_or_default(),
            u32::try_from(nanoseconds).unwrap_or_default(),
        );
        let until = SystemTime::UNIX_EPOCH.checked_add(changed + tick);
        until.is_none_or(|until| until > now)
    }
}

/// Lists the files that a configuration comes from, included ones too, and those that git would read if
/// they were there.
fn files_of(repository: &gix::Repository) -> Vec<PathBuf> {
    let named = |source: Source| {
        let path = source.storage_location(&mut |name| std::env::var_os(name))?;
        let is_of_worktree = source == Source::Worktree;
        let folder = if is_of_worktree { repository.git_dir() } else { repository.common_dir() };
        Some(folder.join(path))
    };
    let places = [
        Source::GitInstallation,
        Source::System,
        Source::Git,
        Source::User,
        Source::Local,
        Source::Worktree,
    ];
    let config = repository.config_snapshot();
    let read = config.plumbing().sections().filter_map(|section| section.meta().path.clone());
    let mut files: Vec<PathBuf> = places.into_iter().filter_map(named).chain(read).collect();
    files.sort();
    files.dedup();
    files
}

fn marked(files: Vec<PathBuf>) -> Vec<(PathBuf, Option<FileMark>)> {
    let marked = |path: PathBuf| {
        let mark = FileMark::of(&path);
        (path, mark)
    };
    files.into_iter().map(marked).collect()
}

#[cfg(test)]
mod tests;
