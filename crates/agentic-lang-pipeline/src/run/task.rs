//! The parts of a run that wait for answers, and how answers find them.

use std::collections::BTreeMap;
use std::sync::Arc;

use agentic_model::{Instant, Value};
use agentic_plan::Registry;
use agentic_replay::{Delivery, Path, ProgramEvent, ProgramFailure, Request, Seed};

use crate::run::options::PartsPlace;
use crate::run::usage::AttemptUsage;

/// What is the same for all of a run.
pub(super) struct PipelineWorld {
    pub registry: Arc<Registry>,
    pub seed: Seed,
    pub max_concurrency: usize,
    pub invoked_by: Option<String>,
    pub children: PartsPlace,
    pub meaning: VersionMeaning,
}

/// What differs between the versions of the language that a run may be held to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum VersionMeaning {
    /// A reply that must be data is data from its first to its last letter.
    Bare,
    /// It may also stand in a fenced block, and results tell what models cost.
    Fenced,
}

impl VersionMeaning {
    pub fn of(semantics: u32) -> VersionMeaning {
        if semantics < 3 { VersionMeaning::Bare } else { VersionMeaning::Fenced }
    }
}

/// What happens between one delivery and quiescence.
pub(super) struct TaskTurn {
    pub now: Instant,
    pub opened: Vec<Request>,
    pub withdrawn: Vec<Path>,
    pub events: Vec<ProgramEvent>,
    pub decisions: Vec<Value>,
    pub usage: AttemptUsage,
}

/// How far a turn had come.
#[derive(Clone, Copy)]
pub(super) struct TurnMark {
    n_opened: usize,
    n_withdrawn: usize,
}

impl TaskTurn {
    pub fn at(now: Instant) -> TaskTurn {
        TaskTurn {
            now,
            opened: Vec::new(),
            withdrawn: Vec::new(),
            events: Vec::new(),
            decisions: Vec::new(),
            usage: AttemptUsage::default(),
        }
    }

    pub fn mark(&self) -> TurnMark {
        TurnMark { n_opened: self.opened.len(), n_withdrawn: self.withdrawn.len() }
    }
}

/// A part of a run. It is begun once, then given the answer to each request it opened.
pub(super) trait PipelineTask: Send {
    fn begin(&mut self, world: &PipelineWorld, turn: &mut TaskTurn) -> TaskStep;
    fn deliver(
        &mut self,
        delivery: Delivery,
        world: &PipelineWorld,
        turn: &mut TaskTurn,
    ) -> TaskStep;
}

/// How far a task came.
pub(super) enum TaskStep {
    /// It waits for an answer.
    Waiting,
    /// It has ended.
    Done(Result<Value, ProgramFailure>),
}

/// Which of several tasks waits at which path.
#[derive(Default)]
pub(super) struct Routes {
    waiting: BTreeMap<String, usize>,
}

impl Routes {
    /// Notes what a task opened and withdrew since a mark.
    pub fn note(&mut self, task: usize, mark: TurnMark, turn: &TaskTurn) {
        for request in &turn.opened[mark.n_opened..] {
            self.waiting.insert(request.path.as_str().to_owned(), task);
        }
        for path in &turn.withdrawn[mark.n_withdrawn..] {
            self.waiting.remove(path.as_str());
        }
    }

    /// Finds who waits at a path, and waits no more.
    pub fn take(&mut self, path: &Path) -> Option<usize> {
        self.waiting.remove(path.as_str())
    }

    /// Withdraws everything that is still waited for.
    pub fn withdraw_all(&mut self, turn: &mut TaskTurn) {
        let paths = std::mem::take(&mut self.waiting).into_keys();
        turn.withdrawn
            .extend(paths.map(|path| Path::parse(&path).expect("only printed paths are kept")));
    }
}
