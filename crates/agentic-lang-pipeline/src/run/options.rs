//! How a run goes about its work.

/// How a run goes about its work. A host says the same for every replay of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PipelineOptions {
    /// How many nodes of one plan work at once; further ones wait in the order of the plan.
    pub max_concurrency: usize,
    /// In which order the blocks of a source run.
    pub blocks: BlockOrder,
    /// In whose name it runs; agents are told.
    pub invoked_by: Option<String>,
    /// Where the parts of a `supervisor` run.
    pub children: PartsPlace,
}

/// Where the parts of a `supervisor` run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartsPlace {
    /// In contexts of the run itself: for hosts without sessions.
    Contexts,
    /// As sessions of their own, each on its own branch: one request of the run each.
    Sessions,
}

/// In which order the blocks of a source run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockOrder {
    /// Each after the one before succeeded.
    Sequential,
    /// All at once.
    Parallel,
}

impl BlockOrder {
    /// Returns the word that stands for the order in a pinned program.
    pub fn as_str(self) -> &'static str {
        match self {
            BlockOrder::Sequential => "sequential",
            BlockOrder::Parallel => "parallel",
        }
    }

    /// Reads the word back.
    pub fn parse(text: &str) -> Option<BlockOrder> {
        [BlockOrder::Sequential, BlockOrder::Parallel]
            .into_iter()
            .find(|order| order.as_str() == text)
    }
}

impl Default for PipelineOptions {
    fn default() -> PipelineOptions {
        PipelineOptions {
            max_concurrency: 256,
            blocks: BlockOrder::Sequential,
            invoked_by: None,
            children: PartsPlace::Contexts,
        }
    }
}
