//! What a question has read of sessions so far. Each journal is read once, however many predicates
//! look at it, and stays as long as it was when it was read first.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use agentic_git::ArchiveEntry;
use agentic_model::{AgentName, Cid, Instant, Oid, Value, guidance};
use agentic_query::{ExplainedCache, ReadProgress, ReadTeller};
use agentic_replay::{RecordChain, SessionId, StoredObjects, StoredValue};
use agentic_space::AgentBranch;
use agentic_space::agent::SoundAgents;
use agentic_space::facts::parallel::ReadPace;

use super::memory::JournalMemory;
use super::remote::remote_notes;
use super::row::{ColumnValue, SessionRows};
use crate::error::SessionError;
use crate::folder::{Folder, Values};
use crate::hold::HoldStanding;
use crate::own::{self, FirstRecord, read_journal};
use crate::segment::{Segments, notes_with_sessions};
use crate::{Error, Result, SessionSpace, summary};

/// How many journals are read ahead, on all cores.
const SESSIONS_AT_ONCE: usize = 64;
/// Fewer journals than this are read when somebody asks for them.
const AHEAD_MIN: usize = 8;
/// The name of the cache that tells which sessions are sealed in which notes.
const SEALED: &str = "sealed sessions";

/// What a question has read of sessions so far.
pub(super) struct ReadSessions<'a> {
    /// The space.
    pub(super) space: &'a SessionSpace,
    /// The moment at which holds are looked at.
    pub(super) now: Instant,
    /// Who is told how far reading is, and may end it.
    pub(super) teller: Option<&'a ReadTeller<'a>>,
    memory: RefCell<JournalMemory>,
    /// The segments of all notes, of those in the archive, and of those that remotes have.
    segments: OnceCell<Vec<SealedNotes<'a>>>,
    /// Which of them has a session.
    sealed_at: OnceCell<BTreeMap<SessionId, usize>>,
    /// How the open holds of sessions stand.
    holds: RefCell<BTreeMap<SessionId, Rc<Vec<HoldStanding>>>>,
    /// What is damaged, and was not told yet.
    damage: RefCell<BTreeSet<String>>,
    /// The sessions about whose damage was told.
    told: RefCell<BTreeSet<SessionId>>,
    /// What caches were good for, by name: how many ids were asked for, and how many were not there.
    caches: RefCell<BTreeMap<&'static str, (usize, usize)>>,
}

/// The segments in the notes of one agent.
pub(super) struct SealedNotes<'a> {
    pub(super) segments: Segments<'a>,
    /// Whose they are, if they are those that a remote has.
    remote: Option<AgentBranch>,
}

