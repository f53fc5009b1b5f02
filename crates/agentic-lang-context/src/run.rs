//! Running a compiled program.
//!
//! A run is a set of tasks: the program itself, and one for every iteration of a `parallel for`
//! that is under way. A task is a machine with an explicit stack ([`task`]); it runs until it
//! asks the world for something, forks or ends. Every request is keyed by the calls that led to
//! it, never by the order of events, so answers may come in any order.

mod answer;
mod call;
mod child;
mod fault;
mod generate;
mod input;
mod kept;
mod live;
mod meaning;
mod operator;
mod parallel;
mod resource;
mod step;
mod task;
mod trace;

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use agentic_model::{Instant, Value as Data};
use agentic_replay::{
    Delivery, End, Event, Failure, Path, Program, ProgramPosition, Request, Start, Turn,
};

pub use self::child::{CHILD_DEPTH_MAX, CHILD_REQUEST, OWN_FLOW};
pub use self::generate::MODEL_REQUEST;
pub use self::input::INPUT_REQUEST;
pub use self::kept::TRACE_BYTES_MAX;
pub use self::resource::{MEMORY_REQUEST, TOOL_REQUEST};
pub(crate) use self::trace::{camel, left_out};

use crate::code::CodePlace;
use crate::json::{self, Json};
use crate::module::{ModuleShared, RunOptions, Tracing};
use crate::value::ContextValue;

use self::fault::TaskFault;
use self::meaning::DialectMeaning;
use self::task::{ContextTask, TaskId};

/// The kind of events that carry one event of the language's trace.
pub const TRACE_EVENT: &str = "trace";
/// The kind of events that carry text for the people who watch.
pub const DEBUG_EVENT: &str = "debug";

/// One run of a program.
pub struct ContextRun {
    world: RunWorld,
    function: u32,
    tasks: BTreeMap<TaskId, ContextTask>,
    next_task: TaskId,
    /// Tasks that can go on, in the order in which they became ready.
    ready: VecDeque<TaskId>,
    /// Which task waits for which request.
    waiting: BTreeMap<Path, TaskId>,
    ended: bool,
}

/// What all tasks of a run share.
struct RunWorld {
    module: Arc<ModuleShared>,
    options: RunOptions,
    meaning: DialectMeaning,
    /// The data of imported files, shared by reference like any value.
    files: Vec<ContextValue>,
    /// The candidate of every `use`, and the hint that named none of them.
    picked: Vec<PickedCandidate>,
    opened: Vec<Request>,
    events: Vec<Event>,
    now: Instant,
    steps_left: u64,
    /// What was done since the last instruction beyond it, in instructions.
    touched: Cell<u64>,
    /// How many bytes of values were made since all were measured.
    made_bytes: Cell<u64>,
    /// How many bytes of events wait for the calls around them.
    held_bytes: u64,
    /// How many programs lie around this one.
    child_depth: u32,
}

/// Which candidate of a `use` a run takes, and why.
#[derive(Debug, Clone)]
struct PickedCandidate {
    candidate: usize,
    reason: PickReason,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PickReason {
    /// There was nothing to choose.
    Plain,
    Trial,
    Selected,
    First,
    /// The hint names a candidate that is not there.
    UnknownHint(Rc<str>),
}

/// How a task stopped running for now.
enum Pause {
    /// It waits for the answer to a request.
    Asked(Path),
    /// It waits for the iterations of a `parallel for`.
    Forked,
    /// It made so much that all values of the run have to be measured.
    Grown,
    Ended(ContextValue),
    Failed(TaskFault),
}

impl ContextRun {
    pub(crate) fn new(module: Arc<ModuleShared>, function: u32, options: RunOptions) -> ContextRun {
        let picked = module.code.uses.iter().map(|site| pick(site, &options)).collect();
        let steps_left = options.steps_max;
        let world = RunWorld {
            module,
            options,
            meaning: DialectMeaning::of(crate::SEMANTICS_VERSION),
            files: Vec::new(),
            picked,
            opened: Vec::new(),
            events: Vec::new(),
            now: Instant::from_millis(0),
            steps_left,
            touched: Cell::new(0),
            made_bytes: Cell::new(0),
            held_bytes: 0,
            child_depth: 0,
        };
        ContextRun {
            world,
            function,
            tasks: BTreeMap::new(),
            next_task: 0,
            ready: VecDeque::new(),
            waiting: BTreeMap::new(),
            ended: false,
        }
    }

    fn add_task(&mut self, task: ContextTask) -> TaskId {
        let id = self.next_task;
        self.next_task += 1;
        self.tasks.insert(id, task);
        self.ready.push_back(id);
        id
    }

