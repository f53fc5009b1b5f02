//! What a run shows of itself on the server: a memo, which is read without a worker.

use agentic_model::Instant;
use temporalio_sdk::MemoValue;

use crate::client::SPACE;
use crate::decision::HoldNote;
use crate::search::held;
use crate::workflow::hosting::Hosting;

/// How long the names of the open holds may be that stand in the memo of a run, in bytes.
const MEMO_BYTES_MAX: usize = 16 << 10;
/// How much an entry takes in a memo beside its texts, in bytes.
const NOTE_BYTES: usize = 40;

/// The longest pause of a program that somebody who has started it waits for, in milliseconds.
const PAUSE_MS_MAX: i64 = 60_000;

/// What a memo says.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownStanding {
    /// What waits for a human.
    holds: Vec<HoldNote>,
    /// Whether only humans, signals, children, distant instants and those who cannot answer now are waited
    /// for.
    rests: bool,
    /// The children that are waited for.
    children: Vec<String>,
}

impl Hosting<'_> {
    /// Writes into the memo what waits for a human, and whether the run goes no further by itself.
    pub(super) fn publish(&mut self) {
        let shown = self.standing();
        self.ctx.state_mut(|run| run.desk.rests = shown.rests);
        // The first execution has none; a later one has that of the one before.
        let is_first = self.memo.is_none() && self.input.journal.is_none();
        if self.memo.as_ref() == Some(&shown) || (is_first && !shown.rests) {
            return;
        }
        let start = &self.input.start;
        let values = [
            ("agent", Some(MemoValue::new(start.agent.clone()))),
            ("key", Some(MemoValue::new(start.key.clone()))),
            (SPACE, Some(MemoValue::new(start.space.clone()))),
            ("holds", Some(MemoValue::new(shown.holds.clone()))),
            ("rests", Some(MemoValue::new(shown.rests))),
            ("children", Some(MemoValue::new(shown.children.clone()))),
        ];
        let was_held = self.memo.as_ref().is_some_and(|shown| !shown.holds.is_empty());
        if was_held == shown.holds.is_empty()
            && let Some(held) = held(&self.input.search, shown.holds.len())
        {
            self.ctx.upsert_search_attributes([held]);
        }
        // A memo only shows: a run without one is the same run.
        if self.ctx.upsert_memo(values).is_ok() {
            self.memo = Some(shown);
        }
    }

    fn standing(&self) -> ShownStanding {
        let mut holds: Vec<HoldNote> =
            self.ctx.state(|run| run.desk.holds.values().cloned().collect());
        let is_idle = self.n_activities == 0 && self.backlog.is_empty() && self.computed.is_empty();
        // Who waits for a human can decide only what is sealed.
        let is_told =
            self.ctx.state(|run| run.desk.holds.keys().all(|request| run.desk.is_sealed(request)));
        let until = self.sleeping.values().map(|until: &Instant| until.millis()).min();
        let is_long = |until: i64| until.saturating_sub(self.now().millis()) > PAUSE_MS_MAX;
        let waits = !holds.is_empty()
            || !self.unanswered.is_empty()
            || until.is_some_and(is_long)
            || (until.is_none() && self.children.n_open() > 0);
        let mut n_bytes = 0;
        let mut fits = |n_more: usize| {
            n_bytes += n_more + NOTE_BYTES;
            n_bytes <= MEMO_BYTES_MAX
        };
        holds.retain(|hold| fits(hold.n_bytes()));
        let children = self.children.open().filter(|id| fits(id.len())).cloned().collect();
        let rests = waits && is_idle && is_told && self.end.is_none();
        ShownStanding { holds, rests, children }
    }
}
