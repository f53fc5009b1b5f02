//! Opening a database, letting go of it, and making another in its place.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use agentic_index::{IndexError, SledTables};

use super::super::IndexState;
use super::super::growth::{CopyStep, TableCopy};
use super::super::kept::KeptIndex;
use super::super::pulse::{OPENING_MAX, OPERATION_MAX, WatchedTables};
use super::{FULL, IndexKeeper};

/// How many databases may go bad in a row before it is waited that long.
const ANEW_MAX: usize = 3;

impl<I: KeptIndex> IndexKeeper<I> {
    /// Opens the database, or makes one.
    pub(super) fn open(&mut self) {
        if !self.place.is_there() {
            return self.go_without("the repository is another one now");
        }
        if self.shared.is_retired() {
            return;
        }
        self.retry_at = None;
        if !self.place.has_room(self.limits.free_bytes_min) {
            return self.go_without(FULL);
        }
        let (place, shared, of) =
            (self.place.clone(), Arc::clone(&self.shared), self.place.identity());
        let (kept, second) = (self.kept.clone(), self.second.clone());
        let opened = catch_unwind(AssertUnwindSafe(|| {
            let watched = Arc::clone(&shared);
            shared.pulse.within(OPENING_MAX, || {
                let _ = place.make();
                // What an earlier process never came back from is not opened again.
                place.begin_opening();
                let opened = SledTables::open(&place.database(), I::CACHE_BYTES);
                let opened = opened.and_then(|inner| {
                    let tables = WatchedTables { inner: inner.clone(), second, shared: watched };
                    Ok((I::open(Box::new(tables), &of, &kept)?, inner))
                });
                place.end_opening();
                opened
            })
        }));
        self.shared.pulse.rest();
        let why = match opened {
            Ok(Ok((index, tables))) => {
                (self.index, self.tables) = (Some(index), Some(tables));
                self.mark = self.place.mark();
                self.work.clear();
                (self.listing, self.sweep) = (None, None);
                self.n_all = 0;
                self.was_swept = false;
                self.swept = self.index.as_ref().and_then(I::swept_before);
                self.n_believed = 0;
                // Whoever asks already is answered before.
                self.is_sweep_due = true;
                let kept = self.kept.clone();
                self.guarded(|index, _| Ok(index.recall(&kept)?));
                if self.index.is_none() {
                    return;
                }
                self.say(IndexState::Building { n_done: 0, n_all: 0 });
                return;
            }
            Ok(Err(IndexError::Held { path })) => {
                return self.go_without(&format!("another process has `{}`", path.display()));
            }
            // Of another repository or version: nothing is wrong with it.
            Ok(Err(error @ IndexError::Foreign)) => error.to_string(),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "the database panicked when it was opened".to_owned(),
        };
        self.begin_anew(&why);
    }

    /// Goes on without an index for a while.
    pub(super) fn go_without(&mut self, why: &str) {
        tracing::warn!(why, "there is no index");
        self.retry_at = Some(Instant::now() + self.limits.retry);
        self.say(IndexState::Absent { why: why.to_owned() });
    }

    /// Sets a database aside that is of no use, and begins another.
    pub(super) fn begin_anew(&mut self, why: &str) {
        tracing::warn!(why, "the index is made anew");
        self.lose_index();
        if self.shared.is_retired() {
            return;
        }
        self.place.set_aside(why);
        self.n_bad += 1;
        match self.n_bad > ANEW_MAX {
            true => self.go_without(why),
            false => self.open(),
        }
    }

    /// Lets go of the database, because another one will be opened in its place.
    pub(super) fn lose_index(&mut self) {
        // Before its rows are gone: whoever sees that it is ready may believe that it has all of them.
        self.say(IndexState::Building { n_done: 0, n_all: 0 });
        self.drop_index();
    }

    /// Lets go of the database. A damaged one may panic at that, too.
    pub(super) fn drop_index(&mut self) {
        let (tables, copy) = (self.tables.take(), self.copy.take());
        if let Some(index) = self.index.take() {
            let dropped = catch_unwind(AssertUnwindSafe(|| {
                self.shared.pulse.within(OPENING_MAX, || {
                    self.second.close();
                    drop((index, tables, copy));
                });
            }));
            if dropped.is_err() {
                tracing::warn!("the index panicked when it was closed");
            }
            self.shared.pulse.rest();
        }
        self.journals.clear();
        self.over.clear();
    }

    /// Copies a piece of a database that has grown too large.
    pub(super) fn copy_some(&mut self) {
        let Some(copy) = &mut self.copy else { return };
        match self.shared.pulse.within(OPERATION_MAX, || copy.step()) {
            CopyStep::More => {}
            CopyStep::Whole => {
                // Whatever waits to be written is written to both; where that fails there is another index now.
                self.flush();
                if self.copy.is_none() {
                    return;
                }
                tracing::info!(
                    index = I::NAME,
                    "the index had grown, and its copy takes its place"
                );
                self.drop_index();
                self.place.swap();
                self.open();
            }
            CopyStep::Failed => {
                self.shared.pulse.rest();
                self.copy = None;
                self.second.close();
                let _ = std::fs::remove_dir_all(self.place.second());
            }
        }
    }

    /// Begins to copy a database that has grown too large.
    pub(super) fn look_at_size(&mut self) {
        let is_ready = *self.shared.state() == IndexState::Ready;
        let Some(tables) = self.tables.as_ref().filter(|_| is_ready && self.copy.is_none()) else {
            return;
        };
        let (now, made) = self.place.sizes();
        let most = made.saturating_mul(self.limits.growth_max).max(self.limits.growth_bytes_min);
        if now > most {
            let begun = TableCopy::begin(&self.place, tables, &self.second, I::CACHE_BYTES);
            // Where that is not possible, the next look tries again.
            self.copy = begun.ok();
        }
    }
}
