//! The machine: runs strands until every one of them waits.
//!
//! Nothing here recurses. Pipelines that call each other stand on a list of frames, branches are
//! strands of their own, and what becomes runnable is put on an agenda.

use std::collections::HashMap;
use std::sync::Arc;

use agentic_model::{Instant, Value as Model};
use agentic_replay::{Delivery, End, Path, Program, Seed, Start, Turn};

use crate::code;
use crate::data::{Data, json};
use crate::module::AgentModule;
use crate::program::budget::{RunBudget, STATEMENTS_AN_ERROR};
use crate::program::evaluate::Stack;
use crate::program::fault::MachineFault;
use crate::program::live::{self, WORK_MAX};
use crate::program::options::{RunOptions, TaskPerformer, TraceCapture};
use crate::program::room::Room;
use crate::program::strand::{Guard, RoutineId, Strand, StrandFrame, StrandId, StrandWait};
use crate::program::strand_set::{StrandSet, Todo};
use crate::program::testing::TestResult;
use crate::program::{CalleeCode, MachineStep, ValueCode};

/// What a run begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RunEntry {
    /// The pipeline of this name.
    Pipeline(String),
    /// All tests, one after the other.
    Tests,
}

/// A run of a module. Drive it as any [`Program`].
///
/// The input is a text: an object as JSON. The result is a text, too: a value as JSON. Of a test
/// run it is an object with `tests`, a list of `name`, `passed` and `error`.
pub struct ModuleRun {
    pub(super) module: Arc<AgentModule>,
    pub(super) options: RunOptions,
    pub(super) entry: RunEntry,
    /// Who performs each task.
    pub(super) performers: Vec<TaskPerformer>,
    pub(super) strands: StrandSet,
    /// Which strand waits at which path.
    pub(super) open: HashMap<Path, StrandId>,
    pub(super) turn: Turn,
    pub(super) now: Instant,
    pub(super) seed: Seed,
    pub(super) stack: Stack,
    /// How many calls were traced.
    pub(super) n_calls: u64,
    pub(super) tests: Vec<TestResult>,
    pub(super) room: Room,
    budget: RunBudget,
    /// The work since all values were measured, in statements.
    unmeasured: u64,
    state: MachineState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MachineState {
    Running,
    /// Asked to stop; a few more requests may be opened.
    Stopping,
    Ended,
}

/// What a step came to.
enum StepFlow {
    Next,
    /// The strand waits.
    Waits,
    Finished(Data),
}

/// The strand of the program itself.
const MAIN: StrandId = 0;

impl AgentModule {
    /// Makes a run of a pipeline. Its input, given when it starts, is a text: a JSON object.
    pub fn run(self: &Arc<AgentModule>, pipeline: &str, options: RunOptions) -> ModuleRun {
        ModuleRun::new(Arc::clone(self), RunEntry::Pipeline(pipeline.to_owned()), options)
    }

    /// Makes a run of all tests, in file order.
    pub fn run_tests(self: &Arc<AgentModule>, options: RunOptions) -> ModuleRun {
        ModuleRun::new(Arc::clone(self), RunEntry::Tests, options)
    }
}

impl ModuleRun {
    pub(crate) fn new(module: Arc<AgentModule>, entry: RunEntry, options: RunOptions) -> ModuleRun {
        let performers = module.code.tasks.iter().map(|task| options.performer(task)).collect();
        ModuleRun {
            budget: RunBudget::new(&options),
            unmeasured: 0,
            room: Room::of(options.trace_bytes_max),
            module,
            options,
            entry,
            performers,
            strands: StrandSet::default(),
            open: HashMap::new(),
            turn: Turn::default(),
            now: Instant::from_millis(0),
            seed: Seed([0; 32]),
            stack: Stack::default(),
            n_calls: 0,
            tests: Vec::new(),
            state: MachineState::Running,
        }
    }

    /// Runs what can run, and hands over what happened.
    fn settle(&mut self) -> Turn {
        self.budget.refill();
        while self.state != MachineState::Ended {
            match self.strands.next() {
                Some(Todo::Advance(id)) => self.advance(id),
                Some(Todo::Branches(id)) => self.branches(id),
                None => break,
            }
        }
        self.trace_gap();
        std::mem::take(&mut self.turn)
    }

    /// Ends the run. What is still open is withdrawn.
    pub(super) fn end(&mut self, end: End) {
        for request in self.turn.opened.drain(..) {
            self.open.remove(&request.path);
        }
        self.turn.withdrawn.extend(self.open.drain().map(|(path, _)| path));
        self.turn.withdrawn.sort();
        self.turn.end = Some(end);
        self.strands.clear();
        self.state = MachineState::Ended;
    }

    /// Counts a request with so many bytes of arguments; `false` once the run may ask no more, and
    /// then it is over.
    pub(super) fn may_open(&mut self, n_bytes: usize) -> bool {
        let Err(fault) = self.budget.take_request(n_bytes) else { return true };
        match self.state {
            MachineState::Running => self.end(End::Failed(fault.into_failure())),
            MachineState::Stopping => self.end(End::Cancelled),
            MachineState::Ended => {}
        }
        false
    }

