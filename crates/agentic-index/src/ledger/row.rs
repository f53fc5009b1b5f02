//! The rows of the index of agents and sessions.

use agentic_model::{Cid, Oid, Value};

use crate::error::{IndexError, Result};
use crate::text::SeenAgent;
use crate::value::{seal, unseal};

/// What an agent is, as its commits and its notes say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRow {
    /// Its name.
    pub name: String,
    /// Where its branch and its notes were.
    pub seen: SeenAgent,
    /// Its first commit; nothing for a branch that was not spawned here.
    pub genesis: Option<Oid>,
    /// The agent it was forked from.
    pub parent: Option<String>,
    /// The id of its briefing.
    pub briefing: Option<Cid>,
    /// How many commits it made, the genesis included.
    pub n_commits: u64,
    /// How many of each kind, by name.
    pub kinds: Vec<(String, u64)>,
    /// The first line of its newest commit's message.
    pub subject: String,
    /// When its newest commit was made, in milliseconds.
    pub at: i64,
    /// The agents whose work it took in, oldest first.
    pub merges: Vec<String>,
    /// Those of them that count as merged into it.
    pub merged: Vec<String>,
    /// The events of edges that its notes keep.
    pub edges: Vec<EdgeRow>,
}

/// An event of an edge between two parties.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct EdgeRow {
    /// Who relates.
    pub source: String,
    /// How.
    pub relation: String,
    /// To whom.
    pub target: String,
    /// The object that it is.
    pub cid: String,
    /// Whether the relation begins or ends.
    pub is_assertion: bool,
    /// When, in milliseconds.
    pub at: i64,
}

/// What a session is, as its records say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// The agent it runs as.
    pub agent: String,
    /// The flow it runs.
    pub flow: String,
    /// How it stands.
    pub state: String,
    /// Whether it is over.
    pub is_over: bool,
    /// How many records it has.
    pub n_records: u64,
    /// The hash of the last one.
    pub chain: String,
    /// When it was started, in milliseconds.
    pub started_at: i64,
    /// The earliest instant that it waits for, in milliseconds.
    pub until: Option<i64>,
    /// The session that it was forked from, or that waits for it.
    pub parent: Option<String>,
    /// How long its log was when it was read; nothing where only notes have it.
    pub n_bytes: Option<u64>,
    /// Whether it would stand otherwise if somebody began or ceased to be at work on it.
    pub depends_on_attendance: bool,
}

impl AgentRow {
    /// Makes the row of an agent of which no commit was read yet.
    pub fn unborn(name: &str, seen: SeenAgent) -> AgentRow {
        AgentRow {
            name: name.to_owned(),
            seen,
            genesis: None,
            parent: None,
            briefing: None,
            n_commits: 0,
            kinds: Vec::new(),
            subject: String::new(),
            at: 0,
            merges: Vec::new(),
            merged: Vec::new(),
            edges: Vec::new(),
        }
    }

    pub(super) fn sealed(&self) -> Vec<u8> {
        let names = |names: &[String]| Value::List(names.iter().map(Value::text).collect());
        let kinds = self.kinds.iter().flat_map(|(kind, n)| [Value::text(kind), number(*n)]);
        seal(&Value::List(vec![
            optional(&self.genesis, |oid| Value::Bytes(oid.as_bytes().to_vec())),
            optional(&self.parent, |parent| Value::text(parent)),
            optional(&self.briefing, |cid| Value::text(cid.to_string())),
            number(self.n_commits),
            Value::List(kinds.collect()),
            Value::text(&self.subject),
            Value::Int(self.at),
            names(&self.merges),
            names(&self.merged),
        ]))
    }

