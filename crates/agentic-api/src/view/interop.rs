//! Holds in the forms of MCP and A2A, and the answers that come back in these forms.

use agentic_model::{Instant, Value, json};
use agentic_session::decide::{Action, Policy};
use agentic_session::hold::PendingHold;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use crate::view::PendingView;
use crate::view::question::question;

/// The protocols that a hold is handed out in, and answered in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// The Model Context Protocol: elicitations.
    Mcp,
    /// Agent2Agent: messages to a task.
    A2a,
}

impl Protocol {
    /// Returns the name, as decisions bear it.
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Mcp => "mcp",
            Protocol::A2a => "a2a",
        }
    }
}

/// What a client sends back.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientReply {
    /// The ticket that it got with the holds.
    pub ticket: String,
    /// Its answers, in the order in which they are applied.
    pub answers: Vec<ReplyAnswer>,
}

/// One answer of a client.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplyAnswer {
    /// The request, as it was handed out.
    pub request: String,
    /// The session that it is said to belong to, where the protocol says it.
    pub session: Option<String>,
    /// The answer.
    pub choice: Choice,
}

/// What a client chose.
#[derive(Debug, Clone, PartialEq)]
pub enum Choice {
    /// Yes, with what was filled in.
    Accept(Option<Value>),
    /// No.
    Decline,
    /// Nothing: the dialog was closed.
    Dismiss,
    /// An action of ours, with its value.
    Act(Action, Option<Value>),
}

impl Choice {
    /// Returns the action and the value of a decision; nothing, if nothing was decided.
    pub fn decision(&self, policy: &Policy) -> Option<(Action, Option<Value>)> {
        match self {
            Choice::Dismiss => None,
            Choice::Decline => Some((Action::Reject, None)),
            Choice::Act(action, value) => Some((*action, value.clone())),
            Choice::Accept(content) => {
                let filled_in = [Action::Approve, Action::Respond, Action::Edit];
                let offered = filled_in.into_iter().find(|action| policy.actions.contains(action));
                let value = content.as_ref().and_then(|content| unwrapped(policy, content));
                Some((offered.unwrap_or(Action::Approve), value))
            }
        }
    }
}

/// Reads the answers of a client; nothing, if they do not have the form of the protocol.
pub fn read_reply(protocol: Protocol, reply: &Value) -> Option<ClientReply> {
    match protocol {
        Protocol::Mcp => read_mcp(reply),
        Protocol::A2a => read_a2a(reply),
    }
}

/// Reads `{"inputResponses": {KEY: {"action", "content"?}}, "requestState"}`, alone or as the
/// parameters of a call.
fn read_mcp(reply: &Value) -> Option<ClientReply> {
    let reply = reply.get("params").unwrap_or(reply);
    let ticket = reply.get("requestState")?.as_text()?.to_owned();
    let responses = reply.get("inputResponses")?.as_map()?;
    let answers = responses.iter().map(|(request, response)| {
        let choice = match response.get("action")?.as_text()? {
            "accept" => Choice::Accept(response.get("content").cloned()),
            "decline" => Choice::Decline,
            "cancel" => Choice::Dismiss,
            _ => return None,
        };
        Some(ReplyAnswer { request: request.clone(), session: None, choice })
    });
    Some(ClientReply { ticket, answers: answers.collect::<Option<_>>()? })
}

/// Reads a message `{"taskId", "parts": [{"data": {"request", "action", "value"?}}], "metadata":
/// {"requestState"}}`, alone or under `message`.
fn read_a2a(reply: &Value) -> Option<ClientReply> {
    let reply = reply.get("params").unwrap_or(reply);
    let message = reply.get("message").unwrap_or(reply);
    let ticket = message.get("metadata")?.get("requestState")?.as_text()?.to_owned();
    let session = message.get("taskId")?.as_text()?.to_owned();
    let parts = message.get("parts")?.as_list()?;
    let answers = parts.iter().filter_map(|part| part.get("data")).map(|data| {
        let value = data.get("value").cloned();
        let choice = match data.get("action")?.as_text()? {
            "cancel" => Choice::Dismiss,
            action => Choice::Act(Action::parse(action)?, value),
        };
        let request = data.get("request")?.as_text()?.to_owned();
        Some(ReplyAnswer { request, session: Some(session.clone()), choice })
    });
    let answers: Vec<ReplyAnswer> = answers.collect::<Option<_>>()?;
    (!answers.is_empty()).then_some(ClientReply { ticket, answers })
}

/// Shows holds as an MCP result that requires input: one elicitation for each.
///
/// The client sends the ticket back with its answers, without looking into it.
pub fn mcp(pending: &[PendingHold], ticket: &str) -> Json {
    let mut requests = Map::new();
    for hold in pending {
        let schema = hold.policy.schema.as_ref().map(json::to_json);
        let message = question(&PendingView::new(hold, hold.hold.asked_at));
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
    json!({
        "resultType": "input_required",
        "inputRequests": requests,
        "requestState": ticket,
    })
}

/// Shows holds as A2A tasks that require input.
pub fn a2a(pending: &[PendingHold], ticket: &str, now: Instant) -> Json {
    let task = |hold: &PendingHold| {
        let view = PendingView::new(hold, now);
        let text = question(&view);
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
                            "means": view.means,
                        } },
                    ],
                    "metadata": { "requestState": ticket },
                },
            },
        })
    };
    Json::Array(pending.iter().map(task).collect())
}

/// The shapes of schemas, as the forms of MCP see them.
enum Shape {
    /// A flat object of primitives, or nothing to fill in: it is the form.
    Flat(Json),
    /// A primitive: the form has it as its one field.
    Primitive(Json),
    /// Anything else: the form has one field of text, which is JSON.
    Nested,
}

fn shape(schema: Option<Json>) -> Shape {
    let Some(schema) = schema else {
        return Shape::Flat(json!({ "type": "object", "properties": {} }));
    };
    let is_primitive = |item: &Json| {
        matches!(item["type"].as_str(), Some("string" | "number" | "integer" | "boolean"))
            || item["enum"].is_array()
    };
    let is_flat_object = schema["type"] == "object"
        && schema["properties"].as_object().is_some_and(|fields| fields.values().all(is_primitive));
    match (is_flat_object, is_primitive(&schema)) {
        (true, _) => Shape::Flat(schema),
        (false, true) => Shape::Primitive(schema),
        (false, false) => Shape::Nested,
    }
}

/// MCP forms are flat objects of primitives. A schema of another shape is wrapped into one field,
/// and marked if that is more than a primitive.
fn flat_schema(schema: Option<Json>) -> (Json, bool) {
    let wrapped = |field: Json| json!({ "type": "object", "properties": { "value": field }, "required": ["value"] });
    match shape(schema) {
        Shape::Flat(schema) => (schema, true),
        Shape::Primitive(schema) => (wrapped(schema), true),
        Shape::Nested => (wrapped(json!({ "type": "string", "description": "JSON" })), false),
    }
}

/// Takes the value out of what a form was filled in with. A text that is no JSON stays a text, and
/// the schema of the request will say what it is not.
fn unwrapped(policy: &Policy, content: &Value) -> Option<Value> {
    match shape(policy.schema.as_ref().map(json::to_json)) {
        Shape::Flat(_) if policy.schema.is_none() => None,
        Shape::Flat(_) => Some(content.clone()),
        Shape::Primitive(_) => content.get("value").cloned(),
        Shape::Nested => {
            let value = content.get("value")?;
            let parsed = value.as_text().and_then(|text| json::from_text(text).ok());
            Some(parsed.unwrap_or_else(|| value.clone()))
        }
    }
}
