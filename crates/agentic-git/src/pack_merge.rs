//! Keeping packs few: those that batches leave are made into fewer and larger ones.
//!
//! Git has its own collection for everything else, but it runs when somebody runs git. Packs made
//! here hold every object whole, so becoming one is copying. A merged pack is synced before those
//! go that it replaces, which they do later (`pack_replaced`). Packs that git keeps, and those that
//! its index of all packs names, are left alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use gix::hash::ObjectId;
use gix::odb::pack;

use super::pack_file::{PACKS_MAX, PackFolder, PackWriter, is_ours, is_unsynced, is_whole};
use super::{Repository, pack::packs_in};
use agentic_store::file::Persistence;
use agentic_store::lock::Lock;
use agentic_store::{Error, Result, fault, file};

/// The file in which git keeps an index over all packs, if somebody has it make one.
const MULTI_PACK_INDEX: &str = "multi-pack-index";
/// From how many packs on those that were made here are merged; git itself collects at fifty.
const PACKS_MERGED_MIN: usize = 32;
/// A pack that is larger than so many times all smaller ones together stays as it is.
const GROWTH: u64 = 2;
/// How many bytes of packs are merged at most; they are in memory meanwhile.
const MERGED_BYTES_MAX: u64 = 128 << 20;

/// One object in one of several packs.
struct PackedSource {
    pack: usize,
    begin: usize,
    end: usize,
    crc: u32,
}

impl Repository {
    /// Returns where packs of this repository are made and placed.
    pub(super) fn pack_folder(&self) -> PackFolder {
        PackFolder {
            begun: self.layout().begun_packs(),
            placed: self.common_dir().join("objects").join("pack"),
            kind: self.inner.object_hash(),
        }
    }

    /// Tells whether one more pack is in place, after making room where there are many. What stands
    /// in the way of that is in the way of nothing else.
    ///
    /// # Errors
    /// Fails when the folder of packs cannot be read.
    pub(super) fn has_room_for_packs(&self) -> Result<bool> {
        let n_packs = packs_in(&self.pack_folder().placed)?.len();
        let n_packs = n_packs.saturating_sub(self.n_replaced_packs());
        if n_packs < PACKS_MERGED_MIN {
            return Ok(true);
        }
        let _the_next_write_tries_again = self.merge_packs();
        Ok(n_packs < PACKS_MAX)
    }

    /// Merges packs that were made here, if there are many and nobody else does it.
    ///
    /// # Errors
    /// Fails when packs cannot be read or the disk is full; all packs are there then.
    fn merge_packs(&self) -> Result<()> {
        let lock = self.layout().space_lock("packs");
        let Some(_lock) = Lock::try_take(&lock, self.common_dir())? else { return Ok(()) };
        if self.common_dir().join("gc.pid").exists() {
            return Ok(());
        }
        let folder = self.pack_folder();
        self.drop_replaced_packs()?;
        let packs = self.packs_to_merge(&folder)?;
        if packs.len() < PACKS_MERGED_MIN / 2 {
            return Ok(());
        }
        let merged = merge(&folder, &packs)?;
        fault::point("packs-merged")?;
        self.note_replaced_packs(&merged, &packs)?;
        self.sweep_begun_packs();
        Ok(())
    }

    /// Chooses packs: the smallest, and larger ones as long as they are not much larger than all
    /// before them, so that an object is copied a few times however many packs are made.
    fn packs_to_merge(&self, folder: &PackFolder) -> Result<Vec<PathBuf>> {
        let indexed = indexed_packs(&folder.placed);
        let mut packs = Vec::new();
        for pack in packs_in(&folder.placed)? {
            let name = pack.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let is_kept = pack.with_extension("keep").exists();
            let is_placed = pack.with_extension("idx").exists();
            if is_ours(&name) && is_placed && !is_kept && !indexed.contains(&name) {
                // One that a collection has just taken away needs no merging.
                packs.extend(fs::metadata(&pack).ok().map(|found| (found.len(), pack)));
            }
        }
        packs.sort();
        let (mut chosen, mut sum) = (Vec::new(), 0);
        for (length, pack) in packs {
            let is_much_larger = chosen.len() >= PACKS_MERGED_MIN / 2 && length > sum * GROWTH;
            if is_much_larger || sum + length > MERGED_BYTES_MAX {
                break;
            }
            sum += length;
            chosen.push(pack);
        }
        Ok(chosen)
    }

