//! What agents and sessions are, so that lists of many need not read their commits and records.
//!
//! All rows are in memory while the index is open; the tables keep them for the next process. Whoever
//! lists agents compares each row with where the branch and its notes are, and reads what differs.
//!
//! | table | key | value |
//! | --- | --- | --- |
//! | meta | `identity` | what the index is of, and its form |
//! | meta | `swept` | with which refs all agents were compared, where none was read since |
//! | seen | agent | its head and its notes when it was read |
//! | agent | agent | genesis, parent, briefing, commits, kinds, subject, instant, merges |
//! | edge | agent · 0 · source · 0 · relation · 0 · target · 0 · cid | whether it begins or ends, and when |
//! | session | id | agent, flow, state, records, instants, length of its log |
//! | hold | session | its open holds as lists know them, and what they derive from |
//! | cid | agent · 0 · number | the begins of some ids that its notes keep, or did: of objects, and of commits with notes |
//!
//! What is counted has no table: commits by day, waits, what came of sessions. Whoever counts folds the
//! segments of facts, which are kept by ids that never change. Neither has the log of an agent: it is read
//! from its head.

mod objects;
mod packed;
mod row;
mod swept;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use agentic_model::Value;

pub use self::objects::{KeptMark, KeptObjects};
pub use self::packed::{AgentRows, KnownAgent};
pub use self::row::{AgentRow, EdgeRow, SessionRow};
pub use self::swept::SweptRefs;
use crate::error::{IndexError, Result};
use crate::identity::{TableAge, identify};
use crate::tables::{IndexTable, TableBatch, Tables};
use crate::text::SeenAgent;
use crate::value::{seal, unseal};

/// So many rows wait at most before they are written.
const WAITING_MAX: usize = 4_096;
/// The version of the tables' form.
const FORMAT: i64 = 3;
const SWEPT: &[u8] = b"swept";

/// An index of agents and sessions.
pub struct MainIndex {
    tables: Box<dyn Tables>,
    shared: SharedLedger,
    /// Whether the objects were read.
    has_objects: bool,
    /// The rows that are still to be written to the tables, by their whole keys: together, all or none.
    waiting: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
}

/// The rows of an index, for those who list them while it is written.
#[derive(Debug, Clone, Default)]
pub struct SharedLedger(Arc<RwLock<LedgerRows>>);

/// What is known of agents and sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LedgerRows {
    /// Agents by name.
    pub agents: AgentRows,
    /// Sessions by id.
    pub sessions: BTreeMap<String, Arc<SessionRow>>,
    /// Whose notes keep which objects.
    pub objects: KeptObjects,
    /// With which refs all agents were compared, where none was read since.
    pub swept: Option<SweptRefs>,
}

/// What was read of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadAgent {
    /// What it is.
    pub row: AgentRow,
    /// What its notes keep, at least what they did not keep when they were read before.
    pub kept: Vec<KeptMark>,
}

impl SharedLedger {
    /// Looks at the rows. Whoever does so lets go of them soon: the index waits.
    pub fn rows(&self) -> RwLockReadGuard<'_, LedgerRows> {
        // No code that can panic runs while they are written, so poisoned ones are whole.
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut LedgerRows)) {
        change(&mut self.0.write().unwrap_or_else(PoisonError::into_inner));
    }
}

impl MainIndex {
    /// Opens an index, or begins one; `identity` says what it is of. Its rows are put into `shared`.
    ///
    /// # Errors
    /// Fails when it is of something else or of another version, and when it is damaged.
    pub fn open(
        tables: Box<dyn Tables>,
        identity: &str,
        shared: &SharedLedger,
    ) -> Result<MainIndex> {
        let (shared, waiting) = (shared.clone(), BTreeMap::new());
        let mut index = MainIndex { tables, shared, has_objects: false, waiting };
        let rows = match identify(index.tables.as_mut(), FORMAT, identity)? {
            TableAge::Old => index.load()?,
            TableAge::New => LedgerRows::default(),
        };
        index.shared.change(|shared| *shared = rows);
        Ok(index)
    }

