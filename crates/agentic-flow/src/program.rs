//! A run of a flow, as its host drives it.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::rc::Rc;

use agentic_model::Instant;
use agentic_replay::{
    Delivery, End, NOT_DATA, Path, Program, ProgramFailure, RequestScope, ScopeStep, Seed, Start,
    Turn,
};
use rhai::{Dynamic, FnPtr};

use crate::branch::own_value;
use crate::context::ScopeStack;
use crate::engine::note_bound;
use crate::failure::{INTERNAL, failure_of_error, terminated};
use crate::flow::{FlowShared, scope_of};
use crate::limits::{BRANCHES_MAX, LIMIT};
use crate::strand::{FlowStrand, StrandTurn};
use crate::value::{from_value, to_value};
use crate::world::{
    BranchEnding, BranchInput, BranchOutcome, BranchOutput, CallPlace, FlowWorld, JoinMode,
    WaitingRun as RunStanding,
};

/// The number of the main branch.
const MAIN: u64 = 0;

const NO_STACK: &str = "there is no room for the stack of another branch";

/// A run of a flow.
pub struct FlowProgram {
    shared: Rc<FlowShared>,
    standing: RunStanding,
    branches: BTreeMap<u64, FlowBranch>,
    /// Who waits for the answer at a path.
    waiting: HashMap<Path, u64>,
    n_branches: u64,
    is_cancelled: bool,
    turn: Turn,
    scopes: Vec<ScopeStep>,
    skipped: Rc<BTreeSet<Path>>,
    has_ended: bool,
}

/// One branch of a run.
struct FlowBranch {
    strand: FlowStrand<BranchInput, BranchOutput, BranchOutcome>,
    context: ScopeStack,
    /// The branch that joins it, and its place there.
    parent: Option<(u64, usize)>,
    standing: BranchState,
}

enum BranchState {
    /// It is about to run.
    Ready,
    Asking(Path),
    Joining(BranchJoin),
}

/// There is no room for more branches.
struct NoRoom(String);

struct BranchJoin {
    mode: JoinMode,
    children: Vec<u64>,
    outcomes: Vec<Option<BranchOutcome>>,
}

impl FlowProgram {
    pub(crate) fn new(shared: Rc<FlowShared>) -> FlowProgram {
        FlowProgram {
            shared,
            standing: RunStanding { now: Instant::from_millis(0), seed: Seed([0; 32]), work: 0 },
            branches: BTreeMap::new(),
            waiting: HashMap::new(),
            n_branches: 0,
            is_cancelled: false,
            turn: Turn::default(),
            scopes: Vec::new(),
            skipped: Rc::default(),
            has_ended: false,
        }
    }

    /// Returns how much work the script has done so far: the same wherever it runs.
    pub fn work(&self) -> u64 {
        self.standing.work
    }
}

impl Program for FlowProgram {
    fn start(&mut self, start: &Start) -> Turn {
        self.standing.seed = start.seed;
        self.standing.now = start.at;
        let shared = Rc::clone(&self.shared);
        let input = from_value(start.input.clone());
        let body =
            move || shared.engine.eval_ast_with_scope::<Dynamic>(&mut scope_of(input), &shared.ast);
        let strand = self.strand(body);
        self.turn(|program| match strand {
            Some(strand) => {
                program.add(strand, RequestScope::root(), None);
                program.run(VecDeque::from([(MAIN, BranchInput::Begin)]));
            }
            None => program.finish(End::Failed(ProgramFailure::new(LIMIT, NO_STACK))),
        })
    }

    fn deliver(&mut self, delivery: Delivery) -> Turn {
        self.standing.now = delivery.at;
        let Some(branch) = self.waiting.remove(&delivery.path) else { return Turn::default() };
        self.turn(|program| {
            program.run(VecDeque::from([(branch, BranchInput::Answer(delivery.answer))]));
        })
    }

    /// Raises an error in every branch that waits for an answer. Joins then wait for all their
    /// branches, so that each can clean up.
    fn cancel(&mut self, reason: &str, at: Instant) -> Turn {
        self.standing.now = at;
        self.is_cancelled = true;
        let mut open: Vec<(Path, u64)> = self.waiting.drain().collect();
        open.sort();
        self.turn(|program| {
            program.turn.withdrawn.extend(open.iter().map(|(path, _)| path.clone()));
            let cancel = |(_, branch)| (branch, BranchInput::Cancel(reason.to_owned()));
            program.run(open.into_iter().map(cancel).collect());
        })
    }

    fn reseed(&mut self, seed: Seed) {
        self.standing.seed = seed;
    }

    fn skip_scopes(&mut self, scopes: BTreeSet<Path>) {
        self.skipped = Rc::new(scopes);
    }

