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
mod waits;
mod world;

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use agentic_model::Instant;
use agentic_replay::{Delivery, End, Path, Program, Start, Turn};

pub use self::child::{CHILD_DEPTH_MAX, CHILD_REQUEST, OWN_FLOW};
pub use self::generate::MODEL_REQUEST;
pub use self::input::INPUT_REQUEST;
pub use self::kept::TRACE_BYTES_MAX;
pub use self::resource::{MEMORY_REQUEST, TOOL_REQUEST};
pub(crate) use self::trace::{camel, left_out};
pub use self::world::{DEBUG_EVENT, TRACE_EVENT};

use crate::error::Error;
use crate::module::{ContextModule, ContextOptions, EntryPoint, ModuleShared};
use crate::value::ContextValue;

use self::meaning::DialectMeaning;
use self::task::{ContextTask, TaskId};
use self::world::{RunWorld, TaskPause, pick};

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

impl ContextModule {
    /// Prepares a run. Its input is that of the start, as [`crate::json::to_value`] carries it.
    ///
    /// # Errors
    /// Fails when the entry point is not there.
    pub fn run(&self, entry: &EntryPoint, options: ContextOptions) -> Result<ContextRun, Error> {
        let function = self.entry_function(entry)?;
        Ok(ContextRun::new(self.shared.clone(), function, options))
    }

    fn entry_function(&self, entry: &EntryPoint) -> Result<u32, Error> {
        let code = &self.shared.code;
        let agent = match &entry.agent {
            Some(name) => code.agents.iter().find(|agent| *agent.name == **name),
            None => code.main_agent.map(|at| &code.agents[at as usize]),
        };
        let Some(agent) = agent else {
            let agent = entry.agent.clone().unwrap_or_else(|| "main".to_owned());
            return Err(Error::UnknownAgent { agent });
        };
        let name = agent.name.to_string();
        match &entry.function {
            Some(function) => agent
                .functions
                .get(&**function)
                .copied()
                .ok_or_else(|| Error::UnknownFunction { agent: name, function: function.clone() }),
            None => agent.main.ok_or(Error::NoMainFunction { agent: name }),
        }
    }
}

impl ContextRun {
    pub(crate) fn new(
        module: Arc<ModuleShared>,
        function: u32,
        options: ContextOptions,
    ) -> ContextRun {
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
            if matches!(pause, TaskPause::Grown) {
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
                TaskPause::Grown => unreachable!("BUG: what has grown was measured"),
                TaskPause::Asked(path) => {
                    self.waiting.insert(path, id);
                    self.tasks.insert(id, task);
                }
                TaskPause::Forked => {
                    self.tasks.insert(id, task);
                    self.start_iterations(id);
                }
                TaskPause::Ended(value) if task.parent.is_none() => {
                    end = Some(self.world.result(&value));
                }
                TaskPause::Failed(fault) if task.parent.is_none() => {
                    end = Some(End::Failed(self.world.failure(&fault)));
                }
                TaskPause::Ended(value) => self.iteration_over(task, Ok(value)),
                TaskPause::Failed(fault) => self.iteration_over(task, Err(fault)),
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
