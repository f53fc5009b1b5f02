//! What is to go, and how it is taken out of texts, entries and objects.
//!
//! A value is held in memory only. No text of an error, no view and no object says anything of it.

use std::collections::BTreeMap;
use std::ops::Range;

use agentic_model::{
    AgentName, Cid, Entry, Instant, Map, Object, Oid, Tombstone, Value, canonical,
};
use agentic_redact::{KnownValues, SecretRedactor};
use agentic_session::purge::SessionScrub;

use super::PurgeError;
use super::branches::renamed_text;
use super::hit::PurgeHit;
use super::seam::SeamPieces;
use crate::cursor::CaptureKey;
use crate::known::{body_of, keep_line};

/// The type of objects that have entries.
const TRACE: &str = "console-trace";
/// What an entry has that goes on in the next.
const CONTINUES: &[u8] = b"continues";
/// How far from the beginning of an object its type stands at most, in bytes.
const TYPE_BYTES_MAX: usize = 4096;

/// What is to go.
#[derive(Debug)]
pub enum PurgeAim {
    /// A value, in all the forms in which it may stand.
    Value(KnownValues),
    /// What a rule of redaction finds today.
    Rule {
        /// What scans.
        redactor: Box<SecretRedactor>,
        /// The name of the rule.
        rule: String,
    },
    /// All entries of a conversation, by `SOURCE:ID`.
    Conversation(String),
    /// What an agent's traces hold of before an instant.
    Agent {
        /// The agent.
        agent: AgentName,
        /// Entries before this go.
        before: Instant,
    },
    /// All that one trace says.
    Object(Cid),
    /// What tombstones name.
    Tombstones(Vec<Tombstone>),
}

/// Takes it out, and notes where it was.
pub struct PurgeScrub<'a> {
    /// What is to go.
    pub aim: &'a PurgeAim,
    /// What marks its places.
    pub id: &'a str,
    /// Where something was found.
    pub hits: Vec<PurgeHit>,
    /// What becomes of pieces at the seams of objects.
    pub seams: SeamPieces,
    /// By which lines are named whose words go; nothing where they are not kept.
    pub key: Option<CaptureKey>,
}

impl PurgeAim {
    /// Tells whether bytes that nobody understands hold it, in any form.
    pub fn is_in(&self, bytes: &[u8]) -> bool {
        match self {
            PurgeAim::Value(value) => !value.places(bytes).is_empty(),
            PurgeAim::Rule { .. }
            | PurgeAim::Conversation(_)
            | PurgeAim::Agent { .. }
            | PurgeAim::Object(_)
            | PurgeAim::Tombstones(_) => false,
        }
    }

    /// Tells whether an object holds it: in its bytes, or in the pieces of a happening that its trace has.
    pub fn is_in_object(&self, bytes: &[u8]) -> bool {
        if self.is_in(bytes) {
            return true;
        }
        let PurgeAim::Value(_) = self else { return false };
        let has = |bytes: &[u8], word: &[u8]| bytes.windows(word.len()).any(|part| part == word);
        let begin = &bytes[..bytes.len().min(TYPE_BYTES_MAX)];
        if !has(begin, TRACE.as_bytes()) || !has(bytes, CONTINUES) {
            return false;
        }
        Object::decode(bytes).is_ok_and(|object| self.is_in_pieces(&entries_of(&object)))
    }

    /// Tells whether entries hold it where one goes on in the next, wherever they were cut.
    pub fn is_in_pieces(&self, entries: &[Entry]) -> bool {
        let mut runs = entries.split_inclusive(|entry| !entry.continues);
        runs.any(|run| {
            run.len() > 1 && self.is_in(&run.iter().map(body_of).collect::<Vec<_>>().concat())
        })
    }

    /// Tells whether a text holds it.
    pub fn is_in_text(&self, text: &[u8]) -> bool {
        !self.places(None, text).is_empty()
    }

    /// Returns where it stands in a text, which may stand beside a name.
    fn places(&self, key: Option<&str>, text: &[u8]) -> Vec<Range<usize>> {
        match self {
            PurgeAim::Value(value) => value.places(text),
            PurgeAim::Rule { redactor, rule } => {
                let Ok(text) = std::str::from_utf8(text) else { return Vec::new() };
                let redacted = match key {
                    Some(key) => redactor.redact_beside(key, text),
                    None => redactor.redact_text(text),
                };
                let found = redacted.findings.iter();
                let found = found.filter(|finding| finding.rule.as_str() == rule);
                found.map(|finding| finding.start..finding.end).collect()
            }
            PurgeAim::Conversation(_)
            | PurgeAim::Agent { .. }
            | PurgeAim::Object(_)
            | PurgeAim::Tombstones(_) => Vec::new(),
        }
    }
}

