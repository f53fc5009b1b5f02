//! The files of a worktree that has still to follow its branch.
//!
//! Nobody knows how far that was done before, and people may have changed files since. Each path
//! at which the two commits differ is looked at by itself: what is as the old commit has it is brought,
//! what was edited meanwhile is merged, and what cannot be merged is left and named.

use std::ffi::OsStr;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use agentic_model::Oid;

use super::WorktreeLock;
use super::merging::EditedFile;
use crate::trail::{FileEntry, Trail};
use crate::{Repository, by_command_line, remove_if_hollow};
use agentic_store::{Error, Result, file};

/// How many files are looked at before they are brought: what changes in between would be lost.
const FILES_AT_ONCE: usize = 256;

/// A regular file, one that may be executed, a link and a submodule, as git has them.
pub(super) const PLAIN: u32 = 0o100_644;
pub(super) const EXECUTABLE: u32 = 0o100_755;
pub(super) const LINK: u32 = 0o120_000;
const SUBMODULE: u32 = 0o160_000;

/// What a path was and becomes.
#[derive(Debug, Clone)]
pub(super) struct Change {
    pub path: Vec<u8>,
    pub old: Option<FileEntry>,
    pub new: Option<FileEntry>,
}

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnDisk {
    Nothing,
    File(FileEntry),
    Folder,
    /// Something that no commit holds, or behind a link or a file.
    Other,
}

/// The paths that are still to be worked on, and those that were left.
#[derive(Default)]
struct PathFindings {
    edited: Vec<EditedFile>,
    left: Vec<Vec<u8>>,
}

impl WorktreeLock {
    /// Brings the files from one commit to another, where the index stands already. Returns the paths
    /// that are as they were, because nobody can tell what should become of them.
    pub(super) fn bring_files(
        &self,
        repository: &Repository,
        trail: &Trail,
        from: Oid,
    ) -> Result<Vec<Vec<u8>>> {
        let (old, new) = (from.to_string(), trail.to.to_string());
        let listed = self.git_raw(&["diff-tree", "-r", "-z", "--no-renames", &old, &new], &[])?;
        let skipped = self.skipped()?;
        let is_asked = |change: &Change| {
            skipped.binary_search(&change.path).is_err() || self.full(&change.path).exists()
        };
        let changes = changes(&listed).into_iter().filter(is_asked);
        let (gone, mut there): (Vec<Change>, Vec<Change>) =
            changes.partition(|change| change.new.is_none());
        // Attributes say how the other files are read.
        there.sort_by_key(|change| !change.path.ends_with(b".gitattributes"));
        let mut findings = PathFindings::default();
        for part in gone.chunks(FILES_AT_ONCE).chain(there.chunks(FILES_AT_ONCE)) {
            self.bring_part(repository, trail, part, &mut findings)?;
        }
        let PathFindings { edited, mut left } = findings;
        left.extend(self.merge(repository, trail, edited, left.is_empty())?);
        // The index learns what the files look like on the disk.
        self.refresh_index()?;
        left.sort();
        Ok(left)
    }

    fn bring_part(
        &self,
        repository: &Repository,
        trail: &Trail,
        part: &[Change],
        findings: &mut PathFindings,
    ) -> Result<()> {
        let on_disk = self.on_disk(repository, part)?;
        let mut stale: Vec<&[u8]> = Vec::new();
        for (change, found) in part.iter().zip(on_disk) {
            if trail.merge_of(&change.path).is_some() {
                findings.edited.push(EditedFile::of(change.clone(), found.entry()));
                continue;
            }
            match self.step_of(repository, change, found)? {
                PathStep::Nothing => {}
                PathStep::Remove => self.remove(&change.path)?,
                PathStep::Write => stale.push(&change.path),
                PathStep::Merge => {
                    findings.edited.push(EditedFile::of(change.clone(), found.entry()))
                }
                PathStep::Leave => findings.left.push(change.path.clone()),
            }
        }
        for part in by_command_line(&stale) {
            self.git_raw(&["checkout-index", "--force", "--quiet", "--"], part)?;
        }
        Ok(())
    }

