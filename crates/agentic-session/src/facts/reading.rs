//! What a question has read of sessions so far. Each journal is read once, however many predicates
//! look at it, and stays as long as it was when it was read first.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use agentic_git::ArchiveEntry;
use agentic_model::{AgentName, Cid, Instant, Value, guidance};
use agentic_replay::{RecordChain, SessionId, StoredObjects, StoredValue};

use super::row::{ColumnValue, SessionRows};
use crate::beginning::FirstRecord;
use crate::error::SessionError;
use crate::folder::{Folder, Values};
use crate::hold::HoldStanding;
use crate::recent::{chain_of, read_journal};
use crate::segment::{NOTES, Segments};
use crate::{Error, Result, SessionSpace, own, seal, summary};

/// How much of journals is remembered, in bytes: 64 MiB. What is beyond is read again.
const REMEMBERED_BYTES_MAX: usize = 64 << 20;
/// Fewer journals than this are read when somebody asks for them.
const AHEAD_MIN: usize = 8;
/// What a record takes besides the values in it, in bytes, about.
const RECORD_BYTES: usize = 256;

/// What a question has read of sessions so far.
pub(super) struct ReadSessions<'a> {
    /// The space.
    pub(super) space: &'a SessionSpace,
    /// The moment at which holds are looked at.
    pub(super) now: Instant,
    memory: RefCell<JournalMemory>,
    /// The segments of all notes, and of those in the archive.
    segments: OnceCell<Vec<Segments<'a>>>,
    /// Which of them has a session.
    sealed_at: OnceCell<BTreeMap<SessionId, usize>>,
    /// How the open holds of sessions stand.
    holds: RefCell<BTreeMap<SessionId, Rc<Vec<HoldStanding>>>>,
    /// What is damaged, and was not told yet.
    damage: RefCell<BTreeSet<String>>,
    /// The sessions about whose damage was told.
    told: RefCell<BTreeSet<SessionId>>,
}

/// The journals that were read.
#[derive(Default)]
struct JournalMemory {
    journals: BTreeMap<SessionId, Arc<RecordChain>>,
    /// How many records each had when it was read first.
    lengths: BTreeMap<SessionId, u64>,
    n_bytes: usize,
}

