//! How all agents stood when they were told of, in little memory.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use agentic_index::{NameTable, NamedBytes};
use agentic_model::{AgentName, Oid};

/// How an agent stood when it was told of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToldAgent {
    pub head: Option<Oid>,
    pub notes: Option<Oid>,
    pub journal: Option<JournalMark>,
}

/// How far a journal is written: its last segment, and how long that is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalMark {
    segment: OsString,
    n_bytes: u64,
}

/// How all agents stood.
#[derive(Debug, Default)]
pub struct ToldAgents(NameTable);

impl JournalMark {
    pub fn read(journal: &Path) -> Option<JournalMark> {
        let entries = std::fs::read_dir(journal).ok()?.flatten();
        let last = entries.max_by_key(|entry| entry.file_name())?;
        let n_bytes = last.metadata().ok()?.len();
        Some(JournalMark { segment: last.file_name(), n_bytes })
    }
}

impl ToldAgents {
    /// Lists the agents whose journals are otherwise now, with how they stand.
    pub fn with_other_journals(
        &self,
        mut now: BTreeMap<AgentName, JournalMark>,
    ) -> Vec<(AgentName, ToldAgent)> {
        let moved = |one: &NamedBytes| {
            let (agent, told) = (name(one), unpacked(one));
            let journal = now.remove(&agent);
            (journal != told.journal).then_some((agent, ToldAgent { journal, ..told }))
        };
        self.0.iter().filter_map(moved).collect()
    }

    /// Returns whether an agent was told of as one that is there.
    pub fn has(&self, agent: &AgentName) -> bool {
        self.0.get(agent.as_str()).is_some()
    }

    /// Takes how an agent stands; returns how it stood.
    pub fn put(&mut self, agent: &AgentName, told: &ToldAgent) -> Option<ToldAgent> {
        self.0.put(packed(agent, told)).as_ref().map(unpacked)
    }

    /// Forgets an agent; returns how it stood.
    pub fn remove(&mut self, agent: &AgentName) -> Option<ToldAgent> {
        self.0.remove(agent.as_str()).as_ref().map(unpacked)
    }

    /// Lists the agents that stand otherwise in others, with how they stand there: those that are gone
    /// first.
    pub fn moved_in(&self, others: &ToldAgents) -> Vec<(AgentName, ToldAgent)> {
        let gone = self.0.iter().filter(|one| others.0.get(one.name()).is_none());
        let gone = gone.map(|one| (name(one), ToldAgent::default()));
        let is_moved = |one: &&NamedBytes| {
            self.0.get(one.name()).is_none_or(|known| known.value() != one.value())
        };
        let moved = others.0.iter().filter(is_moved).map(|one| (name(one), unpacked(one)));
        gone.chain(moved).collect()
    }
}

fn name(told: &NamedBytes) -> AgentName {
    AgentName::parse(told.name()).expect("BUG: an agent that was told of has a name")
}

/// Head and notes, each behind its length, and what is known of the journal.
fn packed(agent: &AgentName, told: &ToldAgent) -> NamedBytes {
    NamedBytes::new(agent.as_str(), |bytes| {
        for oid in [&told.head, &told.notes] {
            let oid = oid.as_ref().map_or(&[][..], Oid::as_bytes);
            bytes.push(u8::try_from(oid.len()).expect("BUG: an id has 32 bytes at most"));
            bytes.extend(oid);
        }
        if let Some(journal) = &told.journal {
            bytes.extend(journal.n_bytes.to_be_bytes());
            bytes.extend(journal.segment.as_bytes());
        }
    })
}

fn unpacked(packed: &NamedBytes) -> ToldAgent {
    let mut rest = packed.value();
    let mut oid = || {
        let (length, behind) = rest.split_first().expect("BUG: an id has a length");
        let (oid, behind) = behind.split_at(usize::from(*length));
        rest = behind;
        (!oid.is_empty()).then(|| Oid::from_bytes(oid).expect("BUG: a packed id is one"))
    };
    let (head, notes) = (oid(), oid());
    let journal = rest.split_first_chunk().map(|(n_bytes, segment)| JournalMark {
        segment: OsString::from_vec(segment.to_vec()),
        n_bytes: u64::from_be_bytes(*n_bytes),
    });
    ToldAgent { head, notes, journal }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;

    use super::{JournalMark, ToldAgent, ToldAgents};
    use agentic_model::{AgentName, Oid};

    fn name(text: &str) -> AgentName {
        AgentName::parse(text).expect("a name")
    }

    fn told(head: u8) -> ToldAgent {
        let head = Some(Oid::from_bytes(&[head; 20]).expect("an id"));
        ToldAgent { head, ..ToldAgent::default() }
    }

    #[test]
    fn agents_are_told_of_as_they_were_kept() {
        let mut agents = ToldAgents::default();
        let notes = Some(Oid::from_bytes(&[0; 32]).expect("an id"));
        let journal = |segment: &[u8], n_bytes| {
            let segment = std::ffi::OsString::from_vec(segment.to_vec());
            Some(JournalMark { segment, n_bytes })
        };
        let all = [
            told(0),
            ToldAgent { notes, ..told(1) },
            ToldAgent { journal: journal(b"", 0), ..told(2) },
            ToldAgent { notes, journal: journal(b"\xff.seg", u64::MAX), ..told(3) },
            ToldAgent::default(),
        ];
        let mut before = None;
        for one in all {
            assert_eq!(agents.put(&name("alice"), &one), before);
            before = Some(one);
        }
        assert_eq!(agents.remove(&name("alice")), before);
        assert_eq!(agents.remove(&name("alice")), None);
    }

    #[test]
    fn agents_whose_journals_grew_came_or_went_are_listed() {
        let mark = |n_bytes| JournalMark { segment: "1".into(), n_bytes };
        let mut agents = ToldAgents::default();
        for (agent, journal) in [("a", Some(1)), ("b", Some(1)), ("c", Some(1)), ("d", None)] {
            agents.put(&name(agent), &ToldAgent { journal: journal.map(mark), ..told(1) });
        }
        let now = [("a", 1), ("b", 2), ("d", 1), ("unknown", 1)];
        let now = now.map(|(agent, n_bytes)| (name(agent), mark(n_bytes)));
        let moved = agents.with_other_journals(now.into_iter().collect());
        let expected = [("b", Some(2)), ("c", None), ("d", Some(1))];
        let expected = expected.map(|(agent, journal)| {
            (name(agent), ToldAgent { journal: journal.map(mark), ..told(1) })
        });
        assert_eq!(moved, expected);
    }

    #[test]
    fn who_moved_came_or_went_is_listed() {
        let (mut before, mut now) = (ToldAgents::default(), ToldAgents::default());
        for (agent, old, new) in
            [("a", Some(1), Some(1)), ("b", Some(1), Some(2)), ("c", None, Some(3))]
        {
            old.map(|old| before.put(&name(agent), &told(old)));
            new.map(|new| now.put(&name(agent), &told(new)));
        }
        before.put(&name("z"), &told(9));
        let moved = before.moved_in(&now);
        let expected = [("z", ToldAgent::default()), ("b", told(2)), ("c", told(3))]
            .map(|(a, t)| (name(a), t));
        assert_eq!(moved, expected);
        assert!(now.moved_in(&now).is_empty());
    }
}
