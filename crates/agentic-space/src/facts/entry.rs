//! Rows about entries of traces. Texts are read when they are asked for, and kept nowhere.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::rc::Rc;

use agentic_git::NotesState;
use agentic_model::{Cid, Kind, Map, Object, Oid, Value, guidance};
use agentic_query::FactCell;

use super::SpaceFacts;
use super::roster::FactAgent;
use super::rows::FactRows;
use crate::{Error, Result, Space};

/// Which column of `entry` has the trace.
const TRACE: usize = 0;
/// Of how many agents the traces are in memory at once.
const AGENTS_AT_ONCE: usize = 64;

/// A happening, with its pieces joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FactEntry {
    pub kind: String,
    pub at: i64,
    /// Nothing of bytes, and of what was taken out.
    pub text: Option<String>,
}

/// A trace as it is stored.
#[derive(Debug, Default)]
pub(super) struct StoredTrace {
    pub entries: Vec<FactEntry>,
    /// The trace that it continues.
    pub previous: Option<Cid>,
}

/// The traces that the notes of an agent keep.
pub(super) struct TraceObjects<'s> {
    space: &'s Space,
    notes: NotesState<'s>,
    blobs: Option<BTreeMap<Cid, Oid>>,
}

/// The traces of one agent that are wanted.
struct WantedTraces {
    agent: Rc<FactAgent>,
    cids: Vec<Cid>,
}

impl SpaceFacts<'_> {
    /// `entry`.
    pub(super) fn entry_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        let wanted = self.wanted_traces(rows)?;
        for part in wanted.chunks(AGENTS_AT_ONCE) {
            let space = self.space;
            let asked: Vec<(&FactAgent, &[Cid])> =
                part.iter().map(|wanted| (&*wanted.agent, wanted.cids.as_slice())).collect();
            let read = super::parallel::map(&asked, self.pace("traces"), |(agent, cids)| {
                Ok(read_traces(space, agent, cids))
            });
            // Of those that are unread because reading was ended, nobody asks any more.
            for (cid, trace) in read.into_iter().flatten().flatten() {
                let Some(trace) = rows.noted(format_args!("the trace {cid}"), trace) else {
                    continue;
                };
                if entry_rows_of(&cid.to_string(), &trace.entries, rows).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Lists the traces that are bound and wanted, each with one agent that has it.
    fn wanted_traces(&self, rows: &mut FactRows<'_, '_>) -> Result<Vec<WantedTraces>> {
        let agents = self.agents(None)?;
        let bound = rows.bound(TRACE);
        let mut seen = BTreeSet::new();
        let mut wanted = Vec::new();
        for (agent, list) in agents.iter().zip(self.trace_lists(&agents)) {
            let Some(list) = rows.noted(format_args!("the traces of agent `{agent}`"), list) else {
                continue;
            };
            let mut cids = Vec::new();
            let _ = self.each_bound(agent, &list, &mut |trace| {
                let is_wanted = bound.as_ref().is_none_or(|bound| bound.contains(trace.cid));
                if is_wanted
                    && let Ok(cid) = Cid::parse(trace.cid)
                    && seen.insert(cid)
                {
                    cids.push(cid);
                }
                ControlFlow::Continue(())
            })?;
            if !cids.is_empty() {
                wanted.push(WantedTraces { agent: Rc::clone(agent), cids });
            }
        }
        Ok(wanted)
    }
}

impl<'s> TraceObjects<'s> {
    /// Opens the notes of an agent.
    pub fn new(space: &'s Space, agent: &FactAgent) -> Result<TraceObjects<'s>> {
        let notes = space.repository().notes_at(agent.notes)?;
        Ok(TraceObjects { space, notes, blobs: None })
    }

    /// Reads a trace with the parts that it is cut into.
    pub fn read(&mut self, cid: Cid) -> Result<StoredTrace> {
        let object = self.object(cid)?;
        let mut pieces = Vec::new();
        match object.map().get("parts").and_then(Value::as_list) {
            Some(parts) => {
                for part in parts.iter().filter_map(Value::as_link) {
                    pieces.extend(pieces_of(self.object(part)?.map()));
                }
            }
            None => pieces = pieces_of(object.map()),
        }
        let previous = object.map().get("previous").and_then(Value::as_link);
        Ok(StoredTrace { entries: joined(&pieces), previous })
    }

    fn object(&mut self, cid: Cid) -> Result<Object> {
        if self.blobs.is_none() {
            let kind = Kind::parse("console-trace").expect("a valid name");
            self.blobs = Some(self.notes.blobs_of(&kind)?);
        }
        match self.blobs.as_ref().and_then(|blobs| blobs.get(&cid)) {
            Some(blob) => Ok(Object::decode(&self.notes.object_in(cid, *blob)?)?),
            None => match self.notes.object(cid)? {
                Some(bytes) => Ok(Object::decode(&bytes)?),
                None => self.space.object(cid),
            },
        }
    }
}

type ReadTrace = (Cid, std::result::Result<StoredTrace, String>);

fn read_traces(space: &Space, agent: &FactAgent, cids: &[Cid]) -> Vec<ReadTrace> {
    let said = |error: Error| guidance::chain(&error);
    match TraceObjects::new(space, agent) {
        Ok(mut objects) => {
            cids.iter().map(|cid| (*cid, objects.read(*cid).map_err(said))).collect()
        }
        Err(error) => {
            let why = said(error);
            cids.iter().map(|cid| (*cid, Err(why.clone()))).collect()
        }
    }
}

/// A piece of an entry, and whether the next one goes on with it.
#[derive(Debug)]
pub(super) struct EntryPiece {
    pub entry: FactEntry,
    pub continues: bool,
}

/// Reads the pieces of an object; what is no entry is none.
fn pieces_of(object: &Map) -> Vec<EntryPiece> {
    let entries = object.get("entries").and_then(Value::as_list).unwrap_or_default();
    let piece = |value: &Value| {
        let map = value.as_map()?;
        let entry = FactEntry {
            kind: map.get("kind")?.as_text()?.to_owned(),
            at: map.get("at")?.as_int()?,
            text: map.get("body").and_then(Value::as_text).map(str::to_owned),
        };
        let continues = map.get("continues").and_then(Value::as_bool).unwrap_or(false);
        Some(EntryPiece { entry, continues })
    };
    entries.iter().filter_map(piece).collect()
}

/// Joins pieces to entries. One of which a piece is no text has none.
pub(super) fn joined(pieces: &[EntryPiece]) -> Vec<FactEntry> {
    let mut entries: Vec<FactEntry> = Vec::new();
    let mut goes_on = false;
    for piece in pieces {
        match entries.last_mut().filter(|_| goes_on) {
            Some(entry) => match (&mut entry.text, &piece.entry.text) {
                (Some(text), Some(more)) => text.push_str(more),
                (text, _) => *text = None,
            },
            None => entries.push(piece.entry.clone()),
        }
        goes_on = piece.continues;
    }
    entries
}

/// Hands over the rows of the entries of one trace or agent.
pub(super) fn entry_rows_of(
    whose: &str,
    entries: &[FactEntry],
    rows: &mut FactRows<'_, '_>,
) -> ControlFlow<()> {
    entries.iter().enumerate().try_for_each(|(n, entry)| {
        rows.row(&[
            FactCell::Text(whose),
            FactCell::Int(n as i64),
            FactCell::Text(&entry.kind),
            FactCell::Int(entry.at),
            entry.text.as_deref().map_or(FactCell::Null, FactCell::Text),
        ])
    })
}
