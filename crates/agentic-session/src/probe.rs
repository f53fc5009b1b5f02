//! Probes: a program that knows whether an effect happened, asked before a human is.
//!
//! An `exec` that was under way in a crash may have happened or not, and is never repeated on a
//! guess. Where its payload names a `probe`, that program is run when the session is driven next. It
//! ends with 0 if the effect has happened, and what it prints takes the place of the output that was
//! lost; with 1 if it has not, and the effect is performed. Anything else is no answer: a human is
//! asked as without it.

use agentic_model::Value;
use agentic_providers::host::CancelFlag;
use agentic_replay::{AnswerSource, Performance, RequestAnswer};

use super::drive::{Driver, RunningEffect};
use super::folder::damaged;
use super::outcome::ExecOutcome;
use super::process::{PROBE, Process, probe_of};
use super::work::RunningWork;
use crate::Result;

/// How a probe ends whose effect has happened.
pub const HAPPENED: i64 = 0;
/// How it ends when the effect has not.
pub const DID_NOT_HAPPEN: i64 = 1;
/// What is recorded of an effect that has not happened.
pub const CLEARED: &str = "the probe says that it has not happened";

impl Driver<'_> {
    /// Begins to ask about every doubted effect that names a probe.
    pub(super) fn probe_doubts(&mut self) -> Result<()> {
        for performance in self.session.doubted() {
            // What may be happening still is waited for first.
            if !self.running.contains_key(&performance.request.path) {
                self.probe_doubt(performance)?;
            }
        }
        Ok(())
    }

    /// Begins to ask about a doubted effect, if it names a probe.
    pub(super) fn probe_doubt(&mut self, performance: Performance) -> Result<()> {
        let Some(Ok(probe)) = probe_of(&performance.request.payload) else { return Ok(()) };
        if performance.request.kind != "exec" {
            return Ok(());
        }
        self.flush()?;
        let path = performance.request.path.clone();
        let (folder, arrivals) = (self.work_folder(), self.arrivals());
        let flag = CancelFlag::with_grace(self.space.grace()).in_charge(self.charge(&performance));
        let process = Process::probe(&performance, probe, &folder, flag, arrivals);
        self.running.insert(path, RunningEffect { work: RunningWork::Probe(process), performance });
        Ok(())
    }

    /// Takes in what a probe came to.
    pub(super) fn probed(&mut self, performance: &Performance, ended: ExecOutcome) -> Result<()> {
        let path = &performance.request.path;
        let status = match &ended.answer {
            RequestAnswer::Ok(value) => value.get("status").and_then(Value::as_int),
            RequestAnswer::Failed(_) | RequestAnswer::TimedOut | RequestAnswer::Cancelled(_) => {
                None
            }
        };
        match status {
            Some(HAPPENED) => {
                self.answer(path, ended.answer, AnswerSource::System(PROBE.to_owned()))
            }
            Some(DID_NOT_HAPPEN) if self.is_open(path) => {
                let cleared = self.session.cleared(path, CLEARED, self.space.now());
                let progress =
                    cleared.map_err(|error| damaged(&self.folder.id, &error.to_string()))?;
                self.take_in(progress)
            }
            _ => Ok(()),
        }
    }
}
