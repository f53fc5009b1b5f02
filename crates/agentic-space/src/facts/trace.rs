//! Rows about traces: which are bound to commits now, and which were.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::rc::Rc;

use agentic_model::trace::cid_in_note;
use agentic_model::{Cid, Oid};
use agentic_query::FactCell;

use super::SpaceFacts;
use super::cache::{PackedReader, PackedWriter};
use super::derived::{Derivation, DerivedContent, OlderContent, notes_key};
use super::entry::TraceObjects;
use super::roster::{AgentPlace, FactAgent};
use super::rows::FactRows;
use crate::{Result, Space};

/// Which column of `trace` has the agent.
const AGENT: usize = 2;
/// How many traces are followed back from one that continues them.
const PREVIOUS_MAX: usize = 10_000;

/// What stands for a number of entries where the trace is not here.
const NOT_HERE: i64 = -1;

/// The traces of each commit: their ids, and how many entries they hold.
type BoundTraces = BTreeMap<Oid, Vec<(Cid, i64)>>;

/// A trace that is bound to a commit.
pub(super) struct BoundRow<'a> {
    pub commit: Oid,
    pub cid: &'a str,
    pub n_entries: i64,
}

impl SpaceFacts<'_> {
    /// `trace`.
    pub(super) fn trace_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        let agents = self.agents(rows.bound(AGENT).as_ref())?;
        for (agent, traces) in agents.iter().zip(self.trace_lists(&agents)) {
            let Some(traces) = rows.noted(format_args!("the traces of agent `{agent}`"), traces)
            else {
                continue;
            };
            let visited = self.each_bound(agent, &traces, &mut |bound| {
                rows.row(&[
                    FactCell::Text(bound.cid),
                    FactCell::Text(&bound.commit.to_string()),
                    FactCell::Text(&agent.name),
                    match bound.n_entries {
                        NOT_HERE => FactCell::Null,
                        n_entries => FactCell::Int(n_entries),
                    },
                ])
            })?;
            if visited.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// `binding`.
    pub(super) fn binding_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        let agents = self.agents_of(rows.commits(0).as_ref())?;
        let space = self.space;
        let how = Derivation {
            what: "bindings of agents",
            cache: &self.caches.bindings,
            key: &notes_key,
            make: &|agent, older| read_history(space, agent, older),
        };
        for (agent, content) in agents.iter().zip(self.derived(&agents, &how)) {
            let what = format!("the notes of agent `{agent}`");
            let Some(content) = rows.noted(&what, content) else { continue };
            if self.history_rows(agent, &content, rows)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn history_rows(
        &self,
        agent: &FactAgent,
        content: &[u8],
        rows: &mut FactRows<'_, '_>,
    ) -> Result<ControlFlow<()>> {
        let mut reader = PackedReader::new(content);
        while let (Some(commit), Some(cid), Some(at), Some(note)) =
            (reader.oid(), reader.text(), reader.number(), reader.oid())
        {
            if agent.place == AgentPlace::Remote && self.commits_here()?.contains(&commit) {
                continue;
            }
            let row = rows.row(&[
                FactCell::Text(&commit.to_string()),
                if cid.is_empty() { FactCell::Null } else { FactCell::Text(cid) },
                FactCell::Int(at),
                FactCell::Text(&note.to_string()),
            ]);
            if row.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Lists the traces that the notes of agents bind now.
    pub(super) fn trace_lists(&self, agents: &[Rc<FactAgent>]) -> Vec<DerivedContent> {
        let space = self.space;
        let how = Derivation {
            what: "traces of agents",
            cache: &self.caches.traces,
            key: &notes_key,
            make: &|agent, older| read_bound(space, agent, older),
        };
        self.derived(agents, &how)
    }

    /// Visits the traces of a list; of an agent of a remote only those of commits that are not here.
    pub(super) fn each_bound(
        &self,
        agent: &FactAgent,
        list: &[u8],
        visit: &mut dyn FnMut(BoundRow<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        let mut reader = PackedReader::new(list);
        while let (Some(commit), Some(cid), Some(n_entries)) =
            (reader.oid(), reader.text(), reader.number())
        {
            if agent.place == AgentPlace::Remote && self.commits_here()?.contains(&commit) {
                continue;
            }
            if visit(BoundRow { commit, cid, n_entries }).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Reads what the notes of an agent bind; of a state that was read before only what changed since.
fn read_bound(
    space: &Space,
    agent: &FactAgent,
    older: Option<OlderContent<'_>>,
) -> Result<Vec<u8>> {
    let repository = space.repository();
    let since = older.and_then(|older| Some((Oid::parse(older.key).ok()?, older.content)));
    let since = since.filter(|(tip, _)| repository.notes_at(Some(*tip)).is_ok());
    let (tip, mut bound) = match since {
        Some((tip, content)) => (Some(tip), decode(content)),
        None => (None, BoundTraces::new()),
    };
    let mut objects = TraceObjects::new(space, agent)?;
    for note in repository.changed_notes(tip, agent.notes)? {
        match note.text.as_deref().and_then(cid_in_note) {
            Some(cid) => drop(bound.insert(note.commit, chain(&mut objects, cid)?)),
            None => drop(bound.remove(&note.commit)),
        }
    }
    Ok(encode(&bound))
}

/// Follows a trace to those that it continues: each is a trace of its own.
fn chain(objects: &mut TraceObjects<'_>, newest: Cid) -> Result<Vec<(Cid, i64)>> {
    let (mut found, mut next) = (Vec::new(), Some(newest));
    while let Some(cid) = next.filter(|cid| found.iter().all(|(known, _)| known != cid)) {
        if found.len() >= PREVIOUS_MAX {
            break;
        }
        // A note may name what is not here: it is bound all the same.
        let read = objects.read(cid).ok();
        found.push((cid, read.as_ref().map_or(NOT_HERE, |read| read.entries.len() as i64)));
        next = read.and_then(|read| read.previous);
    }
    Ok(found)
}

fn decode(content: &[u8]) -> BoundTraces {
    let mut bound = BoundTraces::new();
    let mut reader = PackedReader::new(content);
    while let (Some(commit), Some(cid), Some(n_entries)) =
        (reader.oid(), reader.text(), reader.number())
    {
        if let Ok(cid) = Cid::parse(cid) {
            bound.entry(commit).or_default().push((cid, n_entries));
        }
    }
    bound
}

fn encode(bound: &BoundTraces) -> Vec<u8> {
    let mut content = PackedWriter::default();
    for (commit, traces) in bound {
        for (cid, n_entries) in traces {
            content.bytes(commit.as_bytes());
            content.bytes(cid.to_string().as_bytes());
            content.number(*n_entries);
        }
    }
    content.into_bytes()
}

/// Reads what the notes of an agent have bound and released, newest first; of a state that was read
/// before only what came since.
fn read_history(
    space: &Space,
    agent: &FactAgent,
    older: Option<OlderContent<'_>>,
) -> Result<Vec<u8>> {
    let repository = space.repository();
    let mut content = PackedWriter::default();
    let Some(tip) = agent.notes else { return Ok(Vec::new()) };
    for note_commit in repository.first_parents(tip) {
        let note_commit = note_commit?;
        if let Some(older) = older.filter(|older| older.key == note_commit.oid.to_string()) {
            return Ok([content.into_bytes().as_slice(), older.content].concat());
        }
        let parent = note_commit.parents.first().copied();
        for note in repository.changed_notes(parent, Some(note_commit.oid))? {
            let cid = note.text.as_deref().and_then(cid_in_note);
            content.bytes(note.commit.as_bytes());
            content.bytes(cid.map_or(String::new(), |cid| cid.to_string()).as_bytes());
            content.number(note_commit.at.millis());
            content.bytes(note_commit.oid.as_bytes());
        }
    }
    Ok(content.into_bytes())
}
