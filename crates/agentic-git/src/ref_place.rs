//! The place of a ref: whether a ref of a name can be made or moved at all.
//!
//! Refs are files, so that `agents` and `agents/x` cannot both be branches. That is looked at before
//! a write is decided: what was decided and cannot become visible would wait for ever.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::Repository;
use super::loose_ref::PlainRef;
use agentic_store::error::RefError;
use agentic_store::{Error, Result};

/// How the file of a symbolic ref begins.
const SYMBOLIC: &[u8] = b"ref:";

impl Repository {
    /// Checks that nothing keeps a ref from being made or moved: it is not symbolic, and no other ref
    /// stands where it needs a folder, or in the folder where it needs a file.
    ///
    /// # Errors
    /// Fails with [`RefError::Symbolic`] and [`RefError::InTheWay`].
    pub fn check_place_of_ref(&self, name: &str) -> Result<()> {
        match self.read_plain_ref(name) {
            PlainRef::Names(_) => return Ok(()),
            // Where it exists, git has seen to its place.
            PlainRef::Absent if self.find_packed_ref(name)?.is_some() => {
                return self.check_folders_of_ref(name);
            }
            PlainRef::Absent | PlainRef::Other => {}
        }
        if self.inner.refs.namespace.is_some() {
            return Ok(());
        }
        self.check_folders_of_ref(name)?;
        match self.packed_in_the_way(name)? {
            Some(other) => Err(in_the_way(name, &other)),
            None => Ok(()),
        }
    }

    /// Finds a packed ref that stands where a ref of this name needs a folder, or below it.
    ///
    /// # Errors
    /// Fails when the file of packed refs is damaged.
    pub(super) fn packed_in_the_way(&self, name: &str) -> Result<Option<String>> {
        for above in folders_above(name) {
            if self.find_packed_ref(above)?.is_some() {
                return Ok(Some(above.to_owned()));
            }
        }
        self.first_packed_below(name)
    }

    /// Tells whether there is any ref below a folder, and looks no further than the first.
    ///
    /// # Errors
    /// Fails when the refs cannot be read.
    pub fn has_refs_below(&self, prefix: &str) -> Result<bool> {
        if !self.is_plain_folder(prefix) {
            return Ok(!self.list_refs(prefix)?.is_empty());
        }
        let folder = prefix.trim_end_matches('/');
        Ok(has_file(&self.common_dir().join(folder)) || self.first_packed_below(folder)?.is_some())
    }

    /// Checks the files and folders of a ref and of its log.
    fn check_folders_of_ref(&self, name: &str) -> Result<()> {
        for root in [self.common_dir().to_owned(), self.common_dir().join("logs")] {
            for above in folders_above(name) {
                if root.join(above).is_file() {
                    return Err(in_the_way(name, above));
                }
            }
            let path = root.join(name);
            let Ok(found) = path.symlink_metadata() else { continue };
            if found.is_dir() && !remove_if_hollow(&path) {
                return Err(in_the_way(name, &format!("{name}/")));
            }
        }
        let path = self.common_dir().join(name);
        let is_link = path.symlink_metadata().is_ok_and(|found| found.is_symlink());
        if is_link || fs::read(&path).is_ok_and(|text| text.starts_with(SYMBOLIC)) {
            return Err(Error::Ref(RefError::Symbolic { name: name.to_owned() }));
        }
        Ok(())
    }

    /// Finds a packed ref in the folder that a ref of this name would be.
    fn first_packed_below(&self, name: &str) -> Result<Option<String>> {
        let damaged = |error: Box<dyn std::error::Error + Send + Sync>| {
            Error::corrupt(format!("the refs below `{name}`"), error)
        };
        let packed =
            self.inner.refs.cached_packed_buffer().map_err(|error| damaged(error.into()))?;
        let Some(packed) = packed else { return Ok(None) };
        let prefix = format!("{name}/");
        let below = packed.iter_prefixed(prefix.as_str().into());
        let first = below.map_err(|error| damaged(error.into()))?.next();
        let first = first.transpose().map_err(|error| damaged(error.into()))?;
        Ok(first.map(|found| found.name.as_bstr().to_string()))
    }
}

