//! Which repository a process stays with: the folder that it began with, and no other that has come to
//! its place.

use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A folder, as the system knows it whatever it is called.
#[derive(Debug, Clone)]
pub struct RepositoryPlace {
    path: PathBuf,
    /// Kept open: as long as it is, the system gives its number to no other.
    folder: Option<Arc<File>>,
    /// A folder inside that has to stay too.
    inside: Option<Arc<RepositoryPlace>>,
    /// A file that is held, and has to stay where it is.
    held: Option<HeldFile>,
}

/// A file that is open as long as the place is asked, so that no other has its number.
#[derive(Debug, Clone)]
struct HeldFile {
    path: PathBuf,
    id: Option<FileId>,
}

/// The device and the number of a file.
type FileId = (u64, u64);

impl RepositoryPlace {
    /// Takes the folder that a path leads to now.
    pub fn of(path: &Path) -> RepositoryPlace {
        let folder = File::open(path).ok().map(Arc::new);
        RepositoryPlace { path: path.to_owned(), folder, inside: None, held: None }
    }

    /// Wants a folder inside to stay too, as it is now.
    pub fn with_inside(self, path: &Path) -> RepositoryPlace {
        RepositoryPlace { inside: Some(Arc::new(RepositoryPlace::of(path))), ..self }
    }

    /// Wants a file inside to stay the one that is held, for as long as it is.
    pub(crate) fn with_held(self, path: PathBuf, file: &File) -> RepositoryPlace {
        let id = file.metadata().ok().map(|found| file_id(&found));
        RepositoryPlace { held: Some(HeldFile { path, id }), ..self }
    }

    /// Returns the folder itself, whatever its path leads to now; nothing if it could not be opened.
    pub fn folder(&self) -> Option<&File> {
        self.folder.as_deref()
    }

    /// Returns the device and the number of the folder.
    pub fn id(&self) -> Option<FileId> {
        id_of(self.folder()?.metadata())
    }

    /// Tells whether the path still leads there, and what has to stay inside is what it was.
    pub fn is_same(&self) -> bool {
        let id = self.id();
        let is_it = id.is_some() && id_of(std::fs::metadata(&self.path)) == id;
        is_it
            && self.inside.as_ref().is_none_or(|inside| inside.is_same())
            && self.held.as_ref().is_none_or(HeldFile::is_same)
    }
}

fn id_of(found: std::io::Result<Metadata>) -> Option<FileId> {
    let found = found.ok().filter(Metadata::is_dir)?;
    Some(file_id(&found))
}

fn file_id(found: &Metadata) -> FileId {
    (found.dev(), found.ino())
}

impl HeldFile {
    fn is_same(&self) -> bool {
        let found = std::fs::metadata(&self.path).ok();
        self.id.is_some() && found.map(|found| file_id(&found)) == self.id
    }
}

#[cfg(test)]
mod tests {
    use super::RepositoryPlace;
    use agentic_testkit::{Sandbox, Setup};

    #[test]
    fn another_folder_of_the_same_name_is_another_place() {
        let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
        let git = sandbox.start().join(".git");
        let place = RepositoryPlace::of(&git);
        assert!(place.is_same());
        let aside = sandbox.start().join("aside");
        std::fs::rename(&git, &aside).expect("it moves");
        assert!(!place.is_same(), "nothing is there");
        std::fs::create_dir(&git).expect("writable");
        assert!(!place.is_same(), "something else is there");
        std::fs::remove_dir(&git).expect("it is empty");
        std::fs::rename(&aside, &git).expect("it moves back");
        assert!(place.is_same());
        let inside = git.join("info");
        let place = place.with_inside(&inside);
        assert!(place.is_same());
        std::fs::remove_dir_all(&inside).expect("it is there");
        std::fs::create_dir(&inside).expect("writable");
        assert!(!place.is_same(), "another folder is inside");
    }

    #[test]
    fn a_held_file_that_is_removed_or_replaced_is_missed() {
        let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
        let git = sandbox.start().join(".git");
        let (path, aside) = (git.join("held"), git.join("aside"));
        let file = std::fs::File::create(&path).expect("writable");
        let place = RepositoryPlace::of(&git).with_held(path.clone(), &file);
        assert!(place.is_same());
        std::fs::rename(&path, &aside).expect("it moves");
        assert!(!place.is_same(), "it is gone");
        std::fs::write(&path, "").expect("writable");
        assert!(!place.is_same(), "another is there");
        std::fs::rename(&aside, &path).expect("it moves back");
        assert!(place.is_same());
    }
}
