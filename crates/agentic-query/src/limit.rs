//! Limits: what a query may take, and who may end it.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::fact::FactFailure;

/// What one evaluation may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryLimits {
    /// How many facts may be read.
    pub facts_max: usize,
    /// How many rows may be made, those that other goals drop later included.
    pub rows_max: usize,
    /// How long it may take, in milliseconds.
    pub time_ms_max: u64,
    /// How much memory it may take, by its own count.
    pub bytes_max: usize,
}

impl Default for QueryLimits {
    fn default() -> QueryLimits {
        QueryLimits {
            facts_max: 50_000_000,
            rows_max: 20_000_000,
            time_ms_max: 60_000,
            bytes_max: 2_000_000_000,
        }
    }
}

/// Tells an evaluation when to end. The clock is the caller's, for this crate has none.
pub struct QueryWatch<'a> {
    /// Set by whoever wants the query to end.
    pub cancel: &'a AtomicBool,
    /// Returns how many milliseconds have passed since the query began.
    pub elapsed_ms: &'a dyn Fn() -> u64,
    /// The limit of time, in milliseconds.
    pub time_ms_max: u64,
}

impl QueryWatch<'_> {
    /// Says why a query is over by now that was at some goal, if it is.
    pub fn ended_at(&self, goal: &str) -> Option<QueryError> {
        if self.is_cancelled() {
            return Some(QueryError::Cancelled);
        }
        let (kind, most) = (QueryLimitKind::Time, self.time_ms_max);
        let (rule, goal) = (goal.to_owned(), goal.to_owned());
        self.is_over().then_some(QueryError::Limit { kind, most, rule, goal })
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_cancelled() || (self.elapsed_ms)() > self.time_ms_max
    }
}

/// Which limit ended a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryLimitKind {
    /// Too many facts.
    Facts,
    /// Too many rows.
    Rows,
    /// Too long.
    Time,
    /// Too much memory.
    Memory,
}

impl QueryLimitKind {
    /// Names the limit.
    pub fn name(self) -> &'static str {
        match self {
            QueryLimitKind::Facts => "facts read",
            QueryLimitKind::Rows => "rows made",
            QueryLimitKind::Time => "milliseconds",
            QueryLimitKind::Memory => "bytes of memory",
        }
    }
}

/// Why a query that is right gives no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// A limit was reached.
    #[error("the limit of {most} {} was reached at the goal `{goal}` of `{rule}`", kind.name())]
    Limit {
        /// Which one.
        kind: QueryLimitKind,
        /// The limit.
        most: u64,
        /// The rule, as it is written.
        rule: String,
        /// The goal, as it is written.
        goal: String,
    },
    /// A number overflowed, or was divided by zero.
    #[error("{what} at the goal `{goal}` of `{rule}`{}", in_row(row))]
    Arithmetic {
        /// What happened.
        what: &'static str,
        /// The rule, as it is written.
        rule: String,
        /// The goal, as it is written.
        goal: String,
        /// The variables of the row.
        row: String,
    },
    /// Somebody ended it.
    #[error("the query was cancelled")]
    Cancelled,
    /// A source cannot be read.
    #[error("cannot read the facts of `{predicate}`")]
    Facts {
        /// The predicate.
        predicate: String,
        /// Why.
        source: FactFailure,
    },
}

/// Names a row, if anything is known of it.
fn in_row(row: &str) -> String {
    if row.is_empty() { String::new() } else { format!(", in the row {row}") }
}

/// Counts what an evaluation takes.
pub(crate) struct QueryBudget<'a> {
    pub limits: QueryLimits,
    pub watch: &'a QueryWatch<'a>,
    rows: Cell<usize>,
    unwatched: Cell<usize>,
}

/// How many rows are made between two looks at the clock.
const ROWS_PER_LOOK: usize = 1 << 16;
/// What one step costs beside its rows, so that many steps without rows are seen too.
const STEP_COST: usize = 64;

impl<'a> QueryBudget<'a> {
    pub fn new(limits: QueryLimits, watch: &'a QueryWatch<'a>) -> QueryBudget<'a> {
        QueryBudget { limits, watch, rows: Cell::new(0), unwatched: Cell::new(0) }
    }

    /// Counts rows before they are made, with the memory that is held beside them.
    pub fn make(&self, n_rows: usize, width: usize, held: usize) -> Result<(), QueryStop> {
        let rows = self.rows.get().saturating_add(n_rows);
        self.rows.set(rows);
        if rows > self.limits.rows_max {
            return Err(QueryStop::Limit(QueryLimitKind::Rows));
        }
        if n_rows.saturating_mul(width * 4).saturating_add(held) > self.limits.bytes_max {
            return Err(QueryStop::Limit(QueryLimitKind::Memory));
        }
        self.work(n_rows)
    }

    /// Returns how many rows were counted.
    pub fn n_rows(&self) -> usize {
        self.rows.get()
    }

    /// Counts work, and looks now and then whether to end.
    pub fn work(&self, n_rows: usize) -> Result<(), QueryStop> {
        let unwatched = self.unwatched.get() + n_rows + STEP_COST;
        self.unwatched.set(unwatched);
        if unwatched < ROWS_PER_LOOK {
            return Ok(());
        }
        self.unwatched.set(0);
        if self.watch.is_cancelled() {
            return Err(QueryStop::Cancelled);
        }
        if self.watch.is_over() {
            return Err(QueryStop::Limit(QueryLimitKind::Time));
        }
        Ok(())
    }

    /// Returns the value of a limit.
    pub fn most(&self, kind: QueryLimitKind) -> u64 {
        match kind {
            QueryLimitKind::Facts => self.limits.facts_max as u64,
            QueryLimitKind::Rows => self.limits.rows_max as u64,
            QueryLimitKind::Time => self.limits.time_ms_max,
            QueryLimitKind::Memory => self.limits.bytes_max as u64,
        }
    }
}

/// Why a step ends the query; rule and goal are added by the one that knows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum QueryStop {
    Limit(QueryLimitKind),
    Arithmetic {
        what: &'static str,
        row: String,
    },
    Cancelled,
    /// Facts that a goal asked for cannot be read.
    Read(Box<QueryError>),
}
