//! How far a long query is, for whoever waits at a terminal.

use std::cell::OnceCell;

use agentic_api::verb::QueryPhase;
use indicatif::{ProgressBar, ProgressStyle};

/// What takes less than this is not told, in milliseconds.
const QUIET_MS: u64 = 1_000;

/// Shows what a query does once it takes longer than a second; nothing where standard error is no
/// terminal.
#[derive(Default)]
pub(super) struct QueryProgress {
    bar: OnceCell<ProgressBar>,
}

impl QueryProgress {
    /// Shows what is being done.
    pub fn tell(&self, phase: QueryPhase<'_>, elapsed_ms: u64) {
        if elapsed_ms < QUIET_MS {
            return;
        }
        let bar = self.bar.get_or_init(|| {
            let style = ProgressStyle::with_template("{msg} {bar:30} {pos}/{len}");
            ProgressBar::new(0).with_style(style.expect("a valid template"))
        });
        match phase {
            QueryPhase::Reading(progress) => {
                bar.set_message(progress.what.to_owned());
                bar.set_length(progress.n_all as u64);
                bar.set_position(progress.n_done as u64);
            }
            QueryPhase::Evaluating => bar.tick(),
        }
    }
}

impl Drop for QueryProgress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}
