//! How much all values of a run hold together.
//!
//! Each value has a bound of its own, but a program may keep many. What it makes is counted; when it
//! has made a good deal, everything that it can still reach is measured. So a program that lets go
//! of what it made runs as long as it likes, and one that keeps all of it ends with an error of the
//! language instead of taking the memory of the machine. The sizes are those of the language, the
//! same on every machine, so a replay ends at the same place.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use crate::code::CodePlace;
use crate::value::ContextValue;

use super::ContextRun;
use super::fault::TaskFault;
use super::meaning::DialectMeaning;
use super::task::ContextTask;
use super::world::RunWorld;

/// How much all values of a run may hold, in bytes: 1 GiB.
const LIVE_BYTES_MAX: u64 = 1 << 30;
/// How much is made before it is measured what of it is still there, in bytes.
const MADE_BYTES_MAX: u64 = 256 << 20;
/// What a list or a text takes beside what is in it.
const HEAD_BYTES: u64 = 48;
/// What an object takes beside what is in it.
const OBJECT_BYTES: u64 = 128;
/// What an item of a list takes.
pub(super) const ITEM_BYTES: u64 = 24;
/// What an entry of an object takes beside its value.
pub(super) const ENTRY_BYTES: u64 = 96;

impl RunWorld {
    /// Takes note of bytes that were made.
    pub(super) fn make(&self, n_bytes: u64) {
        self.made_bytes.set(self.made_bytes.get().saturating_add(n_bytes));
    }

    /// Takes note of a list or an object that was made.
    pub(super) fn make_container(&self, n_entries: usize) {
        self.make(OBJECT_BYTES + n_entries as u64 * ENTRY_BYTES);
    }

    /// Tells whether it is time to measure.
    pub(super) fn is_measure_due(&self) -> bool {
        match self.meaning {
            // It may have held more, and has to come to where it was.
            DialectMeaning::Open => false,
            DialectMeaning::Bounded => self.made_bytes.get() >= MADE_BYTES_MAX,
        }
    }
}

impl ContextRun {
    /// Measures what the run can reach, with a task that is under way; fails if that is too much.
    pub(super) fn measure(&self, running: &ContextTask) -> Result<(), TaskFault> {
        self.world.made_bytes.set(0);
        let mut census = ValueCensus::default();
        for value in &self.world.files {
            census.count(value);
        }
        for task in self.tasks.values().chain([running]) {
            task.for_each_value(&mut |value| census.count(value));
        }
        if census.n_bytes <= LIVE_BYTES_MAX {
            return Ok(());
        }
        let place: CodePlace = self.world.place(running.at);
        let message = format!("the values of the program hold more than {LIVE_BYTES_MAX} bytes");
        Err(TaskFault::limit(place, message))
    }
}

/// Counts values, each once however often it is reached.
#[derive(Default)]
struct ValueCensus {
    /// What is shared and was counted.
    seen: HashSet<*const ()>,
    n_bytes: u64,
}

impl ValueCensus {
    fn count(&mut self, value: &ContextValue) {
        // Not by recursion: values nest as deep as they like.
        let mut waiting = vec![value.clone()];
        while let Some(value) = waiting.pop() {
            // Our own copy is one of those who share it.
            match &value {
                ContextValue::Text(text) => {
                    if self.is_new(Arc::strong_count(text) <= 2, Arc::as_ptr(text).cast()) {
                        self.n_bytes += HEAD_BYTES + text.len() as u64;
                    }
                }
                ContextValue::List(list) => {
                    if self.is_new(Rc::strong_count(list) <= 2, Rc::as_ptr(list).cast()) {
                        let items = list.items.borrow();
                        self.n_bytes += HEAD_BYTES + items.len() as u64 * ITEM_BYTES;
                        waiting.extend(items.iter().filter(|item| is_large(item)).cloned());
                    }
                }
                ContextValue::Object(object) => {
                    if self.is_new(Rc::strong_count(object) <= 2, Rc::as_ptr(object).cast()) {
                        let entries = object.entries.borrow();
                        self.n_bytes += OBJECT_BYTES + entries.len() as u64 * ENTRY_BYTES;
                        let items = entries.iter().map(|(_, item)| item);
                        waiting.extend(items.filter(|item| is_large(item)).cloned());
                    }
                }
                ContextValue::Null
                | ContextValue::Bool(_)
                | ContextValue::Number(_)
                | ContextValue::Handle(_) => {}
            }
        }
    }

    /// What nobody shares is reached once.
    fn is_new(&mut self, is_unshared: bool, address: *const ()) -> bool {
        is_unshared || self.seen.insert(address)
    }
}

/// Tells whether a value holds more than fits its place.
fn is_large(value: &ContextValue) -> bool {
    matches!(value, ContextValue::Text(_) | ContextValue::List(_) | ContextValue::Object(_))
}
