//! What a journal records.

use agentic_model::object::ObjectError;
use agentic_model::{Cid, Entry, Instant, Map, Oid, Value, canonical};

use super::transaction::{GitObject, Transaction};
use crate::{Error, Result};

/// The version of the record format.
const VERSION: i64 = 1;

/// The hash of a record's payload, named by the next record.
pub type JournalRecordHash = [u8; 32];

/// One record, with what a writer needs to know to append the next.
#[derive(Debug, Clone, PartialEq)]
pub struct JournalRecord {
    /// Its number, from 0, without gaps.
    pub seq: u64,
    /// The hash of the record before; zeros for the first.
    pub prev: JournalRecordHash,
    /// When it was written.
    pub at: Instant,
    /// How many bytes of its segment the disk was known to have when it was written.
    pub synced: u64,
    /// Where the stream stands after this record.
    pub standing: StreamStanding,
    /// What it records.
    pub body: JournalBody,
}

/// What is true after a record, so that the last record alone tells how to go on.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamStanding {
    /// The first commit of the branch that the journal belongs to; nothing for streams that have
    /// no genesis.
    pub genesis: Option<Oid>,
    /// The branch's head as this journal knows it.
    pub head: Option<Oid>,
    /// Trace entries with a number below this one are bound to commits.
    pub taken_before: u64,
    /// How many trace entries are not.
    pub n_pending: u64,
    /// Where the notes ref of the last transaction was before it; after a power cut that damaged
    /// the ref and its log, the state to begin again from.
    pub notes: Option<Oid>,
    /// The state of its own notes ref that has all its notes edits: what the newest write's own move
    /// left. Nothing where nobody looked, as in records of earlier releases.
    pub compared: Option<Oid>,
    /// The behaviour that the agent had at that head.
    pub pin: StreamPin,
}

/// Which behaviour an agent has, as a journal knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StreamPin {
    /// Nobody looked, as in records of earlier releases.
    #[default]
    Unknown,
    /// None.
    Nothing,
    /// This one.
    Behaviour(Cid),
}

impl StreamPin {
    /// Makes one of what was found.
    pub fn found(behaviour: Option<Cid>) -> StreamPin {
        behaviour.map_or(StreamPin::Nothing, StreamPin::Behaviour)
    }
}

/// What a record says.
#[derive(Debug, Clone, PartialEq)]
pub enum JournalBody {
    /// A segment begins; everything before it is checkpointed or was copied.
    Open,
    /// A trace entry.
    Entry(Entry),
    /// A write, whole: everything that follows can be redone from it.
    Transaction(Box<Transaction>),
    /// The transaction before is materialised.
    Done {
        /// The commits whose notes a person removed, so that nobody brings them back.
        removed: Vec<Oid>,
    },
    /// The transaction before was given up: the branch was elsewhere.
    Abort {
        /// Where the branch was.
        found: Option<Oid>,
    },
    /// Older segments are dropped: git itself holds durably what they recorded.
    Cut {
        /// Records with a number below this one do not count any more.
        before: u64,
        /// The commits that are decisions because a record said so which is gone now.
        decisions: Vec<Oid>,
    },
}

impl JournalRecord {
    /// Tells whether the log was cut here: pending entries are repeated after this record, and
    /// nothing before it counts.
    pub fn is_restart(&self) -> bool {
        matches!(self.body, JournalBody::Open) && self.standing.taken_before == self.seq
    }

    /// Returns the number of the first record that counts, if this one says so.
    pub fn first(&self) -> Option<u64> {
        match &self.body {
            JournalBody::Open => self.is_restart().then_some(self.seq),
            JournalBody::Cut { before, .. } => Some(*before),
            JournalBody::Entry(_)
            | JournalBody::Transaction(_)
            | JournalBody::Done { .. }
            | JournalBody::Abort { .. } => None,
        }
    }

    /// Returns the write, if this record is one: at the end of a journal, one that has neither been
    /// done nor aborted.
    pub fn transaction(&self) -> Option<&Transaction> {
        match &self.body {
            JournalBody::Transaction(transaction) => Some(transaction),
            JournalBody::Open
            | JournalBody::Entry(_)
            | JournalBody::Done { .. }
            | JournalBody::Abort { .. }
            | JournalBody::Cut { .. } => None,
        }
    }

