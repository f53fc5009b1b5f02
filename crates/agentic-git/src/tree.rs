//! Editing trees in memory, and the paths that may stand in them.

use std::collections::BTreeMap;

use agentic_model::Oid;
use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::objs::Write as _;
use gix::objs::tree::EntryKind;

use super::{Repository, Scratch, to_id, to_oid};
use agentic_store::error::CheckoutError;
use agentic_store::{Error, Result};

/// The longest path that is committed, in bytes: what the systems that check it out can take.
const PATH_BYTES_MAX: usize = 4096;
/// The longest target of a link that systems take, in bytes.
const TARGET_BYTES_MAX: usize = 4095;

/// What sort of file an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileMode {
    /// A file.
    Plain,
    /// A file that may be executed.
    Executable,
    /// A symbolic link; its content is the target.
    Link,
}

/// What becomes of one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeChange {
    /// It is this blob.
    Set {
        /// What sort of file.
        mode: FileMode,
        /// The content.
        blob: Oid,
    },
    /// It is a submodule.
    Submodule {
        /// The commit that is checked out in it.
        head: Oid,
    },
    /// It is gone.
    Remove,
}

/// Changes to a tree, by path.
pub type TreeEdit = BTreeMap<Vec<u8>, TreeChange>;

impl FileMode {
    pub(super) fn to_gix(self) -> EntryKind {
        match self {
            FileMode::Plain => EntryKind::Blob,
            FileMode::Executable => EntryKind::BlobExecutable,
            FileMode::Link => EntryKind::Link,
        }
    }
}

/// Checks that a path stays inside the tree and means the same file on every system.
///
/// # Errors
/// Fails on absolute and empty paths, `..`, `.`, and anything that git would take for `.git`.
pub fn check_path(path: &[u8]) -> Result<()> {
    broken_rule(path).map_or(Ok(()), |reason| Err(unsafe_path(path, reason)))
}

fn unsafe_path(path: &[u8], reason: &'static str) -> Error {
    Error::Checkout(CheckoutError::UnsafePath {
        path: String::from_utf8_lossy(path).into_owned(),
        reason,
    })
}

fn broken_rule(path: &[u8]) -> Option<&'static str> {
    if path.is_empty() {
        return Some("it is empty");
    }
    if path.len() > PATH_BYTES_MAX {
        return Some("it is longer than 4096 bytes");
    }
    if path.starts_with(b"/") {
        return Some("it is absolute");
    }
    if path.contains(&0) {
        return Some("it holds a NUL byte");
    }
    path.split(|byte| *byte == b'/').find_map(|part| match part {
        b"" => Some("a part of it is empty"),
        b"." | b".." => Some("it leaves the tree"),
        part if is_dot_git(part) => Some("git keeps its own files there"),
        _ => None,
    })
}

/// Tells why no link can have this target.
fn broken_target(target: &[u8]) -> Option<&'static str> {
    if target.is_empty() {
        return Some("a link needs a target");
    }
    if target.contains(&0) {
        return Some("the target of a link cannot hold a NUL byte");
    }
    (target.len() > TARGET_BYTES_MAX).then_some("the target of a link is longer than 4095 bytes")
}

/// Recognises `.git` as the filesystems of all systems might: without case, with trailing dots and
/// blanks, as the short name `git~1`, with ignorable characters or as an alternate data stream, and
/// between backslashes, which are slashes to some.
fn is_dot_git(part: &[u8]) -> bool {
    part.split(|byte| *byte == b'\\').any(is_dot_git_itself)
}

fn is_dot_git_itself(part: &[u8]) -> bool {
    use gix::validate::path::component::{Error, Options};
    let options = Options { protect_windows: false, protect_hfs: true, protect_ntfs: true };
    let checked = gix::validate::path::component(part.as_bstr(), None, options);
    matches!(checked, Err(Error::DotGitDir))
}

fn is_dot_gitmodules(part: &[u8]) -> bool {
    use gix::validate::path::component::{Error, Mode, Options};
    let options = Options { protect_windows: false, protect_hfs: true, protect_ntfs: true };
    let checked = gix::validate::path::component(part.as_bstr(), Some(Mode::Symlink), options);
    matches!(checked, Err(Error::SymlinkedGitModules))
}

impl Repository {
    /// Looks a path up in a tree; nothing if it is not there or is a folder.
    ///
    /// # Errors
    /// Fails when the tree cannot be read.
    pub fn find_in_tree(&self, tree: Oid, path: &[u8]) -> Result<Option<Oid>> {
        let doing = || format!("read tree {tree}");
        self.again(|| {
            let object = self.inner.find_tree(to_id(tree)).map_err(Error::git_with(doing))?;
            let parts = path.split(|byte| *byte == b'/').map(BString::from);
            let entry = object.lookup_entry(parts).map_err(Error::git_with(doing))?;
            let entry = entry.filter(|entry| !entry.mode().is_tree());
            Ok(entry.map(|entry| to_oid(&entry.object_id())))
        })
    }

    /// Tells whether a tree has a file or a folder at a path.
    ///
    /// # Errors
    /// Fails when the tree cannot be read.
    pub fn is_in_tree(&self, tree: Oid, path: &[u8]) -> Result<bool> {
        let doing = || format!("read tree {tree}");
        self.again(|| {
            let object = self.inner.find_tree(to_id(tree)).map_err(Error::git_with(doing))?;
            let parts = path.split(|byte| *byte == b'/').map(BString::from);
            Ok(object.lookup_entry(parts).map_err(Error::git_with(doing))?.is_some())
        })
    }
}

