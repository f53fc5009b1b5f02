//! A run of plans, with all that the plans do not say.

use agentic_model::Value;

use crate::compile::CompiledSource;
use crate::run::{BlockOrder, PartsPlace, PipelineOptions};

/// Plans with all that a run of them needs and that they do not say.
#[derive(Debug, Clone)]
pub struct PlannedRun {
    /// The source.
    pub source: String,
    /// Its plans, and what their agents mean.
    pub compiled: CompiledSource,
    /// In which order the blocks run.
    pub order: BlockOrder,
    /// In whose name it runs.
    pub invoked_by: Option<String>,
    /// What agents answer instead of being called, by their ids, in turn; the last answer stays.
    pub script: Option<Value>,
}

impl PlannedRun {
    /// Returns how a host goes about the run.
    pub fn options(&self, children: PartsPlace) -> PipelineOptions {
        PipelineOptions {
            invoked_by: self.invoked_by.clone(),
            blocks: self.order,
            children,
            ..PipelineOptions::default()
        }
    }
}
