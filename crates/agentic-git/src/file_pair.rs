//! Which files of two trees belong together: those at the same path, and those that moved.

use agentic_model::Oid;
use gix::diff::tree::recorder::Change;
use gix::objs::tree::{EntryKind, EntryMode};

use super::{Repository, Scratch, rename, to_oid};
use agentic_store::Result;

/// What sort of entry of a tree a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSort {
    /// A file.
    Plain,
    /// A file that may be executed.
    Executable,
    /// A symbolic link; its content is the target.
    Link,
    /// The commit of another repository.
    Submodule,
}

impl FileSort {
    /// Returns its mode, as git writes it.
    pub fn mode(self) -> &'static str {
        match self {
            FileSort::Plain => "100644",
            FileSort::Executable => "100755",
            FileSort::Link => "120000",
            FileSort::Submodule => "160000",
        }
    }

    fn of(mode: EntryMode) -> Option<FileSort> {
        match mode.kind() {
            EntryKind::Blob => Some(FileSort::Plain),
            EntryKind::BlobExecutable => Some(FileSort::Executable),
            EntryKind::Link => Some(FileSort::Link),
            EntryKind::Commit => Some(FileSort::Submodule),
            EntryKind::Tree => None,
        }
    }
}

/// A file of one tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSide {
    /// Its path.
    pub path: Vec<u8>,
    /// What sort of entry it is.
    pub sort: FileSort,
    /// The blob, or the commit of a submodule.
    pub oid: Oid,
}

/// What became of a file from one tree to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilePair {
    /// It is new.
    Added(FileSide),
    /// It is gone.
    Deleted(FileSide),
    /// It is at the same path, with other content or of another sort.
    Changed(FileSide, FileSide),
    /// It is at another path; so much of its content stayed, in percent.
    Moved(FileSide, FileSide, u8),
}

impl FilePair {
    /// Returns the file as it was.
    pub fn before(&self) -> Option<&FileSide> {
        match self {
            FilePair::Added(_) => None,
            FilePair::Deleted(old) | FilePair::Changed(old, _) | FilePair::Moved(old, _, _) => {
                Some(old)
            }
        }
    }

    /// Returns the file as it is.
    pub fn after(&self) -> Option<&FileSide> {
        match self {
            FilePair::Deleted(_) => None,
            FilePair::Added(new) | FilePair::Changed(_, new) | FilePair::Moved(_, new, _) => {
                Some(new)
            }
        }
    }

    /// Returns the path by which it is known now.
    pub fn path(&self) -> &[u8] {
        match self {
            FilePair::Added(side)
            | FilePair::Deleted(side)
            | FilePair::Changed(_, side)
            | FilePair::Moved(_, side, _) => &side.path,
        }
    }
}

impl Repository {
    /// Lists the files by which two trees differ, by path. Of very many that came and went at once
    /// it is not found out which of them moved.
    ///
    /// # Errors
    /// Fails when a tree cannot be read.
    pub fn file_pairs(&self, old: Oid, new: Oid) -> Result<Vec<FilePair>> {
        if old == new {
            return Ok(Vec::new());
        }
        let view = Scratch { inner: self.inner.clone(), cache: self.cache.clone() };
        let (mut gone, mut come, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
        for change in view.changes(old, new)? {
            match change {
                Change::Addition { entry_mode, oid, path, .. } => {
                    come.extend(side(entry_mode, &oid, path.into()));
                }
                Change::Deletion { entry_mode, oid, path, .. } => {
                    gone.extend(side(entry_mode, &oid, path.into()));
                }
                Change::Modification {
                    previous_entry_mode,
                    previous_oid,
                    entry_mode,
                    oid,
                    path,
                } => {
                    let path: Vec<u8> = path.into();
                    let before = side(previous_entry_mode, &previous_oid, path.clone());
                    let after = side(entry_mode, &oid, path);
                    pairs.extend(before.zip(after).map(|(old, new)| FilePair::Changed(old, new)));
                }
            }
        }
        pairs.extend(rename::pair(self, gone, come));
        pairs.sort_by(|left, right| left.path().cmp(right.path()));
        Ok(pairs)
    }

    /// Returns how long a blob is, without reading it.
    ///
    /// # Errors
    /// Fails when it is missing or damaged.
    pub fn blob_size(&self, oid: Oid) -> Result<u64> {
        let doing = || format!("read blob {oid}");
        let find = || {
            let header = self.inner.find_header(super::to_id(oid));
            header.map_err(agentic_store::Error::git_with(doing))
        };
        Ok(self.again(find).map_err(|error| self.damaged_or(oid, error))?.size())
    }
}

fn side(mode: EntryMode, id: &gix::oid, path: Vec<u8>) -> Option<FileSide> {
    FileSort::of(mode).map(|sort| FileSide { path, sort, oid: to_oid(id) })
}

#[cfg(test)]
mod tests;
