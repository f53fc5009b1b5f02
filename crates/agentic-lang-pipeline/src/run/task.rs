//! The parts of a run that wait for answers, and how answers find them.

use std::collections::BTreeMap;
use std::sync::Arc;

use agentic_model::{Instant, Value};
use agentic_plan::Registry;
use agentic_replay::{Delivery, Event, Failure, Path, Request, Seed};

use crate::run::Children;
use crate::run::usage::Usage;

/// What is the same for all of a run.
pub(super) struct World {
    pub registry: Arc<Registry>,
    pub seed: Seed,
    pub max_concurrency: usize,
    pub invoked_by: Option<String>,
    pub children: Children,
    pub meaning: Meaning,
}

/// What differs between the versions of the language that a run may be held to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Meaning {
    /// A reply that must be data is data from its first to its last letter.
    Bare,
    /// It may also stand in a fenced block, and results tell what models cost.
    Fenced,
}

impl Meaning {
    pub fn of(semantics: u32) -> Meaning {
        if semantics < 3 { Meaning::Bare } else { Meaning::Fenced }
    }
}

/// What happens between one delivery and quiescence.
pub(super) struct Turning {
    pub now: Instant,
    pub opened: Vec<Request>,
    pub withdrawn: Vec<Path>,
    pub events: Vec<Event>,
    pub decisions: Vec<Value>,
    pub usage: Usage,
}

/// How far a turn had come.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    n_opened: usize,
    n_withdrawn: usize,
}

impl Turning {
    pub fn at(now: Instant) -> Turning {
        Turning {
            now,
            opened: Vec::new(),
            withdrawn: Vec::new(),
            events: Vec::new(),
            decisions: Vec::new(),
            usage: Usage::default(),
        }
    }

    pub fn mark(&self) -> Mark {
        Mark { n_opened: self.opened.len(), n_withdrawn: self.withdrawn.len() }
    }
}

/// A part of a run. It is begun once, then given the answer to each request it opened.
pub(super) trait Task: Send {
    fn begin(&mut self, world: &World, turn: &mut Turning) -> Step;
    fn deliver(&mut self, delivery: Delivery, world: &World, turn: &mut Turning) -> Step;
}

/// How far a task came.
pub(super) enum Step {
    /// It waits for an answer.
    Waiting,
    /// It has ended.
    Done(Result<Value, Failure>),
}

/// Which of several tasks waits at which path.
#[derive(Default)]
pub(super) struct Routes {
    waiting: BTreeMap<String, usize>,
}

impl Routes {
    /// Notes what a task opened and withdrew since a mark.
    pub fn note(&mut self, task: usize, mark: Mark, turn: &Turning) {
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
    pub fn withdraw_all(&mut self, turn: &mut Turning) {
        let paths = std::mem::take(&mut self.waiting).into_keys();
        turn.withdrawn
            .extend(paths.map(|path| Path::parse(&path).expect("only printed paths are kept")));
    }
}
