//! Programs: driven, never driving.

use std::collections::BTreeSet;
use std::ops::DerefMut;

use agentic_model::{Instant, Value};

use crate::{Path, ProgramFailure, Request, RequestAnswer, Seed};

/// A deterministic run of a program, as its host sees it.
///
/// The host calls [`Program::start`] once, then [`Program::deliver`] once for every answer. Each
/// call runs the program to quiescence: until every branch of it waits for an answer, or the
/// program has ended. A delivery wakes only the branch that waits at its path. No call blocks,
/// and none reads a clock, randomness, environment or file.
pub trait Program {
    /// Begins the run.
    fn start(&mut self, start: &Start) -> Turn;

    /// Hands over the answer to one open request and runs on. An answer to a request that the
    /// program has withdrawn is accepted and changes nothing.
    fn deliver(&mut self, delivery: Delivery) -> Turn;

    /// Asks the program to stop: delivered once, as an error that it can catch where its language
    /// can, so that it may clean up. It may open further requests.
    fn cancel(&mut self, reason: &str, at: Instant) -> Turn;

    /// Replaces what `random()` derives from, from here on: what happens where a fork leaves its
    /// parent. Paths and counters go on. A program without randomness need not listen.
    fn reseed(&mut self, _seed: Seed) {}

    /// Names the scopes that need not be run: where the program comes to one of them, it opens a
    /// request of kind [`SCOPE`](crate::SCOPE) at its path and takes the answer for its result.
    /// Called before [`Program::start`]. A program without scopes need not listen.
    fn skip_scopes(&mut self, _scopes: BTreeSet<Path>) {}

    /// Takes what happened to scopes since the last call, in order.
    fn take_scopes(&mut self) -> Vec<ScopeStep> {
        Vec::new()
    }

    /// Has the program mean what its language meant in this version: the one that the start record
    /// pins. Called before [`Program::start`], and only where there is such a record. A program
    /// whose language has one meaning need not listen.
    fn mean_as(&mut self, _semantics: u32) {}

    /// Tells how far its parts have come, as maps, where its language says that its programs do so.
    fn progress(&self) -> Vec<Value> {
        Vec::new()
    }
}

/// A program behind a pointer is a program.
impl<P: DerefMut<Target: Program>> Program for P {
    fn start(&mut self, start: &Start) -> Turn {
        (**self).start(start)
    }

    fn deliver(&mut self, delivery: Delivery) -> Turn {
        (**self).deliver(delivery)
    }

    fn cancel(&mut self, reason: &str, at: Instant) -> Turn {
        (**self).cancel(reason, at)
    }

    fn reseed(&mut self, seed: Seed) {
        (**self).reseed(seed);
    }

    fn skip_scopes(&mut self, scopes: BTreeSet<Path>) {
        (**self).skip_scopes(scopes);
    }

    fn take_scopes(&mut self) -> Vec<ScopeStep> {
        (**self).take_scopes()
    }

    fn mean_as(&mut self, semantics: u32) {
        (**self).mean_as(semantics);
    }

    fn progress(&self) -> Vec<Value> {
        (**self).progress()
    }
}

/// What a run begins with.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    /// The input of the program.
    pub input: Value,
    /// What all randomness of the run derives from.
    pub seed: Seed,
    /// The time of the start record: `now()` until the first answer.
    pub at: Instant,
}

/// One answer on its way into the program.
#[derive(Debug, Clone, PartialEq)]
pub struct Delivery {
    /// Which request is answered.
    pub path: Path,
    /// The answer, decoded from its recorded bytes.
    pub answer: RequestAnswer,
    /// The time of the record: `now()` from here on.
    pub at: Instant,
}

/// What happened between one delivery and quiescence.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Turn {
    /// Requests that were opened, in any order; the host sorts them by path.
    pub opened: Vec<Request>,
    /// Requests that the program no longer waits for.
    pub withdrawn: Vec<Path>,
    /// Things to show or to write into a trace, in order. Silent while replaying.
    pub events: Vec<ProgramEvent>,
    /// How the program ended, once it has.
    pub end: Option<End>,
}

/// Something a program says without asking anything.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramEvent {
    /// What sort of event, such as `print` or `trace`.
    pub kind: String,
    /// Its data.
    pub data: Value,
}

/// What happens to a scope that takes one value and gives one.
#[derive(Debug, Clone, PartialEq)]
pub enum ScopeStep {
    /// The program goes into it.
    Entered(Path),
    /// It gave a result.
    Ended {
        /// Which one.
        path: Path,
        /// What it gave.
        result: Value,
    },
    /// It was left by an error.
    Failed(Path),
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// With a result.
    Done(Value),
    /// With an error that nothing in the program caught.
    Failed(ProgramFailure),
    /// After it was asked to stop.
    Cancelled,
}

/// The code by which [`End::continue_as_new`] is known.
const CONTINUE: &str = "continue-as-new";

impl End {
    /// Makes the end of a run that goes on as a new one, with this state as its input. A host that
    /// knows nothing of it sees a failure whose code says so.
    pub fn continue_as_new(state: Value) -> End {
        let message = "the run goes on as a new one";
        End::Failed(ProgramFailure { details: state, ..ProgramFailure::new(CONTINUE, message) })
    }

    /// Returns the state of an end made by [`End::continue_as_new`].
    pub fn continued_with(&self) -> Option<&Value> {
        match self {
            End::Failed(failure) if failure.code == CONTINUE => Some(&failure.details),
            End::Failed(_) | End::Done(_) | End::Cancelled => None,
        }
    }
}
