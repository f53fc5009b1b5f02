//! Strands: one for the program, one for every branch of a parallel block that runs.

use agentic_model::Instant;
use agentic_replay::{Path, RequestScope};

use crate::data::Data;
use crate::program::conversation::Conversation;
use crate::program::fault::MachineFault;
use crate::program::usage::CallUsage;

/// A place in the machine's list of strands.
pub(super) type StrandId = usize;

/// One line of execution: calls on a stack of its own, never more than one request at a time.
#[derive(Debug, Default)]
pub(super) struct Strand {
    pub scope: RequestScope,
    /// How many parallel blocks it has begun.
    pub n_parallels: u64,
    pub frames: Vec<StrandFrame>,
    pub slots: Vec<Data>,
    pub guards: Vec<Guard>,
    pub wait: StrandWait,
    /// The strand that waits for it, and which branch of that strand it is.
    pub parent: Option<(StrandId, usize)>,
    /// How many pipelines are being called around it.
    pub depth: usize,
}

/// A pipeline or test that is running.
#[derive(Debug)]
pub(super) struct StrandFrame {
    pub routine: RoutineId,
    /// The next step.
    pub at: usize,
    /// Where its slots begin.
    pub base: usize,
    /// The slot of the caller that gets the result.
    pub target: u32,
    /// The number of its trace events, for one that was called.
    pub call: Option<u64>,
    pub started: Instant,
}

/// Which routine.
#[derive(Debug, Clone, Copy)]
pub(super) enum RoutineId {
    Pipeline(usize),
    Test(usize),
}

/// Where a failure goes.
#[derive(Debug)]
pub(super) struct Guard {
    /// How many frames there are when it is reached.
    pub frames: usize,
    pub target: usize,
    pub slot: u32,
}

/// What a strand waits for.
#[derive(Debug, Default)]
pub(super) enum StrandWait {
    /// Nothing: it runs.
    #[default]
    Nothing,
    /// The answer to a request of a task call.
    Task(Box<TaskCall>),
    /// The decision of a human, which goes into this slot.
    Decision(u32),
    /// The branches of a parallel block.
    Join(Box<ParallelJoin>),
}

/// A call of a task between its start and its end.
#[derive(Debug)]
pub(super) struct TaskCall {
    pub call: u32,
    /// The arguments as JSON.
    pub args: String,
    /// From 1.
    pub attempt: u64,
    /// The number of its trace events.
    pub number: u64,
    pub started: Instant,
    /// When the attempt under way began.
    pub tried: Instant,
    /// What model and tools have said to each other in this attempt.
    pub conversation: Option<Box<Conversation>>,
    pub phase: CallPhase,
    /// What models told of its cost.
    pub usage: CallUsage,
    /// The open request.
    pub path: Path,
}

/// What a task call waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallPhase {
    Attempt,
    /// A tool that the model asked for.
    Tool,
    Pause,
}

/// A parallel block that is running.
#[derive(Debug)]
pub(super) struct ParallelJoin {
    pub parallel: u32,
    pub scope: RequestScope,
    /// The next branch to start.
    pub next: usize,
    pub n_running: usize,
    pub results: Vec<Option<Result<Data, MachineFault>>>,
    /// Whether the agenda has it already: several branches may end before their parent looks.
    pub is_due: bool,
}

impl Strand {
    /// Visits the values that the strand can reach.
    pub fn for_each_value<'a>(&'a self, visit: &mut dyn FnMut(&'a Data)) {
        self.slots.iter().for_each(&mut *visit);
        if let StrandWait::Join(join) = &self.wait {
            join.results.iter().flatten().flatten().for_each(visit);
        }
    }

    /// Returns the slots of the innermost frame.
    pub fn locals(&self) -> &[Data] {
        let base = self.frames.last().map_or(0, |frame| frame.base);
        &self.slots[base..]
    }

    /// Puts a value into a slot of the innermost frame.
    pub fn set(&mut self, slot: u32, value: Data) {
        let base = self.frames.last().map_or(0, |frame| frame.base);
        self.slots[base + slot as usize] = value;
    }
}
