//! What must be the same before and after a command that is refused.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{Error, Sandbox};

/// How deep folders are searched; nothing in a test nests deeper.
const FOLDER_DEPTH_MAX: usize = 40;

/// The folders of a repository's `agentic` folder that hold records; all else there is derived.
const RECORD_FOLDERS: [&str; 2] = ["journal", "session"];
/// Where a session's long values are, by their content. Like objects of git, they say nothing
/// unless a record names them.
const VALUE_FOLDER: &str = "objects";

/// The ground state of everything in a sandbox: all refs and heads of all repositories, every file
/// under their `agentic/journal/`, every record under their `agentic/session/`, and every file that
/// a person has in the folders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroundState {
    entries: BTreeMap<String, Vec<u8>>,
}

impl GroundState {
    /// Reads the state as it is now.
    ///
    /// # Errors
    /// Fails when a folder cannot be read or git cannot be started.
    pub fn read(sandbox: &Sandbox) -> Result<GroundState, Error> {
        let mut reader = StateReader { sandbox, entries: BTreeMap::new() };
        reader.read_folder(&sandbox.repositories(), 0)?;
        Ok(GroundState { entries: reader.entries })
    }

    /// Lists what differs, one line each; nothing when the states are equal.
    pub fn difference(&self, later: &GroundState) -> Vec<String> {
        let removed = self.entries.keys().filter(|name| !later.entries.contains_key(*name));
        let mut lines: Vec<String> = removed.map(|name| format!("removed {name}")).collect();
        for (name, found) in &later.entries {
            match self.entries.get(name) {
                None => lines.push(format!("added {name}")),
                Some(before) if before != found => lines.push(format!("changed {name}")),
                Some(_) => {}
            }
        }
        lines
    }

    /// Lists the git folders of all repositories in a sandbox, bare ones included.
    ///
    /// # Errors
    /// Fails when a folder cannot be read.
    pub fn git_folders(sandbox: &Sandbox) -> Result<Vec<PathBuf>, Error> {
        let mut found = Vec::new();
        find_git_folders(&sandbox.repositories(), 0, &mut found)?;
        Ok(found)
    }
}

struct StateReader<'a> {
    sandbox: &'a Sandbox,
    entries: BTreeMap<String, Vec<u8>>,
}

impl StateReader<'_> {
    fn read_folder(&mut self, folder: &Path, depth: usize) -> Result<(), Error> {
        if is_git_folder(folder) {
            return self.read_git_folder(folder);
        }
        for path in children(folder, depth)? {
            if is_folder(&path) {
                self.read_folder(&path, depth + 1)?;
            } else {
                self.insert_file(&path)?;
            }
        }
        Ok(())
    }

    fn read_git_folder(&mut self, folder: &Path) -> Result<(), Error> {
        let format = "--format=%(refname) %(objectname) %(symref)";
        let refs = self.sandbox.try_git(folder, &["for-each-ref", format])?;
        let shown = self.name_of(folder);
        for line in String::from_utf8_lossy(&refs.stdout).lines() {
            let (name, value) = line.split_once(' ').unwrap_or((line, ""));
            self.entries.insert(format!("{shown}:{name}"), value.as_bytes().to_vec());
        }
        self.insert_file(&folder.join("HEAD"))?;
        let linked = folder.join("worktrees");
        if is_folder(&linked) {
            for worktree in children(&linked, 0)? {
                self.insert_file(&worktree.join("HEAD"))?;
            }
        }
        for records in RECORD_FOLDERS {
            let records = folder.join("agentic").join(records);
            if is_folder(&records) {
                self.read_records(&records, 0)?;
            }
        }
        Ok(())
    }

    fn read_records(&mut self, folder: &Path, depth: usize) -> Result<(), Error> {
        for path in children(folder, depth)? {
            if !is_folder(&path) {
                self.insert_file(&path)?;
            } else if path.file_name().is_some_and(|name| name != VALUE_FOLDER) {
                self.read_records(&path, depth + 1)?;
            }
        }
        Ok(())
    }

    fn insert_file(&mut self, path: &Path) -> Result<(), Error> {
        let name = self.name_of(path);
        let attempt = format!("read `{name}`");
        let kind = fs::symlink_metadata(path).map_err(Error::file(&attempt))?.file_type();
        let content = if kind.is_symlink() {
            let target = fs::read_link(path).map_err(Error::file(&attempt))?;
            target.into_os_string().into_encoded_bytes()
        } else if kind.is_file() {
            fs::read(path).map_err(Error::file(&attempt))?
        } else {
            Vec::new()
        };
        self.entries.insert(name, content);
        Ok(())
    }

    fn name_of(&self, path: &Path) -> String {
        let below = path.strip_prefix(self.sandbox.repositories()).unwrap_or(path);
        below.to_string_lossy().into_owned()
    }
}

fn find_git_folders(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), Error> {
    if is_git_folder(folder) {
        found.push(folder.to_owned());
        return Ok(());
    }
    for path in children(folder, depth)? {
        if is_folder(&path) {
            find_git_folders(&path, depth + 1, found)?;
        }
    }
    Ok(())
}

/// Recognises a common git folder: the folders of linked worktrees hold no objects.
fn is_git_folder(folder: &Path) -> bool {
    folder.join("HEAD").is_file() && is_folder(&folder.join("objects"))
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// Lists what a folder holds, sorted.
fn children(folder: &Path, depth: usize) -> Result<Vec<PathBuf>, Error> {
    if depth > FOLDER_DEPTH_MAX {
        return Ok(Vec::new());
    }
    let attempt = format!("list `{}`", folder.display());
    let entries = fs::read_dir(folder).map_err(Error::file(&attempt))?;
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(Error::file(&attempt))?;
    paths.sort();
    Ok(paths)
}
