//! What a process that stays tells of what happened.

use schemars::JsonSchema;
use serde::Serialize;

/// What an event is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EventName {
    /// An agent came, went or was archived.
    Agent,
    /// An agent has a further commit.
    Commit,
    /// A trace has further entries, or was bound.
    Trace,
    /// A session changed its state or has further records.
    Session,
    /// A request waits for a person, or does not any more.
    Hold,
    /// A person decided.
    Decision,
    /// A relation was added or taken back.
    Relation,
    /// The index is ready, or is being built.
    Index,
}

impl EventName {
    /// Returns the word for it.
    pub const fn word(self) -> &'static str {
        match self {
            EventName::Agent => "agent",
            EventName::Commit => "commit",
            EventName::Trace => "trace",
            EventName::Session => "session",
            EventName::Hold => "hold",
            EventName::Decision => "decision",
            EventName::Relation => "relation",
            EventName::Index => "index",
        }
    }
}

/// What an event says: ids alone, by which the rest is fetched.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EventView {
    /// The number of the event.
    pub n: u64,
    /// When it was noticed, in RFC 3339.
    pub at: String,
    /// The agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The kind of the commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// An object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cid: Option<String>,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The state that something is in now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// Who did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}
