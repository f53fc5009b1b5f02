//! Deleting refs without a program of git's.
//!
//! Done in git's order, so that a crash or another program in between never brings a ref back: the
//! refs are locked, then the file of packed refs, also if it names none of them, for somebody may be
//! packing them now. Logs go first, then what is packed, and what stands in files of its own last.
//! Whatever is not plain is left to git itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant as Moment};

use agentic_model::Oid;
use agentic_store::ground::PACKED_REFS;
use agentic_store::{Error, Result, fault, file};

use super::Repository;
use super::loose_ref::{PlainRef, RefLock, ShortWay};
use super::packed_line::{PEELED, line_at, name_of};
use super::reference::REF_LOCK_WAIT;

/// The longest pause between two looks at the lock of packed refs.
const PAUSE_MAX: Duration = Duration::from_millis(16);
/// How many parts of a name are folders that stay, as `refs/heads`.
const LASTING_FOLDERS: usize = 2;

/// A ref that is locked, to be deleted.
struct LockedRef {
    path: PathBuf,
    log: PathBuf,
    /// Whether it stands in a file of its own. If not, it has to be packed.
    is_loose: bool,
    /// How many folders above it may go with it.
    n_folders: usize,
    lock: RefLock,
}

/// What packed refs are without some of them.
struct PackedRest {
    /// The lines that stay.
    lines: Vec<u8>,
    /// The refs that were found among the others, with what they named.
    found: BTreeMap<String, Option<Oid>>,
}

impl Repository {
    /// Deletes refs with their logs if all of them are plain and where they are expected to be.
    ///
    /// # Errors
    /// Fails when the disk does; those that are still there can be deleted again.
    pub(super) fn delete_plain_refs(&self, refs: &[(String, Oid)]) -> Result<ShortWay> {
        // Git notes in the log of a head that its branch is gone.
        let checked_out = self.read_plain_head();
        let mut locked = Vec::new();
        for (name, expect) in refs {
            let one = match checked_out.as_ref() == Some(name) {
                true => None,
                false => self.lock_to_delete(name, *expect),
            };
            let Some(one) = one else { return Ok(ShortWay::Closed) };
            locked.push(one);
        }
        let packed = self.common_dir().join(PACKED_REFS);
        let Some((mut packed_lock, file)) = lock_packed(&packed)? else {
            return Ok(ShortWay::Closed);
        };
        let rest = PackedRest::read(&packed, refs)?;
        // A file of its own hides what is packed; without one that is what counts.
        let is_elsewhere = |((name, expect), one): (&(String, Oid), &LockedRef)| {
            !one.is_loose && rest.found.get(name) != Some(&Some(*expect))
        };
        if refs.iter().zip(&locked).any(is_elsewhere) {
            return Ok(ShortWay::Closed);
        }
        fault::point_under_lock("refs-locked")?;
        for one in &locked {
            remove_log(&one.log)?;
        }
        if !rest.found.is_empty() {
            replace_packed(&packed, (&mut packed_lock, file), &rest.lines)?;
        }
        fault::point_under_lock("packed-refs-deleted")?;
        for one in locked.iter().filter(|one| one.is_loose) {
            file::remove(&one.path)?;
        }
        drop(packed_lock);
        for LockedRef { path, log, n_folders, lock, .. } in locked {
            drop(lock);
            remove_empty_above(&path, n_folders);
            remove_empty_above(&log, n_folders);
        }
        Ok(ShortWay::Moved)
    }

    /// Locks a ref that is to be deleted; nothing if it is not plain, elsewhere, or locked by others.
    fn lock_to_delete(&self, name: &str, expect: Oid) -> Option<LockedRef> {
        let path = self.plain_path(name).filter(|path| !path.is_symlink())?;
        let lock_path = path.with_added_extension("lock");
        let open = || OpenOptions::new().write(true).create_new(true).open(&lock_path);
        // The folder of a ref that is packed may be gone.
        drop(file::in_folder(&lock_path, open).ok()?);
        let lock = RefLock { path: lock_path, is_held: true };
        let is_loose = match self.read_plain_ref(name) {
            PlainRef::Names(found) if found == expect => true,
            PlainRef::Absent => false,
            PlainRef::Names(_) | PlainRef::Other => return None,
        };
        let n_folders = name.split('/').count().saturating_sub(LASTING_FOLDERS + 1);
        let log = self.common_dir().join("logs").join(name);
        Some(LockedRef { path, log, is_loose, n_folders, lock })
    }
}

impl PackedRest {
    fn read(path: &Path, refs: &[(String, Oid)]) -> Result<PackedRest> {
        let text = match fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(Error::io("read", path)(error)),
        };
        let wanted: BTreeSet<&[u8]> = refs.iter().map(|(name, _)| name.as_bytes()).collect();
        let mut rest = PackedRest { lines: Vec::with_capacity(text.len()), found: BTreeMap::new() };
        let (mut at, mut is_left_out) = (0, false);
        while at < text.len() {
            let line = line_at(&text, at);
            let end = text.len().min(at + line.len() + 1);
            // What a tag leads to stands below it, and goes with it.
            if !line.starts_with(PEELED) {
                let name = name_of(line);
                is_left_out = wanted.contains(name);
                if is_left_out {
                    let line = String::from_utf8_lossy(line);
                    let (digits, name) = line.split_once(' ').unwrap_or_default();
                    rest.found.insert(name.to_owned(), Oid::parse(digits).ok());
                }
            }
            if !is_left_out {
                rest.lines.extend_from_slice(&text[at..end]);
            }
            at = end;
        }
        Ok(rest)
    }
}

/// Takes the lock of packed refs; nothing if others keep it for a second, or if the file is a link:
/// then git locks where that leads.
fn lock_packed(packed: &Path) -> Result<Option<(RefLock, File)>> {
    if packed.is_symlink() {
        return Ok(None);
    }
    let path = packed.with_added_extension("lock");
    let deadline = Moment::now() + REF_LOCK_WAIT;
    let mut pause = Duration::from_millis(1);
    loop {
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok(Some((RefLock { path, is_held: true }, file))),
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(Error::io("lock", packed)(error));
            }
            Err(_) if Moment::now() >= deadline => return Ok(None),
            Err(_) => {}
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

/// Puts other lines in the place of the packed refs, on the disk before the old ones go.
fn replace_packed(
    packed: &Path,
    (lock, mut file): (&mut RefLock, File),
    lines: &[u8],
) -> Result<()> {
    file.write_all(lines).map_err(Error::io("write", &lock.path))?;
    file.sync_all().map_err(Error::io("sync", &lock.path))?;
    // As it stood, for whoever shares the repository.
    let mode = fs::metadata(packed).map_err(Error::io("read", packed))?.permissions();
    file.set_permissions(mode).map_err(Error::io("write", &lock.path))?;
    fs::rename(&lock.path, packed).map_err(Error::io("replace", packed))?;
    lock.is_held = false;
    Ok(())
}

fn remove_log(path: &Path) -> Result<()> {
    match file::remove(path) {
        // A folder where a log would be is the log of refs below.
        Err(_) if path.is_dir() => Ok(()),
        end => end,
    }
}

/// Removes the nearest folders above a file as far as nothing is in them.
fn remove_empty_above(path: &Path, n_folders: usize) {
    for folder in path.ancestors().skip(1).take(n_folders) {
        if fs::remove_dir(folder).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
