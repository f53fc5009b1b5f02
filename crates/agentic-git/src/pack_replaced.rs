//! Packs that another one has replaced, and that stay for a while.
//!
//! Whoever reads may have listed the packs before the new one was there, and opens them when it
//! needs them. So what a merge replaces goes with the next merge, or when nobody has merged for
//! ten minutes: until then both are there, and who misses a pack that has gone since finds the
//! one that replaced it, which goes no earlier than the merge after that.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::Repository;
use super::pack_file::BEGUN_AGE;
use super::pack_merge::indexed_packs;
use agentic_store::file::{self, Persistence};
use agentic_store::lock::Lock;
use agentic_store::{Result, fault};

/// What the last merge has replaced.
#[derive(Debug, Default, PartialEq, Eq)]
struct ReplacedPacks {
    /// The pack that has all objects of the others.
    by: String,
    /// The packs that it replaces.
    packs: Vec<String>,
}

impl Repository {
    /// Counts the packs that are there although another one has all that they have.
    pub(super) fn n_replaced_packs(&self) -> usize {
        self.replaced_packs().packs.len()
    }

    /// Notes that packs can go once nobody can be on the way to them any more. The one that
    /// replaces them must be on the disk.
    ///
    /// # Errors
    /// Fails when the note cannot be written; the packs are then merged once more.
    pub(super) fn note_replaced_packs(&self, by: &Path, packs: &[PathBuf]) -> Result<()> {
        let name =
            |pack: &Path| pack.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut text = name(by);
        for pack in packs.iter().filter(|pack| *pack != by) {
            text.push('\n');
            text.push_str(&name(pack));
        }
        file::replace(&self.layout().replaced_packs(), text.as_bytes(), Persistence::Lazy)
    }

    /// Removes the packs that were replaced, except those that git keeps or its index of all packs
    /// names. Must be called by whoever holds the lock of merges.
    ///
    /// # Errors
    /// Fails when one cannot be removed.
    pub(super) fn drop_replaced_packs(&self) -> Result<()> {
        let placed = self.pack_folder().placed;
        let ReplacedPacks { by, packs } = self.replaced_packs();
        let is_there = |name: &str, extension| placed.join(format!("{name}.{extension}")).exists();
        if !packs.is_empty() && is_there(&by, "pack") && is_there(&by, "idx") {
            let indexed = indexed_packs(&placed);
            for name in packs {
                if indexed.contains(&name) || is_there(&name, "keep") {
                    continue;
                }
                // The index first: git sees a pack by it.
                for extension in ["idx", "rev", "pack"] {
                    file::remove(&placed.join(format!("{name}.{extension}")))?;
                }
                fault::point("pack-dropped")?;
            }
        }
        file::remove(&self.layout().replaced_packs())
    }

    /// Removes the packs that were replaced long ago, if nobody is at it.
    ///
    /// # Errors
    /// Fails when one cannot be removed.
    pub fn sweep_replaced_packs(&self) -> Result<()> {
        let note = self.layout().replaced_packs();
        let changed_at = fs::metadata(note).and_then(|found| found.modified()).ok();
        let age = changed_at.and_then(|at| SystemTime::now().duration_since(at).ok());
        if age.is_none_or(|age| age < BEGUN_AGE) || self.common_dir().join("gc.pid").exists() {
            return Ok(());
        }
        let lock = self.layout().space_lock("packs");
        match Lock::try_take(&lock, self.common_dir())? {
            Some(_lock) => self.drop_replaced_packs(),
            None => Ok(()),
        }
    }

    fn replaced_packs(&self) -> ReplacedPacks {
        let text = fs::read_to_string(self.layout().replaced_packs()).unwrap_or_default();
        let mut names = text.lines().map(str::to_owned);
        ReplacedPacks { by: names.next().unwrap_or_default(), packs: names.collect() }
    }
}
