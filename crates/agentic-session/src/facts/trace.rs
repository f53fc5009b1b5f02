//! Entries of traces that tell something by their form: what a model cost, and how tests ended. What
//! else stands in a trace is not parsed.

use std::collections::BTreeSet;

use agentic_git::NotesState;
use agentic_model::trace::cid_in_note;
use agentic_model::{AgentName, Cid, Instant, Map, Object, Oid, Value, guidance, json};

use super::reading::ReadSessions;
use super::row::{ColumnValue, SessionRows};
use super::scope::SessionScope;
use super::telling::{LookedNotes, TellingTraces};
use crate::Result;

/// The kind of an entry that tells how tests ended.
const TEST_RESULT: &str = "test-result";
/// The field of an entry that holds what its source told besides.
const META: &str = "meta";
/// The field of a trace that names the one before it.
const PREVIOUS: &str = "previous";
/// The field of a trace that names the objects with its entries.
const PARTS: &str = "parts";
/// What the bytes of a trace hold that tells something.
const TELLING: [&str; 2] = [TEST_RESULT, META];

/// An entry of a trace, whole.
pub(super) struct TracedEntry<'t> {
    /// The trace.
    pub(super) trace: Cid,
    /// Its number in the trace, from 0.
    pub(super) n: u64,
    /// The agent in whose notes the trace stands.
    pub(super) agent: &'t AgentName,
    /// When it was made.
    pub(super) at: Instant,
    /// What its source told besides.
    pub(super) meta: Option<&'t Map>,
    kind: &'t str,
    /// Its text; nothing where it is not text.
    text: Option<String>,
}

