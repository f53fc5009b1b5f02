//! One commit with what leads to it and away from it, as JSON.

use agentic_model::Instant;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use crate::view::LogView;

/// A commit, with what it belongs to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CommitDetailView {
    /// The commit.
    #[serde(flatten)]
    pub commit: LogView,
    /// Whether only the archive has the branch that it stands on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
    /// The agent that it names as its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by: Option<String>,
    /// The session that made it, as it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The request that it answers or performs, where the session is known here and has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<CommitRequestView>,
    /// The behaviour that made it, as it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behaviour: Option<String>,
    /// The briefing of the agent that began with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub briefing: Option<String>,
    /// How long a decision was waited for, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waited_ms: Option<i64>,
}

/// The request that a commit answers or performs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CommitRequestView {
    /// Its id, as it is listed.
    pub request: String,
    /// Where in the program.
    pub path: String,
    /// What sort.
    pub kind: String,
    /// The position of its record.
    pub seq: u64,
}

impl CommitDetailView {
    /// Says of a decision how long it was waited for.
    #[must_use]
    pub(crate) fn with_wait(self) -> CommitDetailView {
        let at = |name: &str| self.commit.fields.get(name).and_then(Json::as_str);
        let at = |name| at(name).and_then(Instant::parse);
        let waited = at("requested_at").zip(at("decided_at"));
        let waited_ms = waited.map(|(asked, decided)| (decided.millis() - asked.millis()).max(0));
        CommitDetailView { waited_ms, ..self }
    }
}
