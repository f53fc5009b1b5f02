//! Where a session in flight is kept: one folder with the log of its records and its long values.

use std::path::{Path, PathBuf};

use agentic_model::{AgentName, Cid, Kind, Map, Object, Value};
use agentic_replay::{Body, RecordChain, SessionId, StoredObjects};
use agentic_store::Lock;
use agentic_store::file::{self, Persistence};
use agentic_store::journal::{self, LogPlace};

use super::segment::Segments;
use super::{block, seal};
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
        let layout = space.repository().layout();
        let ended = place(&layout.ended_sessions(), id);
        let path = if ended.exists() { ended } else { place(&layout.open_sessions(), id) };
        Folder { path, id: *id }
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

    /// Returns the folder of what is sent to the session while somebody drives it.
    pub fn inbox(&self) -> PathBuf {
        self.path.join("inbox")
    }

    /// Returns the folder of the files that tell which programs run for the session.
    pub fn processes(&self) -> PathBuf {
        self.path.join("process")
    }

    /// Reads the bytes of the session's own records as they stand in its log, and where they end
    /// there. Where it has none here they come from its sealed segments.
    pub fn frames(&self, space: &SessionSpace) -> Result<(Vec<Vec<u8>>, Option<LogPlace>)> {
        let (own, end) = match journal::payloads_after(&self.log(), LogPlace::default()) {
            Ok(read) => read,
            Err(error) => match self.has_moved(space) {
                Some(moved) => return moved.frames(space),
                None => return Err(error.into()),
            },
        };
        if own.is_empty() {
            return Ok((seal::frames(space, &self.id)?, None));
        }
        Ok((block::expand(own)?, Some(end)))
    }

    /// Reads the bytes of the session's first own record alone.
    pub fn first_frame(&self, space: &SessionSpace) -> Result<Option<Vec<u8>>> {
        let own = match self.exists().then(|| journal::first_payload(&self.log())) {
            None => None,
            Some(Ok(own)) => own,
            Some(Err(error)) => match self.has_moved(space) {
                Some(moved) => return moved.first_frame(space),
                None => return Err(error.into()),
            },
        };
        match own {
            Some(own) => Ok(Some(own)),
            None => Ok(seal::frames(space, &self.id)?.into_iter().next()),
        }
    }

    /// Tells whether the session of an agent has begun: by its log, or by what is sealed of it in the
    /// notes of that agent, which are the only ones to have it.
    pub fn has_begun(&self, space: &SessionSpace, agent: &AgentName) -> Result<bool> {
        if self.exists() {
            match journal::first_payload(&self.log()) {
                Ok(Some(_)) => return Ok(true),
                Ok(None) => {}
                Err(error) => match self.has_moved(space) {
                    Some(moved) => return moved.has_begun(space, agent),
                    None => return Err(error.into()),
                },
            }
        }
        Ok(Segments::of(space, agent)?.n_records(&self.id) > 0)
    }

    /// Keeps a long value, durably.
    pub fn keep_object(&self, cid: &Cid, bytes: &[u8]) -> Result<()> {
        let folder = self.path.join("objects");
        std::fs::create_dir_all(&folder).map_err(agentic_store::Error::io("create", &folder))?;
        Ok(file::replace(&folder.join(cid.to_string()), bytes, Persistence::Synced)?)
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
        Ok(Folder::try_lock(space, &self.id)?.is_none())
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
            ids.into_iter().find_map(|id| seal::value(self.space, &id, cid).ok()?)
        })
    }
}

fn place(root: &Path, id: &SessionId) -> PathBuf {
    let name = id.to_string();
    root.join(&name[..2]).join(&name)
}

/// Makes the object that keeps a part of a session in the notes of its agent.
pub fn segment_object(fields: impl IntoIterator<Item = (&'static str, Value)>) -> Result<Object> {
    let mut map: Map = fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    map.insert("type".to_owned(), Value::text("session-segment"));
    Ok(Object::new(map)?)
}

/// The type of these objects.
pub fn segment_kind() -> Kind {
    Kind::parse("session-segment").expect("a valid name")
}

#[cfg(test)]
mod tests;
