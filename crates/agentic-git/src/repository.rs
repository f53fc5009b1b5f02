//! Opening a repository, and refusing those that cannot be kept safely.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use gix::config::Boolean;
use gix::config::file::SectionRef;
use gix::odb::store::init::Slots;
use gix::sec::trust::Mapping;

use super::configuration::{ConfigurationStart, ConfigurationWatch};
use super::loose::Compressor;
use super::object_cache::ObjectCache;
use super::object_file::READ_BYTES_MAX;
use super::pack_file::PACKS_MAX;
use agentic_store::error::RepositoryError;
use agentic_store::layout::{Layout, Stream};
use agentic_store::writer::WriterSlot;
use agentic_store::{Error, Result};

/// An open git repository, for one thread.
pub struct Repository {
    pub(super) inner: gix::Repository,
    /// What other threads open the same from, if it is at hand.
    shared: Option<Arc<gix::ThreadSafeRepository>>,
    common_dir: PathBuf,
    layout: Layout,
    /// What was read or written lately.
    pub(super) cache: ObjectCache,
    /// What compresses loose objects, once there was one.
    pub(super) compressor: RefCell<Option<Compressor>>,
    /// What writers leave for each other.
    pub(super) slot: WriterSlot,
    /// Git's configuration, as it is now.
    pub(super) configuration: ConfigurationWatch,
}

/// What threads open the same repository from, each for itself. It is looked for and configured once.
#[derive(Debug, Clone)]
pub struct SharedRepository {
    inner: Arc<gix::ThreadSafeRepository>,
    common_dir: PathBuf,
    /// How threads begin with its configuration.
    configuration: ConfigurationStart,
}

impl SharedRepository {
    /// Opens the repository for the calling thread. What threads remember of it they do not share:
    /// each may hold locks that the others wait for.
    pub fn open(&self) -> Repository {
        let (inner, common_dir) = (self.inner.to_thread_local(), self.common_dir.clone());
        let repository =
            Repository::with_new_cache(inner, common_dir, Some(Arc::clone(&self.inner)));
        let configuration = ConfigurationWatch::new(self.configuration.clone());
        Repository { configuration, ..repository }
    }
}

/// A view of a repository whose writes stay in memory, so that a tree can be built and compared
/// before anything is decided.
pub struct Scratch {
    pub(super) inner: gix::Repository,
    /// What was read or written lately, by the repository too.
    pub(super) cache: ObjectCache,
}

impl Repository {
    /// Finds and opens the repository that `directory` is inside of, as git finds it.
    ///
    /// # Errors
    /// Fails when there is none, and when its refs are kept in a format that gix does not see.
    pub fn discover(directory: &Path) -> Result<Repository> {
        // Of a relative path gix takes a bare repository's own name for `.git`.
        let place = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
        // As git does, a ceiling elsewhere is of no account.
        let options = gix::discover::upwards::Options {
            match_ceiling_dir_or_error: false,
            ..Default::default()
        };
        let found = match std::env::var_os("GIT_DIR") {
            // As git runs the hooks of a bare repository, this may be a mere `.`.
            Some(named) => {
                let options = fitted(gix::open::Options::default()).open_path_as_is(true);
                gix::ThreadSafeRepository::open_opts(
                    absolute(&named_from(&place, Path::new(&named)))?,
                    options,
                )
            }
            None => gix::ThreadSafeRepository::discover_with_environment_overrides_opts(
                &place,
                options,
                open_options(),
            ),
        };
        let repository = found.map_err(|error| {
            if is_repository_above(directory) {
                return Error::git("open the repository")(error);
            }
            Error::Repository(RepositoryError::NotFound { directory: directory.to_owned() })
        })?;
        let inner = repository.to_thread_local();
        if std::env::var_os("GIT_INDEX_FILE").is_some() {
            return Repository::checked(with_own_index(&inner)?, None);
        }
        let start = ConfigurationStart::at(Some(Instant::now()));
        let configuration = ConfigurationWatch::new(start);
        let repository = Repository::checked(inner, Some(Arc::new(repository)))?;
        Ok(Repository { configuration, ..repository })
    }

