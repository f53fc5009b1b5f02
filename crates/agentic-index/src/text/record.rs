//! The records of a text index.

use std::collections::BTreeMap;

use agentic_model::{Cid, Oid, Value};

use super::BLOCK;
use crate::document::{DocumentSource, SearchDocument};
use crate::error::{IndexError, Result};
use crate::value::{push_number, seal, seal_bytes, take_number, unseal, unseal_bytes};

/// How far an agent was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenAgent {
    /// Its newest commit.
    pub head: Oid,
    /// Its newest notes commit.
    pub notes: Option<Oid>,
}

/// Some texts with numbers that follow each other, but for those that are gone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntryRow {
    /// Those that one thing holds, by the number of the first, counted from the row's.
    pub groups: BTreeMap<u32, EntryGroup>,
}

/// Texts that one thing holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryGroup {
    /// The agent.
    pub agent: String,
    /// What holds them.
    pub source: DocumentSource,
    /// The place of each in it, and when it was said.
    pub texts: Vec<(u64, i64)>,
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

impl EntryGroup {
    /// Makes the group of texts that one thing holds.
    pub fn of(agent: &str, texts: &[SearchDocument]) -> EntryGroup {
        EntryGroup {
            agent: agent.to_owned(),
            source: texts[0].source.clone(),
            texts: texts.iter().map(|text| (text.position, text.at.millis())).collect(),
        }
    }
}

impl EntryRow {
    /// Finds a text, by its number counted from the row's.
    pub fn text(&self, number: u32) -> Option<(&EntryGroup, u64, i64)> {
        let (first, group) = self.groups.range(..=number).next_back()?;
        let (position, at) = group.texts.get((number - first) as usize)?;
        Some((group, *position, *at))
    }

    pub fn sealed(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let (mut next, mut at, mut agent, mut commit) = (0, 0_i64, "", None);
        for (first, group) in &self.groups {
            push_number(&mut bytes, u64::from(first - next));
            push_number(&mut bytes, group.texts.len() as u64);
            next = first + group.texts.len() as u32;
            let shared = shared_bytes(agent, &group.agent);
            agent = &group.agent;
            push_number(&mut bytes, shared as u64);
            push_bytes(&mut bytes, &agent.as_bytes()[shared..]);
            push_source(&mut bytes, &group.source, &mut commit);
            let mut position = 0;
            for (this, then) in &group.texts {
                push_number(&mut bytes, zigzag(this.wrapping_sub(position) as i64));
                push_number(&mut bytes, zigzag(then.wrapping_sub(at)));
                (position, at) = (*this, *then);
            }
        }
        seal_bytes(&bytes)
    }

    pub fn read(sealed: &[u8]) -> Result<EntryRow> {
        let damaged = || IndexError::damaged("a text");
        let mut rest = unseal_bytes(sealed)?;
        let mut groups = BTreeMap::new();
        let (mut next, mut at, mut agent, mut commit) = (0_u32, 0_i64, String::new(), None);
        while !rest.is_empty() {
            let gap = take_number(&mut rest)?;
            let n_texts = take_number(&mut rest)?;
            // Each text takes two bytes at least.
            let is_possible = gap < u64::from(BLOCK) && n_texts > 0 && n_texts <= rest.len() as u64;
            let first = next + if is_possible { gap as u32 } else { return Err(damaged()) };
            next = first.checked_add(n_texts as u32).ok_or_else(damaged)?;
            let shared = usize::try_from(take_number(&mut rest)?).map_err(|_| damaged())?;
            let suffix = std::str::from_utf8(take_bytes(&mut rest)?).map_err(|_| damaged())?;
            agent = format!("{}{suffix}", agent.get(..shared).ok_or_else(damaged)?);
            let source = take_source(&mut rest, &mut commit)?;
            let (mut position, mut texts) = (0_u64, Vec::with_capacity(n_texts as usize));
            for _ in 0..n_texts {
                position = position.wrapping_add(unzigzag(take_number(&mut rest)?) as u64);
                at = at.wrapping_add(unzigzag(take_number(&mut rest)?));
                texts.push((position, at));
            }
            groups.insert(first, EntryGroup { agent: agent.clone(), source, texts });
        }
        match next <= BLOCK {
            true => Ok(EntryRow { groups }),
            false => Err(damaged()),
        }
    }
}

/// Counts the bytes that two names begin with alike.
fn shared_bytes(one: &str, other: &str) -> usize {
    let alike = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    other.floor_char_boundary(one.floor_char_boundary(alike))
}