    fn take_scopes(&mut self) -> Vec<ScopeStep> {
        std::mem::take(&mut self.scopes)
    }
}

impl Drop for FlowProgram {
    /// Ends what still waits in order; a coroutine that is dropped as it stands would be unwound
    /// through functions that catch panics.
    fn drop(&mut self) {
        self.kill_all();
    }
}

impl FlowProgram {
    /// Runs something and collects what came of it.
    fn turn(&mut self, go: impl FnOnce(&mut FlowProgram)) -> Turn {
        if !self.has_ended {
            self.shared.world.enter(self.standing);
            self.shared.world.skipped.replace(Rc::clone(&self.skipped));
            go(self);
            self.scopes.append(&mut self.shared.world.scopes.take());
            (self.turn.events, self.standing.work) = self.shared.world.leave();
        }
        std::mem::take(&mut self.turn)
    }

    /// Resumes branches one after the other, and whom that wakes, until all wait.
    fn run(&mut self, mut ready: VecDeque<(u64, BranchInput)>) {
        while let Some((id, input)) = ready.pop_front() {
            if !self.branches.contains_key(&id) {
                continue;
            }
            let resumed = self.resume(id, input);
            if let StrandTurn::Ended(Err(error)) = &resumed {
                note_bound(&self.shared.world, error);
            }
            if let Some(failure) = self.shared.world.fatal() {
                return self.finish(End::Failed(failure));
            }
            match resumed {
                StrandTurn::Suspended(BranchOutput::Ask(request)) => {
                    self.waiting.insert(request.path.clone(), id);
                    self.stand(id, BranchState::Asking(request.path.clone()));
                    self.turn.opened.push(request);
                }
                StrandTurn::Suspended(BranchOutput::Join { mode, branches, caller }) => {
                    if let Err(NoRoom(reason)) = self.fork(id, mode, branches, caller, &mut ready) {
                        return self.finish(End::Failed(ProgramFailure::new(LIMIT, reason)));
                    }
                }
                StrandTurn::Suspended(BranchOutput::Continue(state)) => {
                    return self.finish(End::continue_as_new(state));
                }
                StrandTurn::Ended(outcome) if id == MAIN => return self.finish(end_of(outcome)),
                StrandTurn::Ended(outcome) => self.ended(id, outcome, &mut ready),
                StrandTurn::Panicked => {
                    let failure = ProgramFailure::new(INTERNAL, "the interpreter panicked");
                    return self.finish(End::Failed(failure));
                }
            }
        }
    }

    fn resume(&mut self, id: u64, input: BranchInput) -> StrandTurn<BranchOutput, BranchOutcome> {
        let branch = self.branches.get_mut(&id).expect("the caller looked it up");
        branch.resume(&self.shared.world, input)
    }

    fn stand(&mut self, id: u64, standing: BranchState) {
        if let Some(branch) = self.branches.get_mut(&id) {
            branch.standing = standing;
        }
    }

    /// Makes a coroutine; nothing if there is no room for its stack.
    fn strand(
        &self,
        body: impl FnOnce() -> BranchOutcome + 'static,
    ) -> Option<FlowStrand<BranchInput, BranchOutput, BranchOutcome>> {
        let body = move |input| match input {
            BranchInput::Begin => body(),
            BranchInput::Answer(_)
            | BranchInput::Joined(_)
            | BranchInput::Cancel(_)
            | BranchInput::Kill => Err(terminated()),
        };
        FlowStrand::new(&self.shared.world.baton, body).ok()
    }

    fn add(
        &mut self,
        strand: FlowStrand<BranchInput, BranchOutput, BranchOutcome>,
        scope: RequestScope,
        parent: Option<(u64, usize)>,
    ) -> u64 {
        let id = self.n_branches;
        self.n_branches += 1;
        let context = ScopeStack::of(scope);
        self.branches
            .insert(id, FlowBranch { strand, context, parent, standing: BranchState::Ready });
        id
    }

    /// Begins the branches of a join, the first one first.
    #[allow(deprecated)] // `create_context` is volatile, not obsolete.
    fn fork(
        &mut self,
        id: u64,
        mode: JoinMode,
        branches: Vec<(RequestScope, FnPtr)>,
        caller: Rc<CallPlace>,
        ready: &mut VecDeque<(u64, BranchInput)>,
    ) -> Result<(), NoRoom> {
        if self.branches.len() + branches.len() > BRANCHES_MAX {
            return Err(NoRoom(format!("more than {BRANCHES_MAX} branches at once")));
        }
        let outcomes = branches.iter().map(|_| None).collect();
        let mut children = Vec::new();
        for (n, (scope, closure)) in branches.into_iter().enumerate() {
            let (shared, caller) = (Rc::clone(&self.shared), Rc::clone(&caller));
            let body = move || closure.call_raw(&caller.create_context(&shared.engine), None, []);
            let strand = self.strand(body).ok_or_else(|| NoRoom(NO_STACK.to_owned()))?;
            let child = self.add(strand, scope, Some((id, n)));
            children.push(child);
            ready.push_back((child, BranchInput::Begin));
        }
        self.stand(id, BranchState::Joining(BranchJoin { mode, children, outcomes }));
        Ok(())
    }

