//! The process that stays, as JSON.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The answer of `agentic serve status`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServeStatusView {
    /// The number of the process.
    pub pid: u32,
    /// The version of the program.
    pub version: String,
    /// The version of what it speaks.
    pub api: u32,
    /// Since when it runs.
    pub since: String,
    /// The address of its page, if it has one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub url: Option<String>,
    /// The git directory that it serves.
    pub repository: String,
    /// The name of its sequence of events, another at each start.
    pub epoch: String,
    /// The number of the last event.
    pub n: u64,
    /// How writes of others are noticed: `inotify` or `polling`.
    pub watch: String,
    /// How what is kept for faster answers is.
    #[serde(default)]
    pub index: IndexesView,
    /// How long it took to tell of what was noticed last, in milliseconds.
    #[serde(default)]
    pub lag_ms: u64,
    /// How many listen to events.
    pub streams: usize,
    /// How many timers are due that nobody drives.
    #[serde(default)]
    pub timers_due: usize,
    /// Whether a worker of the process drives runs.
    #[serde(default)]
    pub driven: bool,
    /// Whether nothing may be written through it.
    pub read_only: bool,
}

/// The answer of `agentic serve open --print` and `agentic serve login`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServeAddressView {
    /// The address that logs in, once, within five minutes.
    pub address: String,
}

/// The answer of `agentic serve token`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServeTokenView {
    /// What it is called.
    pub name: String,
    /// The agent that writes are made as, if there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub agent: Option<String>,
    /// Whether whoever has it only reads.
    pub read_only: bool,
    /// The token, which is shown this once.
    pub token: String,
}

/// The answer of `agentic serve --detach`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServeDetachView {
    /// The number of the process that stays.
    pub pid: u32,
    /// The address of its page, if it has one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub url: Option<String>,
}

/// The answer of `agentic serve stop`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServeStopView {
    /// The number of the process that ended.
    pub pid: i32,
}

/// The answer of `agentic serve token --revoke`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServeRevokeView {
    /// What the token was called.
    pub name: String,
    /// That it is good for nothing any more.
    pub revoked: bool,
}

/// The answer of `agentic serve logout` and `agentic serve rebuild`: it is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServeDoneView {}

/// How the databases are that a process that stays keeps for faster answers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexesView {
    /// That of agents, commits and holds.
    pub main: IndexStateView,
    /// That of texts, for searches.
    pub text: IndexStateView,
}

/// How one of them is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexStateView {
    /// `ready`, `building` or `absent`.
    pub state: String,
    /// How many agents and sessions are done, while it is built.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub done: Option<usize>,
    /// How many there are.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub of: Option<usize>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub why: Option<String>,
}

impl Default for IndexStateView {
    fn default() -> IndexStateView {
        IndexStateView { state: "absent".to_owned(), done: None, of: None, why: None }
    }
}
