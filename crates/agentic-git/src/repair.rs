//! Putting right what a power cut left of objects and refs.

use std::path::{Path, PathBuf};

use agentic_model::Oid;

use super::{Repository, to_oid};
use agentic_store::error::RefError;
use agentic_store::file::{self, Persistence};
use agentic_store::ground::{PACKED_REFS, RefState};
use agentic_store::journal::{GitKind, GitObject};
use agentic_store::{Error, Result};

impl Repository {
    /// Moves loose objects aside that cannot be read: git stops at them even where nothing names
    /// them. What has the bytes writes them again.
    ///
    /// # Errors
    /// Fails when the folder of objects cannot be read or a file not be moved.
    pub fn set_damaged_objects_aside(&self) -> Result<()> {
        let objects = self.common_dir().join("objects");
        for shard in list(&objects)?.into_iter().filter(|name| name.len() == 2) {
            let folder = objects.join(&shard);
            for rest in list(&folder)? {
                let Ok(oid) = Oid::parse(&format!("{shard}{rest}")) else { continue };
                if self.verify_object(oid).is_err() {
                    self.set_aside(&folder.join(&rest), oid)?;
                }
            }
        }
        Ok(())
    }

    /// Writes an object that is gone or cannot be read. A damaged file of it is moved aside.
    ///
    /// # Errors
    /// Fails when the repository cannot be written.
    pub fn write_again(&self, object: &GitObject, oid: Oid) -> Result<()> {
        let path = self.loose_path(oid);
        if path.exists() {
            self.set_aside(&path, oid)?;
        }
        self.write_loose(std::slice::from_ref(object)).map(drop)
    }

    /// Moves aside what is damaged of a state of notes. What is written anew then has its place.
    fn set_damaged_notes_aside(&self, tip: Oid) -> Result<()> {
        let mut open = vec![tip];
        while let Some(oid) = open.pop() {
            let Ok(object) = self.verify_object(oid) else {
                let path = self.loose_path(oid);
                if path.exists() {
                    self.set_aside(&path, oid)?;
                }
                continue;
            };
            match object.kind {
                GitKind::Commit => open.extend(self.read_commit(oid).map(|commit| commit.tree)),
                GitKind::Tree => {
                    let entries = self.load_tree(oid).map(|tree| tree.entries).unwrap_or_default();
                    open.extend(entries.iter().map(|entry| to_oid(&entry.oid)));
                }
                GitKind::Blob => {}
            }
        }
        Ok(())
    }

    fn loose_path(&self, oid: Oid) -> PathBuf {
        let hex = oid.to_string();
        self.common_dir().join("objects").join(&hex[..2]).join(&hex[2..])
    }

    fn set_aside(&self, path: &Path, oid: Oid) -> Result<()> {
        let aside = self.layout().damaged_objects();
        std::fs::create_dir_all(&aside).map_err(Error::io("create", &aside))?;
        std::fs::rename(path, aside.join(oid.to_string())).map_err(Error::io("set aside", path))
    }

    /// Tells what a ref is worth.
    pub fn ref_state(&self, name: &str) -> RefState {
        match self.find_ref(name) {
            Ok(Some(oid)) if self.read_commit(oid).is_ok() => RefState::Sound(oid),
            Ok(None) => RefState::Absent,
            Ok(Some(_)) | Err(_) => RefState::Damaged,
        }
    }

    /// Removes the file of a damaged ref, so that it can be written again. A packed state of the ref
    /// then shows.
    ///
    /// # Errors
    /// Fails when the file cannot be removed.
    pub fn forget_damaged_ref(&self, name: &str) -> Result<()> {
        file::remove(&self.common_dir().join(name))
    }

