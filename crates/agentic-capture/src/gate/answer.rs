//! How each vendor is told: one table. What a vendor does not understand is never said to it, for
//! some go on with the call then.

use serde_json::{Value as Json, json};

use super::GateQuestion;
use super::verdict::GateVerdict;
use crate::Source;

/// Returns what is printed for a verdict; nothing where silence says it.
pub fn answer_of(source: Source, question: GateQuestion, verdict: &GateVerdict) -> Option<Json> {
    if *verdict == GateVerdict::Silent {
        return None;
    }
    match (source, question) {
        (Source::Claude, GateQuestion::Call) => Some(claude_call(verdict)),
        (Source::Claude, GateQuestion::Leave) => claude_leave(verdict),
        (Source::Codex, GateQuestion::Call) => codex_call(verdict),
        (Source::Codex, GateQuestion::Leave) => codex_leave(verdict),
        (Source::Cursor, _) => Some(cursor(verdict)),
        (Source::Gemini, _) => gemini(verdict),
        (Source::Copilot, GateQuestion::Call) => copilot_call(verdict),
        (Source::Copilot, GateQuestion::Leave) => Some(copilot_leave(verdict)),
        (Source::Opencode, GateQuestion::Call) => opencode_call(verdict),
        (Source::Opencode, GateQuestion::Leave) => Some(opencode_leave(verdict)),
    }
}

/// What most vendors can be told of a verdict.
enum PlainVerdict<'v> {
    Deny,
    Allow(Option<&'v Json>),
}

/// Reads a verdict for vendors that know yes and no alone: what is neither is no.
fn plain(verdict: &GateVerdict) -> PlainVerdict<'_> {
    match verdict {
        GateVerdict::Allow { input, .. } => PlainVerdict::Allow(input.as_ref()),
        GateVerdict::Silent
        | GateVerdict::Held { .. }
        | GateVerdict::Defer { .. }
        | GateVerdict::Ask { .. }
        | GateVerdict::Deny { .. } => PlainVerdict::Deny,
    }
}

fn claude_call(verdict: &GateVerdict) -> Json {
    let decision = match verdict {
        GateVerdict::Defer { .. } => "defer",
        GateVerdict::Ask { .. } => "ask",
        GateVerdict::Allow { .. } => "allow",
        GateVerdict::Silent | GateVerdict::Held { .. } | GateVerdict::Deny { .. } => "deny",
    };
    let mut said = json!({
        "hookEventName": "PreToolUse",
        "permissionDecision": decision,
        "permissionDecisionReason": worded(verdict),
    });
    if let PlainVerdict::Allow(Some(input)) = plain(verdict) {
        said["updatedInput"] = input.clone();
    }
    json!({"hookSpecificOutput": said})
}

/// A request for leave that is not decided is left to the vendor's dialog.
fn claude_leave(verdict: &GateVerdict) -> Option<Json> {
    let decision = match verdict {
        GateVerdict::Deny { .. } => json!({"behavior": "deny", "message": worded(verdict)}),
        GateVerdict::Allow { input: None, .. } => json!({"behavior": "allow"}),
        GateVerdict::Allow { input: Some(input), .. } => {
            json!({"behavior": "allow", "updatedInput": input})
        }
        GateVerdict::Silent
        | GateVerdict::Held { .. }
        | GateVerdict::Defer { .. }
        | GateVerdict::Ask { .. } => return None,
    };
    Some(leave(decision))
}

fn leave(decision: Json) -> Json {
    json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}})
}

/// Codex takes a bare `allow` for a mistake, and goes on with the call: silence says yes there.
fn codex_call(verdict: &GateVerdict) -> Option<Json> {
    let said = match plain(verdict) {
        PlainVerdict::Allow(None) => return None,
        PlainVerdict::Allow(Some(input)) => json!({
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow",
            "updatedInput": input,
        }),
        PlainVerdict::Deny => json!({
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": worded(verdict),
        }),
    };
    Some(json!({"hookSpecificOutput": said}))
}

fn codex_leave(verdict: &GateVerdict) -> Option<Json> {
    match verdict {
        GateVerdict::Deny { .. } => {
            Some(leave(json!({"behavior": "deny", "message": worded(verdict)})))
        }
        GateVerdict::Allow { input: None, .. } => Some(leave(json!({"behavior": "allow"}))),
        // It takes no other input here: what was allowed is not what would run.
        GateVerdict::Allow { input: Some(_), .. } => {
            let message = "The input was edited, and cannot be changed here.";
            Some(leave(json!({"behavior": "deny", "message": message})))
        }
        GateVerdict::Silent
        | GateVerdict::Held { .. }
        | GateVerdict::Defer { .. }
        | GateVerdict::Ask { .. } => None,
    }
}

/// Returns a reason that is never empty.
fn worded(verdict: &GateVerdict) -> String {
    let reason = verdict.reason();
    if reason.is_empty() { "This call is held.".to_owned() } else { reason }
}

fn cursor(verdict: &GateVerdict) -> Json {
    match plain(verdict) {
        PlainVerdict::Allow(None) => json!({"permission": "allow"}),
        PlainVerdict::Allow(Some(_)) => cursor_denied(EDITED, EDITED),
        PlainVerdict::Deny => {
            let short = verdict.short();
            let person = if short.is_empty() { worded(verdict) } else { short };
            cursor_denied(&person, &worded(verdict))
        }
    }
}

/// Where an input cannot be changed, what was allowed is not what would run.
const EDITED: &str = "The input was edited by a human, and cannot be changed here.";

fn cursor_denied(person: &str, model: &str) -> Json {
    json!({"permission": "deny", "user_message": person, "agent_message": model})
}

fn gemini(verdict: &GateVerdict) -> Option<Json> {
    match plain(verdict) {
        PlainVerdict::Allow(None) => None,
        PlainVerdict::Allow(Some(input)) => {
            Some(json!({"hookSpecificOutput": {"tool_input": input}}))
        }
        PlainVerdict::Deny => Some(json!({"decision": "deny", "reason": worded(verdict)})),
    }
}

fn copilot_call(verdict: &GateVerdict) -> Option<Json> {
    match plain(verdict) {
        PlainVerdict::Allow(None) => None,
        PlainVerdict::Allow(Some(input)) => Some(json!({"modifiedArgs": input})),
        PlainVerdict::Deny => Some(json!({
            "permissionDecision": "deny",
            "permissionDecisionReason": worded(verdict),
        })),
    }
}

fn copilot_leave(verdict: &GateVerdict) -> Json {
    match plain(verdict) {
        PlainVerdict::Allow(None) => json!({"behavior": "allow"}),
        PlainVerdict::Allow(Some(_)) => json!({"behavior": "deny", "message": EDITED}),
        PlainVerdict::Deny => json!({"behavior": "deny", "message": worded(verdict)}),
    }
}

fn opencode_call(verdict: &GateVerdict) -> Option<Json> {
    match plain(verdict) {
        PlainVerdict::Allow(None) => None,
        PlainVerdict::Allow(Some(_)) => Some(json!({"block": EDITED})),
        PlainVerdict::Deny => Some(json!({"block": worded(verdict)})),
    }
}

fn opencode_leave(verdict: &GateVerdict) -> Json {
    match plain(verdict) {
        PlainVerdict::Allow(None) => json!({"status": "allow"}),
        PlainVerdict::Allow(Some(_)) | PlainVerdict::Deny => json!({"status": "deny"}),
    }
}

#[cfg(test)]
mod tests;
