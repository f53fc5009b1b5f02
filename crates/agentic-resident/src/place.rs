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
}

impl RepositoryPlace {
    /// Takes the folder that a path leads to now.
    pub fn of(path: &Path) -> RepositoryPlace {
        let folder = File::open(path).ok().map(Arc::new);
        RepositoryPlace { path: path.to_owned(), folder, inside: None }
    }

    /// Wants a folder inside to stay too, as it is now.
    pub fn with_inside(self, path: &Path) -> RepositoryPlace {
        RepositoryPlace { inside: Some(Arc::new(RepositoryPlace::of(path))), ..self }
    }

    /// Returns the folder itself, whatever its path leads to now; nothing if it could not be opened.
    pub fn folder(&self) -> Option<&File> {
        self.folder.as_deref()
    }

    /// Returns the device and the number of the folder.
    pub fn id(&self) -> Option<(u64, u64)> {
        id_of(self.folder()?.metadata())
    }

    /// Tells whether the path still leads there, and the folder inside is what it was.
    pub fn is_same(&self) -> bool {
        let id = self.id();
        let is_it = id.is_some() && id_of(std::fs::metadata(&self.path)) == id;
        is_it && self.inside.as_ref().is_none_or(|inside| inside.is_same())
    }
}

fn id_of(found: std::io::Result<Metadata>) -> Option<(u64, u64)> {
    let found = found.ok().filter(Metadata::is_dir)?;
    Some((found.dev(), found.ino()))
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
}
