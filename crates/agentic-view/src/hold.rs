//! Holds as JSON: ours, and the forms that MCP clients and A2A peers read.

use agentic_model::{Instant, Value, json};
use agentic_replay::HoldReason;
use agentic_space::decide::Action;
use agentic_space::hold::Pending;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value as Json, json};

/// One open hold.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PendingView {
    /// What `agentic decide` takes.
    pub request: String,
    /// The session.
    pub session: String,
    /// The agent.
    pub agent: String,
    /// Where in the program.
    pub path: String,
    /// What sort of request.
    pub kind: String,
    /// `asked`, `not-allowed` or `in-doubt`.
    pub reason: String,
    /// The question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The data of the request.
    pub payload: Json,
    /// The JSON Schema of the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Json>,
    /// The actions that are offered.
    pub actions: Vec<String>,
    /// Who may decide; anyone, if empty.
    pub assignees: Vec<String>,
    /// The role that everybody who decides must have besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The texts that a response may be; anything, if absent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// How often it went on to other people, because nobody decided in time.
    #[serde(skip_serializing_if = "is_zero")]
    pub escalated: usize,
    /// When it was asked.
    pub asked_at: String,
    /// Until when it may be decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<String>,
    /// Whether it is too late.
    pub overdue: bool,
    /// How long it has been waiting, in milliseconds.
    pub age_ms: i64,
    /// The hash of the request, for `--expect`.
    pub request_hash: String,
    /// The votes, where several people must approve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub votes: Option<VotesView>,
}

/// The votes of a hold.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VotesView {
    /// How many different people must approve.
    pub need: usize,
    /// How many have.
    pub have: usize,
}

/// The answer of `agentic decide`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DecideView {
    /// The request.
    pub request: String,
    /// What was decided.
    pub action: String,
    /// The commit.
    pub commit: String,
    /// The agent.
    pub agent: String,
    /// Who decided.
    pub principal: String,
    /// How the session stands now.
    pub state: String,
    /// The session.
    pub session: String,
}

impl PendingView {
    /// Shows a hold as it stands now.
    pub fn new(pending: &Pending, now: Instant) -> PendingView {
        let (hold, policy) = (&pending.hold, &pending.policy);
        let reason = match hold.reason {
            HoldReason::Asked => "asked",
            HoldReason::NotAllowed => "not-allowed",
            HoldReason::InDoubt => "in-doubt",
        };
        let approvals = hold.votes.iter().filter(|vote| vote.action != Action::Reject.name());
        let votes = VotesView { need: policy.need, have: approvals.count() };
        PendingView {
            request: hold.session.short_request(&hold.id),
            session: hold.session.to_string(),
            agent: hold.agent.to_string(),
            path: hold.ask.path.to_string(),
            kind: hold.ask.kind.clone(),
            reason: reason.to_owned(),
            question: pending.question().map(str::to_owned),
            payload: json::to_json(&hold.payload),
            schema: policy.schema.as_ref().map(json::to_json),
            actions: policy.actions.iter().map(|action| action.name().to_owned()).collect(),
            assignees: policy.assignees.clone(),
            role: policy.role.clone(),
            choices: policy.choices.clone(),
            escalated: policy.level,
            asked_at: hold.asked_at.to_string(),
            deadline: policy.deadline.map(|deadline| deadline.to_string()),
            overdue: pending.overdue,
            age_ms: pending.age_millis(now),
            request_hash: hold.ask.hash.to_string(),
            votes: (policy.need > 1).then_some(votes),
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // This is how the serializer asks.
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Shows holds as an MCP result that requires input: one elicitation for each.
pub fn mcp(pending: &[Pending]) -> Json {
    let mut requests = Map::new();
    for hold in pending {
        let schema = hold.policy.schema.as_ref().map(json::to_json);
        let message = hold.question().map_or_else(|| describe(hold), str::to_owned);
        let key = hold.hold.session.short_request(&hold.hold.id);
        let (flat, is_flat) = flat_schema(schema);
        requests.insert(
            key,
            json!({
                "method": "elicitation/create",
                "params": { "mode": "form", "message": message, "requestedSchema": flat },
                "_meta": {
                    "requestHash": hold.hold.ask.hash.to_string(),
                    "session": hold.hold.session.to_string(),
                    "flat": is_flat,
                },
            }),
        );
    }
    json!({ "resultType": "input_required", "inputRequests": requests })
}

/// Shows holds as A2A tasks that require input.
pub fn a2a(pending: &[Pending], now: Instant) -> Json {
    let task = |hold: &Pending| {
        let view = PendingView::new(hold, now);
        let text = hold.question().map_or_else(|| describe(hold), str::to_owned);
        json!({
            "kind": "task",
            "id": view.session,
            "contextId": view.session,
            "status": {
                "state": "TASK_STATE_INPUT_REQUIRED",
                "timestamp": view.asked_at,
                "message": {
                    "kind": "message",
                    "role": "ROLE_AGENT",
                    "messageId": view.request,
                    "taskId": view.session,
                    "parts": [
                        { "text": text },
                        { "data": {
                            "request": view.request,
                            "payload": view.payload,
                            "schema": view.schema,
                            "actions": view.actions,
                        } },
                    ],
                },
            },
        })
    };
    Json::Array(pending.iter().map(task).collect())
}

fn describe(pending: &Pending) -> String {
    let shown = pending.policy.subject.as_ref().unwrap_or(&Value::Null);
    format!("{}: {}", pending.hold.ask.kind, json::to_text(shown))
}

/// MCP forms are flat objects of primitives. A schema of another shape is wrapped into one field
/// of text, and marked as such.
fn flat_schema(schema: Option<Json>) -> (Json, bool) {
    let empty = json!({ "type": "object", "properties": {} });
    let Some(schema) = schema else { return (empty, true) };
    let is_primitive = |item: &Json| {
        matches!(item["type"].as_str(), Some("string" | "number" | "integer" | "boolean"))
            || item["enum"].is_array()
    };
    let is_flat_object = schema["type"] == "object"
        && schema["properties"].as_object().is_some_and(|fields| fields.values().all(is_primitive));
    if is_flat_object {
        return (schema, true);
    }
    let is_flat = is_primitive(&schema);
    let field = if is_flat { schema } else { json!({ "type": "string", "description": "JSON" }) };
    (json!({ "type": "object", "properties": { "value": field }, "required": ["value"] }), is_flat)
}
