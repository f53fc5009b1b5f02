//! Where a session in flight is kept: one folder with the log of its records and its long values.

use std::path::{Path, PathBuf};

use agentic_model::{Cid, Object};
use agentic_replay::{Body, RecordChain, SessionId, StoredObjects};
use agentic_store::Lock;
use agentic_store::file::{self, Persistence};
use agentic_store::journal::{self, LogPlace};

use super::{block, hosted, segment};
use crate::{Error, Result, SessionSpace};

/// The folder of one session.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
    /// The session.
    pub id: SessionId,
}

impl Folder {
    /// Returns the folder of a session: where it is, or where it would be while it is not over.
    pub fn of(space: &SessionSpace, id: &SessionId) -> Folder {
        let ended = place(&space.repository().layout().ended_sessions(), id);
        if ended.exists() { Folder { path: ended, id: *id } } else { Folder::open(space, id) }
    }

    /// Returns where the folder is as long as the session is not over.
    pub fn open(space: &SessionSpace, id: &SessionId) -> Folder {
        Folder { path: place(&space.repository().layout().open_sessions(), id), id: *id }
    }

    /// Returns where the folder is now, if the session has come to its end meanwhile.
    fn has_moved(&self, space: &SessionSpace) -> Option<Folder> {
        let now = Folder::of(space, &self.id);
        (now.path != self.path).then_some(now)
    }

    /// Tells whether there is anything of the session here.
    pub fn exists(&self) -> bool {
        self.log().exists()
    }

    /// Tells whether its log has anything in it, be it records or not.
    pub fn has_bytes(&self) -> bool {
        let segments = std::fs::read_dir(self.log()).into_iter().flatten().flatten();
        let has_bytes = |segment: std::fs::DirEntry| segment.metadata().map(|it| it.len() > 0);
        segments.map(has_bytes).any(|has_bytes| has_bytes.unwrap_or(true))
    }

    /// Returns the folder of the log of records.
    pub fn log(&self) -> PathBuf {
        self.path.join("log")
    }

    /// Returns how long the records are, over all files of the log, in bytes; 0 where there are none.
    pub fn log_bytes(&self) -> u64 {
        let files = std::fs::read_dir(self.log()).into_iter().flatten().flatten();
        files.filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum()
    }

    /// Returns the folder of what is sent to the session while somebody drives it.
    pub fn inbox(&self) -> PathBuf {
        self.path.join("inbox")
    }

    /// Returns the file that names the host which drives the session, where that is not this engine.
    pub fn host(&self) -> PathBuf {
        self.path.join("host")
    }

    /// Returns the folder of the files that tell which programs run for the session.
    pub fn processes(&self) -> PathBuf {
        self.path.join("process")
    }

    /// Reads the bytes of the session's own records as they stand in its log, and where they end
    /// there; nothing where it has none.
    pub fn frames(&self, space: &SessionSpace) -> Result<(Vec<Vec<u8>>, Option<LogPlace>)> {
        let read = journal::payloads_after(&self.log(), LogPlace::default());
        match read {
            Ok((own, end)) if !own.is_empty() => Ok((block::expand(own)?, Some(end))),
            Ok(_) | Err(_) => match self.has_moved(space) {
                Some(moved) => moved.frames(space),
                None => Ok(read.map(|_| (Vec::new(), None))?),
            },
        }
    }

    /// Reads the bytes of the first record in the log alone.
    pub fn first_frame(&self, space: &SessionSpace) -> Result<Option<Vec<u8>>> {
        let read = match self.exists() {
            true => journal::first_payload(&self.log()),
            false => Ok(None),
        };
        match read {
            Ok(Some(first)) => Ok(Some(first)),
            Ok(None) | Err(_) => match self.has_moved(space) {
                Some(moved) => moved.first_frame(space),
                None => Ok(read?),
            },
        }
    }

    /// Keeps a long value, durably.
    pub fn keep_object(&self, cid: &Cid, bytes: &[u8]) -> Result<()> {
        let folder = self.path.join("objects");
        std::fs::create_dir_all(&folder).map_err(agentic_store::Error::io("create", &folder))?;
        Ok(file::replace(&folder.join(cid.to_string()), bytes, Persistence::Synced)?)
    }

    /// Returns the file that pieces of a long value are gathered in.
    pub fn piece(&self, cid: &Cid) -> PathBuf {
        self.path.join("pieces").join(cid.to_string())
    }

    /// Keeps a copy of an object that is durable elsewhere.
    pub fn keep_copy(&self, object: &Object) -> Result<()> {
        let folder = self.path.join("objects");
        std::fs::create_dir_all(&folder).map_err(agentic_store::Error::io("create", &folder))?;
        let path = folder.join(object.cid().to_string());
        Ok(file::replace(&path, object.bytes(), Persistence::Lazy)?)
    }