    /// Says what is to be done about a path.
    fn step_of(&self, repository: &Repository, change: &Change, found: OnDisk) -> Result<PathStep> {
        let is = |entry: Option<FileEntry>, found| {
            entry.is_some_and(|entry| is_same(repository, entry, found))
        };
        let is_submodule = |entry: Option<FileEntry>| entry.is_some_and(|it| it.mode == SUBMODULE);
        Ok(match (found, change.new) {
            // What is in a submodule is its own; git leaves it there too.
            (OnDisk::Nothing | OnDisk::Folder, None) => PathStep::Nothing,
            (OnDisk::Folder, Some(_)) if is_submodule(change.new) => PathStep::Nothing,
            (OnDisk::Nothing, Some(_)) => PathStep::Write,
            (OnDisk::Folder, Some(_)) => match remove_if_hollow(&self.full(&change.path)) {
                true => PathStep::Write,
                false => PathStep::Leave,
            },
            (OnDisk::Other, _) => PathStep::Leave,
            (OnDisk::File(found), _) if is(change.new, found) => PathStep::Nothing,
            (OnDisk::File(found), None) if is(change.old, found) => PathStep::Remove,
            (OnDisk::File(found), Some(_)) if is(change.old, found) => PathStep::Write,
            // Only its mode was changed: it is whole, though it may be how the new content begins.
            (OnDisk::File(found), _) if change.old.is_some_and(|old| old.oid == found.oid) => {
                PathStep::Merge
            }
            (OnDisk::File(_), _) if self.is_part_of(change)? => PathStep::Write,
            (OnDisk::File(_), _) => PathStep::Merge,
        })
    }

    /// Tells whether a file is the beginning, or all, of what git was about to write: git removes the
    /// old file and writes the new one, and may have been killed in between.
    fn is_part_of(&self, change: &Change) -> Result<bool> {
        let Some(new) = change.new.filter(|new| new.mode != LINK && new.mode != SUBMODULE) else {
            return Ok(false);
        };
        let full = self.full(&change.path);
        if full.is_symlink() {
            return Ok(false);
        }
        let there = fs::read(&full).map_err(Error::io("read", &full))?;
        Ok(self.smudged(&change.path, new.oid)?.starts_with(&there))
    }

    /// Returns the content of a blob as git writes it to a path.
    pub(super) fn smudged(&self, path: &[u8], oid: Oid) -> Result<Vec<u8>> {
        let place = [b"--path=", path].concat();
        self.git_raw(&["cat-file", "--filters"], &[&place, oid.to_string().as_bytes()])
    }

    /// Looks at what stands at some paths.
    fn on_disk(&self, repository: &Repository, part: &[Change]) -> Result<Vec<OnDisk>> {
        let mut found = Vec::new();
        let mut files = Vec::new();
        for change in part {
            let (full, path) = (self.full(&change.path), change.path.as_slice());
            if self.is_blocked(path) {
                // What is to go is gone where its folder is none any more.
                found.push(if change.new.is_none() { OnDisk::Nothing } else { OnDisk::Other });
                continue;
            }
            found.push(match full.symlink_metadata() {
                Ok(there) if there.is_symlink() => {
                    OnDisk::File(FileEntry { mode: LINK, oid: link_oid(repository, &full)? })
                }
                Ok(there) if there.is_file() => {
                    files.push((found.len(), path));
                    let is_executable = there.permissions().mode() & 0o100 != 0;
                    let mode = if is_executable { EXECUTABLE } else { PLAIN };
                    OnDisk::File(FileEntry { mode, oid: repository.empty_tree() })
                }
                Ok(there) if there.is_dir() => OnDisk::Folder,
                Ok(_) => OnDisk::Other,
                Err(error) if error.kind() == ErrorKind::NotFound => OnDisk::Nothing,
                Err(error) => return Err(Error::io("read", &full)(error)),
            });
        }
        let paths: Vec<&[u8]> = files.iter().map(|(_, path)| *path).collect();
        let oids = self.hash(&paths, ObjectKeeping::Nothing)?;
        for ((number, _), oid) in files.iter().zip(oids) {
            if let OnDisk::File(entry) = &mut found[*number] {
                entry.oid = oid;
            }
        }
        Ok(found)
    }

    /// Names the contents of files as git would add them.
    pub(super) fn hash(&self, paths: &[&[u8]], keeping: ObjectKeeping) -> Result<Vec<Oid>> {
        let options: &[&str] = match keeping {
            ObjectKeeping::Nothing => &["hash-object", "--"],
            ObjectKeeping::Objects => &["hash-object", "-w", "--"],
        };
        let mut oids = Vec::new();
        for part in by_command_line(paths) {
            let printed = self.git_raw(options, part)?;
            let printed = String::from_utf8_lossy(&printed);
            oids.extend(printed.lines().filter_map(|line| Oid::parse(line).ok()));
        }
        match oids.len() == paths.len() {
            true => Ok(oids),
            false => Err(Error::corrupt("what `git hash-object` printed", "a line is missing")),
        }
    }

    /// Tells whether a folder of a path is none: what lies there is not in this worktree.
    pub(super) fn is_blocked(&self, path: &[u8]) -> bool {
        let above = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        above.into_iter().any(|(at, _)| {
            let found = self.full(&path[..at]).symlink_metadata();
            found.is_ok_and(|found| !found.is_dir())
        })
    }

