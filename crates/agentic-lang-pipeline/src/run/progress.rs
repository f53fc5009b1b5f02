//! How far a run has come, for whoever looks on.

use agentic_model::{Map, Value};
use agentic_plan::{Backend, ResolutionMode};

use crate::run::PipelineProgram;

/// How far one block has come.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockProgress {
    /// Which block of the source, from 0.
    pub index: usize,
    /// Where it runs.
    pub backend: Backend,
    /// When it is resolved.
    pub mode: ResolutionMode,
    /// How it stands.
    pub standing: BlockState,
    /// How far each node came.
    pub node_states: Map,
}

/// How a block stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockState {
    /// One before it has not succeeded yet.
    Pending,
    /// Its nodes are at work.
    Running,
    /// It has a result.
    Ok,
    /// A node of it failed.
    Failed,
}

impl BlockState {
    /// Returns the word that answers use.
    pub fn as_str(self) -> &'static str {
        match self {
            BlockState::Pending => "pending",
            BlockState::Running => "running",
            BlockState::Ok => "ok",
            BlockState::Failed => "failed",
        }
    }
}

impl PipelineProgram {
    /// Returns how far every block has come; nothing before the run starts and after it ended,
    /// when its result says so.
    pub fn progress(&self) -> Vec<BlockProgress> {
        let Some(run) = &self.run else { return Vec::new() };
        let blocks = run.blocks.iter().enumerate();
        let progress = blocks.map(|(index, block)| {
            let prepared = block.plan.prepared();
            let standing = match &block.outcome {
                _ if index >= run.n_started => BlockState::Pending,
                None => BlockState::Running,
                Some(Ok(_)) => BlockState::Ok,
                Some(Err(_)) => BlockState::Failed,
            };
            BlockProgress {
                index: self.first_block + index,
                backend: prepared.plan.backend(),
                mode: prepared.plan.mode(),
                standing,
                node_states: block.plan.node_states(),
            }
        });
        progress.collect()
    }
}

impl BlockProgress {
    /// Returns the progress as data, with the same names as a result has.
    pub fn to_value(&self) -> Value {
        Value::map([
            ("index", Value::Int(i64::try_from(self.index).unwrap_or(i64::MAX))),
            ("backend", Value::text(self.backend.as_str())),
            ("mode", Value::text(self.mode.as_str())),
            ("status", Value::text(self.standing.as_str())),
            ("node_states", Value::Map(self.node_states.clone())),
        ])
    }
}
