//! Every object of the database, reachable or not.
//!
//! What nothing names is still there until git collects it. Whoever has to prove that something is gone
//! reads all of it, and counts what was read against what git counts.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use agentic_model::Oid;

use super::Repository;
use super::object_file::READ_BYTES_MAX;
use super::pack::packs_in;
use agentic_store::error::GitError;
use agentic_store::{Error, Result};

/// How the objects of a database are counted, as `git count-objects -v` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DatabaseCount {
    /// The objects that have files of their own.
    pub loose: u64,
    /// The objects in packs, each as often as packs have it.
    pub packed: u64,
}

/// One object, as the database has it.
#[derive(Debug, Clone, Copy)]
pub struct StoredObject<'b> {
    /// Its id.
    pub oid: Oid,
    /// `blob`, `tree`, `commit` or `tag`.
    pub kind: &'b str,
    /// Its bytes, without git's header.
    pub bytes: &'b [u8],
}

impl Repository {
    /// Asks git how many objects there are.
    ///
    /// # Errors
    /// Fails when git does.
    pub fn count_objects(&self) -> Result<DatabaseCount> {
        let arguments = ["count-objects", "-v"];
        let said = self.git_untranslated(&arguments)?.checked(&arguments)?;
        let number = |name: &str| {
            let line = said.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
        };
        Ok(DatabaseCount { loose: number("count"), packed: number("in-pack") })
    }

    /// Lists the objects that have files of their own, and those in packs, each as often as it is there.
    ///
    /// # Errors
    /// Fails when a folder or an index cannot be read.
    pub fn list_objects(&self) -> Result<(Vec<Oid>, Vec<Oid>)> {
        let mut packed = Vec::new();
        for pack in packs_in(&self.pack_folder().placed)? {
            if pack.with_extension("idx").exists() {
                packed.extend(self.objects_of_pack(&pack)?);
            }
        }
        Ok((self.loose_objects()?, packed))
    }

    /// Hands on every object that the database has, each once, in no order. Of the memory it takes what
    /// the largest one does.
    ///
    /// # Errors
    /// Fails when an object cannot be read, and as `look` does.
    pub fn each_object(&self, look: &mut dyn FnMut(StoredObject<'_>) -> Result<()>) -> Result<u64> {
        let arguments = [
            "--no-replace-objects",
            "cat-file",
            "--batch-all-objects",
            "--batch",
            "--buffer",
            "--unordered",
        ];
        let mut n_read = 0;
        let finished = self.git_streaming(&arguments, &mut |output| {
            let mut output = BufReader::with_capacity(1 << 20, output);
            let (mut line, mut bytes) = (Vec::new(), Vec::new());
            loop {
                line.clear();
                output.read_until(b'\n', &mut line).map_err(unread)?;
                if line.is_empty() {
                    return Ok(());
                }
                let (oid, kind, length) = heading(&line)?;
                bytes.clear();
                let mut body = output.by_ref().take(length + 1);
                body.read_to_end(&mut bytes).map_err(unread)?;
                if bytes.pop() != Some(b'\n') || bytes.len() as u64 != length {
                    return Err(Error::corrupt(format!("object {oid}"), "git gave a part of it"));
                }
                n_read += 1;
                look(StoredObject { oid, kind, bytes: &bytes })?;
            }
        });
        finished.map(|()| n_read)
    }

    /// Lists what refs, reflogs and indexes reach, in all worktrees.
    ///
    /// # Errors
    /// Fails when git does.
    pub fn reachable_objects(&self) -> Result<BTreeSet<Oid>> {
        let all = ["--all", "--reflog", "--indexed-objects"];
        self.listed(&[&["rev-list", "--objects", "--no-object-names"], &all[..]].concat())
    }

    /// Lists what some commits reach and nothing else does.
    ///
    /// # Errors
    /// Fails when git does.
    pub fn reached_only_by(&self, tips: &BTreeSet<Oid>) -> Result<BTreeSet<Oid>> {
        let tips: Vec<String> =
            tips.iter().filter(|tip| self.has_object(**tip)).map(Oid::to_string).collect();
        if tips.is_empty() {
            return Ok(BTreeSet::new());
        }
        let arguments = ["rev-list", "--objects", "--no-object-names", "--stdin"];
        let said = self.git_reading(&arguments, tips.join("\n").as_bytes())?.checked(&arguments)?;
        let mut found = oids(&said);
        let reachable = self.reachable_objects()?;
        found.retain(|oid| !reachable.contains(oid));
        Ok(found)
    }

    fn listed(&self, arguments: &[&str]) -> Result<BTreeSet<Oid>> {
        let said = self.git_untranslated(arguments)?.checked(arguments)?;
        Ok(oids(&said))
    }

    fn loose_objects(&self) -> Result<Vec<Oid>> {
        let mut found = Vec::new();
        for folder in in_folder(&self.common_dir().join("objects"))? {
            let Some(begin) = folder.file_name().and_then(|name| name.to_str()) else { continue };
            if begin.len() != 2 {
                continue;
            }
            for file in in_folder(&folder)? {
                let rest = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                found.extend(Oid::parse(&format!("{begin}{rest}")).ok());
            }
        }
        Ok(found)
    }

    /// Lists the objects of one pack, by its index.
    ///
    /// # Errors
    /// Fails when the index cannot be read.
    pub(super) fn objects_of_pack(&self, pack: &Path) -> Result<Vec<Oid>> {
        let index = pack.with_extension("idx");
        let bytes = std::fs::read(&index).map_err(Error::io("read", &index))?;
        let format = format!("--object-format={}", self.inner.object_hash());
        let arguments = ["show-index", &format];
        let said = self.git_reading(&arguments, &bytes)?.checked(&arguments)?;
        let oid = |line: &str| Oid::parse(line.split(' ').nth(1)?).ok();
        Ok(said.lines().filter_map(oid).collect())
    }
}

fn oids(lines: &str) -> BTreeSet<Oid> {
    lines.lines().filter_map(|line| Oid::parse(line.trim()).ok()).collect()
}

/// Lists what stands in a folder; nothing where there is none.
pub(super) fn in_folder(path: &Path) -> Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(Error::io("read", path))?,
    };
    entries.map(|entry| Ok(entry.map_err(Error::io("read", path))?.path())).collect()
}

fn unread(error: std::io::Error) -> Error {
    Error::git("read what `git cat-file` prints")(error)
}

/// Reads the line before an object: its id, its kind and how many bytes it has.
fn heading(line: &[u8]) -> Result<(Oid, &str, u64)> {
    let text = std::str::from_utf8(line).unwrap_or_default().trim_end();
    let words: Vec<&str> = text.split(' ').collect();
    let read = || {
        let [oid, kind, length] = words.as_slice() else { return None };
        let length = length.parse().ok().filter(|length| *length <= READ_BYTES_MAX as u64)?;
        Some((Oid::parse(oid).ok()?, *kind, length))
    };
    read().ok_or_else(|| {
        let (command, message) = ("cat-file".to_owned(), text.to_owned());
        Error::Git(GitError::Program { command, message })
    })
}