/// Takes it out of sessions, whose values go whole.
pub struct SessionAim<'a> {
    /// What is to go.
    pub aim: &'a PurgeAim,
    /// What marks its places.
    pub id: &'a str,
    /// Commits of branches that become others.
    pub commits: &'a BTreeMap<Oid, Oid>,
}

impl SessionScrub for SessionAim<'_> {
    fn id(&self) -> &str {
        self.id
    }

    fn is_in(&self, bytes: &[u8]) -> bool {
        self.aim.is_in(bytes)
    }

    fn holds(&self, bytes: &[u8]) -> bool {
        if self.aim.is_in(bytes) || renamed_text(bytes, self.commits).is_some() {
            return true;
        }
        if !matches!(self.aim, PurgeAim::Rule { .. }) {
            return false;
        }
        let Ok(value) = canonical::decode(bytes) else { return false };
        let scrub = PurgeScrub::new(self.aim, self.id);
        scrub.value(None, value.clone()) != value
    }

    fn text(&self, text: &str) -> Option<String> {
        let places = self.aim.places(None, text.as_bytes());
        let scrub = PurgeScrub::new(self.aim, self.id);
        let clean = (!places.is_empty()).then(|| scrub.without(text.as_bytes(), &places));
        clean.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    fn commit(&self, id: &str) -> Option<String> {
        let old = Oid::parse(id).ok()?;
        self.commits.get(&old).map(Oid::to_string)
    }

    fn is_renamed(&self, record: &[u8]) -> bool {
        let names = |new: &Oid| {
            let new = new.to_string();
            record.windows(new.len()).any(|part| part == new.as_bytes())
        };
        self.commits.values().any(names)
    }
}

impl<'a> PurgeScrub<'a> {
    /// Begins without having found anything.
    pub fn new(aim: &'a PurgeAim, id: &'a str) -> PurgeScrub<'a> {
        PurgeScrub { aim, id, hits: Vec::new(), seams: SeamPieces::new(), key: None }
    }
}