/// Reads the entries of the traces that the agents in question have, of those traces that tell
/// something.
pub(super) fn entries(
    read: &ReadSessions<'_>,
    scope: &SessionScope,
    rows: &mut SessionRows<'_, '_>,
    take: &mut dyn FnMut(&TracedEntry<'_>, &mut SessionRows<'_, '_>),
) -> Result<()> {
    let mut known = TellingTraces::read(read.space);
    for (agent, tip) in notes_of(read, scope)? {
        if rows.is_over() {
            break;
        }
        let looked = known.of(&agent);
        let notes = read.space.repository().notes_at(Some(tip)).map_err(crate::Error::from);
        let done = notes.and_then(|notes| {
            let mut traces = Traces::of(&notes, tip, looked)?;
            traces.read_all(&notes, &agent, rows, take);
            Ok(traces)
        });
        match done {
            Ok(traces) => {
                if let Some(looked) = traces.into_looked(tip) {
                    known.keep(agent, looked);
                }
            }
            Err(error) => {
                let why = guidance::chain(&error);
                rows.note(format!("the notes of agent {agent} are left out: {why}"));
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
        if entry.kind != TEST_RESULT {
            return;
        }
        // Whatever else stands in such an entry is output, which says nothing by its form.
        let body = entry.text.as_ref().and_then(|text| json::from_text(text).ok());
        let Some([passed, failed]) = body.as_ref().and_then(counts) else { return };
        rows.row(|column| match column {
            "trace" => ColumnValue::id(entry.trace),
            "n" => ColumnValue::count(entry.n),
            "agent" => ColumnValue::text(entry.agent.as_str()),
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

/// Lists the agents in question that have notes, with the state of these; open ones and archived.
fn notes_of(read: &ReadSessions<'_>, scope: &SessionScope) -> Result<Vec<(AgentName, Oid)>> {
    let repository = read.space.repository();
    let mut found = Vec::new();
    let is_wanted = |agent: &AgentName| scope.agents().is_none_or(|all| all.contains(agent));
    let open: BTreeSet<AgentName> = match scope.agents() {
        Some(agents) => agents.clone(),
        None => read.space.agent_names()?.into_iter().map(|(agent, _)| agent).collect(),
    };
    for agent in open {
        if let Some(tip) = repository.find_ref(&agent.notes_ref())? {
            found.push((agent, tip));
        }
    }
    for entry in read.archived() {
        if let Some(tip) = entry.archived.notes.filter(|_| is_wanted(&entry.archived.agent)) {
            found.push((entry.archived.agent, tip));
        }
    }
    Ok(found)
}

/// The traces of one agent.
struct Traces {
    /// Those that are still to be read.
    next: BTreeSet<Cid>,
    /// What was found of those that were read.
    found: LookedNotes,
    /// Whether all that notes name is among them, and nothing of it is damaged.
    is_whole: bool,
}

impl Traces {
    /// Finds those in the notes that tell something, or of which nobody knows.
    fn of(notes: &NotesState<'_>, tip: Oid, known: LookedNotes) -> Result<Traces> {
        if known.tip == Some(tip) {
            let next = known.telling.clone();
            return Ok(Traces { next, found: known, is_whole: false });
        }
        let named = notes.all_notes()?.into_iter().filter_map(|(_, text)| cid_in_note(&text));
        let (silent, next): (BTreeSet<Cid>, _) = named.partition(|cid| known.silent.contains(cid));
        let found = LookedNotes { tip: None, telling: BTreeSet::new(), silent };
        Ok(Traces { next, found, is_whole: true })
    }

    /// Reads the entries of those that tell something, and of those before them.
    fn read_all(
        &mut self,
        notes: &NotesState<'_>,
        agent: &AgentName,
        rows: &mut SessionRows<'_, '_>,
        take: &mut dyn FnMut(&TracedEntry<'_>, &mut SessionRows<'_, '_>),
    ) {
        let mut seen = BTreeSet::new();
        while let Some(cid) = self.next.pop_first() {
            if rows.is_over() {
                self.is_whole = false;
                return;
            }
            seen.insert(cid);
            match TraceParts::read(notes, cid) {
                Ok(parts) => {
                    // One that is silent but goes on from another leads to that.
                    let tells = !parts.parts.is_empty() || parts.previous.is_some();
                    let list = if tells { &mut self.found.telling } else { &mut self.found.silent };
                    list.insert(cid);
                    self.next.extend(parts.previous.filter(|previous| !seen.contains(previous)));
                    parts.each(cid, agent, &mut |entry| take(entry, rows));
                }
                Err(why) => {
                    self.is_whole = false;
                    rows.note(format!("trace {cid} of agent {agent} is left out: {why}"));
                }
            }
        }
    }

    /// Returns what is worth to be remembered of a state of the notes.
    fn into_looked(self, tip: Oid) -> Option<LookedNotes> {
        self.is_whole.then_some(LookedNotes { tip: Some(tip), ..self.found })
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
        if !TELLING.iter().chain(&[PARTS, PREVIOUS]).any(|word| holds(&first, word.as_bytes())) {
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

    /// Hands over each entry, its pieces joined.
    fn each(&self, trace: Cid, agent: &AgentName, take: &mut dyn FnMut(&TracedEntry<'_>)) {
        let lists = self.parts.iter().filter_map(|part| part.map().get("entries")?.as_list());
        let pieces: Vec<&Map> = lists.flatten().filter_map(Value::as_map).collect();
        let is_last = |piece: &&Map| piece.get("continues").and_then(Value::as_bool) != Some(true);
        for (n, pieces) in pieces.split_inclusive(is_last).enumerate() {
            let first = pieces[0];
            let text = |piece: &&Map| piece.get("body")?.as_text().map(str::to_owned);
            take(&TracedEntry {
                trace,
                n: n as u64,
                agent,
                at: Instant::from_millis(first.get("at").and_then(Value::as_int).unwrap_or(0)),
                meta: first.get(META).and_then(Value::as_map),
                kind: first.get("kind").and_then(Value::as_text).unwrap_or_default(),
                text: pieces.iter().map(text).collect::<Option<Vec<_>>>().map(|all| all.concat()),
            });
        }
    }
}

/// Tells whether bytes hold a word.
fn holds(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|window| window == word)
}
