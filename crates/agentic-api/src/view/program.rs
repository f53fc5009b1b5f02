//! Programs as `--json` shows them.

use schemars::JsonSchema;
use serde::Serialize;

/// A pipeline of an AgentLang program as it runs.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LoweredView {
    /// Its name.
    pub pipeline: String,
    /// Its text, workflows lowered.
    pub text: String,
}
