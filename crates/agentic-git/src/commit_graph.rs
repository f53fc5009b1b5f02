//! Git's graph of commits: files from which it walks a history without opening each commit.
//!
//! Git does without, and writes them when it collects garbage. A repository in which only agents work is never
//! collected, so that each push and fetch there would open the newest commits of all agents, however few are new.

use std::path::Path;
use std::time::Duration;

use super::Repository;
use agentic_store::Result;
use agentic_store::lock::Lock;

/// From how many new commits on the graph goes on at once.
const MANY_COMMITS: usize = 100;
/// How long it is good enough otherwise.
const GOOD_FOR: Duration = Duration::from_secs(24 * 60 * 60);
/// The graph as one file, and the list of its layers, below the objects.
const GRAPHS: [&str; 2] = ["info/commit-graph", "info/commit-graphs/commit-graph-chain"];
/// What git locks while it adds a layer, below the git directory.
const LAYERS_LOCKED: &str = "objects/info/commit-graphs/commit-graph-chain";
/// The settings by which people do without.
const SWITCHES: [&str; 2] = ["core.commitGraph", "gc.writeCommitGraph"];
/// How git adds what is new: as a layer, so that it costs as much as that.
const ADD_LAYER: [&str; 5] = ["commit-graph", "write", "--reachable", "--split", "--no-progress"];

impl Repository {
    /// Has git add to its graph of commits, where so many are new that it is worth it, and where the last time is
    /// long ago. Nothing happens where people switched it off, nor beside a collection or a purge. It only saves
    /// time: where it cannot be written everything goes on without.
    pub fn extend_commit_graph(&self, n_new: usize) {
        if let Err(error) = self.try_extending_commit_graph(n_new) {
            tracing::debug!(%error, "git has no graph of what is new");
        }
    }

    fn try_extending_commit_graph(&self, n_new: usize) -> Result<()> {
        let is_due = n_new >= MANY_COMMITS || !self.has_young_graph();
        if !is_due || SWITCHES.iter().any(|key| self.is_switched_off(key)) {
            return Ok(());
        }
        // What a purge takes away would be in a graph that is written beside it.
        let packs = self.layout().space_lock("packs");
        let Some(lock) = Lock::try_take(&packs, self.common_dir())? else { return Ok(()) };
        if self.common_dir().join("gc.pid").exists() {
            return Ok(());
        }
        lock.announced(&[LAYERS_LOCKED], || self.git(&ADD_LAYER)).map(drop)
    }

    fn has_young_graph(&self) -> bool {
        let objects = self.common_dir().join("objects");
        let is_young = |path: &Path| {
            let written = path.metadata().and_then(|found| found.modified()).ok();
            written.and_then(|at| at.elapsed().ok()).is_some_and(|age| age < GOOD_FOR)
        };
        GRAPHS.iter().any(|name| is_young(&objects.join(name)))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::{GRAPHS, MANY_COMMITS};
    use crate::{Repository, run_git};

    /// A repository with a commit.
    struct Place {
        folder: tempfile::TempDir,
    }

    impl Place {
        fn make() -> Place {
            let place = Place { folder: tempfile::tempdir().expect("the disk is writable") };
            place.git(&["init", "--quiet"]);
            place.commit();
            place
        }

        fn git(&self, arguments: &[&str]) {
            let end = run_git(self.folder.path(), arguments).expect("git works");
            assert!(end.success, "{arguments:?}: {}", end.stderr);
        }

        fn commit(&self) {
            let who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
            self.git(&[&who[..], &["commit", "--quiet", "--allow-empty", "-m", "one"]].concat());
        }

        fn extend(&self, n_new: usize) {
            let own = Repository::open(self.folder.path()).expect("just made");
            own.extend_commit_graph(n_new);
        }

        fn graph(&self) -> PathBuf {
            self.folder.path().join(".git/objects").join(GRAPHS[1])
        }

        fn layers(&self) -> usize {
            fs::read_to_string(self.graph()).map_or(0, |list| list.lines().count())
        }
    }

    #[test]
    fn layers_are_added_where_much_is_new_and_where_there_is_none() {
        let place = Place::make();
        place.extend(1);
        let first = fs::read(place.graph()).expect("there was none");
        place.commit();
        place.extend(MANY_COMMITS - 1);
        assert_eq!(fs::read(place.graph()).expect("it is there"), first);
        place.extend(MANY_COMMITS);
        assert_ne!(fs::read(place.graph()).expect("it is there"), first);
        place.git(&["commit-graph", "verify"]);
        place.git(&["fsck", "--strict"]);
    }

    #[test]
    fn nothing_is_written_where_it_is_switched_off() {
        for key in super::SWITCHES {
            let place = Place::make();
            place.git(&["config", key, "no"]);
            place.extend(MANY_COMMITS);
            assert_eq!(place.layers(), 0, "{key}");
        }
    }

    #[test]
    fn nothing_is_written_beside_a_collection_or_a_purge() {
        let place = Place::make();
        let collecting = place.folder.path().join(".git/gc.pid");
        fs::write(&collecting, "1 here\n").expect("writable");
        place.extend(MANY_COMMITS);
        assert_eq!(place.layers(), 0);
        fs::remove_file(collecting).expect("it is there");
        let own = Repository::open(place.folder.path()).expect("just made");
        let packs = own.layout().space_lock("packs");
        let purging = super::Lock::take(&packs, own.common_dir()).expect("nobody holds it");
        place.extend(MANY_COMMITS);
        assert_eq!(place.layers(), 0);
        drop(purging);
        place.extend(MANY_COMMITS);
        assert_eq!(place.layers(), 1);
    }

    #[test]
    fn a_lock_that_a_dead_process_left_goes() {
        let place = Place::make();
        let own = Repository::open(place.folder.path()).expect("just made");
        let packs = own.layout().space_lock("packs");
        drop(super::Lock::take(&packs, own.common_dir()).expect("nobody holds it"));
        fs::write(&packs, format!("pid 1\nref {}\nend\n", super::LAYERS_LOCKED)).expect("writable");
        fs::create_dir_all(place.graph().parent().expect("it has one")).expect("writable");
        let left = place.graph().with_added_extension("lock");
        fs::write(&left, "").expect("writable");
        place.extend(MANY_COMMITS);
        assert!(!left.exists());
        assert_eq!(place.layers(), 1);
    }
}