    fn begin(&mut self, start: &Start) -> Result<(), MachineFault> {
        if self.options.workers < 1 {
            return Err(MachineFault::new(code::NO_WORKERS, "max_workers must be greater than 0"));
        }
        let strand = match &self.entry {
            RunEntry::Tests => return self.next_test(),
            RunEntry::Pipeline(name) => {
                let (at, slots) = self.module.bind_input(name, &start.input)?;
                let module = Arc::clone(&self.module);
                let routine = &module.code.pipelines[at];
                if self.options.trace == TraceCapture::On {
                    let args = routine.params.iter().zip(&slots);
                    let args = args.map(|((name, _), value)| (name.clone(), value.clone()));
                    let args = Data::object(args.collect()).map_err(MachineFault::too_large)?;
                    self.trace_pipeline(&routine.name, &json::to_text(&args));
                }
                self.outermost(RoutineId::Pipeline(at), slots)
            }
        };
        self.launch_first(strand)
    }

    pub(super) fn launch_first(&mut self, strand: Strand) -> Result<(), MachineFault> {
        let id = self.strands.add(strand)?;
        self.strands.later(Todo::Advance(id));
        Ok(())
    }

    /// Makes the strand of the program itself.
    pub(super) fn outermost(&self, routine: RoutineId, mut slots: Vec<Data>) -> Strand {
        let code = match routine {
            RoutineId::Pipeline(at) => &self.module.code.pipelines[at],
            RoutineId::Test(at) => &self.module.code.tests[at],
        };
        slots.resize(code.slots, Data::Null);
        let frame = StrandFrame {
            routine,
            at: code.entry,
            base: 0,
            target: 0,
            call: None,
            started: self.now,
        };
        Strand { slots, frames: vec![frame], ..Strand::default() }
    }

    /// Runs one strand until it waits or ends.
    fn advance(&mut self, id: StrandId) {
        let mut strand = self.strands.take(id);
        let module = Arc::clone(&self.module);
        loop {
            let work = std::mem::take(&mut self.stack.work);
            if let Err(fault) = self.budget.take_statement(work) {
                return self.end(End::Failed(fault.into_failure()));
            }
            self.unmeasured += 1 + work;
            if self.unmeasured >= WORK_MAX
                && let Err(fault) = self.measure_values(&strand)
            {
                return self.end(End::Failed(fault.into_failure()));
            }
            let frame = strand.frames.last_mut().expect("a strand that runs has a frame");
            let step = module.code.steps[frame.at];
            frame.at += 1;
            match self.step(&module, &mut strand, id, step) {
                Ok(StepFlow::Next) => {}
                Ok(StepFlow::Waits) => {
                    return self.strands.put_back(id, strand);
                }
                Ok(StepFlow::Finished(value)) => return self.finish(id, &strand, Ok(value)),
                Err(fault) => {
                    if let Err(fault) = self.unwind(&mut strand, fault) {
                        return self.finish(id, &strand, Err(fault));
                    }
                }
            }
        }
    }

    /// Measures what the run holds, with the strand that runs.
    fn measure_values(&mut self, running: &Strand) -> Result<(), MachineFault> {
        self.unmeasured = 0;
        live::measure(self.strands.resting().chain([running]))
    }

    fn step(
        &mut self,
        module: &AgentModule,
        strand: &mut Strand,
        id: StrandId,
        step: MachineStep,
    ) -> Result<StepFlow, MachineFault> {
        match step {
            MachineStep::Jump(target) => jump(strand, target),
            MachineStep::Unless { condition, target } => {
                if !self.truth(module, strand, condition)? {
                    jump(strand, target);
                }
            }
            MachineStep::Unwrap { value, slot, target } => {
                let value = module.code.evaluate(value, strand.locals(), &mut self.stack)?;
                if matches!(value, Data::Null) {
                    jump(strand, target)
                } else {
                    strand.set(slot, value)
                }
            }
            MachineStep::Guard { target, slot } => {
                let frames = strand.frames.len();
                strand.guards.push(Guard { frames, target: target as usize, slot });
            }
            MachineStep::Unguard => {
                strand.guards.pop();
            }
            MachineStep::Assert { condition, message } => {
                if !self.truth(module, strand, condition)? {
                    let message = module.code.constants[message as usize].shown();
                    return Err(MachineFault::new(
                        code::ASSERTION,
                        format!("Assertion failed: {message}"),
                    ));
                }
            }
            MachineStep::Approve { question, slot } => {
                let question = module.code.evaluate(question, strand.locals(), &mut self.stack)?;
                self.ask_human(strand, id, &question, slot);
                return Ok(StepFlow::Waits);
            }
            MachineStep::Call(call) => {
                let is_task =
                    matches!(module.code.calls[call as usize].callee, CalleeCode::Task(_));
                self.call(module, strand, id, call)?;
                return Ok(if is_task { StepFlow::Waits } else { StepFlow::Next });
            }
            MachineStep::Parallel(parallel) => {
                self.fork(module, strand, id, parallel);
                return Ok(StepFlow::Waits);
            }
            MachineStep::Return(value) => {
                let value = module.code.evaluate(value, strand.locals(), &mut self.stack)?;
                return Ok(self.give_back(strand, value));
            }
            MachineStep::End => return Ok(self.give_back(strand, Data::Null)),
        }
        Ok(StepFlow::Next)
    }