    /// Lists the commits that this record makes decisions.
    pub fn decisions(&self) -> Vec<Oid> {
        match &self.body {
            JournalBody::Transaction(transaction) => transaction.decision().into_iter().collect(),
            JournalBody::Cut { decisions, .. } => decisions.clone(),
            JournalBody::Open
            | JournalBody::Entry(_)
            | JournalBody::Done { .. }
            | JournalBody::Abort { .. } => Vec::new(),
        }
    }

    /// Does the same, with the objects that it holds of each;
    /// nothing where it only says that it was one.
    pub fn into_decisions(self) -> Vec<(Oid, Option<Vec<GitObject>>)> {
        match self.body {
            JournalBody::Transaction(transaction) => {
                let decision = transaction.decision();
                decision.map(|oid| (oid, Some(transaction.objects))).into_iter().collect()
            }
            JournalBody::Cut { decisions, .. } => {
                decisions.into_iter().map(|oid| (oid, None)).collect()
            }
            JournalBody::Open
            | JournalBody::Entry(_)
            | JournalBody::Done { .. }
            | JournalBody::Abort { .. } => Vec::new(),
        }
    }

    /// Writes the canonical payload.
    ///
    /// # Errors
    /// Fails when the record is too long.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let (kind, body) = self.body.to_value();
        let mut map = Map::from([
            ("v".to_owned(), Value::Int(VERSION)),
            ("seq".to_owned(), Value::Int(self.seq as i64)),
            ("prev".to_owned(), Value::Bytes(self.prev.to_vec())),
            ("at".to_owned(), Value::Int(self.at.millis())),
            ("synced".to_owned(), Value::Int(self.synced as i64)),
            ("taken".to_owned(), Value::Int(self.standing.taken_before as i64)),
            ("pending".to_owned(), Value::Int(self.standing.n_pending as i64)),
            ("kind".to_owned(), Value::text(kind)),
            ("body".to_owned(), body),
        ]);
        let mut put_oid = |key: &str, oid: Option<Oid>| {
            if let Some(oid) = oid {
                map.insert(key.to_owned(), Value::Bytes(oid.as_bytes().to_vec()));
            }
        };
        put_oid("genesis", self.standing.genesis);
        put_oid("head", self.standing.head);
        put_oid("notes", self.standing.notes);
        put_oid("compared", self.standing.compared);
        let pin = match self.standing.pin {
            StreamPin::Unknown => None,
            StreamPin::Nothing => Some(Value::Null),
            StreamPin::Behaviour(cid) => Some(Value::Link(cid)),
        };
        map.extend(pin.map(|pin| ("pin".to_owned(), pin)));
        canonical::encode(&Value::Map(map)).map_err(|error| Error::corrupt("a new record", error))
    }

    /// Reads a payload back.
    ///
    /// # Errors
    /// Fails when the payload is not the canonical form of a record of this version.
    pub fn decode(payload: &[u8]) -> Result<JournalRecord> {
        let value = canonical::decode(payload).map_err(|e| Error::corrupt("a record", e))?;
        let fields = Fields(&value);
        if fields.int("v")? != VERSION {
            return Err(Error::corrupt("a record", "it was written by a newer version"));
        }
        let prev = fields.bytes("prev")?;
        let standing = StreamStanding {
            genesis: fields.optional_oid("genesis")?,
            head: fields.optional_oid("head")?,
            taken_before: fields.count("taken")?,
            n_pending: fields.count("pending")?,
            notes: fields.optional_oid("notes")?,
            compared: fields.optional_oid("compared")?,
            pin: match value.get("pin") {
                None => StreamPin::Unknown,
                Some(pin) => StreamPin::found(pin.as_link()),
            },
        };
        Ok(JournalRecord {
            seq: fields.count("seq")?,
            prev: prev.try_into().map_err(|_| fields.wrong("prev"))?,
            at: Instant::from_millis(fields.int("at")?),
            synced: fields.count("synced")?,
            standing,
            body: JournalBody::from_value(fields.text("kind")?, fields.get("body")?)?,
        })
    }
}