    pub(super) fn read(
        name: &str,
        sealed: &[u8],
        seen: SeenAgent,
        edges: Vec<EdgeRow>,
    ) -> Result<AgentRow> {
        let damaged = || IndexError::damaged("an agent");
        let value = unseal(sealed)?;
        let [genesis, parent, briefing, commits, kinds, subject, at, merges, merged] =
            value.as_list().ok_or_else(damaged)?
        else {
            return Err(damaged());
        };
        let read = || {
            let names = |names: &Value| {
                let names = names.as_list()?.iter();
                names.map(|name| Some(name.as_text()?.to_owned())).collect::<Option<Vec<_>>>()
            };
            let kind = |pair: &[Value]| match pair {
                [kind, count] => Some((kind.as_text()?.to_owned(), count_of(count)?)),
                _ => None,
            };
            Some(AgentRow {
                name: name.to_owned(),
                genesis: present(genesis, |it| Oid::from_bytes(it.as_bytes()?).ok())?,
                parent: present(parent, |it| Some(it.as_text()?.to_owned()))?,
                briefing: present(briefing, |it| Cid::parse(it.as_text()?).ok())?,
                n_commits: count_of(commits)?,
                kinds: kinds.as_list()?.chunks(2).map(kind).collect::<Option<_>>()?,
                subject: subject.as_text()?.to_owned(),
                at: at.as_int()?,
                merges: names(merges)?,
                merged: names(merged)?,
                seen,
                edges,
            })
        };
        read().ok_or_else(damaged)
    }
}

impl EdgeRow {
    /// Makes the key under which an agent keeps it.
    pub(super) fn key(&self, keeper: &str) -> Vec<u8> {
        let parts = [keeper, &self.source, &self.relation, &self.target, &self.cid];
        parts.join("\0").into_bytes()
    }

    pub(super) fn sealed(&self) -> Vec<u8> {
        seal(&Value::List(vec![Value::from(self.is_assertion), Value::Int(self.at)]))
    }

    pub(super) fn read(key: &[u8], sealed: &[u8]) -> Result<(String, EdgeRow)> {
        let value = unseal(sealed)?;
        let read = || {
            let mut parts = std::str::from_utf8(key).ok()?.split('\0').map(str::to_owned);
            let keeper = parts.next()?;
            let (source, relation, target, cid) =
                (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
            let [is_assertion, at] = value.as_list()? else { return None };
            let (is_assertion, at) = (is_assertion.as_bool()?, at.as_int()?);
            Some((keeper, EdgeRow { source, relation, target, cid, is_assertion, at }))
        };
        read().ok_or_else(|| IndexError::damaged("an edge"))
    }
}

impl SessionRow {
    pub(super) fn sealed(&self) -> Vec<u8> {
        seal(&Value::List(vec![
            Value::text(&self.agent),
            Value::text(&self.flow),
            Value::text(&self.state),
            Value::from(self.is_over),
            number(self.n_records),
            Value::text(&self.chain),
            Value::Int(self.started_at),
            optional(&self.until, |until| Value::Int(*until)),
            optional(&self.parent, |parent| Value::text(parent)),
            optional(&self.n_bytes, |n_bytes| number(*n_bytes)),
            Value::from(self.depends_on_attendance),
        ]))
    }

    pub(super) fn read(sealed: &[u8]) -> Result<SessionRow> {
        let value = unseal(sealed)?;
        let read = || {
            let [
                agent,
                flow,
                state,
                is_over,
                records,
                chain,
                started,
                until,
                parent,
                n_bytes,
                attendance,
            ] = value.as_list()?
            else {
                return None;
            };
            let text = |value: &Value| Some(value.as_text()?.to_owned());
            Some(SessionRow {
                agent: text(agent)?,
                flow: text(flow)?,
                state: text(state)?,
                is_over: is_over.as_bool()?,
                n_records: count_of(records)?,
                chain: text(chain)?,
                started_at: started.as_int()?,
                until: present(until, Value::as_int)?,
                parent: present(parent, text)?,
                n_bytes: present(n_bytes, count_of)?,
                depends_on_attendance: attendance.as_bool()?,
            })
        };
        read().ok_or_else(|| IndexError::damaged("a session"))
    }
}

fn number(number: u64) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

fn count_of(value: &Value) -> Option<u64> {
    u64::try_from(value.as_int()?).ok()
}

fn optional<T>(of: &Option<T>, value: impl FnOnce(&T) -> Value) -> Value {
    of.as_ref().map_or(Value::Null, value)
}

/// Reads what may be missing; nothing where something stands there that is wrong.
fn present<T>(value: &Value, read: impl FnOnce(&Value) -> Option<T>) -> Option<Option<T>> {
    if *value == Value::Null { Some(None) } else { read(value).map(Some) }
}
