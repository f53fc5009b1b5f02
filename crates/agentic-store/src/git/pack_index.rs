//! One index over all packs, made by git itself.
//!
//! Opening the index of one pack costs time that grows with its objects, opening the one over all
//! packs does not. It is derived: git removes it together with a pack that it names, and without
//! it every object is found all the same, only slower.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, SystemTime};

use super::{Repository, start_git};
use crate::file::{self, Persistence};
use crate::lock::Lock;

/// The file that git keeps the index over all packs in.
pub(super) const MULTI_PACK_INDEX: &str = "multi-pack-index";

/// From how many bytes on the index of one pack is slow to open: some thirty thousand objects.
const LARGE_INDEX_BYTES: u64 = 1 << 20;

/// How long nobody starts another git that would index packs: the last one may have failed.
const INDEX_AGE: Duration = Duration::from_secs(60);

/// What makes an index of all packs.
const INDEX_PACKS: [&str; 2] = ["multi-pack-index", "write"];

impl Repository {
    /// Lets git index all packs at once, if there are packs that its index does not have yet.
    /// Nothing depends on it, so whatever stands in the way is nobody's error: a disk that is full,
    /// a lock that a dead git left, a git that is too old or told not to.
    pub fn index_packs(&self) {
        if self.may_index_packs() && !self.packs_to_index().is_empty() {
            let _a_later_one_will = self.git(&INDEX_PACKS);
        }
    }

    /// Starts a git that does so, if one of these packs is so large that every command pays for it,
    /// as after a collection. Nobody waits for it: it takes about a second for a million objects.
    /// Meanwhile packs are not merged, and no other one is started; nor within a minute. Returns the
    /// process, if there is one.
    pub fn start_to_index_large_packs(&self) -> Option<Child> {
        let is_large = |index: &PathBuf| {
            fs::metadata(index).is_ok_and(|found| found.len() >= LARGE_INDEX_BYTES)
        };
        let is_worth_it = self.packs_to_index().iter().any(is_large) && self.may_index_packs();
        if !is_worth_it || self.common_dir().join("gc.pid").exists() {
            return None;
        }
        let lock = Lock::try_take(&self.layout().space_lock("packs"), self.common_dir()).ok()??;
        let stamp = self.layout().last_index();
        let age = modified_at(&stamp).and_then(|at| SystemTime::now().duration_since(at).ok());
        if age.is_some_and(|age| age < INDEX_AGE) {
            return None;
        }
        file::replace(&stamp, b"", Persistence::Lazy).ok()?;
        start_git(self.common_dir(), &INDEX_PACKS, lock)
    }

    fn may_index_packs(&self) -> bool {
        self.config("core.multiPackIndex").is_none_or(|value| value != "false")
    }

    /// Lists the indices of packs that the index of all packs does not have.
    fn packs_to_index(&self) -> Vec<PathBuf> {
        let folder = self.common_dir().join("objects").join("pack");
        let indexed_at = modified_at(&folder.join(MULTI_PACK_INDEX));
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let indices = entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "idx"));
        indices.filter(|index| indexed_at.is_none() || modified_at(index) >= indexed_at).collect()
    }
}

fn modified_at(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::run_git_with_input;

    /// A repository with one pack of so many objects.
    fn with_pack(n_objects: usize) -> (tempfile::TempDir, Repository) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let blob = |number: usize| {
            let content = format!("object {number}\n");
            format!("blob\ndata {}\n{content}\n", content.len())
        };
        let stream: String = (0..n_objects).map(blob).collect();
        let import = ["-c", "fastimport.unpackLimit=1", "fast-import", "--quiet", "--done"];
        let stream = stream + "done\n";
        for (arguments, input) in [(&["init", "--quiet"][..], ""), (&import, &stream)] {
            let program = run_git_with_input(folder.path(), arguments, input.as_bytes());
            program.and_then(|program| program.checked(arguments)).expect("git succeeds");
        }
        let repository = Repository::open(folder.path()).expect("just made");
        (folder, repository)
    }

    #[test]
    fn a_large_pack_is_indexed_once_and_a_small_one_not() {
        let (_folder, repository) = with_pack(10);
        assert_eq!(repository.packs_to_index().len(), 1);
        assert!(repository.start_to_index_large_packs().is_none());
        let (_folder, repository) = with_pack(40_000);
        let mut git = repository.start_to_index_large_packs().expect("the pack is large");
        assert!(repository.start_to_index_large_packs().is_none(), "one is enough");
        assert!(git.wait().is_ok_and(|status| status.success()));
        // One that was indexed in the second in which it was made may be indexed once more.
        let index = repository.common_dir().join("objects/pack").join(MULTI_PACK_INDEX);
        let later = SystemTime::now() + std::time::Duration::from_secs(60);
        let file = fs::File::options().write(true).open(&index).or_else(|_| {
            fs::set_permissions(&index, std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
            fs::File::options().write(true).open(&index)
        });
        file.and_then(|file| file.set_modified(later)).expect("it was made");
        assert!(repository.start_to_index_large_packs().is_none());
    }
}
