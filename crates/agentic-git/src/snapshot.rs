//! Snapshots: what a folder holds, as a tree, honouring `.gitignore`, filters and modes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use agentic_model::Oid;
use gix::bstr::{BString, ByteSlice as _};
use gix::filter::Pipeline;
use gix::filter::plumbing::pipeline::convert::ToGitOutcome;
use gix::index::entry::{Mode, Stat};
use gix::status::plumbing::SymlinkCheck;

use super::blob_intake::{BlobIntake, PackedBlobs};
use super::candidate::Candidates;
use super::index::IndexUpdate;
use super::{FileMode, Scratch, TreeChange, TreeEdit, to_id, to_oid};
use agentic_store::error::CheckoutError;
use agentic_store::{Error, Result};

/// Which folder to look at, and what is known about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotSource<'a> {
    /// The worktree that the scratch view stands in; its index tells which files are unchanged.
    Worktree,
    /// The worktree that the scratch view stands in, whatever its index says about its files: only
    /// what that leaves out of the checkout counts as the base has it.
    Checkout,
    /// Any folder; every file is read. With `paths`, only these and what is below them.
    Folder {
        /// Paths relative to the folder; none means all.
        paths: &'a [Vec<u8>],
    },
}

/// What a folder holds.
#[derive(Debug)]
pub struct Snapshot {
    /// The tree; equal to the base if nothing changed.
    pub tree: Oid,
    /// The index entries that a commit of the tree makes clean.
    pub index: Vec<IndexUpdate>,
    /// Git repositories in the folder that are no submodules, and in no tree therefore.
    pub left_out: Vec<String>,
    /// The blobs that are too large for memory.
    pub packed: Option<PackedBlobs>,
}

/// One file as it was read.
enum FileReading {
    File(FileMode, Oid, Stat),
    Submodule(Oid, Stat),
    Gone,
    /// Neither file nor link: left as the base has it.
    Other,
}

impl Scratch {
    /// Takes a snapshot: the tree `base` with everything changed that differs in the folder.
    /// Of a submodule it takes the commit that is checked out in it.
    ///
    /// # Errors
    /// Fails when a file changes while it is read, and on entries of an unfinished merge.
    pub fn snapshot(&self, base: Oid, source: SnapshotSource<'_>) -> Result<Snapshot> {
        let Candidates { paths, repositories } = self.candidates(base, source)?;
        let left_out: BTreeSet<String> = repositories.iter().map(|path| path.to_string()).collect();
        let left_out = left_out.into_iter().collect();
        self.read_candidates(base, paths, left_out)
    }

    fn read_candidates(
        &self,
        base: Oid,
        candidates: BTreeMap<BString, Option<Mode>>,
        left_out: Vec<String>,
    ) -> Result<Snapshot> {
        if candidates.is_empty() {
            return Ok(Snapshot { tree: base, index: Vec::new(), left_out, packed: None });
        }
        let capabilities = self.capabilities()?;
        let (pipeline, index) = self
            .inner
            .filter_pipeline(Some(to_id(base)))
            .map_err(Error::git("read the attributes"))?;
        let root = SymlinkCheck::new(self.folder());
        let blobs = self.blob_intake();
        let mut reader = FileReader { scratch: self, base, root, pipeline, index: &index, blobs };
        let (mut edit, mut updates) = (TreeEdit::new(), Vec::new());
        for (path, known) in candidates {
            match reader.read_file(&path, IndexMemory { capabilities, known })? {
                FileReading::File(mode, blob, stat) => {
                    edit.insert(path.to_vec(), TreeChange::Set { mode, blob });
                    updates.push(IndexUpdate::set(path, mode, blob, stat));
                }
                FileReading::Submodule(head, stat) => {
                    edit.insert(path.to_vec(), TreeChange::Submodule { head });
                    updates.push(IndexUpdate::submodule(path, head, stat));
                }
                FileReading::Gone => {
                    edit.insert(path.to_vec(), TreeChange::Remove);
                    updates.push(IndexUpdate::remove(path));
                }
                FileReading::Other => {}
            }
        }
        let packed = reader.blobs.finish()?;
        let tree = self.edit_tree(base, &edit)?;
        Ok(Snapshot { tree, index: updates, left_out, packed })
    }
}

/// What the index knows of a file that the filesystem may not be able to show.
#[derive(Clone, Copy)]
struct IndexMemory {
    capabilities: gix::fs::Capabilities,
    known: Option<Mode>,
}

impl IndexMemory {
    /// Returns what sort of file a regular one is. Where git was told not to believe the filesystem
    /// about links and executable files, they stay what they were.
    fn mode(self, is_executable: bool) -> FileMode {
        let gix::fs::Capabilities { symlink, executable_bit, .. } = self.capabilities;
        if !symlink && self.known == Some(Mode::SYMLINK) {
            return FileMode::Link;
        }
        let is_executable = match executable_bit {
            true => is_executable,
            false => self.known == Some(Mode::FILE_EXECUTABLE),
        };
        if is_executable { FileMode::Executable } else { FileMode::Plain }
    }
}

/// Reads the files of a folder.
struct FileReader<'a> {
    scratch: &'a Scratch,
    /// The tree that the folder is compared with.
    base: Oid,
    root: SymlinkCheck,
    pipeline: Pipeline<'a>,
    index: &'a gix::index::State,
    blobs: BlobIntake<'a>,
}

