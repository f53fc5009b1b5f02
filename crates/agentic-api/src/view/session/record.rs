//! A record of a session, as whoever watches it is told.

use agentic_model::json;
use agentic_session::NotedRecord;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

/// A record, as `agentic session watch` prints it: one JSON value a line.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RecordView {
    /// Its position.
    pub seq: u64,
    /// When it was made.
    pub at: String,
    /// `start`, `ask`, `answer`, `attempt`, `found`, `signal`, `escalate`, `vote`, `publish`, `permit`,
    /// `upgrade`, `withdraw`, `cancel`, `scope_end`, `continue` or `end`.
    pub what: String,
    /// Where in the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Who answered, as in `session show`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// How long the answer, or at the end the session, took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<i64>,
    /// What else it says.
    pub record: Json,
}

impl From<&NotedRecord> for RecordView {
    fn from(noted: &NotedRecord) -> RecordView {
        let mut record = json::to_json(&noted.data);
        let what = record.as_object_mut().and_then(|fields| fields.remove("kind"));
        let what = what.as_ref().and_then(Json::as_str).unwrap_or_default().to_owned();
        RecordView {
            seq: noted.seq,
            at: noted.at.to_string(),
            what,
            path: noted.path.as_ref().map(ToString::to_string),
            by: noted.by.as_ref().map(ToString::to_string),
            took_ms: noted.took_ms,
            record,
        }
    }
}