    fn load(&self) -> Result<LedgerRows> {
        let mut seen = Vec::new();
        self.each(IndexTable::Seen, |key, value| {
            seen.push((text(key)?, SeenAgent::read(value)?));
            Ok(())
        })?;
        // Sorted by name, as the agents are.
        let mut seen = seen.into_iter().peekable();
        let mut edges: BTreeMap<String, Vec<EdgeRow>> = BTreeMap::new();
        self.each(IndexTable::Edge, |key, value| {
            let (agent, edge) = EdgeRow::read(key, value)?;
            edges.entry(agent).or_default().push(edge);
            Ok(())
        })?;
        let mut rows = LedgerRows::default();
        self.each(IndexTable::Agent, |key, value| {
            let name = text(key)?;
            // How far it was read is written together with what was read.
            let seen = seen.next_if(|(of, _)| *of == name);
            let (_, seen) = seen.ok_or_else(|| IndexError::damaged("an agent"))?;
            let edges = edges.remove(&name).unwrap_or_default();
            let row = AgentRow::read(&name, value, seen, edges)?;
            rows.agents.put(KnownAgent::pack(&row));
            Ok(())
        })?;
        self.each(IndexTable::Session, |key, value| {
            rows.sessions.insert(text(key)?, Arc::new(SessionRow::read(value)?));
            Ok(())
        })?;
        let swept = self.tables.get(IndexTable::Meta, SWEPT)?;
        let swept = swept.as_deref().map(SweptRefs::read).transpose()?;
        rows.swept = swept.filter(|swept| swept.n_agents == rows.agents.len());
        match seen.peek().is_none() && edges.is_empty() {
            true => Ok(rows),
            false => Err(IndexError::damaged("an agent that is not there")),
        }
    }