impl<'a> ReadSessions<'a> {
    /// Begins with nothing.
    pub(super) fn new(space: &'a SessionSpace) -> ReadSessions<'a> {
        ReadSessions {
            space,
            now: space.now(),
            memory: RefCell::default(),
            segments: OnceCell::new(),
            sealed_at: OnceCell::new(),
            holds: RefCell::default(),
            damage: RefCell::default(),
            told: RefCell::default(),
        }
    }

    /// Returns the segments of all notes, and of those in the archive. Damaged notes have none.
    pub(super) fn segments(&self) -> Result<&[Segments<'a>]> {
        if let Some(segments) = self.segments.get() {
            return Ok(segments);
        }
        let mut segments = Vec::new();
        for found in self.space.repository().list_refs(NOTES)? {
            let read = Segments::of_ref(self.space, &found.name);
            segments.extend(self.or_told(&format!("`{}` is left out", found.name), read));
        }
        for entry in self.archived() {
            let agent = &entry.archived.agent;
            let read = Segments::of_archived(self.space, &entry.archived);
            segments.extend(self.or_told(&format!("notes of agent {agent} are left out"), read));
        }
        segments.iter().for_each(Segments::remember_seen);
        Ok(self.segments.get_or_init(|| segments))
    }

    /// Lists the agents that only the archive has; none if that is damaged.
    pub(super) fn archived(&self) -> Vec<ArchiveEntry> {
        let archived = self.space.archived_agents().map_err(Error::from);
        self.or_told("the archive is left out", archived).unwrap_or_default()
    }

    /// Lists the sessions that are sealed in the notes of one agent.
    pub(super) fn sealed_of(&self, agent: &AgentName) -> BTreeSet<SessionId> {
        let segments = match self.archived().iter().find(|it| it.archived.agent == *agent) {
            Some(entry) => Segments::of_archived(self.space, &entry.archived),
            None => Segments::of(self.space, agent),
        };
        let segments = self.or_told(&format!("notes of agent {agent} are left out"), segments);
        segments.iter().flat_map(Segments::sessions).collect()
    }

    /// Takes what was read, or remembers to tell that it is damaged.
    fn or_told<T>(&self, what: &str, read: Result<T>) -> Option<T> {
        read.map_err(|error| {
            let told = format!("{what}: {}", guidance::chain(&error));
            self.damage.borrow_mut().insert(told);
        })
        .ok()
    }

    /// Tells what was found to be damaged since it was told last.
    pub(super) fn tell_damage(&self, rows: &mut SessionRows<'_, '_>) {
        for told in self.damage.take() {
            rows.note(told);
        }
    }

    /// Reads how a session began; nothing if there is no such session.
    pub(super) fn first(&self, id: &SessionId) -> Result<Option<FirstRecord>> {
        let first = if Folder::of(self.space, id).exists() {
            FirstRecord::of(self.space, id)
        } else {
            match self.sealed_frames(id)?.first() {
                Some(first) => FirstRecord::from_frame(id, first),
                None => return Ok(None),
            }
        };
        known(first)
    }

    /// Reads the journal of a session; nothing if there is no such session.
    pub(super) fn journal(&self, id: &SessionId) -> Result<Option<Arc<RecordChain>>> {
        if let Some(journal) = self.memory.borrow().journals.get(id) {
            return Ok(Some(Arc::clone(journal)));
        }
        let journal = if Folder::of(self.space, id).exists() {
            known(read_journal(self.space, id))?
        } else {
            let own = |id: &SessionId| match Folder::of(self.space, id).exists() {
                true => Ok(own::read(self.space, id)?.frames),
                false => self.sealed_frames(id),
            };
            let frames = self.sealed_frames(id)?;
            match frames.is_empty() {
                true => None,
                false => Some(Arc::new(chain_of(id, &frames, &own)?)),
            }
        };
        Ok(journal.map(|journal| self.memory.borrow_mut().keep(id, journal)))
    }

    /// Reads the journals of sessions that have a folder here on all cores, those that nobody has read
    /// yet. What cannot be read is found again by whoever asks for it.
    pub(super) fn read_ahead(&self, sessions: &[SessionId]) {
        let unread: Vec<SessionId> = {
            let memory = self.memory.borrow();
            if memory.n_bytes >= REMEMBERED_BYTES_MAX {
                return;
            }
            sessions.iter().filter(|id| !memory.journals.contains_key(*id)).copied().collect()
        };
        let n_threads = thread::available_parallelism().map_or(1, |n| n.get());
        if n_threads < 2 || unread.len() < AHEAD_MIN {
            return;
        }
        let (space, next) = (self.space, AtomicUsize::new(0));
        let work = || {
            let mut read = Vec::new();
            while let Some(id) = unread.get(next.fetch_add(1, Ordering::Relaxed)) {
                if Folder::of(space, id).exists()
                    && let Ok(journal) = read_journal(space, id)
                {
                    read.push((*id, journal));
                }
            }
            read
        };
        let read = thread::scope(|scope| {
            let others: Vec<_> = (1..n_threads).map(|_| scope.spawn(work)).collect();
            let mut read = work();
            for other in others {
                read.extend(other.join().expect("BUG: reading does not panic"));
            }
            read
        });
        let mut memory = self.memory.borrow_mut();
        for (id, journal) in read {
            memory.keep(&id, journal);
        }
    }

    /// Reads the own records of a session that has no folder here.
    fn sealed_frames(&self, id: &SessionId) -> Result<Vec<Vec<u8>>> {
        match self.sealed(id)? {
            Some(segments) => seal::frames_in(segments, id),
            None => Ok(Vec::new()),
        }
    }

    /// Finds the notes in which a session is sealed.
    fn sealed(&self, id: &SessionId) -> Result<Option<&Segments<'a>>> {
        let segments = self.segments()?;
        let places = self.sealed_at.get_or_init(|| {
            let numbered = segments.iter().enumerate().rev();
            numbered.flat_map(|(at, one)| one.sessions().map(move |id| (id, at))).collect()
        });
        Ok(places.get(id).and_then(|at| segments.get(*at)))
    }

    /// Reads the journal of a session; one that is damaged is left out, with a note.
    pub(super) fn journal_or_note(
        &self,
        id: &SessionId,
        rows: &mut SessionRows<'_, '_>,
    ) -> Option<Arc<RecordChain>> {
        self.or_note(id, rows, self.journal(id))
    }