/// Lists the folders in which the file of a ref stands, but for `refs` itself.
fn folders_above(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('/').skip(1).map(|(at, _)| &name[..at])
}

/// Removes a folder that holds nothing but folders, as git leaves them behind where a ref or a
/// file stood; tells whether it is gone.
pub(crate) fn remove_if_hollow(folder: &Path) -> bool {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_if_hollow(&entry.path());
        }
    }
    match fs::remove_dir(folder) {
        Ok(()) => true,
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

/// Tells whether a folder, or one in it, has a file that is no lock.
fn has_file(folder: &Path) -> bool {
    let is_lock = |entry: &fs::DirEntry| entry.path().extension().is_some_and(|it| it == "lock");
    fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => has_file(&entry.path()),
        Ok(_) | Err(_) => !is_lock(&entry),
    })
}

fn in_the_way(name: &str, other: &str) -> Error {
    Error::Ref(RefError::InTheWay { name: name.to_owned(), other: other.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_git;

    /// The ref whose place is looked at.
    const NAME: &str = "refs/heads/agents/a";

    /// Runs git in a folder.
    fn git(folder: &Path, line: &str) {
        let arguments: Vec<&str> = line.split(' ').collect();
        let done = run_git(folder, &arguments).and_then(|done| done.checked(&arguments));
        done.unwrap_or_else(|error| panic!("git {line}: {error}"));
    }

    /// Makes a repository with one commit.
    fn begun() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder");
        git(folder.path(), "init -q -b main");
        let commit = "-c user.name=A -c user.email=a@example.com commit -q --allow-empty -m one";
        git(folder.path(), commit);
        folder
    }

    fn check(prepare: &[&str], is_free: bool) {
        let folder = begun();
        for line in prepare {
            git(folder.path(), line);
        }
        let repository = Repository::open(folder.path()).expect("just made");
        let checked = repository.check_place_of_ref(NAME);
        assert_eq!(checked.is_ok(), is_free, "{prepare:?}: {checked:?}");
    }

    #[test]
    fn a_folder_has_refs_loose_or_packed_and_not_once_they_are_gone() {
        let folder = begun();
        let has_refs = || {
            let repository = Repository::open(folder.path()).expect("just made");
            repository.has_refs_below("refs/heads/agents/").expect("sound")
        };
        for (line, expected) in [
            ("branch agent", false),
            ("branch agents", false),
            ("branch -D agents", false),
            ("branch agents/a/b", true),
            ("pack-refs --all", true),
            ("branch -D agents/a/b", false),
        ] {
            git(folder.path(), line);
            assert_eq!(has_refs(), expected, "after git {line}");
        }
        let lock = folder.path().join(".git/refs/heads/agents/a.lock");
        fs::create_dir_all(lock.parent().expect("in a folder")).expect("writable");
        fs::write(lock, "").expect("writable");
        assert!(!has_refs(), "somebody is about to make one");
    }

    #[test]
    fn a_ref_has_a_place_unless_another_stands_in_it() {
        for prepare in [
            &[][..],
            &["branch agents/b"],
            &["branch agents/a"],
            &["branch agents/a", "pack-refs --all"],
            &["branch agents/b", "pack-refs --all"],
            &["branch agents/a/b", "branch -D agents/a/b"],
            &["branch agents/ab/c"],
            &["branch agents", "branch -D agents"],
        ] {
            check(prepare, true);
        }
        for prepare in [
            &["branch agents"][..],
            &["branch agents", "pack-refs --all"],
            &["branch agents/a/b"],
            &["branch agents/a/b", "pack-refs --all"],
            &["symbolic-ref refs/heads/agents/a refs/heads/main"],
            &["symbolic-ref refs/heads/agents/a refs/heads/nowhere"],
        ] {
            check(prepare, false);
        }
    }
}
