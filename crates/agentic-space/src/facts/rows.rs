//! Rows on their way to a query: only the columns that it uses, only the rows that it may use.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::ops::ControlFlow;

use agentic_model::Oid;
use agentic_query::{FactCell, FactRange, FactRequest, FactSink, QueryValue};

/// How many columns a predicate has at most.
const COLUMNS_MAX: usize = 16;

/// What one predicate is asked for, and where its rows go.
pub(super) struct FactRows<'r, 'k> {
    request: &'r FactRequest,
    sink: &'r mut FactSink<'k>,
}

impl<'r, 'k> FactRows<'r, 'k> {
    pub fn new(request: &'r FactRequest, sink: &'r mut FactSink<'k>) -> FactRows<'r, 'k> {
        FactRows { request, sink }
    }

    /// Says whether the values of a column are used.
    pub fn is_wanted(&self, column: usize) -> bool {
        self.request.columns.contains(&column)
    }

    /// Returns the texts that a column has to be among, if it is restricted.
    pub fn bound(&self, column: usize) -> Option<BTreeSet<String>> {
        let bound = self.request.bound.iter().find(|bound| bound.column == column)?;
        let texts = bound.values.iter().filter_map(|value| match value {
            QueryValue::Text(text) => Some(text.to_string()),
            QueryValue::Null | QueryValue::Bool(_) | QueryValue::Int(_) | QueryValue::Float(_) => {
                None
            }
        });
        Some(texts.collect())
    }

    /// Returns the commits that a column has to be among, if it is restricted.
    pub fn commits(&self, column: usize) -> Option<HashSet<Oid>> {
        let texts = self.bound(column)?;
        Some(texts.iter().filter_map(|text| Oid::parse(text).ok()).collect())
    }

    /// Returns what was read; if it was not, says so and returns nothing.
    pub fn noted<T>(&mut self, what: impl fmt::Display, read: Result<T, String>) -> Option<T> {
        read.map_err(|why| self.note(format!("{what}: {why}"))).ok()
    }

    /// Takes a row with all its columns. `Break` says that no more are wanted.
    pub fn row(&mut self, cells: &[FactCell<'_>]) -> ControlFlow<()> {
        let bound = &self.request.bound;
        if bound.iter().any(|bound| !is_among(&cells[bound.column], &bound.values)) {
            return ControlFlow::Continue(());
        }
        let is_outside = |cell: &FactCell<'_>, range: &FactRange| match cell {
            FactCell::Int(number) => !range.admits(*number),
            FactCell::Null | FactCell::Bool(_) | FactCell::Float(_) | FactCell::Text(_) => false,
        };
        if self.request.ranges.iter().any(|range| is_outside(&cells[range.column], range)) {
            return ControlFlow::Continue(());
        }
        let mut chosen = [FactCell::Null; COLUMNS_MAX];
        for (place, column) in chosen.iter_mut().zip(&self.request.columns) {
            *place = cells[*column];
        }
        self.sink.row(&chosen[..self.request.columns.len()])
    }

    /// Says that something was left out.
    pub fn note(&mut self, note: String) {
        self.sink.note(note);
    }
}

/// Looks a cell up among ascending values.
fn is_among(cell: &FactCell<'_>, values: &[QueryValue]) -> bool {
    let value = match cell {
        FactCell::Text(text) => {
            // Texts come last; to make a value of one would take memory for each row.
            let place = values.binary_search_by(|value| match value {
                QueryValue::Text(value) => value.as_bytes().cmp(text.as_bytes()),
                QueryValue::Null | QueryValue::Bool(_) => Ordering::Less,
                QueryValue::Int(_) | QueryValue::Float(_) => Ordering::Less,
            });
            return place.is_ok();
        }
        FactCell::Null => QueryValue::Null,
        FactCell::Bool(truth) => QueryValue::Bool(*truth),
        FactCell::Int(number) => QueryValue::Int(*number),
        FactCell::Float(number) => QueryValue::Float(*number),
    };
    values.binary_search(&value).is_ok()
}
