//! How long the database takes: one that loops is not waited for.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use agentic_index::{IndexError, IndexTable, KeyVisitor, Result, SledTables, TableBatch, Tables};
use agentic_store::Error;
use agentic_store::fault::point;

use super::IndexShared;
use super::growth::SecondTables;

/// How long an operation may take.
pub const OPERATION_MAX: Duration = Duration::from_secs(2);
/// How long opening may take.
pub const OPENING_MAX: Duration = Duration::from_secs(30);

/// What the database does now, and since when.
pub struct IndexPulse {
    origin: Instant,
    /// Until when the operation under way may take, in milliseconds from the origin; 0 without one.
    until: AtomicU64,
    /// What `until` was at the last look, if that was over then.
    overdue: AtomicU64,
    is_sweep_wanted: AtomicBool,
}

impl Default for IndexPulse {
    fn default() -> IndexPulse {
        let (until, overdue) = (AtomicU64::new(0), AtomicU64::new(0));
        let is_sweep_wanted = AtomicBool::new(false);
        IndexPulse { origin: Instant::now(), until, overdue, is_sweep_wanted }
    }
}

impl IndexPulse {
    /// Says whether an operation takes longer than it may.
    pub fn is_stuck(&self) -> bool {
        let until = self.until.load(Ordering::Relaxed);
        until != 0 && self.millis() > until
    }

    /// Says whether one operation takes longer than it may, at two looks in a row.
    pub fn is_lost(&self) -> bool {
        let until = self.until.load(Ordering::Relaxed);
        let overdue = if self.is_stuck() { until } else { 0 };
        overdue != 0 && self.overdue.swap(overdue, Ordering::Relaxed) == overdue
    }

    /// Does something that may take so long.
    pub fn within<T>(&self, most: Duration, work: impl FnOnce() -> T) -> T {
        let most = u64::try_from(most.as_millis()).unwrap_or(u64::MAX);
        let before = self.until.swap(self.millis() + most, Ordering::Relaxed);
        let done = work();
        self.until.store(before, Ordering::Relaxed);
        done
    }

    /// Says that nothing is under way: after an operation that panicked.
    pub fn rest(&self) {
        self.until.store(0, Ordering::Relaxed);
    }

    /// Asks for a comparison of everything.
    pub fn want_sweep(&self) {
        self.is_sweep_wanted.store(true, Ordering::Relaxed);
    }

    /// Says whether that was asked for since it was asked last.
    pub fn takes_sweep(&self) -> bool {
        self.is_sweep_wanted.swap(false, Ordering::Relaxed)
    }

    fn millis(&self) -> u64 {
        u64::try_from(self.origin.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// Tables whose operations are looked after.
pub(super) struct WatchedTables {
    pub inner: SledTables,
    /// The database that will take its place, while that is made.
    pub second: SecondTables,
    pub shared: Arc<IndexShared>,
}

impl Tables for WatchedTables {
    fn get(&self, table: IndexTable, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.shared.pulse.within(OPERATION_MAX, || self.inner.get(table, key))
    }

    fn visit(&self, table: IndexTable, from: &[u8], visit: &mut KeyVisitor<'_>) -> Result<()> {
        let pulse = &self.shared.pulse;
        // Each row is a step of its own: a long table takes its time.
        let mut visit = |key: &[u8], value: &[u8]| -> ControlFlow<()> {
            pulse.within(OPERATION_MAX, || visit(key, value))
        };
        pulse.within(OPENING_MAX, || self.inner.visit(table, from, &mut visit))
    }

    fn last_up_to(&self, table: IndexTable, key: &[u8]) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
        self.shared.pulse.within(OPERATION_MAX, || self.inner.last_up_to(table, key))
    }

    fn apply(&mut self, batch: TableBatch) -> Result<()> {
        let (inner, second) = (&mut self.inner, &self.second);
        self.shared.pulse.within(OPERATION_MAX, || {
            second.apply(&batch)?;
            inner.apply(batch)
        })
    }

    fn flush(&mut self) -> Result<()> {
        let inner = &mut self.inner;
        self.shared.pulse.within(OPERATION_MAX, || {
            let refused =
                |error: Error| IndexError::Storage { attempt: "write", reason: error.to_string() };
            point("index-flush").map_err(refused)?;
            inner.flush()
        })
    }
}
