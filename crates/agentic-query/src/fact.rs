//! Where facts come from: which predicates there are, and the rows of one of them.

use std::borrow::Cow;
use std::ops::ControlFlow;

use crate::limit::QueryWatch;
use crate::pool::{FactCell, NULL, ValuePool};
use crate::progress::ExplainedCache;
use crate::value::{QueryType, QueryValue};

/// How many notes about damaged rows are kept.
const NOTES_MAX: usize = 100;
/// After how many rows is looked whether the query shall end.
const ROWS_PER_LOOK: usize = 1 << 14;

/// A column of a predicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FactColumn {
    /// Its name.
    pub name: &'static str,
    /// The type of its values.
    pub kind: QueryType,
    /// What they say, as people read it.
    pub meaning: &'static str,
}

/// A predicate that facts are read for. Its texts are the program's own: to list all predicates, as
/// every query does, copies none of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactPredicate {
    /// Its name.
    pub name: &'static str,
    /// Its columns, in order.
    pub columns: Cow<'static, [FactColumn]>,
    /// What a row says, as people read it.
    pub meaning: &'static str,
    /// What its rows are read from, as people read it.
    pub origin: &'static str,
}

/// What the values of one column have to be among.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactBinding {
    /// The number of the column.
    pub column: usize,
    /// The values, ascending.
    pub values: Vec<QueryValue>,
}

/// Between which values those of one column have to be: instants, durations or whole numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FactRange {
    /// The number of the column.
    pub column: usize,
    /// The least value, if there is one.
    pub least: Option<i64>,
    /// The greatest value, if there is one.
    pub most: Option<i64>,
}

/// What is asked of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FactRequest {
    /// The number of the predicate, in the order in which the source lists them.
    pub predicate: usize,
    /// The columns whose values are wanted, ascending; a row has one cell for each of them.
    pub columns: Vec<usize>,
    /// Rows that fit none of these may be left out.
    pub bound: Vec<FactBinding>,
    /// Rows with a value outside of one of these, or with none there, may be left out.
    pub ranges: Vec<FactRange>,
}

/// What the beginning of an id stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdMatch {
    /// This one id.
    Found(String),
    /// Nothing has it.
    Unknown,
    /// Several ids begin like this.
    Ambiguous,
}

/// Why a source cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FactFailure(pub String);

/// Several sources as one: each gives its own predicates.
pub struct JoinedFacts<'a> {
    sources: Vec<&'a dyn FactSource>,
    predicates: Vec<FactPredicate>,
}

/// A source of facts.
pub trait FactSource {
    /// Lists the predicates.
    fn predicates(&self) -> &[FactPredicate];

    /// Hands over the rows of one predicate. Damaged ones are left out, with a note.
    fn read(&self, request: &FactRequest, sink: &mut FactSink<'_>) -> Result<(), FactFailure>;

    /// Finds the id that begins like a text.
    fn resolve(&self, kind: QueryType, text: &str) -> IdMatch;

    /// Guesses how many rows a request gives, where that is cheap to know; plans are made with it.
    fn estimate(&self, request: &FactRequest) -> Option<u64> {
        let _ = request;
        None
    }

    /// Tells what caches were good for until now.
    fn caches(&self) -> Vec<ExplainedCache> {
        Vec::new()
    }
}

/// Takes rows from a source.
pub struct FactSink<'a> {
    pub(crate) pool: &'a mut ValuePool,
    pub(crate) watch: &'a QueryWatch<'a>,
    pub(crate) kinds: Vec<QueryType>,
    pub(crate) columns: Vec<Vec<u32>>,
    pub(crate) n_rows: usize,
    pub(crate) rows_max: usize,
    pub(crate) notes: Vec<String>,
}