impl PurgeScrub<'_> {
    /// Returns what an object becomes; nothing if it stays as it is.
    ///
    /// # Errors
    /// Fails when it has a form in which nobody can take something out of it.
    pub fn object(&mut self, cid: Cid, bytes: &[u8]) -> Result<Option<Vec<u8>>, PurgeError> {
        let seam = self.seams.remove(&cid);
        if let (PurgeAim::Value(_), None) = (self.aim, &seam)
            && !self.aim.is_in_object(bytes)
        {
            return Ok(None);
        }
        let object = Object::decode(bytes).map_err(PurgeError::object)?;
        let (kind, mut map) = (object.kind().clone(), object.map().clone());
        let is_trace = kind.as_str() == TRACE && map.contains_key("entries");
        if matches!(self.aim, PurgeAim::Object(wanted) if *wanted == cid) && !is_trace {
            return Err(PurgeError::WholeObject { kind: kind.to_string() });
        }
        let entries = is_trace.then(|| map.remove("entries")).flatten();
        let mut clean = self.map(map);
        if let Some(entries) = entries {
            let agent = object.map().get("agent").and_then(Value::as_text).unwrap_or_default();
            let read = entries.as_list().unwrap_or_default().iter().map(Entry::from_value);
            let mut read = read.collect::<Result<Vec<_>, _>>().map_err(PurgeError::object)?;
            for (at, clean) in seam.unwrap_or_default() {
                let object = Some(cid.to_string());
                self.hits.push(PurgeHit { object, entry: id_of(&clean), ..PurgeHit::default() });
                read[at] = clean;
            }
            let entries = self.entries(agent, Some(cid), read);
            let entries = entries.iter().map(Entry::to_value).collect();
            clean.insert("entries".to_owned(), Value::List(entries));
        }
        if &clean == object.map() {
            return Ok(None);
        }
        let clean = Object::new(clean).map_err(PurgeError::object)?;
        match self.aim.is_in_object(clean.bytes()) {
            false => Ok(Some(clean.bytes().to_vec())),
            true => Err(PurgeError::Stuck { what: format!("object {cid}") }),
        }
    }

    /// Returns what any other file becomes; nothing if it stays as it is.
    pub fn text(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let places = self.aim.places(None, bytes);
        (!places.is_empty()).then(|| self.without(bytes, &places))
    }

    /// Returns what entries of an agent become: as many, in their order.
    pub fn entries(&mut self, agent: &str, object: Option<Cid>, entries: Vec<Entry>) -> Vec<Entry> {
        let mut clean = Vec::with_capacity(entries.len());
        let mut rest = entries.as_slice();
        while !rest.is_empty() {
            let n_pieces =
                rest.iter().position(|entry| !entry.continues).map_or(rest.len(), |at| at + 1);
            let (run, behind) = rest.split_at(n_pieces);
            clean.extend(self.run(agent, object, run));
            rest = behind;
        }
        clean
    }

    /// Returns what one happening becomes, whose entries are its pieces.
    fn run(&mut self, agent: &str, object: Option<Cid>, run: &[Entry]) -> Vec<Entry> {
        let is_whole = run.iter().all(|entry| entry.purged_by().is_none())
            && run.iter().any(|entry| self.goes_whole(agent, object, entry));
        let mut clean: Vec<Entry> = match is_whole {
            true => run.iter().map(|entry| entry.purged(self.id)).collect(),
            false => self.pieces(run),
        };
        if clean != run {
            let (object, entry) = (object.map(|cid| cid.to_string()), run.iter().find_map(id_of));
            self.hits.push(PurgeHit { object, entry, ..PurgeHit::default() });
            self.key.iter().for_each(|key| keep_line(key, run, &mut clean));
        }
        clean
    }

    fn goes_whole(&self, agent: &str, object: Option<Cid>, entry: &Entry) -> bool {
        match self.aim {
            PurgeAim::Conversation(wanted) => {
                entry.meta.get("conversation").and_then(Value::as_text) == Some(wanted)
            }
            PurgeAim::Agent { agent: wanted, before } => {
                wanted.as_str() == agent && entry.at < *before
            }
            PurgeAim::Object(wanted) => object == Some(*wanted),
            PurgeAim::Value(_) | PurgeAim::Rule { .. } | PurgeAim::Tombstones(_) => false,
        }
    }

    /// Takes it out of the pieces of one happening, wherever they were cut.
    fn pieces(&mut self, run: &[Entry]) -> Vec<Entry> {
        let mut bodies: Vec<Vec<u8>> = run.iter().map(|entry| body_of(entry).to_vec()).collect();
        let whole: Vec<u8> = bodies.concat();
        // From the end on, so that what stands before keeps its place.
        for place in self.aim.places(None, &whole).into_iter().rev() {
            let mut start = 0;
            let mut is_marked = false;
            for piece in &mut bodies {
                let length = piece.len();
                let from = place.start.clamp(start, start + length) - start;
                let to = place.end.clamp(start, start + length) - start;
                if from < to {
                    let mark = if is_marked { Vec::new() } else { self.mark().into_bytes() };
                    piece.splice(from..to, mark);
                    is_marked = true;
                }
                start += length;
            }
        }
        let pieces = run.iter().zip(bodies);
        let clean = pieces.map(|(entry, bytes)| {
            let body = match entry.body.as_bytes() {
                Some(_) => Value::Bytes(bytes),
                None => Value::text(String::from_utf8_lossy(&bytes)),
            };
            let meta = self.map(entry.meta.clone());
            let foreign = self.map(entry.foreign.clone());
            Entry { body, meta, foreign, ..entry.clone() }
        });
        clean.collect()
    }

    fn map(&self, map: Map) -> Map {
        let Value::Map(map) = self.value(None, Value::Map(map)) else {
            unreachable!("BUG: a map stays a map")
        };
        map
    }

    fn value(&self, key: Option<&str>, value: Value) -> Value {
        match value {
            Value::Text(text) => {
                let places = self.aim.places(key, text.as_bytes());
                match places.is_empty() {
                    true => Value::Text(text),
                    false => Value::text(String::from_utf8_lossy(
                        &self.without(text.as_bytes(), &places),
                    )),
                }
            }
            Value::Bytes(bytes) => {
                let places = self.aim.places(key, &bytes);
                match places.is_empty() {
                    true => Value::Bytes(bytes),
                    false => Value::Bytes(self.without(&bytes, &places)),
                }
            }
            Value::List(items) => {
                Value::List(items.into_iter().map(|item| self.value(key, item)).collect())
            }
            Value::Map(map) => {
                let field = |(name, item): (String, Value)| {
                    let item = self.value(Some(&name), item);
                    let places = self.aim.places(None, name.as_bytes());
                    match places.is_empty() {
                        true => (name, item),
                        false => {
                            let name = self.without(name.as_bytes(), &places);
                            (String::from_utf8_lossy(&name).into_owned(), item)
                        }
                    }
                };
                Value::Map(map.into_iter().map(field).collect())
            }
            other @ (Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Link(_)) => other,
        }
    }

    fn without(&self, bytes: &[u8], places: &[Range<usize>]) -> Vec<u8> {
        let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
        for place in places {
            out.extend_from_slice(&bytes[at..place.start]);
            out.extend_from_slice(self.mark().as_bytes());
            at = place.end;
        }
        out.extend_from_slice(&bytes[at..]);
        out
    }

    fn mark(&self) -> String {
        format!("[purged:{}]", self.id)
    }
}

/// Reads the entries of a trace that are sound.
pub fn entries_of(object: &Object) -> Vec<Entry> {
    let entries = object.map().get("entries").and_then(Value::as_list).unwrap_or_default();
    entries.iter().filter_map(|entry| Entry::from_value(entry).ok()).collect()
}

fn id_of(entry: &Entry) -> Option<String> {
    entry.meta.get("id").and_then(Value::as_text).map(str::to_owned)
}
