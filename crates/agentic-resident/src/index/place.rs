//! Where the index is, and what becomes of one that is of no use any more.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use agentic_session::SessionSpace;
use agentic_store::file::make_private_folder;

use crate::os::path_of;
use crate::place::RepositoryPlace;

/// The folder of the index. It is reached through the git directory that the process began with: a
/// repository that comes to its place while something is written is another one.
#[derive(Debug, Clone)]
pub(super) struct IndexPlace {
    root: PathBuf,
    /// The name of the database.
    name: &'static str,
    /// Kept, because `root` leads through its folder.
    repository: RepositoryPlace,
}

impl IndexPlace {
    pub fn of(space: &SessionSpace, name: &'static str) -> IndexPlace {
        let common = space.repository().common_dir();
        let (repository, index) =
            (RepositoryPlace::of(common), space.repository().layout().index());
        let root = match (repository.folder(), index.strip_prefix(common)) {
            (Some(folder), Ok(below)) => path_of(folder).join(below),
            _ => index,
        };
        IndexPlace { root, name, repository }
    }

    /// Says what the index is of: the git directory by device and inode, and the version of this program.
    pub fn identity(&self) -> String {
        let (device, inode) = self.repository.id().unwrap_or_default();
        format!("{device}:{inode} {}", env!("CARGO_PKG_VERSION"))
    }

    /// Says whether the repository is still the one that the index is of: nothing is written to another.
    pub fn is_there(&self) -> bool {
        self.repository.is_same()
    }

    /// Returns the folder of the database.
    pub fn database(&self) -> PathBuf {
        self.root.join(self.name)
    }

    /// Returns a path beside it.
    fn beside(&self, what: &str) -> PathBuf {
        self.root.join(format!("{what}-{}", self.name))
    }

    /// Makes the folder.
    pub fn make(&self) -> agentic_store::Result<()> {
        make_private_folder(&self.root)
    }

    /// Notes that the database is being opened. One of which that was noted, and which was never open
    /// since, is set aside: to open it may take for ever.
    pub fn begin_opening(&self) {
        let note = self.beside("opening");
        if note.exists() {
            self.set_aside("it was never opened to the end");
        }
        let _ = std::fs::write(note, "");
    }

    /// Notes that the database could be opened, or could not.
    pub fn end_opening(&self) {
        let _ = std::fs::remove_file(self.beside("opening"));
    }

    /// Names the database that is there by what only it has; nothing if there is none.
    pub fn mark(&self) -> Option<(u64, u64)> {
        let found = std::fs::metadata(self.database()).ok()?;
        Some((found.dev(), found.ino()))
    }

    /// Sets the database aside as a bad one: the last one that was is kept, with why.
    pub fn set_aside(&self, why: &str) {
        self.end_opening();
        let bad = self.beside("bad");
        if !self.database().exists() {
            return;
        }
        self.forget_size();
        let _ = std::fs::remove_dir_all(&bad);
        match std::fs::rename(self.database(), &bad) {
            Ok(()) => drop(std::fs::write(bad.join("why"), format!("{why}\n"))),
            // What cannot be moved goes away.
            Err(_) => self.remove(),
        }
    }

    /// Removes the database.
    pub fn remove(&self) {
        let _ = std::fs::remove_dir_all(self.database());
        self.forget_size();
    }

    /// Says whether there is room to write: at least so many bytes.
    pub fn has_room(&self, free_bytes_min: u64) -> bool {
        // Before there is such a folder, it is where it will be.
        let disk = self.root.ancestors().find_map(|folder| rustix::fs::statvfs(folder).ok());
        disk.is_none_or(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) >= free_bytes_min)
    }

    /// Returns the folder in which a database is made that will take the place of this one.
    pub fn second(&self) -> PathBuf {
        self.beside("next")
    }

    /// Puts the other database into the place of this one. Neither is open.
    pub fn swap(&self) {
        self.remove();
        // Where that fails there is none, and it is made anew.
        let _ = std::fs::rename(self.second(), self.database());
    }

    /// Says how large the database is, and how large it was when it was made.
    pub fn sizes(&self) -> (u64, u64) {
        let files = files_below(&self.database()).into_iter();
        let now = files.map(|(_, _, length)| length).sum();
        let note = self.beside("size");
        let made = std::fs::read_to_string(&note).ok().and_then(|text| text.trim().parse().ok());
        let made = made.unwrap_or_else(|| {
            let _ = std::fs::write(&note, format!("{now}\n"));
            now
        });
        (now, made)
    }

    fn forget_size(&self) {
        let _ = std::fs::remove_file(self.beside("size"));
    }
}

/// Tells apart the states of an agent's journal, by the names and lengths of its files; nothing where it
/// has none.
pub fn journal_mark(space: &SessionSpace, agent: &str) -> Option<u64> {
    let folder = space.repository().layout().journals().join(agent);
    if !folder.exists() {
        return None;
    }
    let mut files: Vec<(std::ffi::OsString, u64, u64)> = files_below(&folder);
    files.sort();
    let mut mark = blake3::Hasher::new();
    for (name, inode, length) in files {
        mark.update(name.as_encoded_bytes()).update(&inode.to_le_bytes());
        mark.update(&length.to_le_bytes());
    }
    let mark = mark.finalize().as_bytes()[..8].try_into().expect("eight bytes");
    Some(u64::from_le_bytes(mark))
}

fn files_below(folder: &Path) -> Vec<(std::ffi::OsString, u64, u64)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let file = |entry: std::fs::DirEntry| {
        let found = entry.metadata().ok()?;
        Some((entry.file_name(), found.ino(), found.len()))
    };
    entries.filter_map(file).collect()
}
