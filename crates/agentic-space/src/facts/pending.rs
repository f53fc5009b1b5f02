//! Rows about entries that are bound to no commit yet.
//!
//! Journals are read before refs: an entry that a commit takes meanwhile is seen in both, and counts
//! as bound. The other way round it would be seen in neither.

use std::collections::BTreeMap;

use agentic_model::trace::cid_in_note;
use agentic_model::{AgentName, Entry, Oid, Value};
use agentic_store::{Stream, journal};

use super::SpaceFacts;
use super::entry::{EntryPiece, FactEntry, TraceObjects, entry_rows_of, joined};
use super::roster::{AgentPlace, FactAgent};
use super::rows::FactRows;
use crate::Result;

/// Which column has the agent.
const AGENT: usize = 0;

/// What journals had, and where notes were before that.
pub(super) type KnownPending = BTreeMap<String, PendingOfAgent>;

/// The pending entries of one agent.
pub(super) struct PendingOfAgent {
    notes: Option<Oid>,
    entries: std::result::Result<Vec<FactEntry>, String>,
}

impl SpaceFacts<'_> {
    /// Reads the journals now. Whoever will ask for pending entries calls this before anything else.
    pub fn hold_pending(&self) {
        let folder = self.space.repository().layout().journals();
        let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let names = names.filter_map(|entry| AgentName::parse(entry.file_name().to_str()?).ok());
        let mut held = KnownPending::new();
        for name in names {
            let pending = self.pending_now(&name);
            if !matches!(&pending.entries, Ok(entries) if entries.is_empty()) {
                held.insert(name.to_string(), pending);
            }
        }
        *self.pending.borrow_mut() = Some(held);
    }

    /// `pending_entry`.
    pub(super) fn pending_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        if self.pending.borrow().is_none() {
            self.hold_pending();
        }
        let held = self.pending.borrow();
        for agent in self.agents(rows.bound(AGENT).as_ref())? {
            let pending = held.as_ref().and_then(|held| held.get(&agent.name));
            let Some(pending) = pending.filter(|_| agent.place == AgentPlace::Open) else {
                continue;
            };
            let what = format!("the journal of agent `{agent}`");
            let Some(entries) = rows.noted(&what, pending.entries.clone()) else { continue };
            let entries = self.without_bound(&agent, pending.notes, entries)?;
            if entry_rows_of(&agent.name, &entries, rows).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn pending_now(&self, name: &AgentName) -> PendingOfAgent {
        let repository = self.space.repository();
        let notes = repository.find_ref(&name.notes_ref()).ok().flatten();
        let stream = Stream::Agent(name.clone());
        let entries = journal::pending_entries(repository.layout(), &stream);
        let entries =
            entries.map(|entries| joined(&entries.into_iter().map(piece_of).collect::<Vec<_>>()));
        PendingOfAgent { notes, entries: entries.map_err(|error| error.to_string()) }
    }

    /// Leaves out what a commit has taken between the look at the journal and the look at the notes.
    fn without_bound(
        &self,
        agent: &FactAgent,
        before: Option<Oid>,
        mut entries: Vec<FactEntry>,
    ) -> Result<Vec<FactEntry>> {
        if before == agent.notes {
            return Ok(entries);
        }
        let mut objects = TraceObjects::new(self.space, agent)?;
        for note in self.space.repository().changed_notes(before, agent.notes)? {
            let Some(cid) = note.text.as_deref().and_then(cid_in_note) else { continue };
            for bound in objects.read(cid)?.entries {
                if let Some(at) = entries.iter().position(|entry| *entry == bound) {
                    entries.remove(at);
                }
            }
        }
        Ok(entries)
    }
}

fn piece_of(entry: Entry) -> EntryPiece {
    let text = match entry.body {
        Value::Text(text) => Some(text),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => None,
        Value::Bytes(_) | Value::List(_) | Value::Map(_) | Value::Link(_) => None,
    };
    let (kind, at) = (entry.kind.to_string(), entry.at.millis());
    EntryPiece { entry: FactEntry { kind, at, text }, continues: entry.continues }
}