    /// Opens the repository in a folder, looking nowhere else.
    ///
    /// # Errors
    /// Fails when there is none.
    pub fn open(path: &Path) -> Result<Repository> {
        let inner = gix::open_opts(path, fitted(gix::open::Options::default()))
            .map_err(Error::git_with(|| format!("open `{}`", path.display())))?;
        Repository::checked(inner, None)
    }

    pub(super) fn checked(
        inner: gix::Repository,
        shared: Option<Arc<gix::ThreadSafeRepository>>,
    ) -> Result<Repository> {
        let format = inner.config_snapshot().string("extensions.refStorage");
        if let Some(format) = format.filter(|format| *format != "files") {
            return Err(Error::Repository(RepositoryError::RefStorage {
                format: format.to_string(),
            }));
        }
        // What it lacks on purpose nobody could tell from what is lost.
        if is_partial(inner.config_snapshot().plumbing()) {
            return Err(Error::Repository(RepositoryError::PartialClone));
        }
        // From a linked worktree the path leads there and back again.
        let common_dir = absolute(inner.common_dir())?;
        Ok(Repository::with_new_cache(inner, common_dir, shared))
    }

    fn with_new_cache(
        mut inner: gix::Repository,
        common_dir: PathBuf,
        shared: Option<Arc<gix::ThreadSafeRepository>>,
    ) -> Repository {
        // It is for those who serve refs to others; to git itself branches are where they are.
        inner.clear_namespace();
        let cache = ObjectCache::new(&inner, &common_dir);
        let asked = cache.clone();
        inner.objects.set_object_cache(move || Box::new(asked.clone()));
        Repository { shared, ..Repository::with_cache(inner, common_dir, cache) }
    }

    pub(super) fn with_cache(
        inner: gix::Repository,
        common_dir: PathBuf,
        cache: ObjectCache,
    ) -> Repository {
        let layout = Layout::new(&common_dir);
        let (compressor, slot) = (RefCell::new(None), WriterSlot::default());
        let configuration = ConfigurationWatch::default();
        Repository {
            inner,
            shared: None,
            common_dir,
            layout,
            cache,
            compressor,
            slot,
            configuration,
        }
    }

    /// Returns what other threads open this repository from.
    pub fn share(&self) -> SharedRepository {
        let inner = match &self.shared {
            Some(shared) => Arc::clone(shared),
            None => Arc::new(self.inner.clone().into_sync()),
        };
        let configuration = self.configuration.start();
        SharedRepository { inner, common_dir: self.common_dir.clone(), configuration }
    }

    /// Closes packs until something is read from them again. Pages that were read of one that is open
    /// count as this process's memory, though the kernel would have them anyway.
    pub fn let_go_of_packs(&self) {
        self.cache.let_go_of_packs();
    }

    /// Returns where journals and locks are kept.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Tells whether the last writer of a stream had to wait for others, so that the next will too.
    pub fn is_contended(&self, stream: &Stream) -> bool {
        self.slot.is_contended(stream)
    }

    /// Tells whether a write since the last call has asked for a round of checkpoints.
    pub fn take_rest_due(&self) -> bool {
        self.slot.take_rest_due()
    }

    /// Returns the git directory that all worktrees share.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// Returns the git directory of the current worktree.
    pub fn git_dir(&self) -> &Path {
        self.inner.git_dir()
    }

    /// Returns the top folder of the current worktree; nothing in a bare repository.
    pub fn work_dir(&self) -> Option<&Path> {
        self.inner.workdir()
    }

    /// Returns the full name of the branch that the current worktree has checked out.
    pub fn current_branch(&self) -> Option<String> {
        if let Some(name) = self.read_plain_head() {
            return Some(name);
        }
        let name = self.inner.head_name().ok()??;
        Some(name.as_bstr().to_string())
    }

    /// Leaves it to the end of the process to give back what this handle has set aside for packs.
    /// To take apart all places, most of them empty, takes longer than to find an object.
    pub fn keep_until_exit(&self) {
        std::mem::forget(self.inner.objects.store());
    }

    /// Opens a view whose writes stay in memory.
    pub fn scratch(&self) -> Scratch {
        let inner = self.inner.clone().with_object_memory();
        Scratch { inner, cache: self.cache.clone() }
    }

