//! A pack that is made and not yet placed: the pack first, then its index.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use gix::hash::ObjectId;

use agentic_store::file::Persistence;
use agentic_store::journal::sync_directory;
use agentic_store::{Error, Result, fault};

/// A pack with its index that only has to be placed; dropped before, it is gone.
#[derive(Debug)]
#[must_use = "nobody sees a pack before it is placed"]
pub(super) struct MadePack {
    /// The pack.
    pub begun: UnplacedPack,
    /// Its index.
    pub begun_index: UnplacedPack,
    /// What both will be called.
    pub name: String,
    /// Whether both are synced.
    pub persistence: Persistence,
    /// How long the pack and its index are.
    pub lengths: (u64, u64),
    /// What is in it.
    pub ids: BTreeSet<ObjectId>,
}

/// A file on its way; dropped before it is placed, it is gone.
#[derive(Debug)]
pub(super) struct UnplacedPack {
    /// Where it is.
    pub path: PathBuf,
}

impl UnplacedPack {
    fn place(&self, at: &Path) -> Result<()> {
        fs::rename(&self.path, at).map_err(Error::io("write", at))
    }
}

impl Drop for UnplacedPack {
    fn drop(&mut self) {
        let _placed_is_fine = fs::remove_file(&self.path);
    }
}

impl MadePack {
    /// Places the pack in a folder, and its index after it. Returns the path of the pack.
    ///
    /// # Errors
    /// Fails when the folder cannot be written.
    pub fn place(self, folder: &Path) -> Result<PathBuf> {
        fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        let pack = folder.join(format!("{}.pack", self.name));
        let placed_index = pack.with_extension("idx");
        self.begun.place(&pack)?;
        fault::point("pack-placed")?;
        self.begun_index.place(&placed_index)?;
        if self.persistence == Persistence::Synced {
            sync_directory(folder)?;
            fault::synced(&pack, self.lengths.0);
            fault::synced(&placed_index, self.lengths.1);
        }
        fault::point("pack-indexed")?;
        Ok(pack)
    }
}
