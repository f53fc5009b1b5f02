//! The index of a worktree, which follows a commit so that `git status` stays clean.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agentic_model::Oid;
use gix::bstr::BString;
use gix::index::entry::{Flags, Mode, Stage, Stat};

use super::cached_tree::{Gains, is_just_like};
use super::{FileMode, Repository, to_id};
use agentic_store::{Error, Result};

/// A file changed less than this before its index entry is written could change again without
/// git noticing; such entries are marked so that git compares their content.
const RACY_WINDOW: Duration = Duration::from_millis(50);

/// What becomes of one entry of the index.
#[derive(Debug, Clone)]
pub struct IndexUpdate {
    path: BString,
    entry: Option<(Mode, Oid, Stat)>,
}

impl IndexUpdate {
    pub(super) fn set(path: BString, mode: FileMode, blob: Oid, stat: Stat) -> IndexUpdate {
        let mode = match mode {
            FileMode::Plain => Mode::FILE,
            FileMode::Executable => Mode::FILE_EXECUTABLE,
            FileMode::Link => Mode::SYMLINK,
        };
        IndexUpdate { path, entry: Some((mode, blob, stat)) }
    }

    pub(super) fn submodule(path: BString, head: Oid, stat: Stat) -> IndexUpdate {
        IndexUpdate { path, entry: Some((Mode::COMMIT, head, stat)) }
    }

    pub(super) fn remove(path: BString) -> IndexUpdate {
        IndexUpdate { path, entry: None }
    }

    /// Returns how many entries the path has after the update.
    fn n_entries(&self) -> i64 {
        i64::from(self.entry.is_some())
    }

    /// Returns the path, with bytes that are not UTF-8 replaced.
    pub fn path(&self) -> String {
        self.path.to_string()
    }
}

impl Repository {
    /// Applies updates to the index of the current worktree: the difference between the trees
    /// `base` and `tree`. Entries that somebody staged meanwhile keep their place.
    ///
    /// # Errors
    /// Fails when another program holds the index, or it cannot be written. The index is only a
    /// cache of the commit; `git status` then shows what is missing.
    pub fn update_index(&self, updates: &[IndexUpdate], base: Oid, tree: Oid) -> Result<()> {
        if updates.is_empty() {
            return Ok(());
        }
        let current = self.inner.index_or_empty().map_err(Error::git("read the index"))?;
        let mut index = gix::index::File::clone(&current);
        let racy_after = SystemTime::now() - RACY_WINDOW;
        let mut gains: Gains =
            updates.iter().map(|update| (update.path.clone(), update.n_entries())).collect();
        index.remove_entries(|_, path, _| match gains.get_mut(path) {
            Some(gain) => {
                *gain -= 1;
                true
            }
            None => false,
        });
        for update in updates {
            if let Some((mode, blob, stat)) = update.entry {
                let stat = mark_if_racy(stat, racy_after);
                let path = update.path.as_ref();
                index.dangerously_push_entry(
                    stat,
                    to_id(blob),
                    Flags::from_stage(Stage::Unconflicted),
                    mode,
                    path,
                );
            }
        }
        index.sort_entries();
        let follows = index
            .tree_mut()
            .filter(|_| is_just_like(&current, base))
            .is_some_and(|root| self.follow_tree(root, to_id(tree), &gains).is_ok());
        if !follows {
            index.remove_tree();
        }
        index.write(gix::index::write::Options::default()).map_err(Error::git("write the index"))
    }
}

fn mark_if_racy(mut stat: Stat, racy_after: SystemTime) -> Stat {
    let changed = UNIX_EPOCH + Duration::new(u64::from(stat.mtime.secs), stat.mtime.nsecs);
    if changed >= racy_after {
        stat.size = 0;
    }
    stat
}