    /// Removes a file, and the folders that it leaves empty.
    fn remove(&self, path: &[u8]) -> Result<()> {
        let full = self.full(path);
        file::remove(&full)?;
        let above = full.ancestors().skip(1).take_while(|above| *above != self.worktree.path);
        for folder in above {
            // One that holds something stays.
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
        Ok(())
    }

    /// Lists the paths that the index has and the folder is not to have, as with a sparse checkout.
    fn skipped(&self) -> Result<Vec<Vec<u8>>> {
        let listed = self.git_raw(&["ls-files", "-t", "-z"], &[])?;
        let lines = listed.split(|byte| *byte == 0);
        let mut skipped: Vec<Vec<u8>> =
            lines.filter_map(|line| line.strip_prefix(b"S ")).map(<[u8]>::to_vec).collect();
        skipped.sort();
        Ok(skipped)
    }

    pub(super) fn full(&self, path: &[u8]) -> PathBuf {
        self.worktree.path.join(OsStr::from_bytes(path))
    }

    /// Replaces a file by another, whole or not at all.
    pub(super) fn place(&self, path: &[u8], mode: u32, content: &[u8]) -> Result<()> {
        let full = self.full(path);
        let fresh = self.worktree.git_dir.join("agentic-merged");
        write_fresh(&fresh, mode, content)?;
        match fs::rename(&fresh, &full) {
            Err(error) if error.kind() == ErrorKind::CrossesDevices => {
                file::remove(&fresh)?;
                let beside = full.with_added_extension("agentic-merged");
                write_fresh(&beside, mode, content)?;
                fs::rename(&beside, &full).map_err(Error::io("replace", &full))
            }
            done => done.map_err(Error::io("replace", &full)),
        }
    }
}

/// Whether what is hashed is kept as an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ObjectKeeping {
    Nothing,
    Objects,
}

/// What is to be done about a path.
enum PathStep {
    Nothing,
    Remove,
    Write,
    Merge,
    Leave,
}

impl OnDisk {
    fn entry(self) -> Option<FileEntry> {
        match self {
            OnDisk::File(entry) => Some(entry),
            OnDisk::Nothing | OnDisk::Folder | OnDisk::Other => None,
        }
    }
}

/// Tells whether a file is what a commit has, as far as the filesystem can show it.
pub(super) fn is_same(repository: &Repository, entry: FileEntry, found: FileEntry) -> bool {
    let is_off = |key: &str| repository.config(key).is_some_and(|value| value == "false");
    let is_regular = |mode: u32| mode == PLAIN || mode == EXECUTABLE;
    let is_mode = entry.mode == found.mode
        || (is_regular(entry.mode) && is_regular(found.mode) && is_off("core.fileMode"))
        || (entry.mode == LINK && is_off("core.symlinks"));
    entry.oid == found.oid && is_mode
}

/// Names the target of a link.
fn link_oid(repository: &Repository, link: &Path) -> Result<Oid> {
    use agentic_store::journal::{GitKind, GitObject};
    let target = fs::read_link(link).map_err(Error::io("read", link))?;
    let bytes = target.into_os_string().into_encoded_bytes();
    Ok(repository.name_object(&GitObject { kind: GitKind::Blob, bytes }))
}

fn write_fresh(path: &Path, mode: u32, content: &[u8]) -> Result<()> {
    file::remove(path)?;
    if mode == LINK {
        let made = std::os::unix::fs::symlink(OsStr::from_bytes(content), path);
        return made.map_err(Error::io("create", path));
    }
    let bits = if mode == EXECUTABLE { 0o777 } else { 0o666 };
    let mut options = fs::OpenOptions::new();
    let made = options.write(true).create_new(true).mode(bits).open(path);
    made.and_then(|mut made| made.write_all(content)).map_err(Error::io("write", path))
}

/// Reads what `git diff-tree -r -z` prints.
fn changes(listed: &[u8]) -> Vec<Change> {
    let mut parts = listed.split(|byte| *byte == 0);
    let mut changes = Vec::new();
    while let (Some(change), Some(path)) = (parts.next(), parts.next()) {
        let change = String::from_utf8_lossy(change);
        let fields: Vec<&str> = change.trim_start_matches(':').split(' ').collect();
        let [old_mode, new_mode, old, new, _] = fields[..] else { continue };
        let entry = |mode, oid| {
            let oid = Oid::parse(oid).ok().filter(|oid| !oid.is_null())?;
            Some(FileEntry { mode: u32::from_str_radix(mode, 8).ok()?, oid })
        };
        let (old, new) = (entry(old_mode, old), entry(new_mode, new));
        changes.push(Change { path: path.to_vec(), old, new });
    }
    changes
}