impl FileReader<'_> {
    /// Reads one path as git would add it, and makes sure that it did not change meanwhile.
    fn read_file(&mut self, path: &BString, kept: IndexMemory) -> Result<FileReading> {
        let relative = PathBuf::from(std::ffi::OsStr::from_bytes(path));
        let full = match self.root.verified_path(relative.as_path()) {
            Ok(full) => full.to_owned(),
            Err(error) if is_absent(&error) || is_behind_link(&error) => {
                return Ok(FileReading::Gone);
            }
            Err(error) => return Err(Error::io("read", &relative)(error)),
        };
        let metadata = match std::fs::symlink_metadata(&full) {
            Ok(metadata) => metadata,
            Err(error) if is_absent(&error) => return Ok(FileReading::Gone),
            Err(error) => return Err(Error::io("read", &full)(error)),
        };
        let (mode, blob) = if metadata.is_symlink() {
            let target = std::fs::read_link(&full).map_err(Error::io("read", &full))?;
            (FileMode::Link, self.scratch.write_blob(&target.into_os_string().into_vec())?)
        } else if metadata.is_file() {
            match kept.mode(metadata.mode() & 0o100 != 0) {
                FileMode::Link => {
                    let target = std::fs::read(&full).map_err(Error::io("read", &full))?;
                    (FileMode::Link, self.scratch.write_blob(&target)?)
                }
                mode @ (FileMode::Plain | FileMode::Executable) => {
                    (mode, self.read_filtered(&full, path)?.ok_or_else(|| unstable(path))?)
                }
            }
        } else if metadata.is_dir() {
            return folder(&full, kept.known);
        } else {
            return Ok(FileReading::Other);
        };
        let again = std::fs::symlink_metadata(&full).map_err(|_| unstable(path))?;
        if identity(&metadata) != identity(&again) {
            return Err(unstable(path));
        }
        Ok(FileReading::File(mode, blob, stat_of(&full).map_err(|_| unstable(path))?))
    }

    /// Takes the content of a file in, through git's filters; nothing if its length changes
    /// meanwhile. A program reads a large file part by part. What git itself converts, the ends of
    /// lines, `$Id$` and encodings, is in memory for that, as it is with git.
    fn read_filtered(&mut self, full: &Path, path: &BString) -> Result<Option<Oid>> {
        let relative = Path::new(std::ffi::OsStr::from_bytes(path));
        let file = std::fs::File::open(full).map_err(Error::io("read", full))?;
        let converted = self
            .pipeline
            .convert_to_git(file, relative, self.index)
            .map_err(Error::git_with(|| format!("filter `{}`", relative.display())))?;
        match converted {
            // It is looked into before it is committed.
            ToGitOutcome::Unchanged(mut file) if path == ".gitmodules" => {
                let mut content = Vec::new();
                file.read_to_end(&mut content).map_err(Error::io("read", full))?;
                self.scratch.write_blob(&content).map(Some)
            }
            ToGitOutcome::Unchanged(mut file) => {
                let mut before = || Ok(self.scratch.entry_at(self.base, path)?.map(|it| it.1));
                self.blobs.write_file(&mut file, full, &mut before)
            }
            ToGitOutcome::Buffer(content) if path == ".gitmodules" => {
                self.scratch.write_blob(content).map(Some)
            }
            ToGitOutcome::Buffer(content) => self.blobs.write(content).map(Some),
            ToGitOutcome::Process(mut output) => {
                self.blobs.write_output(&mut output, full).map(Some)
            }
        }
    }
}

/// Reads a folder where there was a file or a submodule.
fn folder(full: &Path, known: Option<Mode>) -> Result<FileReading> {
    let is_repository = full.join(".git").exists();
    match known {
        // One that was never checked out is an empty folder.
        Some(Mode::COMMIT) => Ok(match head_of(full) {
            Some(head) => FileReading::Submodule(head, stat_of(full)?),
            None => FileReading::Other,
        }),
        _ if is_repository => Ok(FileReading::Other),
        _ => Ok(FileReading::Gone),
    }
}

/// Returns the commit that is checked out in the repository of a folder.
pub(super) fn head_of(folder: &Path) -> Option<Oid> {
    // It is another repository, and what the environment says is about ours.
    let repository = gix::open_opts(folder, gix::open::Options::isolated()).ok()?;
    Some(to_oid(&repository.head_id().ok()?))
}

fn stat_of(full: &Path) -> Result<Stat> {
    let metadata = gix::index::fs::Metadata::from_path_no_follow(full);
    let metadata = metadata.map_err(Error::io("read", full))?;
    Stat::from_fs(&metadata).map_err(Error::git("read the time of a file"))
}

/// What must not change while a file is read.
fn identity(metadata: &std::fs::Metadata) -> (u64, u64, u64, i64, i64, u32) {
    let modified = (metadata.mtime(), metadata.mtime_nsec());
    (metadata.dev(), metadata.ino(), metadata.size(), modified.0, modified.1, metadata.mode())
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// Recognises a path that leads through a link: what lies there is not in this folder. It is the
/// only error of [`SymlinkCheck`] that does not come from the system.
fn is_behind_link(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::Other
}

fn unstable(path: &BString) -> Error {
    Error::Checkout(CheckoutError::Unstable { path: path.to_str_lossy().into_owned() })
}