impl<'a> ReadSessions<'a> {
    /// Begins with nothing.
    pub(super) fn new(space: &'a SessionSpace) -> ReadSessions<'a> {
        ReadSessions {
            space,
            now: space.now(),
            teller: None,
            memory: RefCell::default(),
            segments: OnceCell::new(),
            sealed_at: OnceCell::new(),
            holds: RefCell::default(),
            damage: RefCell::default(),
            told: RefCell::default(),
            caches: RefCell::default(),
        }
    }

    /// Says what is read, for those who are told how far that is.
    pub(super) fn pace(&self, what: &'static str) -> ReadPace<'a> {
        ReadPace { what, teller: self.teller }
    }

    /// Counts ids that were looked up in a cache, and those of them that were not there.
    pub(super) fn count(&self, cache: &'static str, n_ids: usize, n_new: usize) {
        let mut caches = self.caches.borrow_mut();
        let counted = caches.entry(cache).or_default();
        (counted.0, counted.1) = (counted.0 + n_ids, counted.1 + n_new);
    }

    /// Tells what the caches were good for that were asked.
    pub(super) fn caches(&self) -> Vec<ExplainedCache> {
        let caches = self.caches.borrow();
        let asked = caches.iter().filter(|(_, (n_ids, _))| *n_ids > 0);
        let told = |(name, (n_ids, n_new)): (&&str, &(usize, usize))| ExplainedCache {
            name: (*name).to_owned(),
            n_ids: *n_ids,
            n_new: *n_new,
        };
        asked.map(told).collect()
    }

    /// Returns the segments of all notes that may have any: those here, those in the archive, and then
    /// those that remotes have, so that what is here as well is found here. Damaged notes have none.
    pub(super) fn segments(&self) -> Result<&[SealedNotes<'a>]> {
        if let Some(segments) = self.segments.get() {
            return Ok(segments);
        }
        let mut found = Vec::new();
        let mut add = |what: String, read: Result<Segments<'a>>, remote: Option<AgentBranch>| {
            let read = self.or_told(&what, read);
            found.extend(read.map(|segments| SealedNotes { segments, remote }));
        };
        for name in notes_with_sessions(self.space)? {
            let read = Segments::of_ref(self.space, &name);
            add(format!("`{name}` is left out"), read, None);
        }
        for entry in self.archived() {
            let what = format!("notes of agent {} are left out", entry.archived.agent);
            add(what, Segments::of_archived(self.space, &entry.archived), None);
        }
        for (branch, _) in remote_notes(self)? {
            let read = Segments::of_ref(self.space, &branch.notes_ref());
            add(format!("notes of agent {branch} are left out"), read, Some(branch));
        }
        for SealedNotes { segments, .. } in &found {
            self.count(SEALED, 1, usize::from(segments.is_new()));
            segments.remember_seen();
        }
        Ok(self.segments.get_or_init(|| found))
    }

    /// Lists the sessions that are sealed in notes.
    pub(super) fn sealed_sessions(&self) -> Result<impl Iterator<Item = SessionId> + use<'_, 'a>> {
        Ok(self.segments()?.iter().flat_map(|notes| notes.segments.sessions()))
    }

    /// Tells whether anything came by fetch that nobody has taken over.
    pub(super) fn has_remote_notes(&self) -> Result<bool> {
        Ok(!remote_notes(self)?.is_empty())
    }

    /// Lists the sessions that only a remote has: of one of its agents, or of all of them.
    pub(super) fn only_remote(&self, agent: Option<&AgentBranch>) -> Result<BTreeSet<SessionId>> {
        let (mut here, mut there) = (BTreeSet::new(), BTreeSet::new());
        for SealedNotes { segments, remote } in self.segments()? {
            match remote {
                None => here.extend(segments.sessions()),
                Some(remote) if agent.is_none_or(|agent| agent == remote) => {
                    there.extend(segments.sessions());
                }
                Some(_) => {}
            }
        }
        there.retain(|id| !here.contains(id) && !Folder::of(self.space, id).exists());
        Ok(there)
    }

    /// Returns what the agent of a session is called: that of one that only a remote has, by its name
    /// there.
    pub(super) fn agent_of<'n>(&self, id: &SessionId, agent: &'n AgentName) -> Cow<'n, str> {
        let is_here = Folder::of(self.space, id).exists();
        let notes = if is_here { None } else { self.sealed(id).ok().flatten() };
        match notes.and_then(|notes| notes.remote.as_ref()?.remote.as_ref()) {
            Some(remote) => Cow::Owned(format!("{remote}/{agent}")),
            None => Cow::Borrowed(agent.as_str()),
        }
    }

    /// Lists the agents that only the archive has; none if that is damaged.
    pub(super) fn archived(&self) -> Vec<ArchiveEntry> {
        let archived = self.space.archived_agents().map_err(Error::from);
        self.or_told("the archive is left out", archived).unwrap_or_default()
    }

    /// Lists the agents with a branch here, and remembers to tell of those that are damaged.
    pub(super) fn open_agents(&self) -> Result<Vec<(AgentName, Oid)>> {
        let SoundAgents { agents, damaged } = self.space.sound_agents()?;
        self.damage.borrow_mut().extend(damaged.iter().map(ToString::to_string));
        Ok(agents)
    }

    /// Finds where the notes of an agent are. Those of a damaged ref are nowhere.
    pub(super) fn notes_of(&self, agent: &AgentName) -> Option<Oid> {
        let name = agent.notes_ref();
        let found = self.space.repository().find_ref(&name).map_err(Error::from);
        self.or_told(&format!("`{name}` is left out"), found).flatten()
    }

    /// Finds where the branch of an agent is, or was when it was archived. A damaged branch or archive has
    /// none.
    pub(super) fn head_of(&self, agent: &AgentName) -> Result<Option<Oid>> {
        let repository = self.space.repository();
        let found = repository.find_ref(&agent.branch_ref()).map_err(Error::from);
        let what = format!("agent `{agent}` is left out");
        match self.or_told(&what, found) {
            Some(None) => {}
            Some(found) => return Ok(found),
            None => return Ok(None),
        }
        let entry = repository.archive_entry(agent).map_err(Error::from);
        let entry = self.or_told("the archive is left out", entry).flatten();
        Ok(entry.map(|entry| entry.archived.head))
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
        known(own::first_with(self.space, id, &|id| self.sealed_frames(id)))
    }

    /// Reads the journal of a session; nothing if there is no such session.
    pub(super) fn journal(&self, id: &SessionId) -> Result<Option<Arc<RecordChain>>> {
        if let Some(journal) = self.memory.borrow().journal(id) {
            return Ok(Some(journal));
        }
        let sealed = |id: &SessionId| self.sealed_frames(id);
        let journal = known(own::read_journal_with(self.space, id, &sealed))?;
        Ok(journal.map(|journal| self.memory.borrow_mut().keep(id, journal)))
    }

    /// Tells now and then how many of some sessions are read; `Break` ends it.
    pub(super) fn tell(&self, sessions: &[SessionId], n_done: usize) -> ControlFlow<()> {
        if !n_done.is_multiple_of(SESSIONS_AT_ONCE) {
            return ControlFlow::Continue(());
        }
        let progress = ReadProgress { what: "sessions", n_done, n_all: sessions.len() };
        self.teller.map_or(ControlFlow::Continue(()), |teller| teller(progress))
    }

    /// Does the same, and reads the journals of those that come next.
    pub(super) fn ahead(&self, sessions: &[SessionId], n_done: usize) -> ControlFlow<()> {
        let told = self.tell(sessions, n_done);
        if told.is_continue() && n_done.is_multiple_of(SESSIONS_AT_ONCE) {
            let end = sessions.len().min(n_done + SESSIONS_AT_ONCE);
            self.read_ahead(&sessions[n_done..end]);
        }
        told
    }

    /// Reads the journals of sessions that have a folder here on all cores, those that nobody has read
    /// yet. What cannot be read is found again by whoever asks for it.
    fn read_ahead(&self, sessions: &[SessionId]) {
        let unread = self.memory.borrow().unread(sessions);
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
            Some(notes) => notes.segments.frames(id),
            None => Ok(Vec::new()),
        }
    }

    /// Finds the notes in which a session is sealed.
    fn sealed(&self, id: &SessionId) -> Result<Option<&SealedNotes<'a>>> {
        let segments = self.segments()?;
        let places = self.sealed_at.get_or_init(|| {
            let numbered = segments.iter().enumerate().rev();
            let sealed = |(at, one): (usize, &SealedNotes<'a>)| {
                one.segments.sessions().map(move |id| (id, at)).collect::<Vec<_>>()
            };
            numbered.flat_map(sealed).collect()
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
    /// is left out, as it is where holds are listed, and told.
    pub(super) fn holds(&self, journal: &RecordChain) -> Result<Rc<Vec<HoldStanding>>> {
        let start = journal.start();
        if let Some(known) = self.holds.borrow().get(&start.session) {
            return Ok(Rc::clone(known));
        }
        let open = match journal.is_over() {
            true => Vec::new(),
            false => summary::holds(self.space, journal)?,
        };
        let what = format!("a hold of session {} is left out", start.session.short());
        let standing =
            |hold| self.or_told(&what, HoldStanding::of(self.space, journal, hold, self.now));
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
            let notes = self.sessions.sealed(&folder.id).ok()??;
            notes.segments.value(&folder.id, cid).ok()?
        })
    }
}
