//! Types and values of the language, their order, and how values are printed.

use std::cmp::Ordering;
use std::sync::Arc;

use agentic_model::{Instant, Value, json};

/// The type of a column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QueryType {
    /// Unicode text.
    #[default]
    Text,
    /// A whole number of 64 bits.
    Int,
    /// A finite number.
    Float,
    /// A truth value.
    Bool,
    /// A moment, in milliseconds, UTC.
    Instant,
    /// A length of time, in milliseconds.
    Duration,
    /// The id of a commit.
    Commit,
    /// A content id.
    Cid,
    /// The id of a session.
    Session,
    /// The id of a request, `SESSION.REQUEST`.
    Request,
}

/// A value: instants and durations are their milliseconds, ids their text. The column says which.
#[derive(Debug, Clone)]
pub enum QueryValue {
    /// Nothing: equals itself alone.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number, or milliseconds.
    Int(i64),
    /// A finite number, never minus zero.
    Float(f64),
    /// A text, or the text of an id.
    Text(Arc<str>),
}

impl QueryType {
    /// Every type, in the order of the specification.
    pub const ALL: [QueryType; 10] = [
        QueryType::Text,
        QueryType::Int,
        QueryType::Float,
        QueryType::Bool,
        QueryType::Instant,
        QueryType::Duration,
        QueryType::Commit,
        QueryType::Cid,
        QueryType::Session,
        QueryType::Request,
    ];

    /// Returns the word for the type.
    pub fn name(self) -> &'static str {
        match self {
            QueryType::Text => "text",
            QueryType::Int => "int",
            QueryType::Float => "float",
            QueryType::Bool => "bool",
            QueryType::Instant => "instant",
            QueryType::Duration => "duration",
            QueryType::Commit => "commit",
            QueryType::Cid => "cid",
            QueryType::Session => "session",
            QueryType::Request => "request",
        }
    }

    /// Finds the type of a name.
    pub fn parse(name: &str) -> Option<QueryType> {
        QueryType::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Says whether values of this type are written `#…`.
    pub fn is_id(self) -> bool {
        matches!(self, QueryType::Commit | QueryType::Cid | QueryType::Session | QueryType::Request)
    }

    /// Says whether this is a number, so that it compares with other numbers.
    pub fn is_number(self) -> bool {
        matches!(self, QueryType::Int | QueryType::Float)
    }

    /// Says whether a value may stand in a column of this type.
    pub fn fits(self, value: &QueryValue) -> bool {
        match value {
            QueryValue::Null => true,
            QueryValue::Bool(_) => self == QueryType::Bool,
            QueryValue::Int(_) => {
                matches!(self, QueryType::Int | QueryType::Instant | QueryType::Duration)
            }
            QueryValue::Float(_) => self == QueryType::Float,
            QueryValue::Text(_) => self == QueryType::Text || self.is_id(),
        }
    }
}

impl QueryValue {
    /// Makes a text.
    pub fn text(text: &str) -> QueryValue {
        QueryValue::Text(Arc::from(text))
    }

    /// Makes a number, if it is finite.
    pub fn float(number: f64) -> Option<QueryValue> {
        // Adding zero turns minus zero into zero, so that equal numbers have equal bits.
        number.is_finite().then_some(QueryValue::Float(number + 0.0))
    }

    /// Prints the value as canonical JSON: instants by RFC 3339, durations in milliseconds.
    pub fn to_json(&self, kind: QueryType) -> String {
        let value = match self {
            QueryValue::Null => Value::Null,
            QueryValue::Bool(truth) => Value::Bool(*truth),
            QueryValue::Int(millis) if kind == QueryType::Instant => {
                Value::Text(Instant::from_millis(*millis).to_string())
            }
            QueryValue::Int(number) => Value::Int(*number),
            QueryValue::Float(number) => Value::Float(*number),
            QueryValue::Text(text) => Value::text(text.as_ref()),
        };
        json::to_text(&value)
    }

    fn rank(&self) -> u8 {
        match self {
            QueryValue::Null => 0,
            QueryValue::Bool(_) => 1,
            QueryValue::Int(_) | QueryValue::Float(_) => 2,
            QueryValue::Text(_) => 3,
        }
    }
}

/// Compares a whole number with a finite one, exactly.
pub(crate) fn compare_mixed(whole: i64, number: f64) -> Ordering {
    // 2^63 is exact as a float; beyond it every comparison is decided.
    const BOUND: f64 = 9_223_372_036_854_775_808.0;
    if number >= BOUND {
        return Ordering::Less;
    }
    if number < -BOUND {
        return Ordering::Greater;
    }
    let floor = number.floor();
    whole.cmp(&(floor as i64)).then(if number > floor { Ordering::Less } else { Ordering::Equal })
}

impl Ord for QueryValue {
    fn cmp(&self, other: &QueryValue) -> Ordering {
        match (self, other) {
            (QueryValue::Bool(a), QueryValue::Bool(b)) => a.cmp(b),
            (QueryValue::Int(a), QueryValue::Int(b)) => a.cmp(b),
            (QueryValue::Float(a), QueryValue::Float(b)) => a.total_cmp(b),
            (QueryValue::Int(a), QueryValue::Float(b)) => {
                compare_mixed(*a, *b).then(Ordering::Less)
            }
            (QueryValue::Float(a), QueryValue::Int(b)) => {
                compare_mixed(*b, *a).reverse().then(Ordering::Greater)
            }
            (QueryValue::Text(a), QueryValue::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
            (a, b) => a.rank().cmp(&b.rank()),
        }
    }
}

impl PartialOrd for QueryValue {
    fn partial_cmp(&self, other: &QueryValue) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for QueryValue {
    fn eq(&self, other: &QueryValue) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for QueryValue {}
