//! How a program differs from what was recorded of it.

use std::fmt;

use agentic_model::{Cid, Map, Value, canonical, json};

use crate::record::{AnswerRecord, Outcome, Record, StoredValue};
use crate::{Body, Engine, Path, ProgramPosition, RequestHash};

/// How many changed fields a divergence names; there may be more.
pub const CHANGES_MAX: usize = 64;

/// A program did not do what its record says. Nothing was performed and nothing appended.
#[derive(Debug, Clone, PartialEq)]
pub struct Divergence {
    /// In what way.
    pub difference: ProgramDifference,
    /// The position of the record that was compared, if there is one.
    pub seq: Option<u64>,
    /// The path of the request.
    pub path: Path,
    /// What was recorded.
    pub recorded: Option<RequestFields>,
    /// What the program asks now.
    pub asked: Option<RequestFields>,
    /// Where the two payloads, or results, differ: at most `CHANGES_MAX` places.
    pub changes: Vec<PayloadChange>,
    /// How the program came to its end before what was recorded, if it has.
    pub ended: Option<String>,
    /// A hint about order: the position at which the journal records what is asked now.
    pub recorded_elsewhere: Option<u64>,
}

/// In what way a program differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProgramDifference {
    /// A request of another kind, or another sort of end.
    Kind,
    /// A request with another payload, or another result.
    Payload,
    /// A request whose answer has another schema.
    Schema,
    /// Recorded, but the program no longer does it: it ended or waits earlier.
    Leftover,
    /// Not recorded: the program does more than it did.
    Extra,
    /// Another language, or another version of its meaning.
    Engine,
}

/// What a request asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestFields {
    /// The kind; `end` for the end of the program, `withdraw …` for a withdrawal.
    pub kind: String,
    /// The hash, if it is a request.
    pub hash: Option<RequestHash>,
    /// The schema of the answer.
    pub schema: Option<Cid>,
    /// Where in the source.
    pub position: Option<ProgramPosition>,
}

/// A place where two payloads differ.
#[derive(Debug, Clone, PartialEq)]
pub struct PayloadChange {
    /// A JSON pointer (RFC 6901); empty for the whole.
    pub pointer: String,
    /// What was recorded there, if anything.
    pub recorded: Option<Value>,
    /// What is asked there now, if anything.
    pub asked: Option<Value>,
}

impl ProgramDifference {
    /// Returns the stable name.
    pub fn name(self) -> &'static str {
        match self {
            ProgramDifference::Kind => "KIND",
            ProgramDifference::Payload => "PAYLOAD",
            ProgramDifference::Schema => "SCHEMA",
            ProgramDifference::Leftover => "LEFTOVER",
            ProgramDifference::Extra => "EXTRA",
            ProgramDifference::Engine => "ENGINE",
        }
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: request `{}`", self.difference.name(), self.path)?;
        if let Some(seq) = self.seq {
            write!(f, " (record {seq})")?;
        }
        self.write_sides(f)?;
        if let Some(ended) = &self.ended {
            write!(f, "; {ended}")?;
        }
        for change in &self.changes {
            write!(f, "; {change}")?;
        }
        if let Some(seq) = self.recorded_elsewhere {
            write!(f, "; ORDER: record {seq} holds what is asked now")?;
        }
        Ok(())
    }
}

impl Divergence {
    /// Tells that a run began with an engine that is not here.
    pub fn of_engines(began: &Engine, here: &Engine) -> Divergence {
        let named = |engine: &Engine| RequestFields {
            kind: format!("{} {}", engine.language, engine.semantics),
            hash: None,
            schema: None,
            position: None,
        };
        Divergence {
            difference: ProgramDifference::Engine,
            seq: None,
            path: Path::root(),
            recorded: Some(named(began)),
            asked: Some(named(here)),
            changes: Vec::new(),
            ended: None,
            recorded_elsewhere: None,
        }
    }

    /// Tells how a record that was made anew differs from the one that stands at its position.
    pub fn of_records(recorded: &Record, made: &Record) -> Divergence {
        let (difference, changes) = match (recorded.body.as_ask(), made.body.as_ask()) {
            (Some(left), Some(right)) if left.kind != right.kind => {
                (ProgramDifference::Kind, Vec::new())
            }
            (Some(left), Some(right)) if left.schema != right.schema => {
                (ProgramDifference::Schema, Vec::new())
            }
            (Some(left), Some(right)) if left.hash != right.hash => {
                let payloads = inline(&left.payload).zip(inline(&right.payload));
                let changes = payloads.map(|(left, right)| changes(&left, &right));
                (ProgramDifference::Payload, changes.unwrap_or_default())
            }
            (Some(_), None) | (None, Some(_)) => (ProgramDifference::Kind, Vec::new()),
            (Some(_), Some(_)) | (None, None) => {
                (ProgramDifference::Payload, told_apart(recorded, made))
            }
        };
        let path = recorded.body.path().or(made.body.path());
        Divergence {
            difference,
            seq: Some(recorded.seq),
            path: path.cloned().unwrap_or_else(Path::root),
            recorded: Some(fields_of(recorded)),
            asked: Some(fields_of(made)),
            changes,
            ended: None,
            recorded_elsewhere: None,
        }
    }

