//! The records of a text index.

use agentic_model::{Cid, Map, Oid, Value};

use crate::document::{DocumentSource, SearchDocument};
use crate::error::{IndexError, Result};
use crate::value::{push_number, seal, take_number, unseal};

/// How far an agent was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenAgent {
    /// Its newest commit.
    pub head: Oid,
    /// Its newest notes commit.
    pub notes: Option<Oid>,
}

/// A few texts with numbers that follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryRecord {
    /// The agent.
    pub agent: String,
    /// What holds them.
    pub source: DocumentSource,
    /// Their places in it.
    pub positions: Vec<u64>,
    /// When each was said.
    pub stamps: Vec<i64>,
}

impl SeenAgent {
    pub(crate) fn sealed(&self) -> Vec<u8> {
        let oid = |oid: &Oid| Value::Bytes(oid.as_bytes().to_vec());
        let notes = self.notes.as_ref().map_or(Value::Null, oid);
        seal(&Value::map([("head", oid(&self.head)), ("notes", notes)]))
    }

    pub(crate) fn read(sealed: &[u8]) -> Result<SeenAgent> {
        let value = unseal(sealed)?;
        let oid = |name: &str| {
            let bytes = value.get(name).and_then(Value::as_bytes)?;
            Oid::from_bytes(bytes).ok()
        };
        let head = oid("head").ok_or_else(|| IndexError::damaged("how far an agent was read"))?;
        Ok(SeenAgent { head, notes: oid("notes") })
    }
}

impl EntryRecord {
    /// Makes the record of texts that one thing holds.
    pub fn of(agent: &str, texts: &[SearchDocument]) -> EntryRecord {
        EntryRecord {
            agent: agent.to_owned(),
            source: texts[0].source.clone(),
            positions: texts.iter().map(|text| text.position).collect(),
            stamps: texts.iter().map(|text| text.at.millis()).collect(),
        }
    }

    pub fn sealed(&self) -> Vec<u8> {
        let (mut positions, mut stamps) = (Vec::new(), Vec::new());
        for position in &self.positions {
            push_number(&mut positions, *position);
        }
        let mut before = 0_i64;
        for stamp in &self.stamps {
            push_number(&mut stamps, zigzag(stamp.wrapping_sub(before)));
            before = *stamp;
        }
        seal(&Value::map([
            ("a", Value::text(&self.agent)),
            ("p", Value::Bytes(positions)),
            ("s", Value::Bytes(source_key(&self.source))),
            ("t", Value::Bytes(stamps)),
        ]))
    }

    pub fn read(sealed: &[u8]) -> Result<EntryRecord> {
        let damaged = || IndexError::damaged("a text");
        let value = unseal(sealed)?;
        let map: &Map = value.as_map().ok_or_else(damaged)?;
        let bytes = |name: &str| map.get(name).and_then(Value::as_bytes).ok_or_else(damaged);
        let mut rest = bytes("p")?;
        let mut positions = Vec::new();
        while !rest.is_empty() {
            positions.push(take_number(&mut rest)?);
        }
        let (mut rest, mut stamps, mut before) = (bytes("t")?, Vec::new(), 0_i64);
        while !rest.is_empty() {
            before = before.wrapping_add(unzigzag(take_number(&mut rest)?));
            stamps.push(before);
        }
        if positions.len() != stamps.len() {
            return Err(damaged());
        }
        let agent = map.get("a").and_then(Value::as_text).ok_or_else(damaged)?.to_owned();
        Ok(EntryRecord { agent, source: source_of(bytes("s")?)?, positions, stamps })
    }
}

/// Returns what the keys of an agent's own begin with.
pub fn own_prefix(agent: &str) -> Vec<u8> {
    let mut key = agent.as_bytes().to_vec();
    key.push(0);
    key
}

/// Makes the key under which the number of a source's texts stands.
pub fn own_key(agent: &str, source: &DocumentSource, number: u32) -> Vec<u8> {
    let mut key = own_prefix(agent);
    key.extend(source_key(source));
    key.extend(number.to_be_bytes());
    key
}

/// Reads the source of such a key, without the agent.
pub fn source_of_key(rest: &[u8]) -> Result<DocumentSource> {
    let (source, _) =
        rest.split_last_chunk::<4>().ok_or_else(|| IndexError::damaged("a key of an agent"))?;
    source_of(source)
}

/// Writes a source; none is the beginning of another.
fn source_key(source: &DocumentSource) -> Vec<u8> {
    let mut key = Vec::new();
    match source {
        DocumentSource::Commit(oid) => {
            key.push(b'c');
            key.extend(oid.as_bytes());
        }
        DocumentSource::Trace { commit, trace } => {
            key.push(b't');
            key.push(commit.as_bytes().len() as u8);
            key.extend(commit.as_bytes());
            key.extend(trace.to_string().as_bytes());
        }
        DocumentSource::Pending => key.push(b'p'),
        DocumentSource::Briefing(cid) => {
            key.push(b'b');
            key.extend(cid.to_string().as_bytes());
        }
        DocumentSource::Session(id) => {
            key.push(b's');
            key.extend(id.as_bytes());
        }
    }
    key
}

fn source_of(key: &[u8]) -> Result<DocumentSource> {
    read_source(key).ok_or_else(|| IndexError::damaged("what holds a text"))
}

fn read_source(key: &[u8]) -> Option<DocumentSource> {
    let cid = |bytes: &[u8]| Cid::parse(std::str::from_utf8(bytes).ok()?).ok();
    Some(match key {
        [b'c', oid @ ..] => DocumentSource::Commit(Oid::from_bytes(oid).ok()?),
        [b't', length, rest @ ..] => {
            let (commit, trace) = rest.split_at_checked(usize::from(*length))?;
            let commit = Oid::from_bytes(commit).ok()?;
            DocumentSource::Trace { commit, trace: cid(trace)? }
        }
        [b'p'] => DocumentSource::Pending,
        [b'b', rest @ ..] => DocumentSource::Briefing(cid(rest)?),
        [b's', id @ ..] => DocumentSource::Session(String::from_utf8(id.to_vec()).ok()?),
        _ => return None,
    })
}

/// Makes a small number of one that is near 0.
fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

fn unzigzag(number: u64) -> i64 {
    ((number >> 1) as i64) ^ -((number & 1) as i64)
}
