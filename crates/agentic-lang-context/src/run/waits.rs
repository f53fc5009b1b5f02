//! What a task waits for, and what is under way meanwhile.

use std::sync::Arc;

use agentic_model::Instant;
use agentic_replay::RequestScope;

use crate::code::CodePlace;
use crate::context::prompt::{ContextItem, ContextPrompt};
use crate::json::Json;
use crate::value::ContextValue;

use super::fault::TaskFault;

/// What a task waits for.
pub(super) enum Waits {
    /// The innermost generation's model.
    Model,
    Resource(ResourceCall),
    /// A call of an agent that is a program of its own.
    Child(ChildCall),
    Input(InputState),
    /// The iterations of its fork.
    Fork,
}

/// A `generate` under way.
pub(super) struct Generation {
    pub site: u32,
    /// Its own instruction, to which execution returns.
    pub at: usize,
    pub return_to: usize,
    pub instruction: Json,
    /// The instruction with what was wrong before.
    pub current: Json,
    /// Sources that are still to be read, the next one last.
    pub sources: Vec<u32>,
    pub items: Vec<ContextItem>,
    pub attempt: u64,
    pub errors: Vec<String>,
    /// What the model said in each attempt that failed; null where it said nothing.
    pub failed_replies: Vec<Json>,
    pub prompt: ContextPrompt,
    /// What each attempt cost; null where that is not known.
    pub usages: Vec<Json>,
}

/// A call of a tool or memory that waits for its answer.
pub(super) struct ResourceCall {
    pub place: CodePlace,
    pub resource: u32,
    pub method: Arc<str>,
    pub args: Json,
}

/// A call that waits for its child.
pub(super) struct ChildCall {
    pub place: CodePlace,
    pub function: u32,
    pub args: Json,
}

/// An input that is being completed.
pub(super) struct InputState {
    pub function: u32,
    pub input: Json,
    /// The field of the contract that is looked at.
    pub field: usize,
}

/// A `parallel for` under way.
pub(super) struct ParallelFork {
    pub site: u32,
    pub scope: RequestScope,
    pub items: Vec<ContextValue>,
    pub next: usize,
    pub running: usize,
    pub results: Vec<Option<Result<ContextValue, TaskFault>>>,
    pub traces: Vec<Json>,
    /// How many bytes the traces hold.
    pub held_bytes: u64,
    pub started: Instant,
}

impl ParallelFork {
    /// Visits what the iterations take and gave.
    pub fn for_each_value(&self, visit: &mut dyn FnMut(&ContextValue)) {
        self.items.iter().for_each(&mut *visit);
        self.results.iter().flatten().flatten().for_each(visit);
    }
}