    /// Writes what was recorded and what is asked now. Where both are of one kind the kinds say
    /// nothing about the difference.
    fn write_sides(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.difference {
            ProgramDifference::Payload => "other data",
            ProgramDifference::Schema => "an answer of another schema",
            ProgramDifference::Kind
            | ProgramDifference::Leftover
            | ProgramDifference::Extra
            | ProgramDifference::Engine => "",
        };
        match (&self.recorded, &self.asked) {
            (Some(recorded), Some(asked)) if recorded.kind == asked.kind && !what.is_empty() => {
                write!(f, ": `{}`", recorded.kind)?;
                if let Some(now) = asked.position {
                    write!(f, " in line {}", now.line)?;
                    if let Some(then) = recorded.position.filter(|then| then.line != now.line) {
                        write!(f, " (recorded from line {})", then.line)?;
                    }
                }
                write!(f, " now has {what}")
            }
            (recorded, asked) => write!(f, ": recorded {}, now {}", side(recorded), side(asked)),
        }
    }
}

/// Returns what a record asks; of another record only what it is.
fn fields_of(record: &Record) -> RequestFields {
    if let Some(ask) = record.body.as_ask() {
        let (kind, hash) = (ask.kind.clone(), Some(ask.hash));
        return RequestFields { kind, hash, schema: ask.schema, position: ask.position };
    }
    let kind =
        record.to_value().get("kind").and_then(Value::as_text).unwrap_or_default().to_owned();
    RequestFields { kind, hash: None, schema: None, position: None }
}

/// Finds where two records differ that ask nothing: in what they answer, else in what they are.
fn told_apart(recorded: &Record, made: &Record) -> Vec<PayloadChange> {
    let answered = |record: &Record| {
        let Body::Answer(AnswerRecord { outcome: Outcome::Ok(value), .. }) = &record.body else {
            return None;
        };
        inline(value)
    };
    let answers = answered(recorded).zip(answered(made)).filter(|(left, right)| left != right);
    match answers {
        Some((left, right)) => changes(&left, &right),
        None => changes(&recorded.to_value(), &made.to_value()),
    }
}

/// Returns a value that stands in its record.
fn inline(value: &StoredValue) -> Option<Value> {
    match value {
        StoredValue::Inline(bytes) => canonical::decode(bytes).ok(),
        StoredValue::Object(_) | StoredValue::Purged(_) => None,
    }
}

fn side(asked: &Option<RequestFields>) -> String {
    let Some(RequestFields { kind, position, .. }) = asked else { return "nothing".to_owned() };
    match position {
        Some(position) => format!("`{kind}` in line {}", position.line),
        None => format!("`{kind}`"),
    }
}

impl fmt::Display for PayloadChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |value: &Option<Value>| match value {
            Some(value) => json::to_text(value),
            None => "nothing".to_owned(),
        };
        let place = if self.pointer.is_empty() { "the whole" } else { &self.pointer };
        write!(f, "{place}: {} became {}", show(&self.recorded), show(&self.asked))
    }
}

/// Finds where two values differ, in the order of their keys.
pub(crate) fn changes(recorded: &Value, asked: &Value) -> Vec<PayloadChange> {
    let mut found = Vec::new();
    compare("", Some(recorded), Some(asked), &mut found);
    found
}

fn compare(
    pointer: &str,
    recorded: Option<&Value>,
    asked: Option<&Value>,
    found: &mut Vec<PayloadChange>,
) {
    if recorded == asked || found.len() >= CHANGES_MAX {
        return;
    }
    match (recorded, asked) {
        (Some(Value::Map(left)), Some(Value::Map(right))) => {
            compare_maps(pointer, left, right, found);
        }
        (Some(Value::List(left)), Some(Value::List(right))) => {
            for n in 0..left.len().max(right.len()) {
                compare(&format!("{pointer}/{n}"), left.get(n), right.get(n), found);
            }
        }
        _ => found.push(PayloadChange {
            pointer: pointer.to_owned(),
            recorded: recorded.cloned(),
            asked: asked.cloned(),
        }),
    }
}

fn compare_maps(pointer: &str, left: &Map, right: &Map, found: &mut Vec<PayloadChange>) {
    let keys: std::collections::BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    for key in keys {
        let token = key.replace('~', "~0").replace('/', "~1");
        compare(&format!("{pointer}/{token}"), left.get(key), right.get(key), found);
    }
}
