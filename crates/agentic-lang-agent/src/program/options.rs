//! How to run a program, and the limits of a run.

use std::collections::BTreeSet;

use agentic_model::StoreVerb;

use crate::mock;
use crate::program::TaskCode;
use crate::program::store::StoreHandlers;

/// How deep pipelines may call each other.
pub const RECURSION_MAX: usize = 128;
/// How many statements may run between two answers. One that touches large values counts as many.
pub const STATEMENTS_MAX: u64 = 50_000_000;
/// How much a run may ask for, in requests. One with large arguments counts as many.
pub const REQUESTS_MAX: u64 = 1_000_000;
/// How much a run may trace between two answers, in bytes. What is beyond is counted, not kept.
pub const TRACE_BYTES_MAX: usize = 64 << 20;
/// How many requests a run may open after it was asked to stop.
pub const CLEANUP_REQUESTS_MAX: u64 = 64;
/// How many branches run at once where nothing says otherwise.
pub const WORKERS: i64 = 8;

/// Whether something is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceCapture {
    /// It is.
    On,
    /// It is not.
    Off,
}

/// Who performs the tasks of agents, and the built-in tasks that stand for a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskAgents {
    /// The mock: results are made up, always the same ones.
    Mock,
    /// Models, asked by requests of kind `agent-task`.
    Models,
}

/// How to run a program. Part of what a run is: the same options are needed to replay it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOptions {
    /// How many branches of a parallel block run at once, unless the block says otherwise.
    pub workers: i64,
    /// Names of tasks that the host has handlers for, beyond the built-in ones.
    pub handlers: BTreeSet<String>,
    /// Names of tools that the host has handlers for, beyond those of the web.
    pub tools: BTreeSet<String>,
    /// What the store performs that the session is in.
    pub store: StoreHandlers,
    /// Who performs the tasks of agents.
    pub agents: TaskAgents,
    /// Whether trace events are made.
    pub trace: TraceCapture,
    /// How much it may trace between two answers, in bytes.
    pub trace_bytes_max: usize,
    /// Whether lines for people are made.
    pub progress: TraceCapture,
    /// How many statements may run between two answers.
    pub statements_max: u64,
    /// How much it may ask for, in requests.
    pub requests_max: u64,
}

/// Who performs a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskPerformer {
    Nobody,
    /// The store, where its address stands in the place of a handler.
    Store(StoreVerb),
    /// A handler of the host, which comes before everything else.
    Handler,
    Mock,
    Model,
}

impl TaskCode {
    /// Whether a model may perform it: as an agent, or as a built-in task that stands for one.
    pub(crate) fn is_for_models(&self) -> bool {
        self.is_agent_task || mock::MODEL_TASKS.contains(&&*self.name)
    }
}

impl RunOptions {
    pub(crate) fn performer(&self, task: &TaskCode) -> TaskPerformer {
        if let Some(verb) = self.store.tasks.get(&*task.name) {
            return TaskPerformer::Store(*verb);
        }
        if self.handlers.contains(&*task.name) {
            return TaskPerformer::Handler;
        }
        match self.agents {
            TaskAgents::Models if task.is_for_models() => TaskPerformer::Model,
            TaskAgents::Mock | TaskAgents::Models if task.is_agent_task => TaskPerformer::Mock,
            TaskAgents::Mock | TaskAgents::Models if mock::TASKS.contains(&&*task.name) => {
                TaskPerformer::Mock
            }
            TaskAgents::Mock | TaskAgents::Models => TaskPerformer::Nobody,
        }
    }
}

impl Default for RunOptions {
    fn default() -> RunOptions {
        RunOptions {
            workers: WORKERS,
            handlers: BTreeSet::new(),
            tools: BTreeSet::new(),
            store: StoreHandlers::default(),
            agents: TaskAgents::Mock,
            trace: TraceCapture::Off,
            trace_bytes_max: TRACE_BYTES_MAX,
            progress: TraceCapture::Off,
            statements_max: STATEMENTS_MAX,
            requests_max: REQUESTS_MAX,
        }
    }
}