    /// Opens a view whose worktree is `folder` and whose writes stay in memory.
    ///
    /// # Errors
    /// Fails when the folder cannot be read.
    pub fn scratch_at(&self, folder: &Path) -> Result<Scratch> {
        let folder = absolute(folder)?;
        let mut inner = self.inner.clone().with_object_memory();
        inner.set_workdir(folder).map_err(Error::git("use the folder as worktree"))?;
        Ok(Scratch { inner, cache: self.cache.clone() })
    }
}

/// Returns the git directory that the environment names: a relative path begins where the command runs, as
/// it does to git after `-C`, else where this process does.
fn named_from(place: &Path, named: &Path) -> PathBuf {
    let joined = place.join(named);
    if joined.is_dir() { joined } else { named.to_owned() }
}

fn open_options() -> Mapping<gix::open::Options> {
    let Mapping { full, reduced } = Mapping::default();
    Mapping { full: fitted(full), reduced: fitted(reduced) }
}

/// Fits the options to short commands beside many writers: there is room for packs that come while
/// the repository is open, without which reading ends in an error, and the index is read on the
/// calling thread, because to start another takes longer than most indices take to read. What a
/// damaged pack says of the size of an object is believed up to a limit. An object is what its id
/// says, whatever `refs/replace/` puts in its place for others.
fn fitted(options: gix::open::Options) -> gix::open::Options {
    let slots = Slots::AsNeededByDiskState { multiplier: 1.1, minimum: PACKS_MAX };
    let limit = format!("gitoxide.objects.allocLimit={READ_BYTES_MAX}");
    let overrides = ["index.threads=1", "core.useReplaceRefs=false", &limit];
    options.object_store_slots(slots).config_overrides(overrides)
}

/// Gives a repository the index of its worktree. A hook of `git commit` is told of another one, which
/// git is about to commit; it must not come into the commits of agents, nor their files into it.
fn with_own_index(inner: &gix::Repository) -> Result<gix::Repository> {
    let opening = || Error::git("open the repository");
    let mut options = fitted(gix::open::Options::default()).open_path_as_is(true);
    options.permissions.env.git_prefix = gix::sec::Permission::Deny;
    let mut own = gix::open_opts(inner.git_dir(), options).map_err(opening())?;
    // Where the configuration is, and who commits, is told by the environment too.
    let mut config = own.config_snapshot_mut();
    *config = inner.config_snapshot().plumbing().clone();
    config.commit().map_err(opening())?;
    own.set_workdir(inner.workdir().map(Path::to_owned)).map_err(opening())?;
    Ok(own)
}

/// Tells whether git finds a git directory from a folder: its `.git` is that directory, or a file that
/// names it.
pub fn leads_to(folder: &Path, git_dir: &Path) -> bool {
    let own = folder.join(".git");
    let named = std::fs::read_to_string(&own).ok();
    let named = named.as_deref().and_then(|text| text.strip_prefix("gitdir:"));
    let found = named.map_or(own, |path| folder.join(path.trim()));
    let paths = (found.canonicalize(), git_dir.canonicalize());
    matches!(paths, (Ok(found), Ok(git_dir)) if found == git_dir)
}

/// Makes a path absolute and resolves its links.
pub(super) fn absolute(path: &Path) -> Result<PathBuf> {
    std::fs::canonicalize(path).map_err(Error::io("read", path))
}

/// Tells whether a folder is in a repository, which may not open.
pub fn is_repository_above(directory: &Path) -> bool {
    let absolute = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
    absolute.ancestors().any(|above| {
        above.join(".git").exists()
            || (above.join("HEAD").exists() && above.join("objects").exists())
    })
}

/// Tells whether git would ask a remote for objects that the repository lacks.
fn is_partial(config: &gix::config::File) -> bool {
    let is_promisor = |remote: SectionRef<'_>| match remote.value_implicit("promisor") {
        Some(Some(value)) => Boolean::try_from(value).map_or(true, |is_promisor| is_promisor.0),
        Some(None) => true,
        // To git a filter alone says the same.
        None => remote.value_implicit("partialclonefilter").is_some(),
    };
    config.string("extensions.partialClone").is_some()
        || config.sections_by_name("remote").into_iter().flatten().any(is_promisor)
}
