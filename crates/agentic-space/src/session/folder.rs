//! Where a session in flight is kept: one folder with the log of its records and its long values.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use agentic_model::{AgentName, Cid, Kind, Map, Object, Value, canonical};
use agentic_replay::{Body, Journal, Objects, Record, SessionId};
use agentic_store::file::{self, Persistence};
use agentic_store::{Lock, journal};

use super::seal;
use crate::{Error, Result, Space};

/// The fewest digits of an id that are accepted.
const PREFIX_DIGITS_MIN: usize = 8;
/// How many forks of forks are followed.
const FORKS_MAX: usize = 4096;

/// The folder of one session.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
    /// The session.
    pub id: SessionId,
}

impl Folder {
    /// Returns the folder of a session: where it is, or where it would be while it is not over.
    pub fn of(space: &Space, id: &SessionId) -> Folder {
        let layout = space.repository().layout();
        let ended = place(&layout.ended_sessions(), id);
        let path = if ended.exists() { ended } else { place(&layout.open_sessions(), id) };
        Folder { path, id: *id }
    }

    /// Tells whether there is anything of the session here.
    pub fn exists(&self) -> bool {
        self.log().exists()
    }

    /// Returns the folder of the log of records.
    pub fn log(&self) -> PathBuf {
        self.path.join("log")
    }

    /// Reads the bytes of the session's own records.
    pub fn frames(&self, space: &Space) -> Result<Vec<Vec<u8>>> {
        let own = if self.exists() { journal::payloads(&self.log())? } else { Vec::new() };
        if own.is_empty() { seal::frames(space, &self.id) } else { Ok(own) }
    }

    /// Writes the sealed records back where the session has none of its own: it was fetched, or its
    /// folder is gone.
    pub fn restore(&self, space: &Space) -> Result<()> {
        if self.exists() && !journal::payloads(&self.log())?.is_empty() {
            return Ok(());
        }
        let sealed = seal::frames(space, &self.id)?;
        if sealed.is_empty() {
            return Ok(());
        }
        let frames: Vec<&[u8]> = sealed.iter().map(Vec::as_slice).collect();
        let (mut log, _) = journal::Log::open(&self.log())?;
        Ok(log.append(&frames, agentic_store::Durability::Full)?)
    }

