//! Packs beside a journal: the objects of writes that are too large for a record.
//!
//! Such a pack is part of the log. It is synced, and linked into git's own folder with a `.keep`, so
//! that neither a power cut nor a collection takes it before a checkpoint gives it up.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use agentic_model::Oid;

use super::Repository;
use super::blob_intake::PackedBlobs;
use super::made_pack::MadePack;
use agentic_store::file::Persistence;
use agentic_store::journal::{GitObject, sync_directory};
use agentic_store::layout::Stream;
use agentic_store::{Error, Result, fault, file};

impl Repository {
    /// Makes a pack of some objects and keeps it, durably, until it is released.
    ///
    /// # Errors
    /// Fails when the disk is full; what was made then is garbage.
    pub fn keep_as_pack(&self, stream: &Stream, objects: &[GitObject]) -> Result<()> {
        let pack = self.pack_folder().make(objects, Persistence::Synced)?;
        self.keep_pack(stream, pack)
    }

    /// Keeps blobs that are packed already, durably, until they are released.
    ///
    /// # Errors
    /// Fails when the disk is full; what was made then is garbage.
    pub fn keep_blobs(&self, stream: &Stream, blobs: PackedBlobs) -> Result<()> {
        self.keep_pack(stream, blobs.into_pack())
    }

    /// Puts blobs that are packed where git finds them, as objects of no write. Returns their names.
    ///
    /// # Errors
    /// Fails when the disk is full.
    pub fn place_blobs(&self, blobs: PackedBlobs) -> Result<BTreeSet<Oid>> {
        let names = blobs.names().clone();
        blobs.into_pack().place(&self.pack_folder().placed)?;
        Ok(names)
    }

    fn keep_pack(&self, stream: &Stream, pack: MadePack) -> Result<()> {
        let folder = self.layout().packs(stream);
        pack.place(&folder)?;
        let root = self.layout().root();
        for above in folder.ancestors().skip(1).take_while(|above| above.starts_with(root)) {
            sync_directory(above)?;
        }
        self.link_packs(stream)
    }

    /// Links the packs of a journal into git's own folder, as far as they are not there.
    ///
    /// # Errors
    /// Fails when they cannot be linked.
    pub fn link_packs(&self, stream: &Stream) -> Result<()> {
        let mut packs = packs_in(&self.layout().packs(stream))?;
        // One that a crash left without its index belongs to no record.
        packs.retain(|pack| pack.with_extension("idx").exists());
        if packs.is_empty() {
            return Ok(());
        }
        let into = self.pack_folder().placed;
        for pack in packs {
            let target = into.join(pack.file_name().unwrap_or_default());
            // The mark first, the index last: git sees a pack by its index.
            let keep = target.with_extension("keep");
            fs::write(&keep, format!("agentic {stream}\n")).map_err(Error::io("write", &keep))?;
            link(&pack, &target)?;
            link(&pack.with_extension("idx"), &target.with_extension("idx"))?;
        }
        sync_directory(&into)
    }

    /// Gives the packs of a journal to git alone. Everything in the journal must be checkpointed.
    ///
    /// # Errors
    /// Fails when a file cannot be removed.
    pub fn release_packs(&self, stream: &Stream) -> Result<()> {
        let into = self.pack_folder().placed;
        for pack in packs_in(&self.layout().packs(stream))? {
            let keep = into.join(pack.file_name().unwrap_or_default()).with_extension("keep");
            for path in [keep, pack.with_extension("idx"), pack.with_extension("rev"), pack] {
                file::remove(&path)?;
            }
        }
        Ok(())
    }
}

fn link(from: &Path, to: &Path) -> Result<()> {
    match fs::hard_link(from, to) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(Error::io("link", to)(error))
        }
        _ => {
            // Another name of a file that was synced when it was made.
            fault::synced(to, fs::metadata(to).map_or(0, |found| found.len()));
            Ok(())
        }
    }
}

/// Lists the packs in a folder, by name.
pub(super) fn packs_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("read", folder)(error)),
    };
    let mut packs = Vec::new();
    for entry in entries {
        let path = entry.map_err(Error::io("read", folder))?.path();
        if path.extension().is_some_and(|extension| extension == "pack") {
            packs.push(path);
        }
    }
    packs.sort();
    Ok(packs)
}