impl FactPredicate {
    /// Describes a predicate by the names and types of its columns.
    pub fn new(name: &'static str, columns: &[(&'static str, QueryType)]) -> FactPredicate {
        let column = |(name, kind): &(&'static str, QueryType)| column(name, *kind, "");
        let columns = columns.iter().map(column).collect();
        FactPredicate { name, columns, meaning: "", origin: "" }
    }

    /// Describes a predicate to people too: what a row says and what it is read from, then its
    /// columns.
    pub fn described(
        name: &'static str,
        [meaning, origin]: [&'static str; 2],
        columns: &'static [FactColumn],
    ) -> FactPredicate {
        FactPredicate { name, columns: Cow::Borrowed(columns), meaning, origin }
    }
}

/// Describes a column: its name, its type and what its values say.
pub const fn column(name: &'static str, kind: QueryType, meaning: &'static str) -> FactColumn {
    FactColumn { name, kind, meaning }
}

impl FactRange {
    /// Says whether a number lies inside.
    pub fn admits(&self, number: i64) -> bool {
        self.least.is_none_or(|least| least <= number)
            && self.most.is_none_or(|most| number <= most)
    }
}

impl FactRequest {
    /// Returns the values that a column has to be among, if it is bound.
    pub fn values(&self, column: usize) -> Option<&[QueryValue]> {
        let found = self.bound.iter().find(|bound| bound.column == column);
        found.map(|bound| bound.values.as_slice())
    }

    /// Returns the range that the numbers of a column have to be in, if there is one.
    pub fn range(&self, column: usize) -> Option<FactRange> {
        self.ranges.iter().find(|range| range.column == column).copied()
    }

    /// Says whether every row that another request asks for is among those that this one gives,
    /// with all cells that are wanted.
    pub(crate) fn covers(&self, other: &FactRequest) -> bool {
        let has_columns = other.columns.iter().all(|column| self.columns.contains(column));
        let is_among = |bound: &FactBinding| {
            let wanted = other.values(bound.column);
            wanted
                .is_some_and(|values| values.iter().all(|v| bound.values.binary_search(v).is_ok()))
        };
        let is_inside = |range: &FactRange| {
            let of_values = other.values(range.column).is_some_and(|values| {
                values.iter().all(|v| matches!(v, QueryValue::Int(n) if range.admits(*n)))
            });
            let of_range = other.range(range.column).is_some_and(|wanted| {
                let starts = range.least.is_none() || wanted.least >= range.least;
                let ends = range.most.is_none_or(|most| wanted.most.is_some_and(|n| n <= most));
                starts && ends
            });
            of_values || of_range
        };
        self.predicate == other.predicate
            && has_columns
            && self.bound.iter().all(is_among)
            && self.ranges.iter().all(is_inside)
    }
}

impl<'a> JoinedFacts<'a> {
    /// Joins sources. No two of them may give predicates of one name.
    pub fn new(sources: Vec<&'a dyn FactSource>) -> JoinedFacts<'a> {
        let predicates = sources.iter().flat_map(|source| source.predicates()).cloned().collect();
        JoinedFacts { sources, predicates }
    }

    /// Finds whose predicate a request is about, and the request in that source's numbers.
    fn source_of(&self, request: &FactRequest) -> Option<(&'a dyn FactSource, FactRequest)> {
        let mut predicate = request.predicate;
        for source in &self.sources {
            let n_predicates = source.predicates().len();
            if predicate < n_predicates {
                return Some((*source, FactRequest { predicate, ..request.clone() }));
            }
            predicate -= n_predicates;
        }
        None
    }
}

impl FactSource for JoinedFacts<'_> {
    fn predicates(&self) -> &[FactPredicate] {
        &self.predicates
    }

    fn read(&self, request: &FactRequest, sink: &mut FactSink<'_>) -> Result<(), FactFailure> {
        match self.source_of(request) {
            Some((source, request)) => source.read(&request, sink),
            None => Err(FactFailure(format!("there is no predicate number {}", request.predicate))),
        }
    }

    fn estimate(&self, request: &FactRequest) -> Option<u64> {
        let (source, request) = self.source_of(request)?;
        source.estimate(&request)
    }

    fn caches(&self) -> Vec<ExplainedCache> {
        self.sources.iter().flat_map(|source| source.caches()).collect()
    }

    fn resolve(&self, kind: QueryType, text: &str) -> IdMatch {
        let mut found = IdMatch::Unknown;
        for source in &self.sources {
            found = match (found, source.resolve(kind, text)) {
                (found, IdMatch::Unknown) => found,
                (IdMatch::Unknown, other) => other,
                (IdMatch::Found(one), IdMatch::Found(other)) if one == other => IdMatch::Found(one),
                (
                    IdMatch::Found(_) | IdMatch::Ambiguous,
                    IdMatch::Found(_) | IdMatch::Ambiguous,
                ) => IdMatch::Ambiguous,
            };
        }
        found
    }
}

impl<'a> FactSink<'a> {
    pub(crate) fn new(
        pool: &'a mut ValuePool,
        watch: &'a QueryWatch<'a>,
        kinds: Vec<QueryType>,
        rows_max: usize,
    ) -> FactSink<'a> {
        let columns = vec![Vec::new(); kinds.len()];
        FactSink { pool, watch, kinds, columns, n_rows: 0, rows_max, notes: Vec::new() }
    }

    /// Takes a row; `Break` says that no more are wanted. A value of a wrong type makes a note
    /// instead of a row.
    pub fn row(&mut self, cells: &[FactCell<'_>]) -> ControlFlow<()> {
        let fits = cells.len() == self.kinds.len()
            && cells.iter().zip(&self.kinds).all(|(cell, kind)| is_of_type(cell, *kind));
        if !fits {
            self.note(format!("a row has other columns than it should: {cells:?}"));
            return ControlFlow::Continue(());
        }
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.push(if *cell == FactCell::Null { NULL } else { self.pool.intern(*cell) });
        }
        self.n_rows += 1;
        let is_over = self.n_rows > self.rows_max
            || (self.n_rows.is_multiple_of(ROWS_PER_LOOK) && self.watch.is_over());
        if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Says that something was left out.
    pub fn note(&mut self, note: String) {
        if self.notes.len() < NOTES_MAX {
            self.notes.push(note);
        }
    }
}

fn is_of_type(cell: &FactCell<'_>, kind: QueryType) -> bool {
    match cell {
        FactCell::Null => true,
        FactCell::Bool(_) => kind == QueryType::Bool,
        FactCell::Int(_) => {
            matches!(kind, QueryType::Int | QueryType::Instant | QueryType::Duration)
        }
        FactCell::Float(_) => kind == QueryType::Float,
        FactCell::Text(_) => kind == QueryType::Text || kind.is_id(),
    }
}
