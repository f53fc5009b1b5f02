//! One index over all packs, made by git itself.
//!
//! Opening the index of one pack costs time that grows with its objects, opening the one over all
//! packs does not. It is derived: git removes it together with a pack that it names, and without
//! it every object is found all the same, only slower.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use super::Repository;

/// The file that git keeps the index over all packs in.
pub(super) const MULTI_PACK_INDEX: &str = "multi-pack-index";

impl Repository {
    /// Lets git index all packs at once, if there are packs that its index does not have yet.
    /// Nothing depends on it, so whatever stands in the way is nobody's error: a disk that is full,
    /// a lock that a dead git left, a git that is too old or told not to.
    pub fn index_packs(&self) {
        let is_unwanted = self.config("core.multiPackIndex").is_some_and(|value| value == "false");
        if !is_unwanted && self.has_packs_to_index() {
            let _a_later_one_will = self.git(&["multi-pack-index", "write"]);
        }
    }

    fn has_packs_to_index(&self) -> bool {
        let folder = self.common_dir().join("objects").join("pack");
        let indexed_at = modified_at(&folder.join(MULTI_PACK_INDEX));
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut indices = entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "idx"));
        indices.any(|index| indexed_at.is_none() || modified_at(&index) >= indexed_at)
    }
}

fn modified_at(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}
