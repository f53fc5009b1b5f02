//! The folder that tools work in, and nothing outside of it.
//!
//! A path is resolved part by part from an open folder, links included, so that nobody can change
//! a part into a link between a check and its use. What leaves the folder is refused: `..`, a path
//! from the root, a link that leads out. So is what configures or starts programs (`guard.rs`), by
//! whatever name or link.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::ToolFault;
use super::guard::{is_git_folder, is_guarded, lies_in_git};

/// The largest file that is read or written, in bytes.
pub(crate) const FILE_BYTES_MAX: u64 = 16 << 20;
/// How many links a path may go through.
const LINKS_MAX: usize = 40;
/// The most parts of a path.
const PARTS_MAX: usize = 1024;

/// An open folder that paths begin at.
#[derive(Debug)]
pub(crate) struct Workspace {
    root: OwnedFd,
}

/// A path that was resolved: an open folder and a name in it that is no link.
pub(crate) struct WorkspacePlace {
    folder: Arc<OwnedFd>,
    /// Nothing for the folder itself.
    name: Option<String>,
    /// The path from the workspace, without links.
    pub path: String,
}

/// What becomes of folders on the way that are not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MissingFolders {
    Refused,
    Made,
}

/// One entry of a folder.
pub(crate) struct FolderEntry {
    pub name: String,
    pub kind: EntryKind,
}

/// What an entry of a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    File,
    Folder,
    /// A link, a device, a socket: nothing that tools touch.
    Other,
}

impl Workspace {
    /// Opens the folder.
    pub fn open(folder: &Path) -> Result<Workspace, ToolFault> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::open(folder, flags, Mode::empty()).map_err(|errno| {
            ToolFault::refused(format!("the workspace cannot be opened: {errno}"))
        })?;
        // The folder may itself be a part of git, by whatever way one came to it.
        if folder.canonicalize().is_ok_and(|whole| lies_in_git(&whole)) {
            return Err(ToolFault::refused("the workspace lies in a folder of git"));
        }
        Ok(Workspace { root })
    }

    /// Resolves a path.
    pub fn locate(&self, path: &str, missing: MissingFolders) -> Result<WorkspacePlace, ToolFault> {
        let place = PathWalk::begin(self, path)?.finish(missing)?;
        place.ok_or_else(|| ToolFault::refused(format!("the path `{path}` does not exist")))
    }

    /// Resolves a path; nothing if a folder on the way is not there.
    pub fn find(&self, path: &str) -> Result<Option<WorkspacePlace>, ToolFault> {
        PathWalk::begin(self, path)?.finish(MissingFolders::Refused)
    }
}

/// Whether a folder could be entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EnteredFolder {
    There,
    NotThere,
}

/// A path on the way.
struct PathWalk<'a> {
    asked: &'a str,
    /// The folders that are open, that of the workspace first.
    folders: Vec<OwnedFd>,
    /// The names of all but the first.
    names: Vec<String>,
    left: VecDeque<String>,
    n_links: usize,
}

