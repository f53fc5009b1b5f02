//! Entries of traces that tell something by their form: what a model cost, and how tests ended. What
//! else stands in a trace is not parsed.

use std::collections::BTreeSet;

use agentic_git::NotesState;
use agentic_model::trace::cid_in_note;
use agentic_model::{AgentName, Cid, Instant, Map, Object, Oid, Value, guidance, json};
use agentic_space::facts::parallel::{self, ReadOutcome};

use super::reading::ReadSessions;
use super::remote::{commits_beyond, remote_notes};
use super::row::{ColumnValue, SessionRows};
use super::scope::SessionScope;
use super::telling::{LookedNotes, TellingTraces};
use crate::{Result, SessionSpace};

/// The kind of an entry that tells how tests ended.
const TEST_RESULT: &str = "test-result";
/// The field of an entry that holds what its source told besides.
const META: &str = "meta";
/// The field of a trace that names the one before it.
const PREVIOUS: &str = "previous";
/// The field of a trace that names the objects with its entries.
const PARTS: &str = "parts";
/// The traces of how many agents are listed, and read, before rows are made of them.
const AGENTS_AT_ONCE: usize = 64;
/// How many traces a thread takes at a time.
const TRACES_AT_ONCE: usize = 16;
/// The name that people have for the cache of what was found.
const CACHE: &str = "traces that tell something";

/// An entry of a trace that tells something, whole.
pub(super) struct TracedEntry<'t> {
    /// The trace.
    pub(super) trace: Cid,
    /// Its number in the trace, from 0.
    pub(super) n: u64,
    /// The agent in whose notes the trace stands.
    pub(super) agent: &'t str,
    /// When it was made.
    pub(super) at: Instant,
    /// What its source told besides.
    pub(super) meta: Option<&'t Map>,
    is_test_result: bool,
    /// Its text; nothing where it is not text.
    text: Option<&'t str>,
}

/// Takes the entries that tell something.
type EntryTaker<'t> = dyn FnMut(&TracedEntry<'_>, &mut SessionRows<'_, '_>) + 't;

/// Reads the entries of the traces that the agents in question have, of those traces that tell
/// something: those of many agents at once, on all cores.
pub(super) fn entries(
    read: &ReadSessions<'_>,
    scope: &SessionScope,
    rows: &mut SessionRows<'_, '_>,
    take: &mut EntryTaker<'_>,
) -> Result<()> {
    let mut known = TellingTraces::read(read.space);
    for some in notes_of(read, scope)?.chunks(AGENTS_AT_ONCE) {
        if rows.is_over() {
            break;
        }
        let mut all = list_traces(read, some, &known, rows);
        read_traces(read, &mut all, rows, take);
        for traces in all {
            let name = traces.notes.name.clone();
            if let Some(looked) = traces.into_looked() {
                known.keep(name, looked);
            }
        }
    }
    known.write(read.space);
    Ok(())
}

/// Reads `test_result` rows.
pub(super) fn test_results(
    read: &ReadSessions<'_>,
    scope: &SessionScope,
    rows: &mut SessionRows<'_, '_>,
) -> Result<()> {
    entries(read, scope, rows, &mut |entry, rows| {
        if !entry.is_test_result {
            return;
        }
        // Whatever else stands in such an entry is output, which says nothing by its form.
        let body = entry.text.and_then(|text| json::from_text(text).ok());
        let Some([passed, failed]) = body.as_ref().and_then(counts) else { return };
        rows.row(|column| match column {
            "trace" => ColumnValue::id(entry.trace),
            "n" => ColumnValue::count(entry.n),
            "agent" => ColumnValue::text(entry.agent),
            "passed" => ColumnValue::Int(passed),
            _ => ColumnValue::Int(failed),
        });
    })
}

/// Reads how many tests passed and failed; nothing if this is not exactly that.
fn counts(body: &Value) -> Option<[i64; 2]> {
    let map = body.as_map().filter(|map| map.len() == 2)?;
    let count = |key: &str| map.get(key)?.as_int().filter(|count| *count >= 0);
    Some([count("passed")?, count("failed")?])
}