    /// Takes in the end of a branch, and wakes the one that joins it if that is decided.
    fn ended(&mut self, id: u64, outcome: BranchOutcome, ready: &mut VecDeque<(u64, BranchInput)>) {
        let Some(branch) = self.branches.remove(&id) else { return };
        let (parent, n) = branch.parent.expect("only the main branch has no parent");
        let waits_for_all = self.is_cancelled;
        let Some(FlowBranch { standing: BranchState::Joining(join), .. }) =
            self.branches.get_mut(&parent)
        else {
            return;
        };
        let outcome = outcome.and_then(|value| {
            own_value(&value)
                .map_err(|message| crate::failure::bad_call(message, rhai::Position::NONE))
        });
        join.outcomes[n] = Some(outcome);
        let Some(outcome) = join.decide(n, waits_for_all) else { return };
        let children = std::mem::take(&mut join.children);
        self.stand(parent, BranchState::Ready);
        for child in children {
            self.kill(child);
        }
        ready.push_back((parent, BranchInput::Joined(outcome)));
    }

    /// Ends a branch and all that it joins.
    fn kill(&mut self, id: u64) {
        let Some(mut branch) = self.branches.remove(&id) else { return };
        match std::mem::replace(&mut branch.standing, BranchState::Ready) {
            BranchState::Ready => {}
            BranchState::Asking(path) => {
                if self.waiting.remove(&path).is_some() {
                    self.turn.withdrawn.push(path);
                }
            }
            BranchState::Joining(join) => {
                for child in join.children {
                    self.kill(child);
                }
            }
        }
        if branch.strand.is_suspended() {
            self.shared.world.set_dying(BranchEnding::Yes);
            let _ = branch.resume(&self.shared.world, BranchInput::Kill);
            self.shared.world.set_dying(BranchEnding::No);
        }
    }

    fn kill_all(&mut self) {
        while let Some(id) = self.branches.keys().next().copied() {
            self.kill(id);
        }
    }

    fn finish(&mut self, end: End) {
        self.kill_all();
        let end = if self.is_cancelled { End::Cancelled } else { end };
        self.turn.end = Some(end);
        self.has_ended = true;
    }
}

impl FlowBranch {
    /// Runs the branch until it suspends or ends. Its context is on loan to the world meanwhile.
    fn resume(
        &mut self,
        world: &FlowWorld,
        input: BranchInput,
    ) -> StrandTurn<BranchOutput, BranchOutcome> {
        std::mem::swap(&mut self.context, &mut *world.context.borrow_mut());
        let resumed = self.strand.resume(input);
        std::mem::swap(&mut self.context, &mut *world.context.borrow_mut());
        resumed
    }
}

impl BranchJoin {
    /// Returns what the join gives, once that is decided by the branch that ended last: all
    /// values or the first error, or the first value.
    fn decide(&mut self, last: usize, waits_for_all: bool) -> Option<BranchOutcome> {
        let is_complete = self.outcomes.iter().all(Option::is_some);
        let is_ok = matches!(&self.outcomes[last], Some(Ok(_)));
        let is_decided = match self.mode {
            JoinMode::All => !is_ok,
            JoinMode::Any => is_ok,
        };
        if is_decided && !waits_for_all {
            return self.outcomes[last].take();
        }
        if !is_complete {
            return None;
        }
        let mut values = Vec::new();
        let mut errors = Vec::new();
        for outcome in std::mem::take(&mut self.outcomes).into_iter().flatten() {
            match outcome {
                Ok(value) => values.push(value),
                Err(error) => errors.push(error),
            }
        }
        Some(match (self.mode, errors.into_iter().next()) {
            (JoinMode::All, Some(error)) => Err(error),
            (JoinMode::All, None) => Ok(Dynamic::from_array(values)),
            (JoinMode::Any, error) => match (values.into_iter().next(), error) {
                (Some(value), _) => Ok(value),
                (None, error) => Err(error.unwrap_or_else(terminated)),
            },
        })
    }
}

fn end_of(outcome: BranchOutcome) -> End {
    match outcome {
        Ok(value) => match to_value(&value) {
            Ok(value) => End::Done(value),
            Err(error) => End::Failed(ProgramFailure::new(NOT_DATA, error.to_string())),
        },
        Err(error) => End::Failed(failure_of_error(&error)),
    }
}
