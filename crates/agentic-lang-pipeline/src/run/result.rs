//! What a run comes to.

use agentic_model::{Map, Value};
use agentic_plan::{Backend, ResolutionMode};
use agentic_replay::ProgramFailure;

use crate::run::plan_run::cause_value;
use crate::run::usage::AttemptUsage;

/// The results of the blocks of a source, in source order. Blocks that never started are absent.
#[derive(Debug, Clone, PartialEq)]
pub struct RunResult {
    /// One for every block that started.
    pub blocks: Vec<BlockResult>,
}

/// What became of one block.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockResult {
    /// Which block of the source, from 0.
    pub index: usize,
    /// Where it ran.
    pub backend: Backend,
    /// When it was resolved.
    pub mode: ResolutionMode,
    /// How it ended.
    pub status: Status,
    /// The output of its exit; null unless it succeeded.
    pub result: Value,
    /// The outputs of its nodes, as far as they came and there is room for them.
    pub outputs: Map,
    /// The nodes whose outputs are too long to be repeated here; the record of the run has them.
    pub omitted: Vec<Value>,
    /// How far each node came.
    pub node_states: Map,
    /// What humans decided in it.
    pub decisions: Vec<Value>,
    /// How long it took, by the clock of the run.
    pub duration_ms: i64,
    /// What its models cost; nothing under versions of the language that did not tell.
    pub(super) usage: AttemptUsage,
    /// Why it failed, if it did.
    pub error: Option<ProgramFailure>,
}

/// How a block ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It has a result.
    Ok,
    /// A node of it failed.
    Failed,
    /// Another block failed while it ran.
    Stopped,
}

impl Status {
    /// Returns the word that results use.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Failed => "failed",
            Status::Stopped => "stopped",
        }
    }
}

impl RunResult {
    /// Returns the results as data.
    pub fn to_value(&self) -> Value {
        let blocks = self.blocks.iter().map(BlockResult::to_value).collect();
        let usage = AttemptUsage::total(self.blocks.iter().map(|block| &block.usage));
        let usage = usage.map(|usage| ("usage", usage));
        Value::map([("blocks", Value::List(blocks))].into_iter().chain(usage))
    }

    /// Reads the `result` of every block back from the data of a run that succeeded.
    pub fn values_of(value: &Value) -> Vec<Value> {
        let blocks = value.get("blocks").and_then(Value::as_list).unwrap_or_default();
        blocks.iter().map(|block| block.get("result").cloned().unwrap_or(Value::Null)).collect()
    }

    /// Returns what a run gave: of one block its result, of several the list of theirs. What is
    /// not the data of a run is returned as it is.
    pub fn output_of(value: Value) -> Value {
        let blocks = value.get("blocks").and_then(Value::as_list).unwrap_or_default();
        let is_run = blocks.iter().all(|block| block.get("node_states").is_some());
        match blocks {
            [] => value,
            _ if !is_run => value,
            [block] => block.get("result").cloned().unwrap_or(Value::Null),
            _ => Value::List(RunResult::values_of(&value)),
        }
    }
}

impl BlockResult {
    /// Returns the result as data.
    pub fn to_value(&self) -> Value {
        let mut pairs = vec![
            ("index", Value::Int(i64::try_from(self.index).unwrap_or(i64::MAX))),
            ("backend", Value::text(self.backend.as_str())),
            ("mode", Value::text(self.mode.as_str())),
            ("status", Value::text(self.status.as_str())),
            ("result", self.result.clone()),
            ("outputs", Value::Map(self.outputs.clone())),
            ("node_states", Value::Map(self.node_states.clone())),
            ("decisions", Value::List(self.decisions.clone())),
            ("duration_ms", Value::Int(self.duration_ms)),
        ];
        if !self.omitted.is_empty() {
            pairs.push(("omitted", Value::List(self.omitted.clone())));
        }
        pairs.extend(self.usage.to_value().map(|usage| ("usage", usage)));
        if let Some(error) = &self.error {
            pairs.push(("error", cause_value(error)));
        }
        Value::map(pairs)
    }
}
