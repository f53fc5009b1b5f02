//! One strand of execution: the program itself, or one iteration of a `parallel for`.

use agentic_replay::{RequestAnswer, RequestScope};

use crate::json::Json;
use crate::value::ContextValue;

use super::kept::CallTrace;
use super::waits::{Generation, ParallelFork, Waits};

pub(super) type TaskId = u64;

/// How deep the traces of calls nest.
const TRACE_DEPTH_MAX: u32 = 32;

pub(super) struct ContextTask {
    /// The task that waits for this iteration, and its number.
    pub parent: Option<(TaskId, usize)>,
    /// The address of the next instruction.
    pub at: usize,
    pub stack: Vec<ContextValue>,
    pub frames: Vec<CallFrame>,
    /// Where the calls of agents around this place stand; the last is the current one.
    pub contexts: Vec<CallContext>,
    /// `generate`s under way; more than one only where a source contains one.
    pub generations: Vec<Generation>,
    /// What the task waits for.
    pub waits: Option<Waits>,
    /// The answer that came for it.
    pub answer: Option<RequestAnswer>,
    pub fork: Option<ParallelFork>,
    /// How many calls lie between the program's start and this task.
    pub depth_below: u32,
}

impl ContextTask {
    /// Visits the values that the task can reach.
    pub fn for_each_value(&self, visit: &mut dyn FnMut(&ContextValue)) {
        self.stack.iter().for_each(&mut *visit);
        if let Some(fork) = &self.fork {
            fork.for_each_value(visit);
        }
    }
}

/// A call under way.
#[derive(Debug, Clone)]
pub(super) struct CallFrame {
    pub function: u32,
    /// Where the slots begin on the stack.
    pub base: usize,
    pub return_to: usize,
    pub kind: FrameKind,
}

#[derive(Debug, Clone)]
pub(super) enum FrameKind {
    /// A function of the same agent, or where a task begins.
    Function,
    /// A call of an agent, with its arguments as they were then.
    Agent { args: Json },
}

/// The paths of the requests, and the trace, of one call of an agent.
#[derive(Debug, Default)]
pub(super) struct CallContext {
    pub scope: RequestScope,
    /// How many agents were called from here.
    pub agents: u64,
    /// How many `parallel for` were run from here.
    pub forks: u64,
    pub trace: CallTrace,
    /// How many traces lie around this one.
    pub depth: u32,
}

impl CallContext {
    pub fn new(scope: RequestScope, depth: u32) -> CallContext {
        CallContext { scope, depth, ..CallContext::default() }
    }
}

impl ContextTask {
    pub fn new(scope: RequestScope, depth: u32) -> ContextTask {
        ContextTask {
            parent: None,
            at: 0,
            stack: Vec::new(),
            frames: Vec::new(),
            contexts: vec![CallContext::new(scope, depth)],
            generations: Vec::new(),
            waits: None,
            answer: None,
            fork: None,
            depth_below: 0,
        }
    }

    pub fn context_mut(&mut self) -> &mut CallContext {
        self.contexts.last_mut().expect("a task always has a context")
    }

    /// Returns the trace that an event of this place belongs to. Calls deeper than
    /// [`TRACE_DEPTH_MAX`] write into the trace of the last call above it, their own event after
    /// what it holds, so that traces nest no deeper than readers bear.
    pub fn trace_mut(&mut self) -> &mut CallTrace {
        let last = self.contexts.len() - 1;
        let excess = self.contexts[last].depth.saturating_sub(TRACE_DEPTH_MAX) as usize;
        &mut self.contexts[last.saturating_sub(excess)].trace
    }

    pub fn is_outermost(&self) -> bool {
        self.parent.is_none() && self.contexts.len() == 1
    }

    pub fn frame(&self) -> &CallFrame {
        self.frames.last().expect("a running task has a frame")
    }

    pub fn pop(&mut self) -> ContextValue {
        self.stack.pop().expect("the compiler balances the stack")
    }

    pub fn pop_many(&mut self, count: usize) -> Vec<ContextValue> {
        let from = self.stack.len() - count;
        self.stack.split_off(from)
    }

    pub fn slot(&self, slot: u32) -> &ContextValue {
        &self.stack[self.frame().base + slot as usize]
    }

    pub fn slot_mut(&mut self, slot: u32) -> &mut ContextValue {
        let base = self.frame().base;
        &mut self.stack[base + slot as usize]
    }
}