    /// Puts a notes ref back to its newest state that can be read whole, if it is damaged. `tips`
    /// are states that journals recorded, `known` one that is durable.
    ///
    /// # Errors
    /// Fails when it cannot be written.
    pub fn restore_notes_ref(&self, name: &str, tips: &[Oid], known: Option<Oid>) -> Result<()> {
        let is_whole = |tip: Oid| self.notes_at(Some(tip)).is_ok_and(|notes| notes.is_whole(known));
        let logged = self.logged(name);
        self.mend_log(name)?;
        match self.ref_state(name) {
            RefState::Sound(tip) if is_whole(tip) => return Ok(()),
            RefState::Absent if tips.is_empty() => return Ok(()),
            RefState::Sound(_) | RefState::Absent | RefState::Damaged => {}
        }
        if let Ok(Some(tip)) = self.find_ref(name) {
            self.set_damaged_notes_aside(tip)?;
        }
        let mut older = logged.iter().rev().chain(tips.iter().rev());
        self.forget_damaged_ref(name)?;
        match older.find(|tip| is_whole(**tip)) {
            Some(tip) => {
                let path = self.common_dir().join(name);
                let above = path.parent().expect("a ref stands in a folder");
                std::fs::create_dir_all(above).map_err(Error::io("create", above))?;
                file::replace(&path, format!("{tip}\n").as_bytes(), Persistence::Lazy)
            }
            None => Ok(()),
        }
    }

    /// Tells whether the reflog shows that a ref was at `from` and was then moved elsewhere.
    pub fn moved_away(&self, name: &str, from: Oid) -> bool {
        let logged = self.logged(name);
        let at = logged.iter().rposition(|oid| *oid == from);
        at.is_some_and(|at| at + 1 < logged.len())
    }

    /// Drops the lines of a reflog that a power cut left in part, and those that name objects which
    /// are gone.
    ///
    /// # Errors
    /// Fails when the log cannot be written.
    pub fn mend_log(&self, name: &str) -> Result<()> {
        let path = self.common_dir().join("logs").join(name);
        let Ok(log) = std::fs::read(&path) else { return Ok(()) };
        let whole = |line: &&[u8]| {
            let text = String::from_utf8_lossy(line);
            let mut oids = text.splitn(3, ' ').map(Oid::parse);
            let mut is_known = || match oids.next() {
                Some(Ok(oid)) => oid.is_null() || self.has_object(oid),
                Some(Err(_)) | None => false,
            };
            line.ends_with(b"\n") && is_known() && is_known()
        };
        let kept = log.split_inclusive(|byte| *byte == b'\n').filter(whole).collect::<Vec<_>>();
        let kept = kept.concat();
        if kept == log { Ok(()) } else { file::replace(&path, &kept, Persistence::Lazy) }
    }

    /// Reads where a ref has been, oldest first, from its reflog. Damaged lines are left out.
    fn logged(&self, name: &str) -> Vec<Oid> {
        let path = self.common_dir().join("logs").join(name);
        let log = std::fs::read(path).unwrap_or_default();
        let line = |line: &str| Oid::parse(line.split(' ').nth(1)?).ok();
        String::from_utf8_lossy(&log).lines().filter_map(line).collect()
    }

    /// Removes git's lock of a ref.
    ///
    /// # Errors
    /// Fails when the file cannot be removed.
    pub fn break_ref_lock(&self, name: &str) -> Result<()> {
        self.forget_damaged_ref(&format!("{name}.lock"))
    }

    /// Says of what git or gix could not do with refs that the lock of packed refs kept them from it, if
    /// that is there.
    pub fn blame_packed_lock(&self, error: Error) -> Error {
        let lock = self.common_dir().join(PACKED_REFS).with_added_extension("lock");
        match lock.exists() {
            true => Error::Ref(RefError::Locked { name: PACKED_REFS.to_owned() }),
            false => error,
        }
    }

    /// Waits for another program's lock on a ref.
    ///
    /// # Errors
    /// Fails with [`RefError::Locked`] when the lock stays for a second.
    pub fn wait_for_ref_lock(&self, name: &str) -> Result<()> {
        let lock = self.common_dir().join(format!("{name}.lock"));
        let deadline = std::time::Instant::now() + super::reference::REF_LOCK_WAIT;
        while lock.exists() {
            if std::time::Instant::now() >= deadline {
                return Err(Error::Ref(RefError::Locked { name: name.to_owned() }));
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        Ok(())
    }
}

fn list(folder: &Path) -> Result<Vec<String>> {
    let entries = std::fs::read_dir(folder).map_err(Error::io("read", folder))?;
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(Error::io("read", folder))?.file_name();
        names.extend(name.into_string());
    }
    Ok(names)
}