    /// Runs every task that can go on, and says what happened meanwhile.
    fn quiesce(&mut self) -> Turn {
        let mut end = None;
        while let Some(id) = self.ready.pop_front() {
            let Some(mut task) = self.tasks.remove(&id) else { continue };
            let mut pause = self.world.advance(&mut task);
            if matches!(pause, Pause::Grown) {
                match self.measure(&task) {
                    Ok(()) => {
                        self.ready.push_front(id);
                        self.tasks.insert(id, task);
                        continue;
                    }
                    Err(fault) => pause = self.world.fail(&mut task, fault),
                }
            }
            match pause {
                Pause::Grown => unreachable!("BUG: what has grown was measured"),
                Pause::Asked(path) => {
                    self.waiting.insert(path, id);
                    self.tasks.insert(id, task);
                }
                Pause::Forked => {
                    self.tasks.insert(id, task);
                    self.start_iterations(id);
                }
                Pause::Ended(value) if task.parent.is_none() => {
                    end = Some(self.world.result(&value));
                }
                Pause::Failed(fault) if task.parent.is_none() => {
                    end = Some(End::Failed(self.world.failure(&fault)));
                }
                Pause::Ended(value) => self.iteration_over(task, Ok(value)),
                Pause::Failed(fault) => self.iteration_over(task, Err(fault)),
            }
            if end.is_some() {
                break;
            }
        }
        self.turn(end)
    }

    fn turn(&mut self, end: Option<End>) -> Turn {
        let mut turn = Turn {
            opened: std::mem::take(&mut self.world.opened),
            withdrawn: Vec::new(),
            events: std::mem::take(&mut self.world.events),
            end,
        };
        if turn.end.is_some() {
            self.ended = true;
            turn.opened.clear();
            turn.withdrawn = std::mem::take(&mut self.waiting).into_keys().collect();
            self.tasks.clear();
        }
        turn
    }
}

impl Program for ContextRun {
    fn start(&mut self, start: &Start) -> Turn {
        self.world.now = start.at;
        let resources = &self.world.module.code.resources;
        self.world.files =
            resources.iter().map(|resource| ContextValue::from_json(&resource.data)).collect();
        match self.world.entry_task(self.function, start) {
            Ok(task) => {
                self.add_task(task);
                self.quiesce()
            }
            Err(fault) => {
                let failure = self.world.failure(&fault);
                self.turn(Some(End::Failed(failure)))
            }
        }
    }

    fn deliver(&mut self, delivery: Delivery) -> Turn {
        self.world.now = delivery.at;
        if self.ended {
            return Turn::default();
        }
        let Some(id) = self.waiting.remove(&delivery.path) else {
            return Turn::default();
        };
        if let Some(task) = self.tasks.get_mut(&id) {
            task.answer = Some(delivery.answer);
            self.ready.push_back(id);
        }
        self.quiesce()
    }

    fn mean_as(&mut self, semantics: u32) {
        self.world.meaning = DialectMeaning::of(semantics);
    }

    fn cancel(&mut self, _reason: &str, at: Instant) -> Turn {
        self.world.now = at;
        if self.ended {
            return Turn::default();
        }
        self.turn(Some(End::Cancelled))
    }
}

impl RunWorld {
    fn result(&self, value: &ContextValue) -> End {
        match value.to_json(&self.module.code) {
            Ok(json) => End::Done(json::to_value(&json)),
            Err(unshowable) => {
                let failure =
                    Failure::new(crate::error::LIMIT, format!("the result: {unshowable}"));
                End::Failed(failure)
            }
        }
    }

    /// Opens a request at the next place of the task's context.
    fn ask(&mut self, task: &mut ContextTask, place: CodePlace, kind: &str, payload: Data) -> Path {
        let path = task.context_mut().scope.next_path();
        let position = self.module.position(place);
        let mut request = Request::new(path.clone(), kind, payload);
        request.position = Some(ProgramPosition {
            line: u32::try_from(position.line).unwrap_or(u32::MAX),
            column: u32::try_from(position.column).unwrap_or(u32::MAX),
        });
        self.opened.push(request);
        path
    }

    fn traces(&self) -> bool {
        self.options.tracing == Tracing::Full
    }

    /// Adds an event to the trace of the task's context; that of the outermost goes out at once.
    fn trace(&mut self, task: &mut ContextTask, event: Json) {
        if task.is_outermost() {
            self.events.push(Event { kind: TRACE_EVENT.to_owned(), data: json::to_value(&event) });
        } else {
            task.trace_mut().push(event, &mut self.held_bytes);
        }
    }
}

/// Chooses the candidate of a `use`: the hint, the selected one, or the first.
fn pick(site: &crate::code::UseSite, options: &RunOptions) -> PickedCandidate {
    let Some(choice) = &site.choice else {
        return PickedCandidate { candidate: 0, reason: PickReason::Plain };
    };
    if let Some(hint) = options.variant.get(&*choice.site_id) {
        let named = site.candidates.iter().position(|candidate| *candidate.name == **hint);
        return match named {
            Some(candidate) => PickedCandidate { candidate, reason: PickReason::Trial },
            None => PickedCandidate {
                candidate: 0,
                reason: PickReason::UnknownHint(hint.as_str().into()),
            },
        };
    }
    match choice.selected {
        Some(candidate) => PickedCandidate { candidate, reason: PickReason::Selected },
        None => PickedCandidate { candidate: 0, reason: PickReason::First },
    }
}
