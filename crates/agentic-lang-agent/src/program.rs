//! Running programs: the code they become, and the machine that runs it.

mod attempt;
mod budget;
mod call;
pub(crate) mod compile;
pub(crate) mod conform;
mod conversation;
mod decision;
mod evaluate;
pub(crate) mod fault;
mod live;
pub(crate) mod machine;
mod options;
mod parallel;
pub(crate) mod request;
mod room;
mod store;
mod strand;
mod strand_set;
mod talk;
mod task;
mod testing;
mod tool;
mod trace;
mod usage;

use std::sync::{Arc, OnceLock};

use agentic_replay::ProgramPosition;

use crate::data::Data;
use crate::types::TypeId;

pub use crate::program::conversation::{CALLS_MAX, CONVERSATION_BYTES_MAX, ROUNDS_MAX};
pub use crate::program::machine::ModuleRun;
pub use crate::program::options::{
    REQUESTS_MAX, RunOptions, STATEMENTS_MAX, TRACE_BYTES_MAX, TaskAgents, TraceCapture,
};
pub use crate::program::request::{
    AGENT_TASK, AGENT_TOOL, BY_WEB, MOCK, TASK, answer, argument_text, register_kinds,
};
pub use crate::program::store::StoreHandlers;
pub use crate::program::strand_set::STRANDS_MAX;
pub use crate::program::testing::TestResult;
pub use crate::program::trace::{PROGRESS, TRACE};

/// A whole file, ready to run. All places are numbers.
#[derive(Debug, Default)]
pub(crate) struct FileCode {
    pub steps: Vec<MachineStep>,
    pub pieces: Vec<ExpressionStep>,
    pub constants: Vec<Data>,
    /// Names of fields and keys; pieces refer to ranges of them.
    pub names: Vec<Arc<str>>,
    pub pipelines: Vec<RoutineCode>,
    pub tests: Vec<RoutineCode>,
    pub calls: Vec<CallCode>,
    pub parallels: Vec<ParallelCode>,
    pub tasks: Vec<TaskCode>,
}

/// The code of a pipeline or test.
#[derive(Debug)]
pub(crate) struct RoutineCode {
    pub name: Arc<str>,
    pub entry: usize,
    pub slots: usize,
    /// Parameters live in the first slots.
    pub params: Vec<(Arc<str>, TypeId)>,
}

/// One thing that the machine does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum MachineStep {
    Call(u32),
    Parallel(u32),
    Jump(u32),
    /// Goes on, or elsewhere if the condition does not hold.
    Unless {
        condition: ValueCode,
        target: u32,
    },
    /// Binds what is there, or goes elsewhere if nothing is.
    Unwrap {
        value: ValueCode,
        slot: u32,
        target: u32,
    },
    /// From here on a failure goes to `target`, its message into `slot`.
    Guard {
        target: u32,
        slot: u32,
    },
    Unguard,
    Assert {
        condition: ValueCode,
        message: u32,
    },
    /// Asks a human, whose decision goes into the slot.
    Approve {
        question: ValueCode,
        slot: u32,
    },
    Return(ValueCode),
    End,
}

/// A range of pieces that leave one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ValueCode {
    pub start: u32,
    pub end: u32,
}

/// One step of evaluating an expression on a stack.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ExpressionStep {
    Constant(u32),
    Load(u32),
    /// The value in a slot, and the fields behind it.
    Field {
        slot: u32,
        names: u32,
        count: u32,
    },
    Object {
        names: u32,
        count: u32,
    },
    List(u32),
    Add,
    Equal,
    NotEqual,
}

/// A call of a task or pipeline.
#[derive(Debug)]
pub(crate) struct CallCode {
    pub callee: CalleeCode,
    pub args: Vec<CallArg>,
    pub target: u32,
    pub agent: Option<u32>,
    pub retries: u64,
    pub timeout: Option<Timeout>,
    pub fallback: Option<ValueCode>,
    pub position: ProgramPosition,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum CalleeCode {
    Task(u32),
    Pipeline(u32),
}

/// An argument in the order it was written.
#[derive(Debug)]
pub(crate) struct CallArg {
    pub name: Arc<str>,
    pub value: ValueCode,
    /// Its place among the parameters.
    pub param: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct Timeout {
    pub millis: u64,
    /// The seconds as they are printed.
    pub shown: String,
}

#[derive(Debug)]
pub(crate) struct ParallelCode {
    pub calls: Vec<u32>,
    pub limit: Option<usize>,
}

/// What is known of a task when it is called.
#[derive(Debug)]
pub(crate) struct TaskCode {
    pub name: Arc<str>,
    pub is_agent_task: bool,
    pub params: Vec<(Arc<str>, TypeId)>,
    pub result: TypeId,
    /// The JSON Schema of its result, once it was needed.
    pub schema: OnceLock<String>,
}
