//! What a session asked, and what came of it.

use agentic_model::json;
use agentic_replay::record::{AttemptRecord, PermitScope, VoteRecord};
use agentic_replay::{AskedRequest, RequestAnswer, SessionId};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use crate::view::VoteView;

/// One request of a session.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RequestView {
    /// The position of its record.
    pub seq: u64,
    /// Its id.
    pub request: String,
    /// Where in the program.
    pub path: String,
    /// What sort.
    pub kind: String,
    /// The data.
    pub payload: Json,
    /// The line in the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// When it was asked.
    pub asked_at: String,
    /// When it was answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered_at: Option<String>,
    /// How long the answer took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<i64>,
    /// What was executed in place of the data, where a decision edited it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executed: Option<Json>,
    /// The decision that it was answered by, or that let its effect begin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<GivenView>,
    /// The votes that were too few by themselves, where several people must agree.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<VoteView>,
    /// The attempts that failed before, where the host has tried again by itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<AttemptView>,
    /// `{"ok":…}`, `{"failed":…}`, `"timed-out"` or `"cancelled"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Json>,
    /// Who answered: `executor`, `timer`, `decision COMMIT`, `child SESSION`, `edited WHO`, `signal N` (its
    /// position) or `system`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Decisions that arrived on the branch after the answer; nothing came of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overtaken: Vec<OvertakenView>,
}

/// A decision, as its commit tells it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GivenView {
    /// Its commit.
    pub commit: String,
    /// What was decided.
    pub action: String,
    /// Who decided.
    pub principal: String,
    /// Why; may be empty.
    pub why: String,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<String>,
    /// `rest-of-session`, where it counts for later requests too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// The request that it was an answer to, where that was an earlier one and it covers this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given_for: Option<String>,
}

/// A decision that came too late.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OvertakenView {
    /// Its commit.
    pub commit: String,
    /// What it would have done.
    pub action: String,
    /// Who it says decided.
    pub principal: String,
}

/// An attempt that failed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AttemptView {
    /// Which one, from 1.
    pub n: u32,
    /// What happened.
    pub error: String,
    /// When the next one was due; missing where it is left to whoever goes on with the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_at: Option<String>,
}

impl RequestView {
    /// Shows a request of a session without what commits tell of its decision.
    pub(super) fn of(session: &SessionId, asked: &AskedRequest) -> RequestView {
        RequestView {
            seq: asked.seq,
            request: session.short_request(&asked.id),
            path: asked.path.to_string(),
            kind: asked.kind.clone(),
            payload: json::to_json(&asked.payload),
            line: asked.position.map(|position| position.line),
            asked_at: asked.asked_at.to_string(),
            answered_at: asked.answered_at.map(|at| at.to_string()),
            took_ms: asked.answered_at.map(|at| at.millis() - asked.asked_at.millis()),
            executed: asked.permit().and_then(|permit| permit.edited.as_ref().map(json::to_json)),
            decision: None,
            votes: asked.votes.iter().map(vote).collect(),
            attempts: asked.attempts.iter().map(attempt).collect(),
            answer: asked.answer.as_ref().map(|(_, answered, _)| answer(answered)),
            by: asked.answer.as_ref().map(|(_, _, by)| by.to_string()),
            overtaken: Vec::new(),
        }
    }
}

/// Says whether a request was permitted for the rest of the session, or because an earlier one was.
pub(super) fn is_wide(asked: &AskedRequest) -> bool {
    match asked.permit().map(|permit| permit.scope) {
        None | Some(PermitScope::Once) => false,
        Some(PermitScope::RestOfSession | PermitScope::Under(_)) => true,
    }
}

fn vote(vote: &VoteRecord) -> VoteView {
    VoteView {
        commit: vote.decision.clone(),
        action: vote.action.clone(),
        principal: vote.principal.clone(),
    }
}

fn attempt(attempt: &AttemptRecord) -> AttemptView {
    let next_at = attempt.next_at.map(|at| at.to_string());
    AttemptView { n: attempt.n, error: attempt.error.clone(), next_at }
}

fn answer(answered: &RequestAnswer) -> Json {
    match answered {
        RequestAnswer::Ok(value) => serde_json::json!({ "ok": json::to_json(value) }),
        RequestAnswer::Failed(failure) => serde_json::json!({
            "failed": {
                "code": failure.code,
                "message": failure.message,
                "details": json::to_json(&failure.details),
            }
        }),
        RequestAnswer::TimedOut => Json::from("timed-out"),
        RequestAnswer::Cancelled(_) => Json::from("cancelled"),
    }
}