/// Writes a source; a commit that was the last one is not written again.
fn push_source(bytes: &mut Vec<u8>, source: &DocumentSource, last: &mut Option<Oid>) {
    match source {
        DocumentSource::Commit(oid) => {
            bytes.push(b'c');
            push_bytes(bytes, oid.as_bytes());
            *last = Some(*oid);
        }
        DocumentSource::Trace { commit, trace } => {
            let is_last = *last == Some(*commit);
            bytes.push(if is_last { b'u' } else { b't' });
            if !is_last {
                push_bytes(bytes, commit.as_bytes());
            }
            *last = Some(*commit);
            push_bytes(bytes, trace.digest());
        }
        DocumentSource::Pending => bytes.push(b'p'),
        DocumentSource::Briefing(cid) => {
            bytes.push(b'b');
            push_bytes(bytes, cid.digest());
        }
        DocumentSource::Session(id) => {
            bytes.push(b's');
            push_bytes(bytes, id.as_bytes());
        }
    }
}

fn take_source(rest: &mut &[u8], last: &mut Option<Oid>) -> Result<DocumentSource> {
    let damaged = || IndexError::damaged("what holds a text");
    let (sort, behind) = rest.split_first().ok_or_else(damaged)?;
    *rest = behind;
    let oid = |rest: &mut &[u8]| Oid::from_bytes(take_bytes(rest)?).map_err(|_| damaged());
    let cid =
        |rest: &mut &[u8]| Ok(Cid::of_digest(take_bytes(rest)?.try_into().map_err(|_| damaged())?));
    Ok(match sort {
        b'c' => DocumentSource::Commit(*last.insert(oid(rest)?)),
        b't' => {
            let commit = *last.insert(oid(rest)?);
            DocumentSource::Trace { commit, trace: cid(rest)? }
        }
        b'u' => DocumentSource::Trace { commit: last.ok_or_else(damaged)?, trace: cid(rest)? },
        b'p' => DocumentSource::Pending,
        b'b' => DocumentSource::Briefing(cid(rest)?),
        b's' => {
            let id = String::from_utf8(take_bytes(rest)?.to_vec());
            DocumentSource::Session(id.map_err(|_| damaged())?)
        }
        _ => return Err(damaged()),
    })
}

fn push_bytes(bytes: &mut Vec<u8>, content: &[u8]) {
    push_number(bytes, content.len() as u64);
    bytes.extend(content);
}

fn take_bytes<'r>(rest: &mut &'r [u8]) -> Result<&'r [u8]> {
    let length = usize::try_from(take_number(rest)?).unwrap_or(usize::MAX);
    let apart = rest.split_at_checked(length);
    let (content, behind) = apart.ok_or_else(|| IndexError::damaged("a text is too short"))?;
    *rest = behind;
    Ok(content)
}

/// Makes a small number of one that is near 0.
fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

fn unzigzag(number: u64) -> i64 {
    ((number >> 1) as i64) ^ -((number & 1) as i64)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use agentic_model::{Cid, Oid};
    use proptest::prelude::*;

    use super::{EntryGroup, EntryRow};
    use crate::document::DocumentSource;

    fn source(sort: u8, number: u8) -> DocumentSource {
        let commit = Oid::from_bytes(&[number; 20]).expect("an id");
        match sort {
            0 => DocumentSource::Commit(commit),
            1 => DocumentSource::Trace { commit, trace: Cid::of(&[number]) },
            2 => DocumentSource::Pending,
            3 => DocumentSource::Briefing(Cid::of(&[number])),
            _ => DocumentSource::Session(format!("s{number}")),
        }
    }

    fn group() -> impl Strategy<Value = (u32, EntryGroup)> {
        let texts = prop::collection::vec((any::<u64>(), any::<i64>()), 1..5);
        let agent = prop::sample::select(vec!["alice", "alicia", "bob", "é", "è", ""]);
        (0..9_u32, agent, 0..5_u8, 0..3_u8, texts).prop_map(|(gap, agent, sort, number, texts)| {
            let agent = agent.to_owned();
            (gap, EntryGroup { agent, source: source(sort, number), texts })
        })
    }

    proptest! {
        #[test]
        fn rows_are_read_as_they_were_written(all in prop::collection::vec(group(), 0..9)) {
            let (mut next, mut groups) = (0, BTreeMap::new());
            for (gap, group) in all {
                let first = next + gap;
                next = first + group.texts.len() as u32;
                groups.insert(first, group);
            }
            let row = EntryRow { groups };
            let sealed = row.sealed();
            prop_assert_eq!(EntryRow::read(&sealed).expect("whole"), row);
        }

        #[test]
        fn any_bytes_are_a_row_or_damage(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = EntryRow::read(&crate::value::seal_bytes(&bytes));
        }
    }
}