/// The notes of an agent, as they are read.
struct AgentNotes {
    /// What questions call the agent.
    name: String,
    /// Their state.
    tip: Oid,
    /// The commits whose traces are in question, where others are an agent's here.
    commits: Option<BTreeSet<Oid>>,
}

/// Lists the agents in question that have notes: open ones, archived ones, and those of remotes.
fn notes_of(read: &ReadSessions<'_>, scope: &SessionScope) -> Result<Vec<AgentNotes>> {
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    let wanted = scope.agents();
    let is_wanted = |agent: &AgentName| wanted.as_ref().is_none_or(|all| all.contains(agent));
    let open: BTreeSet<AgentName> = match &wanted {
        Some(agents) => agents.clone(),
        None => read.open_agents()?.into_iter().map(|(agent, _)| agent).collect(),
    };
    for agent in open {
        if let Some(tip) = read.notes_of(&agent) {
            found.push(AgentNotes { name: agent.to_string(), tip, commits: None });
            seen.insert(agent);
        }
    }
    for entry in read.archived() {
        let agent = entry.archived.agent;
        // One that is archived just now was open a moment ago.
        if let Some(tip) =
            entry.archived.notes.filter(|_| is_wanted(&agent) && seen.insert(agent.clone()))
        {
            found.push(AgentNotes { name: agent.to_string(), tip, commits: None });
        }
    }
    let remote = scope.remote_agents(read);
    for (branch, tip) in remote_notes(read)? {
        if remote.as_ref().is_none_or(|wanted| wanted.contains(&branch)) {
            let commits = commits_beyond(read, &branch)?;
            if !commits.is_empty() {
                let commits = Some(commits.into_iter().collect());
                found.push(AgentNotes { name: branch.to_string(), tip, commits });
            }
        }
    }
    Ok(found)
}

/// The traces of one agent.
struct AgentTraces<'n> {
    notes: &'n AgentNotes,
    /// Those that are still to be read.
    next: BTreeSet<Cid>,
    /// Those that were read, or are being read.
    seen: BTreeSet<Cid>,
    /// What was found of those that were read.
    found: LookedNotes,
    /// Whether all that notes name is among them, and nothing of it is damaged.
    is_whole: bool,
}

/// Finds the traces of agents that tell something, or of which nobody knows.
fn list_traces<'n>(
    read: &ReadSessions<'_>,
    some: &'n [AgentNotes],
    known: &TellingTraces,
    rows: &mut SessionRows<'_, '_>,
) -> Vec<AgentTraces<'n>> {
    let space: &SessionSpace = read.space;
    let each: Vec<&'n AgentNotes> = some.iter().collect();
    let listed = parallel::map(&each, read.pace("notes of agents"), |notes: &&'n AgentNotes| {
        let looked = known.of(&notes.name);
        AgentTraces::of(space, notes, looked).map_err(|error| guidance::chain(&error))
    });
    let mut all = Vec::new();
    for (notes, listed) in some.iter().zip(listed) {
        match listed {
            Ok(traces) => {
                let before = known.of(&notes.name);
                let is_new = |cid: &&Cid| !before.telling.contains(cid);
                let n_new = traces.next.iter().filter(is_new).count();
                read.count(CACHE, traces.next.len() + traces.found.silent.len(), n_new);
                all.push(traces);
            }
            Err(why) => {
                rows.note(format!("the notes of agent {} are left out: {why}", notes.name));
            }
        }
    }
    all
}