    /// Moves packs aside that were made here without syncing them, and that a power cut damaged.
    /// What has the objects writes them again.
    ///
    /// # Errors
    /// Fails when a pack cannot be read or moved.
    pub fn set_damaged_packs_aside(&self) -> Result<()> {
        let folder = self.pack_folder();
        for pack in packs_in(&folder.placed)? {
            let name = pack.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let index = pack.with_extension("idx");
            let is_sound = || -> Result<bool> {
                // A pack without an index is none for git.
                Ok(index.exists()
                    && is_whole(&pack, folder.kind)?
                    && is_whole(&index, folder.kind)?)
            };
            if !is_unsynced(&name) || is_sound()? {
                continue;
            }
            let aside = self.layout().damaged_objects();
            fs::create_dir_all(&aside).map_err(Error::io("create", &aside))?;
            file::remove(&index)?;
            fs::rename(&pack, aside.join(&name)).map_err(Error::io("set aside", &pack))?;
        }
        remove_lone_indices(&folder.placed)?;
        // An index of all packs may name one that is gone, and git stumbles over it.
        let is_there = |name: &String| folder.placed.join(format!("{name}.pack")).exists();
        match indexed_packs(&folder.placed).iter().all(is_there) {
            true => Ok(()),
            false => file::remove(&folder.placed.join(MULTI_PACK_INDEX)),
        }
    }

    /// Removes what crashes left of packs that were never placed.
    pub fn sweep_begun_packs(&self) {
        self.pack_folder().sweep();
    }
}

/// Makes one pack of several. An object that is in two of them is copied once.
fn merge(folder: &PackFolder, packs: &[PathBuf]) -> Result<PathBuf> {
    let mut sources: BTreeMap<ObjectId, PackedSource> = BTreeMap::new();
    let mut contents = Vec::new();
    for (number, pack) in packs.iter().enumerate() {
        let content = fs::read(pack).map_err(Error::io("read", pack))?;
        let index = pack::index::File::at(pack.with_extension("idx"), folder.kind);
        let index = index.map_err(Error::git_with(|| format!("read `{}`", pack.display())))?;
        let mut entries: Vec<_> = index.iter().collect();
        entries.sort_by_key(|entry| entry.pack_offset);
        let last = content.len().saturating_sub(folder.kind.len_in_bytes());
        let ends = entries.iter().skip(1).map(|entry| entry.pack_offset as usize).chain([last]);
        for (entry, end) in entries.iter().zip(ends) {
            let (begin, crc) = (entry.pack_offset as usize, entry.crc32.unwrap_or_default());
            sources.insert(entry.oid, PackedSource { pack: number, begin, end, crc });
        }
        contents.push(content);
    }
    let mut writer = PackWriter::begin(folder, sources.len())?;
    for (id, source) in sources {
        let bytes = contents[source.pack].get(source.begin..source.end).unwrap_or_default();
        if crc32fast::hash(bytes) != source.crc {
            let what = format!("the pack `{}`", packs[source.pack].display());
            return Err(Error::corrupt(what, format!("object {id} does not match its checksum")));
        }
        writer.add_entry(id, bytes, source.crc)?;
    }
    writer.finish(Persistence::Synced)?.place(&folder.placed)
}

/// Lists the packs that git's index of all packs names, without their extensions.
pub(super) fn indexed_packs(folder: &Path) -> BTreeSet<String> {
    let found = pack::multi_index::File::at(folder.join(MULTI_PACK_INDEX), None);
    let names = found.map(|index| index.index_names().to_vec()).unwrap_or_default();
    let stem = |name: PathBuf| Some(name.file_stem()?.to_string_lossy().into_owned());
    names.into_iter().filter_map(stem).collect()
}

/// Removes indices of ours whose pack a power cut took.
fn remove_lone_indices(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_index = path.extension().is_some_and(|extension| extension == "idx");
        let is_lone = is_index && !path.with_extension("pack").exists();
        if is_lone && is_unsynced(&entry.file_name().to_string_lossy()) {
            file::remove(&path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
