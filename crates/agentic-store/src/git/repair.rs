//! Putting right what a power cut left of objects and refs.

use std::path::PathBuf;

use agentic_model::Oid;

use super::Repository;
use crate::journal::GitObject;
use crate::{Error, Result};

impl Repository {
    /// Makes sure that an object is there and whole; returns whether it had to be written.
    ///
    /// # Errors
    /// Fails when it cannot be written.
    pub fn restore_object(&self, object: &GitObject) -> Result<bool> {
        let oid = self.name_object(object);
        if self.verify_object(oid).is_ok() {
            return Ok(false);
        }
        let hex = oid.to_string();
        let loose = self.common_dir().join("objects").join(&hex[..2]).join(&hex[2..]);
        match std::fs::remove_file(&loose) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io("remove", &loose)(error));
            }
            _ => {}
        }
        self.write_objects(std::slice::from_ref(object))?;
        Ok(true)
    }

    /// Reads where a ref points, if the ref is whole and its commit can be read.
    ///
    /// # Errors
    /// Fails when the ref is whole and its commit is damaged.
    pub fn find_sound_commit(&self, name: &str) -> Result<Option<Oid>> {
        match self.find_ref(name) {
            Ok(Some(oid)) => Ok(self.read_commit(oid).is_ok().then_some(oid)),
            Ok(None) | Err(_) => Ok(None),
        }
    }

    /// Removes the file of a ref that git cannot read, so that it can be written again.
    ///
    /// # Errors
    /// Fails when the file cannot be removed.
    pub fn forget_damaged_ref(&self, name: &str) -> Result<()> {
        let is_sound = match self.find_ref(name) {
            Ok(Some(oid)) => self.read_commit(oid).is_ok(),
            Ok(None) => true,
            Err(_) => false,
        };
        if is_sound {
            return Ok(());
        }
        let path = self.common_dir().join(name);
        std::fs::remove_file(&path).map_err(Error::io("remove", &path))
    }

    /// Puts a notes ref back to its newest state that can be read whole, if it is damaged.
    ///
    /// # Errors
    /// Fails when it cannot be written.
    pub fn restore_notes_ref(&self, name: &str) -> Result<()> {
        let is_whole =
            |tip: Option<Oid>| -> bool { self.notes_at(tip).is_ok_and(|notes| notes.is_whole()) };
        match self.find_ref(name) {
            Ok(tip) if is_whole(tip) => return Ok(()),
            _ => {}
        }
        let path = self.common_dir().join(name);
        let older = self.logged(name).into_iter().rev().find(|tip| is_whole(Some(*tip)));
        let written = match older {
            Some(tip) => std::fs::write(&path, format!("{tip}\n")),
            None => std::fs::remove_file(&path),
        };
        written.map_err(Error::io("restore", &path))
    }

    /// Tells whether the reflog shows that a ref was at `from` and was then moved elsewhere.
    ///
    /// # Errors
    /// Does not fail today; a missing log shows nothing.
    pub fn moved_away(&self, name: &str, from: Oid) -> Result<bool> {
        let logged = self.logged(name);
        let at = logged.iter().rposition(|oid| *oid == from);
        Ok(at.is_some_and(|at| at + 1 < logged.len()))
    }

    /// Reads where a ref has been, oldest first, from its reflog. Damaged lines are left out.
    fn logged(&self, name: &str) -> Vec<Oid> {
        let path: PathBuf = self.common_dir().join("logs").join(name);
        let log = std::fs::read(path).unwrap_or_default();
        let line = |line: &str| Oid::parse(line.split(' ').nth(1)?).ok();
        String::from_utf8_lossy(&log).lines().filter_map(line).collect()
    }

    /// Waits for another program's lock on a ref.
    ///
    /// # Errors
    /// Fails with [`Error::RefLocked`] when the lock stays for a second.
    pub fn wait_for_ref_lock(&self, name: &str) -> Result<()> {
        let lock = self.common_dir().join(format!("{name}.lock"));
        let deadline = std::time::Instant::now() + super::reference::REF_LOCK_WAIT;
        while lock.exists() {
            if std::time::Instant::now() >= deadline {
                return Err(Error::RefLocked { name: name.to_owned() });
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        Ok(())
    }
}