impl<'a> PathWalk<'a> {
    fn begin(workspace: &Workspace, asked: &'a str) -> Result<PathWalk<'a>, ToolFault> {
        let root = workspace.root.try_clone();
        let root = root.map_err(|error| ToolFault::refused(error.to_string()))?;
        let (folders, names) = (vec![root], Vec::new());
        let mut walk = PathWalk { asked, folders, names, left: VecDeque::new(), n_links: 0 };
        walk.put_in_front(asked)?;
        Ok(walk)
    }

    /// Puts the parts of a path in front of what is left.
    fn put_in_front(&mut self, path: &str) -> Result<(), ToolFault> {
        if path.starts_with('/') || path.contains(['\\', '\0']) {
            return Err(self.escapes());
        }
        let parts = path.split('/').filter(|part| !part.is_empty() && *part != ".");
        for part in parts.rev() {
            // Before any folder on the way is made.
            if is_guarded(part) {
                return Err(self.fault("leads to what configures or starts programs"));
            }
            self.left.push_front(part.to_owned());
        }
        if self.left.len() > PARTS_MAX {
            return Err(self.fault("has too many parts"));
        }
        Ok(())
    }

    fn finish(mut self, missing: MissingFolders) -> Result<Option<WorkspacePlace>, ToolFault> {
        while let Some(part) = self.left.pop_front() {
            if part == ".." {
                if self.names.pop().is_none() {
                    return Err(self.escapes());
                }
                self.folders.pop();
                continue;
            }
            if let Some(target) = self.link(&part)? {
                self.put_in_front(&target)?;
                continue;
            }
            // What is left may still lead back: `name/..` needs the folder `name`.
            if self.left.is_empty() {
                return Ok(Some(self.ends_at(Some(part))));
            }
            if self.enter(part, missing)? == EnteredFolder::NotThere {
                return Ok(None);
            }
        }
        Ok(Some(self.ends_at(None)))
    }

    /// Returns where a part leads, if it is a link.
    fn link(&mut self, part: &str) -> Result<Option<String>, ToolFault> {
        match rustix::fs::readlinkat(self.here(), part, Vec::new()) {
            Ok(target) => {
                self.n_links += 1;
                if self.n_links > LINKS_MAX {
                    return Err(self.fault("goes through too many links"));
                }
                let target = target.into_string();
                target.map(Some).map_err(|_| self.fault("goes through a link that is no text"))
            }
            // It is none, or is not there.
            Err(Errno::INVAL | Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.fault(&format!("cannot be followed: {errno}"))),
        }
    }

    fn enter(&mut self, part: String, missing: MissingFolders) -> Result<EnteredFolder, ToolFault> {
        let folder = match open_folder(self.here(), &part) {
            Err(Errno::NOENT) if missing == MissingFolders::Made => {
                let mode = Mode::from_raw_mode(0o777);
                match rustix::fs::mkdirat(self.here(), &part, mode) {
                    Ok(()) | Err(Errno::EXIST) => open_folder(self.here(), &part),
                    Err(errno) => Err(errno),
                }
            }
            other => other,
        };
        if matches!(folder, Err(Errno::NOENT)) {
            return Ok(EnteredFolder::NotThere);
        }
        let folder = folder.map_err(|errno| match errno {
            Errno::NOTDIR | Errno::LOOP => self.fault("goes through something that is no folder"),
            errno => self.fault(&format!("cannot be followed: {errno}")),
        })?;
        if is_git_folder(&folder) {
            return Err(self.fault("leads into a folder of git"));
        }
        self.folders.push(folder);
        self.names.push(part);
        Ok(EnteredFolder::There)
    }

    fn ends_at(mut self, name: Option<String>) -> WorkspacePlace {
        let folder = self.folders.pop().expect("the workspace stays open");
        self.names.extend(name.clone());
        WorkspacePlace { folder: Arc::new(folder), name, path: self.names.join("/") }
    }

    fn here(&self) -> &OwnedFd {
        self.folders.last().expect("the workspace stays open")
    }

    fn escapes(&self) -> ToolFault {
        self.fault("escapes the workspace")
    }

    fn fault(&self, what: &str) -> ToolFault {
        ToolFault::refused(format!("the path `{}` {what}", self.asked))
    }
}

impl WorkspacePlace {
    /// Reads a file as text; nothing if there is none.
    pub fn read(&self) -> Result<Option<String>, ToolFault> {
        let Some(bytes) = self.read_bytes(FILE_BYTES_MAX)? else { return Ok(None) };
        String::from_utf8(bytes).map(Some).map_err(|_| self.fault("is no UTF-8 text"))
    }

