//! Refs that stand in a file of their own, as all do that move often.
//!
//! Reading one takes three calls to the system here and eight through gix, moving one eleven instead
//! of thirty-six: gix looks for packed refs first, makes folders that are there, and writes a line
//! of a reflog word by word. Whatever is not plain – a ref that is packed, symbolic, damaged, or
//! locked by somebody – is left to gix, which does everything as git does.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use agentic_model::{Oid, Signature};
use gix::refs::store::WriteReflog;

use super::Repository;
use super::reference::offset;
use crate::journal::BranchMove;
use crate::{Error, Result};

/// The refs that all worktrees share, and that only name commits.
const PLAIN_PREFIXES: [&str; 3] = ["refs/heads/", "refs/notes/", "refs/agentic/"];
/// The refs whose logs begin by themselves, as git has it.
const LOGGED_PREFIXES: [&str; 2] = ["refs/heads/", "refs/notes/"];
/// What a ref with the longest id takes, and a byte that must not be there.
const CONTENT_BYTES_MAX: usize = 66;

/// Whether a ref was moved the short way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShortWay {
    /// It was.
    Moved,
    /// Nothing has happened; gix finds out how things are.
    Closed,
}

/// A lock of git on a ref; dropped before the ref is replaced by it, it is given back.
struct RefLock {
    path: PathBuf,
}

impl Drop for RefLock {
    fn drop(&mut self) {
        let _renamed_is_fine = fs::remove_file(&self.path);
    }
}

impl Repository {
    /// Reads a ref that stands plainly in a file of its own; nothing if it does not.
    pub(super) fn read_plain_ref(&self, name: &str) -> Option<Oid> {
        let n_bytes = self.inner.object_hash().len_in_bytes();
        let found = read_plain(&self.plain_path(name)?)?;
        // What is not the id of an object is damage, and gix says which.
        (found.as_bytes().len() == n_bytes && !found.is_null()).then_some(found)
    }

    /// Moves such a ref from where it is expected to be, and writes its reflog before.
    ///
    /// # Errors
    /// Fails when the disk does; the ref is then where it was.
    pub(super) fn move_plain_ref(
        &self,
        step: &BranchMove,
        who: &Signature,
        why: &str,
    ) -> Result<ShortWay> {
        let (Some(path), Some(old)) = (self.plain_path(&step.name), step.expect) else {
            return Ok(ShortWay::Closed);
        };
        let lock_path = path.with_added_extension("lock");
        let lock = OpenOptions::new().write(true).create_new(true).open(&lock_path);
        let Ok(mut file) = lock else { return Ok(ShortWay::Closed) };
        let lock = RefLock { path: lock_path };
        if old == step.new || read_plain(&path) != Some(old) {
            return Ok(ShortWay::Closed);
        }
        let content = format!("{}\n", step.new);
        file.write_all(content.as_bytes()).map_err(Error::io("write", &lock.path))?;
        drop(file);
        self.log_move(step, old, who, why)?;
        fs::rename(&lock.path, &path).map_err(Error::io("move", &path))?;
        // Its name may be another's lock by now.
        std::mem::forget(lock);
        Ok(ShortWay::Moved)
    }

    fn log_move(&self, step: &BranchMove, old: Oid, who: &Signature, why: &str) -> Result<()> {
        if self.inner.refs.write_reflog == WriteReflog::Disable {
            return Ok(());
        }
        let path = self.common_dir().join("logs").join(&step.name);
        let begins = self.inner.refs.write_reflog == WriteReflog::Always
            || LOGGED_PREFIXES.iter().any(|prefix| step.name.starts_with(prefix));
        let open = || OpenOptions::new().append(true).create(begins).open(&path);
        let file = match (open(), path.parent()) {
            (Err(error), Some(folder)) if begins && error.kind() == ErrorKind::NotFound => {
                fs::create_dir_all(folder).and_then(|()| open())
            }
            (Err(error), _) if !begins && error.kind() == ErrorKind::NotFound => return Ok(()),
            (file, _) => file,
        };
        let (person, zone) = (&who.person, offset(who.offset_minutes));
        let (name, email, seconds) = (&person.name, &person.email, who.at.seconds());
        let line = format!("{old} {} {name} <{email}> {seconds} {zone}\t{why}\n", step.new);
        // In one write, so that lines of several writers never mix.
        let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
        written.map_err(Error::io("write", &path))
    }

    fn plain_path(&self, name: &str) -> Option<PathBuf> {
        let is_plain = PLAIN_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        let stays_inside = !name.split('/').any(|part| part.is_empty() || part.starts_with('.'));
        let is_whole = self.inner.refs.namespace.is_none();
        (is_plain && stays_inside && is_whole).then(|| self.common_dir().join(name))
    }
}

/// Reads a file that holds an id and the end of a line, and nothing else.
fn read_plain(path: &Path) -> Option<Oid> {
    let mut content = [0; CONTENT_BYTES_MAX];
    let n_read = File::open(path).ok()?.read(&mut content).ok()?;
    let hex = content[..n_read].strip_suffix(b"\n")?;
    Oid::parse(std::str::from_utf8(hex).ok()?).ok()
}