impl JournalBody {
    fn to_value(&self) -> (&'static str, Value) {
        match self {
            JournalBody::Open => ("open", Value::Null),
            JournalBody::Entry(entry) => ("entry", entry.to_value()),
            JournalBody::Transaction(transaction) => ("tx", transaction.to_value()),
            JournalBody::Done { removed } => ("done", oids_or_null(removed)),
            JournalBody::Abort { found } => {
                let found = found.map(|oid| Value::Bytes(oid.as_bytes().to_vec()));
                ("abort", found.unwrap_or(Value::Null))
            }
            JournalBody::Cut { before, decisions } => {
                let oid = |oid: &Oid| Value::Bytes(oid.as_bytes().to_vec());
                let decisions = Value::List(decisions.iter().map(oid).collect());
                ("cut", Value::List(vec![Value::Int(*before as i64), decisions]))
            }
        }
    }

    fn from_value(kind: &str, value: &Value) -> Result<JournalBody> {
        Ok(match kind {
            "open" => JournalBody::Open,
            "entry" => JournalBody::Entry(
                Entry::from_value(value)
                    .map_err(|error: ObjectError| Error::corrupt("a trace entry", error))?,
            ),
            "tx" => JournalBody::Transaction(Box::new(Transaction::from_value(value)?)),
            "done" => JournalBody::Done { removed: read_oids(value)? },
            "abort" => JournalBody::Abort { found: oid_or_null(value)? },
            "cut" => read_cut(value)?,
            other => {
                return Err(Error::corrupt("a record", format!("unknown kind `{other}`")));
            }
        })
    }
}

fn oids_or_null(oids: &[Oid]) -> Value {
    match oids {
        [] => Value::Null,
        oids => Value::List(oids.iter().map(|oid| Value::Bytes(oid.as_bytes().to_vec())).collect()),
    }
}

fn read_oids(value: &Value) -> Result<Vec<Oid>> {
    let damaged = || Error::corrupt("a record", "a list of ids is wrong");
    let items = value.as_list().unwrap_or_default();
    items.iter().map(|item| oid_or_null(item)?.ok_or_else(damaged)).collect()
}

/// Reads a git object id, or nothing.
pub(super) fn oid_or_null(value: &Value) -> Result<Option<Oid>> {
    match value {
        Value::Null => Ok(None),
        Value::Bytes(bytes) => {
            Oid::from_bytes(bytes).map(Some).map_err(|e| Error::corrupt("a record", e))
        }
        other @ (Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::List(_)
        | Value::Map(_)
        | Value::Link(_)) => {
            Err(Error::corrupt("a record", format!("an id that is {}", other.variant())))
        }
    }
}

fn read_cut(value: &Value) -> Result<JournalBody> {
    let damaged = || Error::corrupt("a record", "what it says of a cut is missing or wrong");
    let [Value::Int(before), Value::List(decisions)] = value.as_list().unwrap_or_default() else {
        return Err(damaged());
    };
    let before = u64::try_from(*before).map_err(|_| damaged())?;
    let oid = |item| oid_or_null(item)?.ok_or_else(damaged);
    Ok(JournalBody::Cut { before, decisions: decisions.iter().map(oid).collect::<Result<_>>()? })
}

/// Reads the fields of a record.
pub(super) struct Fields<'a>(pub &'a Value);

impl<'a> Fields<'a> {
    pub fn wrong(&self, field: &str) -> Error {
        Error::corrupt("a record", format!("its field `{field}` is missing or wrong"))
    }

    pub fn get(&self, field: &str) -> Result<&'a Value> {
        self.0.get(field).ok_or_else(|| self.wrong(field))
    }

    pub fn int(&self, field: &str) -> Result<i64> {
        self.get(field)?.as_int().ok_or_else(|| self.wrong(field))
    }

    pub fn count(&self, field: &str) -> Result<u64> {
        u64::try_from(self.int(field)?).map_err(|_| self.wrong(field))
    }

    pub fn text(&self, field: &str) -> Result<&'a str> {
        self.get(field)?.as_text().ok_or_else(|| self.wrong(field))
    }

    pub fn bytes(&self, field: &str) -> Result<&'a [u8]> {
        self.get(field)?.as_bytes().ok_or_else(|| self.wrong(field))
    }

    pub fn list(&self, field: &str) -> Result<&'a [Value]> {
        self.get(field)?.as_list().ok_or_else(|| self.wrong(field))
    }

    pub fn optional(&self, field: &str) -> Option<&'a Value> {
        self.0.get(field)
    }

    pub fn optional_oid(&self, field: &str) -> Result<Option<Oid>> {
        self.optional(field).map_or(Ok(None), oid_or_null)
    }
}