/// Reads the traces of agents, and then those that they go on from.
fn read_traces(
    read: &ReadSessions<'_>,
    all: &mut [AgentTraces<'_>],
    rows: &mut SessionRows<'_, '_>,
    take: &mut EntryTaker<'_>,
) {
    let space: &SessionSpace = read.space;
    loop {
        let wanted: Vec<(usize, Oid, Cid)> = all
            .iter_mut()
            .enumerate()
            .flat_map(|(at, traces)| {
                let next = std::mem::take(&mut traces.next);
                traces.seen.extend(&next);
                let tip = traces.notes.tip;
                next.into_iter().map(move |cid| (at, tip, cid)).collect::<Vec<_>>()
            })
            .collect();
        if wanted.is_empty() || rows.is_over() {
            all.iter_mut().for_each(|traces| traces.is_whole &= wanted.is_empty());
            return;
        }
        let pace = read.pace("traces of agents");
        let told = parallel::map_parts(&wanted, TRACES_AT_ONCE, pace, |part| told_by(space, part));
        for ((at, _, cid), told) in wanted.into_iter().zip(told) {
            let traces = &mut all[at];
            match told {
                Ok(told) => traces.take(cid, &told, rows, take),
                Err(why) => {
                    traces.is_whole = false;
                    let agent = &traces.notes.name;
                    rows.note(format!("trace {cid} of agent {agent} is left out: {why}"));
                }
            }
        }
    }
}

/// Reads some traces, those of one agent from one state of its notes.
fn told_by(space: &SessionSpace, part: &[(usize, Oid, Cid)]) -> Vec<ReadOutcome<TellingEntries>> {
    let mut read = Vec::with_capacity(part.len());
    for some in part.chunk_by(|one, other| one.1 == other.1) {
        match space.repository().notes_at(Some(some[0].1)) {
            Ok(notes) => {
                read.extend(some.iter().map(|(_, _, cid)| TellingEntries::read(&notes, *cid)));
            }
            Err(error) => {
                let why = guidance::chain(&error);
                read.extend(some.iter().map(|_| Err(why.clone())));
            }
        }
    }
    read
}

impl<'n> AgentTraces<'n> {
    /// Finds those in the notes that tell something, or of which nobody knows.
    fn of(
        space: &SessionSpace,
        notes: &'n AgentNotes,
        known: LookedNotes,
    ) -> Result<AgentTraces<'n>> {
        let seen = BTreeSet::new();
        if known.tip == Some(notes.tip) && notes.commits.is_none() {
            let next = known.telling.clone();
            return Ok(AgentTraces { notes, next, seen, found: known, is_whole: false });
        }
        let is_wanted =
            |commit: &Oid| notes.commits.as_ref().is_none_or(|all| all.contains(commit));
        let bound = space.repository().notes_at(Some(notes.tip))?.all_notes()?.into_iter();
        let named = bound.filter(|(commit, _)| is_wanted(commit));
        let named = named.filter_map(|(_, text)| cid_in_note(&text));
        let (silent, next): (BTreeSet<Cid>, _) = named.partition(|cid| known.silent.contains(cid));
        let found = LookedNotes { tip: None, telling: BTreeSet::new(), silent };
        Ok(AgentTraces { notes, next, seen, found, is_whole: true })
    }

    /// Takes what was read of a trace.
    fn take(
        &mut self,
        cid: Cid,
        told: &TellingEntries,
        rows: &mut SessionRows<'_, '_>,
        take: &mut EntryTaker<'_>,
    ) {
        // One that is silent but goes on from another leads to that.
        let tells = told.may_tell || told.previous.is_some();
        let list = if tells { &mut self.found.telling } else { &mut self.found.silent };
        list.insert(cid);
        self.next.extend(told.previous.filter(|previous| !self.seen.contains(previous)));
        for entry in &told.entries {
            if rows.is_over() {
                self.is_whole = false;
                return;
            }
            take(&entry.of(cid, &self.notes.name), rows);
        }
    }

    /// Returns what is worth to be remembered of a state of the notes.
    fn into_looked(self) -> Option<LookedNotes> {
        let tip = Some(self.notes.tip);
        self.is_whole.then_some(LookedNotes { tip, ..self.found })
    }
}

/// What the entries of one trace tell.
struct TellingEntries {
    entries: Vec<TellingEntry>,
    /// The trace before it.
    previous: Option<Cid>,
    /// Whether its bytes hold what may tell something.
    may_tell: bool,
}

/// An entry that tells something.
struct TellingEntry {
    n: u64,
    at: Instant,
    meta: Option<Map>,
    is_test_result: bool,
    text: Option<String>,
}

