//! Rows on their way into a question: only the columns that it asks for are computed, and a row that
//! it cannot use is dropped before its dear columns are.

use std::borrow::Cow;
use std::cmp::Ordering;

use agentic_model::{Instant, Value, json};
use agentic_query::{
    FactBinding, FactCell, FactPredicate, FactRange, FactRequest, FactSink, QueryValue,
};

/// The value of one column of a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ColumnValue<'v> {
    /// Nothing.
    Null,
    /// Nothing, because it cannot be read: why.
    Gone(String),
    /// A whole number, or milliseconds.
    Int(i64),
    /// A number.
    Float(f64),
    /// A text or an id.
    Text(Cow<'v, str>),
}

/// Takes the rows that a source finds for one request.
pub(super) struct SessionRows<'r, 's> {
    request: &'r FactRequest,
    predicate: &'r FactPredicate,
    sink: &'r mut FactSink<'s>,
    is_over: bool,
}

impl<'r, 's> SessionRows<'r, 's> {
    /// Begins with no row.
    pub(super) fn new(
        request: &'r FactRequest,
        predicate: &'r FactPredicate,
        sink: &'r mut FactSink<'s>,
    ) -> Self {
        SessionRows { request, predicate, sink, is_over: false }
    }

    /// Tells whether no more rows are wanted.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Tells whether a column is asked for, or decides about rows.
    pub(super) fn wants(&self, column: &str) -> bool {
        let is_it = |number: usize| self.name(number) == column;
        self.request.columns.iter().any(|number| is_it(*number))
            || self.request.bound.iter().any(|bound| is_it(bound.column))
            || self.request.ranges.iter().any(|range| is_it(range.column))
    }

    /// Tells whether no value of a text column is of use but this one.
    pub(super) fn wants_only(&self, column: &str, value: &str) -> bool {
        let is_it = |wanted: &QueryValue| *wanted == QueryValue::text(value);
        let mut bound = self.request.bound.iter().filter(|it| self.name(it.column) == column);
        bound.any(|bound| bound.values.iter().all(is_it))
    }

    /// Tells whether a row is of use in which a column is this text.
    pub(super) fn may_be(&self, column: &str, text: &str) -> bool {
        self.admits(column, &ColumnValue::text(text))
    }

    /// Tells whether a row is of use in which a column is nothing.
    pub(super) fn may_be_null(&self, column: &str) -> bool {
        self.admits(column, &ColumnValue::Null)
    }

    fn admits(&self, column: &str, value: &ColumnValue<'_>) -> bool {
        let mut bound = self.request.bound.iter().filter(|it| self.name(it.column) == column);
        bound.all(|bound| is_among(value, bound))
    }

    /// Says that something was left out.
    pub(super) fn note(&mut self, note: String) {
        self.sink.note(note);
    }

    /// Takes a row, whose columns are told by their names.
    pub(super) fn row<'v>(&mut self, column: impl Fn(&str) -> ColumnValue<'v>) {
        let is_wanted = |bound: &FactBinding| is_among(&column(self.name(bound.column)), bound);
        let is_inside = |range: &FactRange| match column(self.name(range.column)) {
            ColumnValue::Int(number) => range.admits(number),
            ColumnValue::Null
            | ColumnValue::Gone(_)
            | ColumnValue::Float(_)
            | ColumnValue::Text(_) => false,
        };
        let FactRequest { bound, ranges, .. } = self.request;
        if self.is_over || !ranges.iter().all(is_inside) || !bound.iter().all(is_wanted) {
            return;
        }
        let mut values = Vec::with_capacity(self.request.columns.len());
        for number in &self.request.columns {
            values.push(match column(self.name(*number)) {
                ColumnValue::Gone(why) => {
                    self.sink.note(why);
                    ColumnValue::Null
                }
                value @ (ColumnValue::Null
                | ColumnValue::Int(_)
                | ColumnValue::Float(_)
                | ColumnValue::Text(_)) => value,
            });
        }
        let cells: Vec<FactCell<'_>> = values.iter().map(ColumnValue::cell).collect();
        self.is_over = self.sink.row(&cells).is_break();
    }

    fn name(&self, column: usize) -> &str {
        self.predicate.columns[column].name
    }
}

impl<'v> ColumnValue<'v> {
    /// Makes a text.
    pub(super) fn text(text: impl Into<Cow<'v, str>>) -> ColumnValue<'v> {
        ColumnValue::Text(text.into())
    }

    /// Prints an id.
    pub(super) fn id(id: impl ToString) -> ColumnValue<'v> {
        ColumnValue::Text(Cow::Owned(id.to_string()))
    }

    /// Makes an instant.
    pub(super) fn at(instant: Instant) -> ColumnValue<'v> {
        ColumnValue::Int(instant.millis())
    }

    /// Makes a count; one that no column can hold is the largest.
    pub(super) fn count(count: u64) -> ColumnValue<'v> {
        ColumnValue::Int(i64::try_from(count).unwrap_or(i64::MAX))
    }

    /// Makes a value of what may be there.
    pub(super) fn maybe<T>(
        there: Option<T>,
        value: impl FnOnce(T) -> ColumnValue<'v>,
    ) -> ColumnValue<'v> {
        there.map_or(ColumnValue::Null, value)
    }

    /// Writes a value as columns show one: the content of a text, else canonical JSON.
    pub(super) fn data(value: &Value) -> ColumnValue<'v> {
        ColumnValue::Text(Cow::Owned(json::to_plain_text(value)))
    }

    /// Writes a failure as JSON.
    pub(super) fn failure(code: &str, message: &str, details: Value) -> ColumnValue<'v> {
        ColumnValue::data(&Value::map([
            ("code", Value::text(code)),
            ("message", Value::text(message)),
            ("details", details),
        ]))
    }

    fn cell(&self) -> FactCell<'_> {
        match self {
            ColumnValue::Null | ColumnValue::Gone(_) => FactCell::Null,
            ColumnValue::Int(number) => FactCell::Int(*number),
            ColumnValue::Float(number) => FactCell::Float(*number),
            ColumnValue::Text(text) => FactCell::Text(text),
        }
    }
}

/// Tells whether a value is one of those that a row must have.
fn is_among(value: &ColumnValue<'_>, bound: &FactBinding) -> bool {
    bound.values.binary_search_by(|wanted| order(wanted, value)).is_ok()
}

/// Compares a value that is wanted with one that is there, as values are ordered.
fn order(wanted: &QueryValue, there: &ColumnValue<'_>) -> Ordering {
    match (wanted, there) {
        (QueryValue::Int(wanted), ColumnValue::Int(there)) => wanted.cmp(there),
        (QueryValue::Float(wanted), ColumnValue::Float(there)) => wanted.total_cmp(there),
        (QueryValue::Text(wanted), ColumnValue::Text(there)) => {
            wanted.as_bytes().cmp(there.as_bytes())
        }
        // A column has values of one type, beside `null`.
        (wanted, there) => rank(wanted).cmp(&match there {
            ColumnValue::Null | ColumnValue::Gone(_) => 0,
            ColumnValue::Int(_) | ColumnValue::Float(_) => 2,
            ColumnValue::Text(_) => 3,
        }),
    }
}

fn rank(wanted: &QueryValue) -> u8 {
    match wanted {
        QueryValue::Null => 0,
        QueryValue::Bool(_) => 1,
        QueryValue::Int(_) | QueryValue::Float(_) => 2,
        QueryValue::Text(_) => 3,
    }
}