    /// Reads a long value, if it is here and sound. One that is damaged is as good as gone: it may
    /// be sealed elsewhere.
    pub fn read_object(&self, cid: &Cid) -> Result<Option<Vec<u8>>> {
        let path = self.path.join("objects").join(cid.to_string());
        match std::fs::read(&path) {
            Ok(bytes) => Ok((Cid::of(&bytes) == *cid).then_some(bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(agentic_store::Error::io("read", &path)(error).into()),
        }
    }

    /// Checks the long values and copies of objects that are here against their ids.
    ///
    /// # Errors
    /// Fails when one of them is damaged or cannot be read.
    pub fn check_objects(&self) -> Result<()> {
        for cid in self.object_ids() {
            if self.read_object(&cid)?.is_none() {
                return Err(damaged(&self.id, &format!("its copy of `{cid}` has other bytes")));
            }
        }
        Ok(())
    }

    /// Takes a long value away.
    pub fn forget_object(&self, cid: &Cid) -> Result<()> {
        Ok(file::remove(&self.path.join("objects").join(cid.to_string()))?)
    }

    /// Lists the files beside log and values: what was sent to the session, and what tells of its
    /// programs.
    pub fn passing_files(&self) -> Vec<PathBuf> {
        let folders = [self.inbox(), self.processes()];
        let entries = folders.into_iter().filter_map(|folder| std::fs::read_dir(folder).ok());
        entries
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.is_file())
            .collect()
    }

    /// Lists the long values that are here.
    pub fn object_ids(&self) -> Vec<Cid> {
        let entries = std::fs::read_dir(self.path.join("objects")).into_iter().flatten().flatten();
        let mut ids: Vec<Cid> = entries
            .filter_map(|entry| Cid::parse(&entry.file_name().to_string_lossy()).ok())
            .collect();
        ids.sort();
        ids
    }

    /// Puts the folder to those of sessions that are over, where nobody looks for holds.
    pub fn retire(&self, space: &SessionSpace) -> Result<()> {
        let target = place(&space.repository().layout().ended_sessions(), &self.id);
        if self.path == target {
            return Ok(());
        }
        // Empty now, unless a program has outlived its answer.
        let _ = std::fs::remove_dir(self.processes());
        let parent = target.parent().expect("a session's folder stands in a folder");
        std::fs::create_dir_all(parent).map_err(agentic_store::Error::io("create", parent))?;
        std::fs::rename(&self.path, &target)
            .map_err(agentic_store::Error::io("move", &self.path))?;
        Ok(())
    }

    /// Tells whether somebody drives the session now.
    pub fn is_driven(&self, space: &SessionSpace) -> Result<bool> {
        if hosted::is_hosted(space, self) {
            return Ok(true);
        }
        Ok(Lock::is_taken(&space.repository().layout().session_lock(&self.id.to_string()))?)
    }

    /// Takes the right to drive a session, if nobody drives it. Where its folder is can be told
    /// only with the lock: whoever held it may have moved it.
    pub fn try_lock(space: &SessionSpace, id: &SessionId) -> Result<Option<(Folder, Lock)>> {
        let path = space.repository().layout().session_lock(&id.to_string());
        let lock = Lock::try_take(&path, space.repository().common_dir())?;
        Ok(lock.map(|lock| (Folder::of(space, id), lock)))
    }

    /// Takes the right to drive a session, waiting for whoever drives it.
    pub fn lock(space: &SessionSpace, id: &SessionId) -> Result<(Folder, Lock)> {
        let path = space.repository().layout().session_lock(&id.to_string());
        let lock = Lock::take(&path, space.repository().common_dir())?;
        Ok((Folder::of(space, id), lock))
    }
}

/// The error of a session whose records are damaged.
pub fn damaged(id: &SessionId, reason: &str) -> Error {
    agentic_store::Error::corrupt(format!("session {}", id.short()), reason).into()
}

/// Where the long values of a session are found: in its folder, in those it was forked from, or
/// sealed in the notes of its agent.
pub struct Values<'a> {
    /// The space.
    pub space: &'a SessionSpace,
    /// The session and those that it was forked from.
    pub folders: Vec<Folder>,
}

impl<'a> Values<'a> {
    /// Finds the folders of a session and of those that it was forked from.
    pub fn of(space: &'a SessionSpace, journal: &RecordChain) -> Values<'a> {
        let starts = journal.records().iter().filter_map(|record| {
            if let Body::Start(start) = &record.body {
                Some(Folder::of(space, &start.session))
            } else {
                None
            }
        });
        Values { space, folders: starts.collect() }
    }
}

impl StoredObjects for Values<'_> {
    fn bytes(&self, cid: &Cid) -> Option<Vec<u8>> {
        let local = self.folders.iter().rev().find_map(|folder| folder.read_object(cid).ok()?);
        local.or_else(|| {
            let ids = self.folders.iter().map(|folder| folder.id);
            ids.into_iter().find_map(|id| segment::value(self.space, &id, cid).ok()?)
        })
    }
}

fn place(root: &Path, id: &SessionId) -> PathBuf {
    let name = id.to_string();
    root.join(&name[..2]).join(&name)
}

/// Lists the sessions that have a folder below a root, in no order.
pub fn sessions_below(root: &Path) -> Result<Vec<SessionId>> {
    let mut ids = Vec::new();
    for shard in entries(root)? {
        ids.extend(sessions_in(&root.join(&shard))?);
    }
    Ok(ids)
}

/// Lists the sessions whose folders stand in one, in no order.
pub fn sessions_in(shard: &Path) -> Result<Vec<SessionId>> {
    Ok(entries(shard)?.iter().filter_map(|name| SessionId::parse(name)).collect())
}

/// Lists the sessions that have a folder below a root and an id that begins with two digits or more.
pub fn sessions_like(root: &Path, prefix: &str) -> Result<impl Iterator<Item = SessionId>> {
    let shard = root.join(&prefix[..2]);
    let names = entries(&shard)?.into_iter().filter(move |name| name.starts_with(prefix));
    Ok(names.filter_map(|name| SessionId::parse(&name)))
}

/// Lists the names in a folder; none if there is no such folder.
pub fn entries(folder: &Path) -> Result<Vec<String>> {
    let listing = match std::fs::read_dir(folder) {
        Ok(listing) => listing,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(agentic_store::Error::io("read", folder)(error).into()),
    };
    Ok(listing.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
}

#[cfg(test)]
mod tests;
