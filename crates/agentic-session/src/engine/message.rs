//! What people are told of a hold.

use agentic_model::{Map, Value, json};
use agentic_plan::{ChannelMessage, MessageSeverity};
use agentic_replay::HoldReason;

use crate::hold::PendingHold;

/// Writes the message about an open hold: what is asked, about what, and what may be chosen.
pub fn message_of(pending: &PendingHold) -> ChannelMessage {
    let hold = &pending.hold;
    let request = hold.session.short_request(&hold.id);
    let field = |key: &str| hold.payload.get(key);
    let text = |key: &str| field(key).and_then(Value::as_text).map(str::to_owned);
    let (subject, otherwise) = match hold.reason {
        HoldReason::Asked => ("asked", format!("`{}` asks for a decision", hold.agent)),
        HoldReason::NotAllowed => {
            ("not-allowed", format!("`{}` wants to perform `{}`", hold.agent, hold.ask.kind))
        }
        HoldReason::InDoubt => {
            ("in-doubt", format!("did `{}` of `{}` happen?", hold.ask.kind, hold.agent))
        }
    };
    let question = text("question").unwrap_or(otherwise);
    let own = text("severity").and_then(|word| MessageSeverity::parse(&word));
    let waits_too_long = pending.overdue || hold.n_escalations > 0;
    let severity = own.unwrap_or(match hold.reason {
        HoldReason::Asked if !waits_too_long => MessageSeverity::Medium,
        HoldReason::Asked | HoldReason::NotAllowed | HoldReason::InDoubt => MessageSeverity::High,
    });
    let offered = field("choices").and_then(Value::as_list).unwrap_or_default();
    let offered: Vec<&str> = offered.iter().filter_map(Value::as_text).collect();
    let evidence = match field("input").or(field("payload")) {
        Some(input) => input.clone(),
        None => hold.payload.clone(),
    };
    let about = ["path", "kind", "agent"].map(str::to_owned);
    let values = [hold.ask.path.as_str(), hold.ask.kind.as_str(), hold.agent.as_str()];
    let mut metadata: Map = about.into_iter().zip(values.map(Value::text)).collect();
    if let Some(deadline) = pending.policy.deadline {
        metadata.insert("deadline".to_owned(), Value::Text(deadline.to_string()));
    }
    let for_whom = pending.policy.assignees.iter().map(Value::text).collect();
    metadata.insert("assignees".to_owned(), Value::List(for_whom));
    ChannelMessage {
        subject: subject.to_owned(),
        id: request,
        title: question.lines().next().unwrap_or_default().to_owned(),
        body: text("body").unwrap_or_else(|| body(&question, &evidence)),
        severity,
        actions: ChannelMessage::actions_of(&offered),
        evidence: vec![evidence],
        links: Vec::new(),
        run: hold.session.to_string(),
        metadata,
    }
}

/// Returns the rest of a question of several lines, and what is to be judged as people read it.
fn body(question: &str, evidence: &Value) -> String {
    let rest = question.split_once('\n').map(|(_, rest)| format!("{rest}\n\n"));
    let judged =
        if *evidence == Value::Null { String::new() } else { json::to_plain_text(evidence) };
    format!("{}{judged}", rest.unwrap_or_default())
}
