//! Whether agents are private, as JSON.

use schemars::JsonSchema;
use serde::Serialize;

/// One agent of `agentic agent`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PrivacyView {
    /// Its name.
    pub agent: String,
    /// Whether pushes that name nobody leave it out.
    pub private: bool,
}
