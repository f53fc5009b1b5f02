//! Programs that an earlier driver left running.
//!
//! Recovery looks for them before anything else: what may have happened once at most may be happening
//! still. Such a program is waited for, up to what is left of its time; any other is ended. Only then
//! a probe is run, a human is asked, or the effect is performed again.

use std::collections::BTreeMap;

use agentic_providers::host::CancelFlag;
use agentic_providers::process::{Charge, OrphanProgram, UnbegunProgram, remains};
use agentic_replay::{EffectClass, Hold, Path, Performance, SessionProgress};

use super::drive::{Driver, RunningEffect};
use super::folder::damaged;
use super::outcome::EffectOutcome;
use super::work::RunningWork;
use crate::Result;

/// What is recorded of an effect whose program never began.
const NEVER_BEGAN: &str = "its program never began";

/// What happens to programs that live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrphanFate {
    /// They may come to their end.
    AwaitedFirst,
    /// They are ended.
    Ended,
}

impl Driver<'_> {
    /// Says in whose name the programs of an effect run.
    pub(super) fn charge(&self, performance: &Performance) -> Charge {
        Charge {
            agent: Some(self.session.started().agent.to_string()),
            request: Some(performance.id.to_string()),
            folder: Some(self.folder.processes()),
            reserved: self.room.of(&performance.request.path),
        }
    }

    /// Looks whether programs of an earlier driver live, and begins to wait for them or to end them.
    pub(super) fn look_after_orphans(&mut self) -> Result<()> {
        let folder = self.folder.processes();
        let left = remains(&folder).map_err(agentic_store::Error::io("read", &folder))?;
        let mut by_request: BTreeMap<String, Vec<OrphanProgram>> = BTreeMap::new();
        for orphan in left.orphans {
            by_request.entry(orphan.request.clone()).or_default().push(orphan);
        }
        for unbegun in left.unbegun {
            // One of several programs may live that were started for one request.
            match by_request.contains_key(&unbegun.request) {
                true => unbegun.forget(),
                false => self.never_began(&unbegun)?,
            }
        }
        if by_request.is_empty() {
            return Ok(());
        }
        let doubted = self.session.doubted();
        for (request, programs) in by_request {
            let is_its = |performance: &Performance| performance.id.to_string() == request;
            if let Some(performance) = doubted.iter().find(|doubted| is_its(doubted)) {
                self.wait_out(performance.clone(), programs, OrphanFate::AwaitedFirst);
            } else if let Some(at) = self.ready.iter().position(is_its) {
                let performance = self.ready.remove(at).expect("it was found there");
                self.wait_out(performance, programs, OrphanFate::Ended);
            } else {
                // Its request has its answer: nobody needs it.
                let grace = self.space.grace();
                for program in &programs {
                    program.end(grace);
                }
            }
        }
        Ok(())
    }

    /// Makes room for the programs that new requests will start, before these are recorded.
    pub(super) fn make_room(&mut self, progress: &SessionProgress) -> Result<()> {
        let is_scripted = |request| self.executor.is_scripted(request);
        for performance in &progress.perform {
            let request = &performance.request;
            let is_exec = request.kind == "exec" && !is_scripted(request);
            if is_exec && performance.class == EffectClass::Once {
                self.room.make(performance, &self.folder.processes(), &mut self.log)?;
            }
        }
        Ok(())
    }

    /// Takes in that a program of an earlier driver never began.
    fn never_began(&mut self, unbegun: &UnbegunProgram) -> Result<()> {
        if self.room.has(&unbegun.path) {
            return Ok(());
        }
        let doubted = self.session.doubted();
        let is_its = |doubted: &&Performance| doubted.id.to_string() == unbegun.request;
        let Some(performance) = doubted.iter().find(is_its) else {
            unbegun.forget();
            return Ok(());
        };
        let path = &performance.request.path;
        self.room.take_over(path, unbegun.path.clone(), &mut self.log)?;
        let cleared = self.session.cleared(path, NEVER_BEGAN, self.space.now());
        let progress = cleared.map_err(|error| damaged(&self.folder.id, &error.to_string()))?;
        self.take_in(progress)
    }

    fn wait_out(
        &mut self,
        performance: Performance,
        programs: Vec<OrphanProgram>,
        remaining: OrphanFate,
    ) {
        let path = performance.request.path.clone();
        let flag = CancelFlag::with_grace(self.space.grace());
        let work = RunningWork::orphans(path.clone(), programs, flag, remaining, self.arrivals());
        self.running.insert(path, RunningEffect { work, performance });
    }

    /// Goes on with an effect whose earlier program is waited for no longer.
    pub(super) fn orphaned(&mut self, performance: Performance, is_over: bool) -> Result<()> {
        let path = &performance.request.path;
        let is_doubted = |doubted: &Performance| doubted.request.path == *path;
        match self.session.doubted().iter().any(is_doubted) {
            // What may still run cannot be told by a probe: a human is asked.
            true if !is_over => Ok(()),
            true => self.probe_doubt(performance),
            false => {
                self.ready.push_back(performance);
                Ok(())
            }
        }
    }

    /// Leaves programs of an earlier driver to whoever drives the session next.
    pub(super) fn leave_orphans(&mut self) {
        self.running.retain(|_, running| !running.work.is_orphans());
    }

    /// Lists the holds that may be decided now: not those whose effect may be happening.
    pub(super) fn decidable(&self) -> Vec<Hold> {
        let mut holds = self.session.pending();
        holds.retain(|hold| !self.awaits_orphans(&hold.request.path));
        holds
    }

    fn awaits_orphans(&self, path: &Path) -> bool {
        self.running.get(path).is_some_and(|running| running.work.is_orphans())
    }
}

/// Waits for programs, or ends them; says whether all are over.
pub fn settle(
    programs: &[OrphanProgram],
    remaining: OrphanFate,
    flag: &CancelFlag,
) -> EffectOutcome {
    let is_over = |program: &OrphanProgram| match remaining {
        OrphanFate::AwaitedFirst => program.wait(flag) || program.end(flag.grace()),
        OrphanFate::Ended => program.end(flag.grace()),
    };
    // Each of them, whatever became of the one before.
    let n_over = programs.iter().filter(|program| is_over(program)).count();
    EffectOutcome::Orphans { are_over: n_over == programs.len() }
}
