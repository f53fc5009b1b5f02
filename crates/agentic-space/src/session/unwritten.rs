//! Records that may wait for the next barrier.
//!
//! What is only computed has no effect: after a crash it is computed again, and comes to the same.
//! So its records need not be durable one by one; they go out together with the next record that
//! something outside depends on, and what the program said meanwhile is told after them.

use agentic_model::Cid;
use agentic_replay::{EffectClass, Event, Progress};

/// The most records that wait; more only cost memory.
const RECORDS_MAX: usize = 1_024;

/// What waits, in order.
#[derive(Debug, Default)]
pub(super) struct Unwritten {
    /// Long values.
    pub objects: Vec<(Cid, Vec<u8>)>,
    /// The bytes of records.
    pub records: Vec<Vec<u8>>,
    /// What the program said.
    pub events: Vec<Event>,
}

/// When records have to be durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Barrier {
    /// At once.
    Now,
    /// With whatever comes next that has to be.
    Later,
}

impl Unwritten {
    /// Takes what is to be recorded out of a progress.
    pub fn push(&mut self, progress: &mut Progress) {
        self.objects.append(&mut progress.objects);
        self.records.extend(progress.links.drain(..).map(|link| link.bytes));
        self.events.append(&mut progress.events);
    }

    /// Says whether enough waits.
    pub fn is_full(&self) -> bool {
        self.records.len() >= RECORDS_MAX
    }
}

impl Barrier {
    /// Says when what follows from an answer has to be durable: at once, if anything but
    /// computing follows.
    pub fn of(progress: &Progress) -> Barrier {
        let Progress { holds, timers, withdrawn, end, perform, .. } = progress;
        let computes = perform.iter().all(|performance| performance.class == EffectClass::Pure);
        let is_inside =
            holds.is_empty() && timers.is_empty() && withdrawn.is_empty() && end.is_none();
        if computes && is_inside { Barrier::Later } else { Barrier::Now }
    }
}
