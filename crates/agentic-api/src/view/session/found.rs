//! Where two sessions differ, and what a replay found.

use agentic_model::json;
use agentic_session::{Difference, ReplayVerdict};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

/// The answer of `agentic session diff`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DiffView {
    /// Whether both recorded the same.
    pub same: bool,
    /// The first record that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
    /// What the one recorded there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<Json>,
    /// What the other recorded there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right: Option<Json>,
}

/// The verdict of a replay.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VerdictView {
    /// The session.
    pub session: String,
    /// `same`, `diverged`, `corrupt`, or `purged`: something of the records was taken out.
    pub verdict: String,
    /// The record that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
    /// How it differs: `KIND`, `PAYLOAD`, `SCHEMA`, `LEFTOVER`, `ENGINE`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// What differs, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl DiffView {
    /// Shows what a comparison found.
    pub fn new(difference: Option<&Difference>) -> DiffView {
        DiffView {
            same: difference.is_none(),
            at: difference.map(|difference| difference.at),
            left: difference.and_then(|found| found.left.as_ref()).map(json::to_json),
            right: difference.and_then(|found| found.right.as_ref()).map(json::to_json),
        }
    }
}

impl VerdictView {
    /// Shows what a replay of a session found.
    pub fn new(session: String, verdict: &ReplayVerdict) -> VerdictView {
        let (name, at, class, reason) = match verdict {
            ReplayVerdict::Same => ("same", None, None, None),
            ReplayVerdict::Diverged(divergence) => (
                "diverged",
                divergence.seq,
                Some(divergence.difference.name().to_owned()),
                Some(divergence.to_string()),
            ),
            ReplayVerdict::Purged(reason) => ("purged", None, None, Some(reason.clone())),
            ReplayVerdict::Corrupt(reason) => ("corrupt", None, None, Some(reason.clone())),
        };
        VerdictView { session, verdict: name.to_owned(), at, class, reason }
    }
}
