//! Holds in the forms of MCP and A2A, and the answers that come back in these forms.

use agentic_model::{Instant, Value, json};
use agentic_session::decide::Action;
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
    /// The form, filled in: `action`, and `value` and `reason` if there are any.
    Accept(Map<String, Json>),
    /// No.
    Decline,
    /// Nothing: the dialog was closed.
    Dismiss,
    /// An action of ours, with its value.
    Act(Action, Option<Value>),
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
            "accept" => Choice::Accept(match response.get("content").map(json::to_json) {
                Some(Json::Object(filled)) => filled,
                Some(_) | None => Map::new(),
            }),
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

/// Shows holds as an MCP result that requires input: one elicitation for each, whose message is the text
/// that people are shown. `fields` makes the schema of what is filled in.
///
/// The client sends the ticket back with its answers, without looking into it.
pub fn mcp(pending: &[PendingHold], ticket: &str, fields: impl Fn(&PendingView) -> Json) -> Json {
    let mut requests = Map::new();
    for hold in pending {
        let view = PendingView::new(hold, hold.hold.asked_at);
        let form = json!({
            "method": "elicitation/create",
            "params": {
                "mode": "form",
                "message": question(&view),
                "requestedSchema": fields(&view),
            },
            "_meta": {
                "requestHash": hold.hold.ask.hash.to_string(),
                "session": hold.hold.session.to_string(),
            },
        });
        requests.insert(view.request, form);
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