impl TellingEntry {
    fn of<'t>(&'t self, trace: Cid, agent: &'t str) -> TracedEntry<'t> {
        TracedEntry {
            trace,
            n: self.n,
            agent,
            at: self.at,
            meta: self.meta.as_ref(),
            is_test_result: self.is_test_result,
            text: self.text.as_deref(),
        }
    }
}

impl TellingEntries {
    /// Reads those of a trace.
    fn read(notes: &NotesState<'_>, cid: Cid) -> ReadOutcome<TellingEntries> {
        let parts = TraceParts::read(notes, cid)?;
        let (may_tell, previous) = (!parts.parts.is_empty(), parts.previous);
        Ok(TellingEntries { entries: parts.entries(), previous, may_tell })
    }
}

/// The objects that hold the entries of one trace.
struct TraceParts {
    parts: Vec<Object>,
    previous: Option<Cid>,
}

impl TraceParts {
    /// Reads those that may tell something; none if nothing in them does.
    fn read(notes: &NotesState<'_>, cid: Cid) -> std::result::Result<TraceParts, String> {
        let bytes = |cid: Cid| {
            let found = notes.object(cid).map_err(|error| error.to_string())?;
            found.ok_or_else(|| format!("object {cid} is not here"))
        };
        let decode = |bytes: &[u8]| Object::decode(bytes).map_err(|error| error.to_string());
        let first = bytes(cid)?;
        // The trace itself may only name its parts, or the trace before it.
        if !may_tell(&first) {
            return Ok(TraceParts { parts: Vec::new(), previous: None });
        }
        let object = decode(&first)?;
        let previous = object.map().get(PREVIOUS).and_then(Value::as_link);
        let Some(links) = object.map().get(PARTS).and_then(Value::as_list) else {
            return Ok(TraceParts { parts: vec![object], previous });
        };
        // What continues in the next part is read with it, so all of them are.
        let parts = links.iter().filter_map(Value::as_link).map(|part| decode(&bytes(part)?));
        Ok(TraceParts { parts: parts.collect::<std::result::Result<_, _>>()?, previous })
    }

    /// Lists the entries that tell something, their pieces joined.
    fn entries(&self) -> Vec<TellingEntry> {
        let lists = self.parts.iter().filter_map(|part| part.map().get("entries")?.as_list());
        let pieces: Vec<&Map> = lists.flatten().filter_map(Value::as_map).collect();
        let is_last = |piece: &&Map| piece.get("continues").and_then(Value::as_bool) != Some(true);
        let mut entries = Vec::new();
        for (n, pieces) in pieces.split_inclusive(is_last).enumerate() {
            let first = pieces[0];
            let meta = first.get(META).and_then(Value::as_map);
            let kind = first.get("kind").and_then(Value::as_text);
            let is_test_result = kind == Some(TEST_RESULT);
            if meta.is_none() && !is_test_result {
                continue;
            }
            let text = |piece: &&Map| piece.get("body")?.as_text().map(str::to_owned);
            let text = || pieces.iter().map(text).collect::<Option<Vec<_>>>();
            entries.push(TellingEntry {
                n: n as u64,
                at: Instant::from_millis(first.get("at").and_then(Value::as_int).unwrap_or(0)),
                meta: meta.cloned(),
                is_test_result,
                text: is_test_result.then(text).flatten().map(|all| all.concat()),
            });
        }
        entries
    }
}

/// Tells whether the bytes of a trace hold one of the texts that what it tells begins with: in one pass,
/// for most traces tell nothing. Canonical bytes have the length of a text right before it.
fn may_tell(bytes: &[u8]) -> bool {
    const SHORT_TEXT: u8 = 0x60;
    bytes.windows(2).enumerate().any(|(at, begin)| {
        let word = match begin[1] {
            b'm' => META,
            b'p' if begin[0] == SHORT_TEXT + PARTS.len() as u8 => PARTS,
            b'p' => PREVIOUS,
            b't' => TEST_RESULT,
            _ => return false,
        };
        begin[0] == SHORT_TEXT + word.len() as u8 && bytes[at + 1..].starts_with(word.as_bytes())
    })
}
