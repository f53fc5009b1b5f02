//! What the functions of a script share with the program that drives it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use agentic_model::{Instant, Value};
use agentic_replay::{
    Path, ProgramEvent, ProgramFailure, Request, RequestAnswer, RequestScope, ScopeStep, Seed,
};
use rhai::{AST, Dynamic, EvalAltResult, FnPtr};

use crate::closures::captures::{LoopVariables, REFUSED_SINCE};
use crate::context::ScopeStack;
use crate::limits::{EVENTS_MAX, LIMIT, WORK_MAX};
use crate::strand::BranchExit;

/// The version since which `hold` tells who decided.
const PRINCIPAL_SINCE: u32 = 3;

/// How a branch ended.
pub(crate) type BranchOutcome = Result<Dynamic, Box<EvalAltResult>>;

/// From where closures are called.
#[allow(deprecated)] // The type is volatile, not obsolete.
pub(crate) type CallPlace = rhai::NativeCallContextStore;

/// What a branch is resumed with.
pub(crate) enum BranchInput {
    Begin,
    Answer(RequestAnswer),
    Joined(BranchOutcome),
    /// The run is to stop; an error that the script can catch.
    Cancel(String),
    /// Nobody waits for the branch any more.
    Kill,
}

/// Why a branch suspends.
pub(crate) enum BranchOutput {
    Ask(Request),
    Join { mode: JoinMode, branches: Vec<(RequestScope, FnPtr)>, caller: Rc<CallPlace> },
    Continue(Value),
}

/// How branches are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JoinMode {
    All,
    Any,
}

/// What a run keeps while it waits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WaitingRun {
    pub(crate) now: Instant,
    pub(crate) seed: Seed,
    /// All work done so far.
    pub(crate) work: u64,
}

/// The state of the run that is under way at the moment.
pub(crate) struct FlowWorld {
    pub(crate) baton: Rc<BranchExit<BranchInput, BranchOutput>>,
    /// The context of the branch that runs at the moment.
    pub(crate) context: RefCell<ScopeStack>,
    pub(crate) now: Cell<Instant>,
    pub(crate) seed: Cell<Seed>,
    pub(crate) events: RefCell<Vec<ProgramEvent>>,
    /// What happened to scopes.
    pub(crate) scopes: RefCell<Vec<ScopeStep>>,
    /// Scopes that are not run.
    pub(crate) skipped: RefCell<Rc<BTreeSet<Path>>>,
    /// Whether the running branch is being ended: then nothing it does counts.
    is_dying: Cell<bool>,
    /// What ends the run, whatever the script catches.
    fatal: RefCell<Option<ProgramFailure>>,
    work: Cell<u64>,
    work_total: Cell<u64>,
    /// The version of the language.
    semantics: u32,
    loop_variables: RefCell<LoopVariables>,
}

impl FlowWorld {
    pub(crate) fn new(semantics: u32) -> FlowWorld {
        FlowWorld {
            baton: Rc::new(BranchExit::new()),
            context: RefCell::new(ScopeStack::of(RequestScope::root())),
            now: Cell::new(Instant::from_millis(0)),
            seed: Cell::new(Seed([0; 32])),
            events: RefCell::new(Vec::new()),
            scopes: RefCell::new(Vec::new()),
            skipped: RefCell::default(),
            is_dying: Cell::new(false),
            fatal: RefCell::new(None),
            work: Cell::new(0),
            work_total: Cell::new(0),
            semantics,
            loop_variables: RefCell::default(),
        }
    }

    /// Says whether `hold` tells who decided.
    pub(crate) fn tells_who_decided(&self) -> bool {
        self.semantics >= PRINCIPAL_SINCE
    }

    /// Takes note of the closures of a script.
    pub(crate) fn note_closures(&self, ast: &AST) {
        if self.semantics >= REFUSED_SINCE {
            self.loop_variables.borrow_mut().add(ast);
        }
    }

    /// Finds a variable of a loop that closures share which are to run at the same time.
    pub(crate) fn shared_by(&self, closures: &[Dynamic]) -> Option<String> {
        self.loop_variables.borrow().shared_by(closures)
    }

    /// Counts work, and says whether the script has to stop.
    pub(crate) fn spend(&self, work: u64) -> bool {
        if self.is_stopping() {
            return true;
        }
        let spent = self.work.get().saturating_add(work);
        self.work.set(spent);
        self.work_total.set(self.work_total.get().saturating_add(work));
        if spent > WORK_MAX {
            self.fail(format!("more than {WORK_MAX} units of work without a request"));
        }
        spent > WORK_MAX
    }

    /// Lets a run go on: an answer came, and work is counted anew.
    pub(crate) fn enter(&self, standing: WaitingRun) {
        self.now.set(standing.now);
        self.seed.set(standing.seed);
        self.work_total.set(standing.work);
        self.work.set(0);
    }

    /// Takes from a run that waits what it said, and all work done so far.
    pub(crate) fn leave(&self) -> (Vec<ProgramEvent>, u64) {
        *self.fatal.borrow_mut() = None;
        (self.events.take(), self.work_total.get())
    }

    /// Ends the run because a bound was hit. The first time counts.
    pub(crate) fn fail(&self, message: impl Into<String>) {
        if !self.is_dying.get() {
            self.fatal.borrow_mut().get_or_insert_with(|| ProgramFailure::new(LIMIT, message));
        }
    }

    pub(crate) fn fatal(&self) -> Option<ProgramFailure> {
        self.fatal.borrow().clone()
    }

    /// Says whether nothing the script does counts any more.
    pub(crate) fn is_stopping(&self) -> bool {
        self.is_dying.get() || self.fatal.borrow().is_some()
    }

    /// Marks the branch that is resumed next as one that is being ended, or no longer.
    pub(crate) fn set_dying(&self, dying: BranchEnding) {
        self.is_dying.set(dying == BranchEnding::Yes);
    }

    /// Notes what happens to a scope.
    pub(crate) fn note_scope(&self, step: ScopeStep) {
        if !self.is_stopping() {
            self.scopes.borrow_mut().push(step);
        }
    }

    /// Says something.
    pub(crate) fn say(&self, kind: &str, data: Value) {
        if self.is_stopping() {
            return;
        }
        let mut events = self.events.borrow_mut();
        if events.len() >= EVENTS_MAX {
            self.fail(format!("more than {EVENTS_MAX} things said without a request"));
            return;
        }
        events.push(ProgramEvent { kind: kind.to_owned(), data });
    }
}

/// Whether a branch is being ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BranchEnding {
    Yes,
    No,
}
