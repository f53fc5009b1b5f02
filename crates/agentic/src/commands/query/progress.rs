//! How far a long query is, for whoever waits at a terminal.

use std::cell::{Cell, OnceCell};

use agentic_api::verb::QueryPhase;
use agentic_providers::process::before_interrupt;
use indicatif::{ProgressBar, ProgressStyle};

/// What takes less than this is not told, in milliseconds.
const QUIET_MS: u64 = 1_000;
/// How it is shown what is read, and what is derived, of which nobody knows how much there will be.
const READING: &str = "{msg} {bar:30} {pos}/{len}";
const EVALUATING: &str = "{msg}";

/// Shows what a query does once it takes longer than a second; nothing where standard error is no
/// terminal.
#[derive(Default)]
pub(super) struct QueryProgress {
    bar: OnceCell<ProgressBar>,
    template: Cell<&'static str>,
}

impl QueryProgress {
    /// Shows what is being done.
    pub fn tell(&self, phase: QueryPhase<'_>, elapsed_ms: u64) {
        if elapsed_ms < QUIET_MS {
            return;
        }
        let bar = self.bar.get_or_init(|| begin_bar(phase));
        if bar.is_hidden() {
            return;
        }
        match phase {
            QueryPhase::Reading(progress) => {
                self.show_as(bar, READING);
                bar.set_message(progress.what.to_owned());
                bar.set_length(progress.n_all as u64);
                bar.set_position(progress.n_done as u64);
            }
            QueryPhase::Evaluating => {
                self.show_as(bar, EVALUATING);
                bar.set_message(format!("deriving rows for {} s", elapsed_ms / 1_000));
            }
        }
    }

    fn show_as(&self, bar: &ProgressBar, template: &'static str) {
        if self.template.replace(template) != template {
            let style = ProgressStyle::with_template(template);
            bar.set_style(style.expect("a valid template"));
        }
    }
}

/// Begins to show something. Ctrl-c ends the program without a trace of it on the screen.
fn begin_bar(phase: QueryPhase<'_>) -> ProgressBar {
    // Whatever is set of a bar later is drawn at once, beside what was there before.
    let bar = match phase {
        QueryPhase::Reading(progress) => {
            ProgressBar::new(progress.n_all as u64).with_message(progress.what.to_owned())
        }
        QueryPhase::Evaluating => ProgressBar::new(0),
    };
    if !bar.is_hidden() {
        let shown = bar.clone();
        // Where nobody can listen, ctrl-c leaves the bar behind, and ends the program no later.
        let _ = before_interrupt(move || shown.finish_and_clear());
    }
    bar
}

impl Drop for QueryProgress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}