impl Scratch {
    /// Refuses links that no system can make, since whoever checks them out gets nothing else either,
    /// and what stock git refuses of `.gitmodules`: a link, and values that pose as options.
    fn check_content(&self, path: &[u8], change: &TreeChange) -> Result<()> {
        let TreeChange::Set { mode, blob } = change else { return Ok(()) };
        let last = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        if *mode == FileMode::Link && is_dot_gitmodules(last) {
            return Err(unsafe_path(path, "git does not follow a link in its place"));
        }
        let read = || self.inner.find_blob(to_id(*blob)).map_err(Error::git("read a blob"));
        if *mode == FileMode::Link
            && let Some(reason) = broken_target(&read()?.data)
        {
            return Err(unsafe_path(path, reason));
        }
        if path == b".gitmodules" {
            let content = read()?;
            if hostile_submodule(&content.data) {
                return Err(unsafe_path(path, "a value in it would be taken for an option"));
            }
        }
        Ok(())
    }

    /// Finds the file that a tree has at a path, with what sort of file it is.
    ///
    /// # Errors
    /// Fails when the tree cannot be read.
    pub fn entry_at(&self, tree: Oid, path: &[u8]) -> Result<Option<(FileMode, Oid)>> {
        let doing = || format!("read tree {tree}");
        let found = self.again(|| {
            let object = self.inner.find_tree(to_id(tree)).map_err(Error::git_with(doing))?;
            let parts = path.split(|byte| *byte == b'/').map(BString::from);
            let found = object.lookup_entry(parts).map_err(Error::git_with(doing))?;
            Ok(found.map(|entry| (entry.mode().kind(), to_oid(entry.id().as_ref()))))
        })?;
        let Some((kind, oid)) = found else { return Ok(None) };
        let mode = match kind {
            EntryKind::Blob => FileMode::Plain,
            EntryKind::BlobExecutable => FileMode::Executable,
            EntryKind::Link => FileMode::Link,
            EntryKind::Tree | EntryKind::Commit => return Ok(None),
        };
        Ok(Some((mode, oid)))
    }

    /// Applies changes to a tree and returns the new one. Folders that become empty vanish.
    ///
    /// # Errors
    /// Fails when a path may not be committed, or a tree cannot be read.
    pub fn edit_tree(&self, base: Oid, edit: &TreeEdit) -> Result<Oid> {
        self.again(|| self.edited_tree(base, edit))
    }

    fn edited_tree(&self, base: Oid, edit: &TreeEdit) -> Result<Oid> {
        let failed = || Error::git::<gix::Error>(format!("edit tree {base}"));
        let mut editor = self.inner.edit_tree(to_id(base)).map_err(failed())?.detach();
        // Removals first, so that a file may take the place of a folder and the other way round.
        for (path, change) in edit {
            check_path(path)?;
            if let TreeChange::Remove = change {
                editor.remove(parts(path)).map_err(failed())?;
            } else {
                check_place(path, edit)?;
                self.check_content(path, change)?;
            }
        }
        for (path, change) in edit {
            let (kind, id) = match change {
                TreeChange::Set { mode, blob } => (mode.to_gix(), to_id(*blob)),
                TreeChange::Submodule { head } => (EntryKind::Commit, to_id(*head)),
                TreeChange::Remove => continue,
            };
            editor.upsert(parts(path), kind, id).map_err(failed())?;
        }
        // Not by way of the repository: that looks first whether any pack has it.
        let write = |tree: &gix::objs::Tree| self.inner.objects.write(tree);
        Ok(to_oid(&editor.write(write).map_err(failed())?))
    }
}

/// Refuses a file that another edit makes a folder of.
fn check_place(path: &[u8], edit: &TreeEdit) -> Result<()> {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    for (at, _) in slashes {
        if edit.get(&path[..at]).is_some_and(|change| *change != TreeChange::Remove) {
            return Err(unsafe_path(path, "another change makes a file of one of its folders"));
        }
    }
    Ok(())
}

/// Finds a value in a `.gitmodules` that git itself refuses, because older clients ran it.
fn hostile_submodule(content: &[u8]) -> bool {
    content.lines().any(|line| {
        let line = line.trim_ascii();
        let value = |key: &[u8]| {
            let rest = line.strip_prefix(key)?.trim_ascii_start();
            Some(rest.strip_prefix(b"=")?.trim_ascii_start())
        };
        let begins =
            |key: &[u8], sign: &[u8]| value(key).is_some_and(|value| value.starts_with(sign));
        begins(b"url", b"-") || begins(b"path", b"-") || begins(b"update", b"!")
    })
}

fn parts(path: &[u8]) -> impl Iterator<Item = &BStr> {
    path.split(|byte| *byte == b'/').map(BStr::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_paths_are_accepted() {
        for path in ["a", "a/b.c", ".gitignore", ".github/x", "git", "digit~1", "é", "a b", "..a"]
        {
            assert!(check_path(path.as_bytes()).is_ok(), "{path}");
        }
        assert!(check_path(b"\xff\xfe").is_ok());
    }

    #[test]
    fn paths_that_escape_or_reach_git_are_refused() {
        for path in [
            "",
            "/a",
            "../a",
            "a/../b",
            "./a",
            "a//b",
            "a/",
            ".git",
            ".GIT/config",
            "a/.git/x",
            "git~1",
            ".git ",
            ".git.",
            ".git::$INDEX_ALLOCATION",
            ".g\u{200c}it",
            ".git\\config",
            "a\\.GIT",
            "a\\git~1\\config",
        ] {
            assert!(check_path(path.as_bytes()).is_err(), "{path:?}");
        }
    }
}
