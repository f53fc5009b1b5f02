//! Writing a tree into a folder that is no worktree.

use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use agentic_model::Oid;
use gix::objs::tree::EntryKind;

use super::{Scratch, check_path, to_id, to_oid};
use agentic_store::{Error, Result};

/// How deep folders are followed.
const DEPTH_MAX: usize = 256;

impl Scratch {
    /// Writes the files of a tree into an empty folder, which is made if it is missing. Contents
    /// are written as they are stored, without filters; submodules are left out.
    ///
    /// # Errors
    /// Fails on names that would leave the folder, and when something cannot be written.
    pub fn write_tree_to(&self, tree: Oid, folder: &Path) -> Result<()> {
        self.write_folder(tree, folder, DEPTH_MAX)
    }

    fn write_folder(&self, tree: Oid, folder: &Path, depth: usize) -> Result<()> {
        if depth == 0 {
            return Err(Error::corrupt(format!("tree {tree}"), "its folders nest too deep"));
        }
        std::fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        let doing = || format!("read tree {tree}");
        let find = || self.inner.find_tree(to_id(tree)).map_err(Error::git_with(doing));
        let object = self.again(find)?;
        let decoded = object.decode().map_err(Error::git_with(doing))?;
        for entry in &decoded.entries {
            check_path(entry.filename)?;
            let path = folder.join(std::ffi::OsStr::from_bytes(entry.filename));
            let oid = to_oid(entry.oid);
            match entry.mode.kind() {
                EntryKind::Tree => self.write_folder(oid, &path, depth - 1)?,
                EntryKind::Blob => self.write_file(oid, &path, 0o666)?,
                EntryKind::BlobExecutable => self.write_file(oid, &path, 0o777)?,
                EntryKind::Link => {
                    let target = self.content(oid)?;
                    let target = std::ffi::OsStr::from_bytes(&target).to_owned();
                    std::os::unix::fs::symlink(target, &path)
                        .map_err(Error::io("create", &path))?;
                }
                EntryKind::Commit => {}
            }
        }
        Ok(())
    }

    fn write_file(&self, oid: Oid, path: &Path, mode: u32) -> Result<()> {
        let content = self.content(oid)?;
        let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
        let mut file = file.map_err(Error::io("create", path))?;
        std::io::Write::write_all(&mut file, &content).map_err(Error::io("write", path))
    }

    fn content(&self, oid: Oid) -> Result<Vec<u8>> {
        let doing = || format!("read blob {oid}");
        let find = || self.inner.find_blob(to_id(oid)).map_err(Error::git_with(doing));
        Ok(self.again(find)?.take_data())
    }
}