    fn each(
        &self,
        table: IndexTable,
        mut take: impl FnMut(&[u8], &[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut outcome = Ok(());
        self.tables.visit(table, b"", &mut |key, value| {
            outcome = take(key, value);
            if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        outcome
    }

    /// Looks at what is known.
    pub fn rows(&self) -> RwLockReadGuard<'_, LedgerRows> {
        self.shared.rows()
    }

    /// Takes what some agents are now, together.
    ///
    /// # Errors
    /// Fails when the database does.
    pub fn put_agents(&mut self, read: Vec<ReadAgent>) -> Result<()> {
        if read.is_empty() {
            return Ok(());
        }
        self.recall_objects()?;
        let mut batch = self.change_of_agents();
        for ReadAgent { row, kept } in &read {
            self.shared.rows().objects.write(&row.name, kept, &mut batch);
            let before = self.shared.rows().agents.get(&row.name);
            let before = before.iter().flat_map(KnownAgent::edges);
            for edge in before.filter(|edge| !row.edges.contains(edge)) {
                batch.remove(IndexTable::Edge, &edge.key(&row.name));
            }
            for edge in &row.edges {
                batch.put(IndexTable::Edge, &edge.key(&row.name), edge.sealed());
            }
            batch.put(IndexTable::Agent, row.name.as_bytes(), row.sealed());
            batch.put(IndexTable::Seen, row.name.as_bytes(), row.seen.sealed());
        }
        self.write(batch)?;
        self.shared.change(|shared| {
            shared.swept = None;
            for ReadAgent { row, kept } in read {
                shared.objects.take(&row.name, &kept);
                shared.agents.put(KnownAgent::pack(&row));
            }
        });
        Ok(())
    }

    /// Reads which objects the notes of agents keep, which nobody has to wait for when an index is opened.
    ///
    /// # Errors
    /// Fails when the database does.
    pub fn recall_objects(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.has_objects, true) {
            return Ok(());
        }
        self.write_down()?;
        let mut objects = KeptObjects::default();
        self.each(IndexTable::Cid, |key, value| objects.read(key, value))?;
        objects.is_whole = true;
        self.shared.change(|rows| rows.objects = objects);
        Ok(())
    }

    /// Forgets an agent.
    ///
    /// # Errors
    /// Fails when the database does.
    pub fn forget_agent(&mut self, agent: &str) -> Result<()> {
        self.recall_objects()?;
        let mut batch = self.change_of_agents();
        self.shared.rows().objects.erase(agent, &mut batch);
        let before = self.shared.rows().agents.get(agent);
        for edge in before.iter().flat_map(KnownAgent::edges) {
            batch.remove(IndexTable::Edge, &edge.key(agent));
        }
        batch.remove(IndexTable::Agent, agent.as_bytes());
        batch.remove(IndexTable::Seen, agent.as_bytes());
        self.write(batch)?;
        self.shared.change(|rows| {
            rows.swept = None;
            rows.objects.forget(agent);
            rows.agents.remove(agent);
        });
        Ok(())
    }

    /// Begins a change after which agents are no more as they were compared last.
    fn change_of_agents(&self) -> TableBatch {
        let mut batch = TableBatch::default();
        if self.shared.rows().swept.is_some() {
            batch.remove(IndexTable::Meta, SWEPT);
        }
        batch
    }

    /// Notes with which refs all agents were compared: each row is what they say.
    ///
    /// # Errors
    /// Fails when the database does.
    pub fn note_swept(&mut self, swept: SweptRefs) -> Result<()> {
        if self.shared.rows().swept == Some(swept) {
            return Ok(());
        }
        let mut batch = TableBatch::default();
        batch.put(IndexTable::Meta, SWEPT, swept.sealed());
        self.write(batch)?;
        self.shared.change(|rows| rows.swept = Some(swept));
        Ok(())
    }

    /// Takes what a session is now.
    ///
    /// # Errors
    /// Fails when the database does.
    pub fn put_session(&mut self, session: &str, row: SessionRow) -> Result<()> {
        let mut batch = TableBatch::default();
        batch.put(IndexTable::Session, session.as_bytes(), row.sealed());
        self.write(batch)?;
        let session = session.to_owned();
        self.shared.change(|rows| drop(rows.sessions.insert(session, Arc::new(row))));
        Ok(())
    }

    /// Takes what is written down of the open holds of some sessions; nothing where one asks nothing.
    ///
    /// # Errors
    /// Fails when the database does.
    pub fn put_holds(&mut self, news: Vec<(String, Option<Value>)>) -> Result<()> {
        let mut batch = TableBatch::default();
        for (session, holds) in news {
            match holds {
                Some(holds) => batch.put(IndexTable::Hold, session.as_bytes(), seal(&holds)),
                None => batch.remove(IndexTable::Hold, session.as_bytes()),
            }
        }
        self.write(batch)
    }

    /// Visits what is written down of open holds, by session.
    ///
    /// # Errors
    /// Fails when the database does, and when a row is damaged.
    pub fn holds(&mut self, mut visit: impl FnMut(&str, &Value)) -> Result<()> {
        self.write_down()?;
        self.each(IndexTable::Hold, |key, value| {
            visit(&text(key)?, &unseal(value)?);
            Ok(())
        })
    }

    /// Forgets the sessions that are not among those that there are.
    ///
    /// # Errors
    /// Fails when the database does.
    pub fn keep_sessions(&mut self, there: &BTreeSet<String>) -> Result<()> {
        let is_gone = |session: &&String| !there.contains(*session);
        let gone: Vec<String> =
            self.shared.rows().sessions.keys().filter(is_gone).cloned().collect();
        if gone.is_empty() {
            return Ok(());
        }
        let mut batch = TableBatch::default();
        for session in &gone {
            batch.remove(IndexTable::Session, session.as_bytes());
            batch.remove(IndexTable::Hold, session.as_bytes());
        }
        self.write(batch)?;
        self.shared.change(|rows| rows.sessions.retain(|session, _| there.contains(session)));
        Ok(())
    }

    /// Puts on the disk what was changed.
    ///
    /// # Errors
    /// Fails when the database does; then what was changed since the last time may be lost as a whole.
    pub fn flush(&mut self) -> Result<()> {
        self.write_down()?;
        self.tables.flush()
    }

    /// Takes rows that are to be written. One that changes often is written once.
    fn write(&mut self, batch: TableBatch) -> Result<()> {
        self.waiting.extend(batch.changes);
        if self.waiting.len() >= WAITING_MAX { self.write_down() } else { Ok(()) }
    }

    /// Writes the rows that wait for it.
    fn write_down(&mut self) -> Result<()> {
        let changes: Vec<_> = std::mem::take(&mut self.waiting).into_iter().collect();
        if changes.is_empty() { Ok(()) } else { self.tables.apply(TableBatch { changes }) }
    }
}

impl Drop for MainIndex {
    /// An index that is closed knows nothing.
    fn drop(&mut self) {
        self.shared.change(|rows| *rows = LedgerRows::default());
    }
}

fn text(key: &[u8]) -> Result<String> {
    String::from_utf8(key.to_vec()).map_err(|_| IndexError::damaged("a key is no text"))
}