    /// Reads how a session began; one that is damaged is left out, with a note.
    pub(super) fn first_or_note(
        &self,
        id: &SessionId,
        rows: &mut SessionRows<'_, '_>,
    ) -> Option<FirstRecord> {
        self.or_note(id, rows, self.first(id))
    }

    /// Takes what was read of a session, or tells once that it is damaged.
    pub(super) fn or_note<T>(
        &self,
        id: &SessionId,
        rows: &mut SessionRows<'_, '_>,
        read: Result<Option<T>>,
    ) -> Option<T> {
        read.unwrap_or_else(|error| {
            if self.told.borrow_mut().insert(*id) {
                let why = guidance::chain(&error);
                rows.note(format!("session {} is left out: {why}", id.short()));
            }
            None
        })
    }

    /// Finds how the open holds of a session stand, oldest first. One whose decisions cannot be read
    /// is left out, as it is where holds are listed.
    pub(super) fn holds(&self, journal: &RecordChain) -> Result<Rc<Vec<HoldStanding>>> {
        let start = journal.start();
        if let Some(known) = self.holds.borrow().get(&start.session) {
            return Ok(Rc::clone(known));
        }
        let open = match journal.is_over() {
            true => Vec::new(),
            false => summary::holds(self.space, journal)?,
        };
        let standing = |hold| HoldStanding::of(self.space, journal, hold, self.now).ok();
        let standing = Rc::new(open.into_iter().filter_map(standing).collect::<Vec<_>>());
        self.holds.borrow_mut().insert(start.session, Rc::clone(&standing));
        Ok(standing)
    }

    /// Returns where the values of a session are found.
    pub(super) fn values<'v>(&'v self, journal: &RecordChain) -> SessionValues<'v, 'a> {
        SessionValues { sessions: self, local: Values::of(self.space, journal) }
    }
}

/// Takes an unknown session as none.
fn known<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(Error::Session(SessionError::Unknown { .. })) => Ok(None),
        Err(error) => Err(error),
    }
}

impl JournalMemory {
    /// Keeps a journal as it was when it was read first.
    fn keep(&mut self, id: &SessionId, journal: Arc<RecordChain>) -> Arc<RecordChain> {
        let now = journal.records().len() as u64;
        let length = *self.lengths.entry(*id).or_insert(now);
        let journal = if length < now { Arc::new(journal.up_to(length)) } else { journal };
        let n_bytes = bytes_of(&journal);
        if self.n_bytes + n_bytes <= REMEMBERED_BYTES_MAX {
            self.n_bytes += n_bytes;
            self.journals.insert(*id, Arc::clone(&journal));
        }
        journal
    }
}

fn bytes_of(journal: &RecordChain) -> usize {
    let inline = |value: &StoredValue| match value {
        StoredValue::Inline(bytes) => bytes.len(),
        StoredValue::Object(_) => 0,
    };
    let record = |values: Vec<&StoredValue>| values.into_iter().map(inline).sum::<usize>();
    journal.records().iter().map(|it| RECORD_BYTES + record(it.body.values())).sum()
}

/// Where the values of a session are found.
pub(super) struct SessionValues<'v, 'a> {
    sessions: &'v ReadSessions<'a>,
    local: Values<'a>,
}

impl SessionValues<'_, '_> {
    /// Reads a value.
    pub(super) fn value(&self, stored: &StoredValue) -> std::result::Result<Value, String> {
        stored.value(self).map_err(|error| error.to_string())
    }

    /// Writes a value as columns show it.
    pub(super) fn data<'c>(&self, stored: &StoredValue) -> ColumnValue<'c> {
        self.value(stored).map_or_else(ColumnValue::Gone, |value| ColumnValue::data(&value))
    }
}

impl StoredObjects for SessionValues<'_, '_> {
    fn bytes(&self, cid: &Cid) -> Option<Vec<u8>> {
        let folders = &self.local.folders;
        if let Some(bytes) = folders.iter().rev().find_map(|folder| folder.read_object(cid).ok()?) {
            return Some(bytes);
        }
        folders.iter().find_map(|folder| {
            let segments = self.sessions.sealed(&folder.id).ok()??;
            seal::value_in(segments, &folder.id, cid).ok()?
        })
    }
}
