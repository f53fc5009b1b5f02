//! Improvements as JSON.

use schemars::JsonSchema;
use serde::Serialize;

/// What an improvement came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct ImproveView {
    /// The name of the behaviour.
    pub name: String,
    /// The agent that improves it.
    pub agent: String,
    /// Its session.
    pub session: String,
    /// How that stands.
    pub state: String,
    /// The version that was in force when it began.
    pub from: String,
    /// The version that was proposed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposal: Option<String>,
    /// Why, in the words of whoever proposed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Addresses, hosts, programs and paths that it names and the version before does not.
    pub news: Vec<String>,
    /// The name of the trial, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trial: Option<String>,
    /// What the trial found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// The request that waits for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// The adoption, once there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adoption: Option<String>,
}