    fn truth(
        &mut self,
        module: &AgentModule,
        strand: &Strand,
        condition: ValueCode,
    ) -> Result<bool, MachineFault> {
        let value = module.code.evaluate(condition, strand.locals(), &mut self.stack)?;
        Ok(value.as_bool().unwrap_or(false))
    }

    /// Leaves the innermost frame with a result.
    fn give_back(&mut self, strand: &mut Strand, value: Data) -> StepFlow {
        let frame = strand.frames.pop().expect("a strand that runs has a frame");
        strand.slots.truncate(frame.base);
        let frames = strand.frames.len();
        while strand.guards.last().is_some_and(|guard| guard.frames > frames) {
            strand.guards.pop();
        }
        self.trace_frame_end(&frame, &value);
        if frames == 0 {
            return StepFlow::Finished(value);
        }
        strand.set(frame.target, value);
        StepFlow::Next
    }

    /// Brings a failure to the innermost handler, or out of the strand.
    pub(super) fn unwind(
        &mut self,
        strand: &mut Strand,
        fault: MachineFault,
    ) -> Result<(), MachineFault> {
        let guard = strand.guards.pop();
        let frames = guard.as_ref().map_or(0, |guard| guard.frames);
        while strand.frames.len() > frames {
            let frame = strand.frames.pop().expect("counted above");
            strand.slots.truncate(frame.base);
            self.trace_frame_error(&frame, &fault);
        }
        let Some(guard) = guard else { return Err(fault) };
        self.stack.work += STATEMENTS_AN_ERROR;
        let frame = strand.frames.last_mut().expect("a guard stands in a frame");
        frame.at = guard.target;
        strand.set(guard.slot, Data::text(fault.text));
        Ok(())
    }

    /// Takes note of how a strand ended.
    pub(super) fn finish(
        &mut self,
        id: StrandId,
        strand: &Strand,
        result: Result<Data, MachineFault>,
    ) {
        self.strands.release(id);
        if let Some((parent, branch)) = strand.parent {
            let StrandWait::Join(join) = &mut self.strands.parent_mut(parent).wait else {
                unreachable!("a parent waits for its branches")
            };
            join.results[branch] = Some(result);
            join.n_running -= 1;
            if !std::mem::replace(&mut join.is_due, true) {
                self.strands.later(Todo::Branches(parent));
            }
            return;
        }
        debug_assert_eq!(id, MAIN, "every other strand has a parent");
        let is_cancelled = result.as_ref().is_err_and(|fault| fault.code == code::CANCELLED);
        if is_cancelled {
            return self.end(End::Cancelled);
        }
        match (&self.entry, result) {
            (RunEntry::Pipeline(_), Ok(value)) => {
                self.end(End::Done(Model::Text(json::to_text(&value))));
            }
            (RunEntry::Pipeline(_), Err(fault)) => self.end(End::Failed(fault.into_failure())),
            (RunEntry::Tests, result) => {
                if let Err(fault) = self.test_ended(result) {
                    self.end(End::Failed(fault.into_failure()));
                }
            }
        }
    }
}

fn jump(strand: &mut Strand, target: u32) {
    strand.frames.last_mut().expect("a strand that runs has a frame").at = target as usize;
}

impl Program for ModuleRun {
    fn start(&mut self, start: &Start) -> Turn {
        (self.now, self.seed) = (start.at, start.seed);
        if let Err(fault) = self.begin(start) {
            self.end(End::Failed(fault.into_failure()));
        }
        self.settle()
    }

    fn deliver(&mut self, delivery: Delivery) -> Turn {
        self.now = delivery.at;
        if let Some(id) = self.open.remove(&delivery.path) {
            self.answered(id, delivery.answer);
        }
        self.settle()
    }

    fn cancel(&mut self, reason: &str, at: Instant) -> Turn {
        self.now = at;
        if self.state == MachineState::Running {
            self.state = MachineState::Stopping;
            self.budget.wind_up();
            let mut open: Vec<(Path, StrandId)> = self.open.drain().collect();
            open.sort();
            for (path, id) in open {
                self.turn.withdrawn.push(path);
                let fault = MachineFault::new(code::CANCELLED, format!("Run cancelled: {reason}"));
                self.interrupt(id, fault);
            }
        }
        self.settle()
    }
}