    /// Reads a file; nothing if there is none.
    pub fn read_bytes(&self, bytes_max: u64) -> Result<Option<Vec<u8>>, ToolFault> {
        let Some(name) = &self.name else { return Err(self.fault("is a folder")) };
        // A pipe must not be waited for.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(&self.folder, name, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(self.fault(&format!("cannot be read: {errno}"))),
        };
        let failed = |error: std::io::Error| self.fault(&format!("cannot be read: {error}"));
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(self.fault("is no file"));
        }
        let mut bytes = Vec::new();
        file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > bytes_max {
            return Err(self.fault(&format!("is longer than {bytes_max} bytes")));
        }
        Ok(Some(bytes))
    }

    /// Writes a file: whole, or not at all. `key` names the file that it is written to first.
    pub fn write(&self, content: &[u8], key: &str) -> Result<(), ToolFault> {
        let name = self.own_name()?;
        if content.len() as u64 > FILE_BYTES_MAX {
            return Err(self.fault(&format!("would be longer than {FILE_BYTES_MAX} bytes")));
        }
        let draft = format!(".agentic-{key}");
        let written = self.write_draft(&draft, name, content).and_then(|()| {
            rustix::fs::renameat(&self.folder, &draft, &self.folder, name)
                .map_err(std::io::Error::from)?;
            self.sync_names()
        });
        written.map_err(|error| {
            // It may not be there; nobody misses it.
            let _ = rustix::fs::unlinkat(&self.folder, &draft, AtFlags::empty());
            self.fault(&format!("cannot be written: {error}"))
        })
    }

    fn write_draft(&self, draft: &str, name: &str, content: &[u8]) -> std::io::Result<()> {
        let before = rustix::fs::statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW);
        let mode = before.as_ref().map(|stat| Mode::from_raw_mode(stat.st_mode));
        if before.is_ok_and(|stat| !FileType::from_raw_mode(stat.st_mode).is_file()) {
            return Err(std::io::Error::other("there is something else in its place"));
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let plain = Mode::from_raw_mode(0o666);
        let mut file = File::from(rustix::fs::openat(&self.folder, draft, flags, plain)?);
        if let Ok(mode) = mode {
            rustix::fs::fchmod(&file, mode)?;
        }
        file.write_all(content)?;
        file.sync_all()
    }

    /// Opens a file to read it and to add to its end; makes it if it is not there.
    pub fn open_to_add(&self) -> Result<File, ToolFault> {
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE;
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o666);
        let opened = rustix::fs::openat(&self.folder, self.own_name()?, flags, mode);
        let failed = |error: std::io::Error| self.fault(&format!("cannot be written: {error}"));
        let file = File::from(opened.map_err(|errno| failed(errno.into()))?);
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(self.fault("is no file"));
        }
        Ok(file)
    }

    /// Removes a file; one that is not there is removed already.
    pub fn remove(&self) -> Result<(), ToolFault> {
        let name = self.own_name()?;
        match rustix::fs::unlinkat(&self.folder, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(self.fault(&format!("cannot be removed: {errno}"))),
        }
        self.sync_names().map_err(|error| self.fault(&format!("cannot be removed: {error}")))
    }

    /// Makes it durable which names the folder holds: what was answered as done is there after a
    /// power cut.
    pub fn sync_names(&self) -> std::io::Result<()> {
        rustix::fs::fsync(&*self.folder).map_err(std::io::Error::from)
    }

    /// Says what stands at the place; nothing if nothing does.
    pub fn kind(&self) -> Result<Option<EntryKind>, ToolFault> {
        let Some(name) = &self.name else { return Ok(Some(EntryKind::Folder)) };
        match rustix::fs::statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(kind_of(FileType::from_raw_mode(stat.st_mode)))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.fault(&format!("cannot be looked at: {errno}"))),
        }
    }

    /// Lists a folder by name.
    pub fn entries(&self) -> Result<Vec<FolderEntry>, ToolFault> {
        self.list().map(|(_, entries)| entries)
    }

    /// Lists the files and folders in a folder by name, as places.
    pub fn children(&self) -> Result<Vec<(WorkspacePlace, EntryKind)>, ToolFault> {
        let (folder, entries) = self.list()?;
        let folder = Arc::new(folder);
        let slash = if self.path.is_empty() { "" } else { "/" };
        let inside = entries.into_iter().filter(|entry| entry.kind != EntryKind::Other);
        let place = |FolderEntry { name, kind }| {
            let path = format!("{}{slash}{name}", self.path);
            (WorkspacePlace { folder: Arc::clone(&folder), name: Some(name), path }, kind)
        };
        Ok(inside.map(place).collect())
    }

    fn list(&self) -> Result<(OwnedFd, Vec<FolderEntry>), ToolFault> {
        let unreadable = |errno: Errno| match errno {
            Errno::NOENT => self.fault("does not exist"),
            Errno::NOTDIR | Errno::LOOP => self.fault("is no folder"),
            errno => self.fault(&format!("cannot be listed: {errno}")),
        };
        let folder = self.open().map_err(unreadable)?;
        if is_git_folder(&folder) {
            return Err(self.fault("is a folder of git"));
        }
        let mut entries = Vec::new();
        for entry in rustix::fs::Dir::read_from(&folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name == "." || name == ".." || is_guarded(&name) {
                continue;
            }
            let known = entry.file_type();
            let kind = if known == FileType::Unknown {
                // Some file systems do not tell.
                let flags = AtFlags::SYMLINK_NOFOLLOW;
                let stat = rustix::fs::statat(&folder, entry.file_name(), flags);
                stat.map_or(EntryKind::Other, |stat| kind_of(FileType::from_raw_mode(stat.st_mode)))
            } else {
                kind_of(known)
            };
            entries.push(FolderEntry { name, kind });
        }
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok((folder, entries))
    }

    fn open(&self) -> Result<OwnedFd, Errno> {
        open_folder(&self.folder, self.name.as_deref().unwrap_or("."))
    }

    fn own_name(&self) -> Result<&str, ToolFault> {
        self.name.as_deref().ok_or_else(|| self.fault("is a folder"))
    }

    /// Makes a failure about this place.
    pub fn fault(&self, what: &str) -> ToolFault {
        let shown = if self.path.is_empty() { "." } else { &self.path };
        ToolFault::refused(format!("`{shown}` {what}"))
    }
}

fn open_folder(folder: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(folder, name, flags, Mode::empty())
}

fn kind_of(kind: FileType) -> EntryKind {
    match kind {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Folder,
        FileType::Symlink
        | FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => EntryKind::Other,
    }
}