    /// Keeps a long value, durably.
    pub fn keep_object(&self, cid: &Cid, bytes: &[u8]) -> Result<()> {
        let folder = self.path.join("objects");
        std::fs::create_dir_all(&folder).map_err(agentic_store::Error::io("create", &folder))?;
        Ok(file::replace(&folder.join(cid.to_string()), bytes, Persistence::Synced)?)
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
    pub fn retire(&self, space: &Space) -> Result<()> {
        let target = place(&space.repository().layout().ended_sessions(), &self.id);
        if self.path == target {
            return Ok(());
        }
        let parent = target.parent().expect("a session's folder stands in a folder");
        std::fs::create_dir_all(parent).map_err(agentic_store::Error::io("create", parent))?;
        std::fs::rename(&self.path, &target)
            .map_err(agentic_store::Error::io("move", &self.path))?;
        Ok(())
    }

    /// Tells whether somebody drives the session now.
    pub fn is_driven(&self, space: &Space) -> Result<bool> {
        Ok(Folder::try_lock(space, &self.id)?.is_none())
    }

    /// Takes the right to drive a session, if nobody drives it. Where its folder is can be told
    /// only with the lock: whoever held it may have moved it.
    pub fn try_lock(space: &Space, id: &SessionId) -> Result<Option<(Folder, Lock)>> {
        let path = space.repository().layout().session_lock(&id.to_string());
        let lock = Lock::try_take(&path, space.repository().common_dir())?;
        Ok(lock.map(|lock| (Folder::of(space, id), lock)))
    }

    /// Takes the right to drive a session, waiting for whoever drives it.
    pub fn lock(space: &Space, id: &SessionId) -> Result<(Folder, Lock)> {
        let path = space.repository().layout().session_lock(&id.to_string());
        let lock = Lock::take(&path, space.repository().common_dir())?;
        Ok((Folder::of(space, id), lock))
    }
}

/// Reads the journal of a session; of a fork, with the records that it shares.
pub fn read_journal(space: &Space, id: &SessionId) -> Result<Journal> {
    let mut shares: Vec<Vec<Vec<u8>>> = Vec::new();
    let mut next = Some((*id, u64::MAX));
    while let Some((id, end)) = next {
        let frames = Folder::of(space, &id).frames(space)?;
        let first = frames.first().ok_or_else(|| Error::UnknownSession { id: id.to_string() })?;
        let (first_seq, parent) = beginning(&id, first)?;
        let n = usize::try_from(end.saturating_sub(first_seq)).unwrap_or(usize::MAX);
        shares.push(frames.into_iter().take(n).collect());
        if shares.len() > FORKS_MAX {
            return Err(damaged(&id, "it is a fork of too many forks"));
        }
        next = parent;
    }
    let frames = shares.into_iter().rev().flatten();
    Journal::read(frames).map_err(|error| damaged(id, &error.to_string()))
}

/// Reads from a session's first own record where it begins, and what it was forked from.
fn beginning(id: &SessionId, first: &[u8]) -> Result<(u64, Option<(SessionId, u64)>)> {
    let value = canonical::decode(first).map_err(|error| damaged(id, &error.to_string()))?;
    let record = Record::from_value(value).map_err(|error| damaged(id, &error.to_string()))?;
    match record.body {
        Body::Start(start) => {
            let parent = start.parent.map(|point| (point.session, point.seq));
            Ok((record.seq, parent))
        }
        _ => Err(damaged(id, "it does not begin with a start")),
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
    pub space: &'a Space,
    /// The session and those that it was forked from.
    pub folders: Vec<Folder>,
}

impl<'a> Values<'a> {
    /// Finds the folders of a session and of those that it was forked from.
    pub fn of(space: &'a Space, journal: &Journal) -> Values<'a> {
        let starts = journal.records().iter().filter_map(|record| match &record.body {
            Body::Start(start) => Some(Folder::of(space, &start.session)),
            _ => None,
        });
        Values { space, folders: starts.collect() }
    }
}

impl Objects for Values<'_> {
    fn bytes(&self, cid: &Cid) -> Option<Vec<u8>> {
        let local = self.folders.iter().rev().find_map(|folder| folder.read_object(cid).ok()?);
        local.or_else(|| {
            let ids = self.folders.iter().map(|folder| folder.id);
            ids.into_iter().find_map(|id| seal::value(self.space, &id, cid).ok()?)
        })
    }
}

/// Lists the sessions that are not over.
pub fn list_open(space: &Space) -> Result<Vec<SessionId>> {
    let layout = space.repository().layout();
    let mut ids = list(&layout.open_sessions())?;
    // Of an agent that nothing was written to here, sessions may have come by fetch alone.
    for (agent, _) in space.agent_names()? {
        if !layout.journal(&agentic_store::Stream::Agent(agent.clone())).exists() {
            let sealed = seal::sessions_of(space, &agent)?;
            let is_open =
                |id: &SessionId| read_journal(space, id).is_ok_and(|journal| !journal.is_over());
            ids.extend(sealed.into_iter().filter(is_open));
        }
    }
    ids.sort();
    ids.dedup();
    Ok(ids)
}

/// Lists the sessions of some agents that are not over, with their agents.
pub fn open_sessions_of(
    space: &Space,
    agents: &BTreeSet<&AgentName>,
) -> Result<Vec<(SessionId, AgentName)>> {
    let layout = space.repository().layout();
    let mut ids = list(&layout.open_sessions())?;
    for agent in agents {
        // Nothing was written to it here; its sessions may have come by fetch alone.
        if !layout.journal(&agentic_store::Stream::Agent((*agent).clone())).exists() {
            ids.extend(seal::sessions_of(space, agent)?);
        }
    }
    let mut open = Vec::new();
    for id in ids {
        // One that is damaged is nobody's.
        let Ok(journal) = read_journal(space, &id) else { continue };
        let agent = journal.start().agent.clone();
        if agents.contains(&agent) && !journal.is_over() {
            open.push((id, agent));
        }
    }
    Ok(open)
}

/// Lists all sessions that are known here, oldest first.
pub fn list_all(space: &Space) -> Result<Vec<SessionId>> {
    let layout = space.repository().layout();
    let mut ids = list(&layout.open_sessions())?;
    ids.extend(list(&layout.ended_sessions())?);
    ids.extend(seal::sessions(space)?);
    ids.sort();
    ids.dedup();
    let started = |id: &SessionId| {
        let frames = Folder::of(space, id).frames(space).unwrap_or_default();
        let record = frames.first().and_then(|frame| canonical::decode(frame).ok());
        let at = record.and_then(|value| value.get("at").and_then(Value::as_int));
        (at.unwrap_or(i64::MAX), *id)
    };
    ids.sort_by_cached_key(started);
    Ok(ids)
}

/// Finds the session that a text names.
pub fn find(space: &Space, text: &str) -> Result<SessionId> {
    let unknown = || Error::UnknownSession { id: text.to_owned() };
    let is_prefix = text.len() >= PREFIX_DIGITS_MIN
        && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    if is_prefix {
        let layout = space.repository().layout();
        let mut found = list_prefix(&layout.open_sessions(), text)?;
        found.extend(list_prefix(&layout.ended_sessions(), text)?);
        if found.is_empty() {
            found = seal::sessions(space)?;
            found.retain(|id| id.to_string().starts_with(text));
        }
        match found.as_slice() {
            [] => {}
            [only] => return Ok(*only),
            several => {
                let candidates = several.iter().map(SessionId::short).collect();
                return Err(Error::AmbiguousSession { prefix: text.to_owned(), candidates });
            }
        }
    }
    let agent = AgentName::parse(text).map_err(|_| unknown())?;
    let (mut own, mut damage) = (Vec::new(), None);
    for id in list_all(space)? {
        // One that is damaged is nobody's newest; but where nothing else is found it may be meant.
        match read_journal(space, &id) {
            Ok(journal) if journal.start().agent == agent => own.push((id, journal.is_over())),
            Ok(_) => {}
            Err(error) => damage = space.head(&agent).is_ok().then_some(error),
        }
    }
    let open: Vec<SessionId> = own.iter().filter(|(_, over)| !over).map(|(id, _)| *id).collect();
    match open.as_slice() {
        [.., newest] => Ok(*newest),
        [] => own.last().map(|(id, _)| *id).ok_or_else(|| damage.unwrap_or_else(unknown)),
    }
}

fn place(root: &Path, id: &SessionId) -> PathBuf {
    let name = id.to_string();
    root.join(&name[..2]).join(&name)
}

fn list(root: &Path) -> Result<Vec<SessionId>> {
    let mut ids = Vec::new();
    for shard in entries(root)? {
        ids.extend(entries(&root.join(&shard))?.iter().filter_map(|name| SessionId::parse(name)));
    }
    Ok(ids)
}

fn list_prefix(root: &Path, prefix: &str) -> Result<Vec<SessionId>> {
    let shard = root.join(&prefix[..2]);
    let names = entries(&shard)?.into_iter().filter(|name| name.starts_with(prefix));
    Ok(names.filter_map(|name| SessionId::parse(&name)).collect())
}

fn entries(folder: &Path) -> Result<Vec<String>> {
    let listing = match std::fs::read_dir(folder) {
        Ok(listing) => listing,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(agentic_store::Error::io("read", folder)(error).into()),
    };
    let mut names: Vec<String> =
        listing.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
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
