//! Every cell of the table, against schemas written from what the vendors document.

use serde_json::{Value as Json, json};

use super::{GateQuestion, GateVerdict, answer_of};
use crate::Source;

/// What a vendor takes as an answer to a question: a closed schema, so that nothing else is printed.
// size: a table with an arm for each vendor and question.
fn schema(source: Source, question: GateQuestion) -> Json {
    let text = json!({"type": "string", "minLength": 1});
    let closed = |required: Json, properties: Json| {
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": required,
            "properties": properties,
        })
    };
    let own =
        |inner: Json| closed(json!(["hookSpecificOutput"]), json!({"hookSpecificOutput": inner}));
    let input = json!({"type": "object"});
    match (source, question) {
        (Source::Claude, GateQuestion::Call) => own(closed(
            json!(["hookEventName", "permissionDecision", "permissionDecisionReason"]),
            json!({
                "hookEventName": {"const": "PreToolUse"},
                "permissionDecision": {"enum": ["allow", "deny", "ask", "defer"]},
                "permissionDecisionReason": text,
                "updatedInput": input,
            }),
        )),
        (Source::Codex, GateQuestion::Call) => own(json!({"oneOf": [
            closed(
                json!(["hookEventName", "permissionDecision", "permissionDecisionReason"]),
                json!({
                    "hookEventName": {"const": "PreToolUse"},
                    "permissionDecision": {"const": "deny"},
                    "permissionDecisionReason": text,
                }),
            ),
            closed(
                json!(["hookEventName", "permissionDecision", "updatedInput"]),
                json!({
                    "hookEventName": {"const": "PreToolUse"},
                    "permissionDecision": {"const": "allow"},
                    "updatedInput": input,
                }),
            ),
        ]})),
        (Source::Claude | Source::Codex, GateQuestion::Leave) => {
            let deny = closed(
                json!(["behavior", "message"]),
                json!({"behavior": {"const": "deny"}, "message": text}),
            );
            let mut given = json!({"behavior": {"const": "allow"}});
            if source == Source::Claude {
                given["updatedInput"] = input;
            }
            let decision = json!({"oneOf": [deny, closed(json!(["behavior"]), given)]});
            own(closed(
                json!(["hookEventName", "decision"]),
                json!({"hookEventName": {"const": "PermissionRequest"}, "decision": decision}),
            ))
        }
        (Source::Cursor, _) => json!({"oneOf": [
            closed(json!(["permission"]), json!({"permission": {"const": "allow"}})),
            closed(
                json!(["permission", "user_message", "agent_message"]),
                json!({
                    "permission": {"const": "deny"},
                    "user_message": text,
                    "agent_message": text,
                }),
            ),
        ]}),
        (Source::Gemini, _) => json!({"oneOf": [
            closed(json!(["decision", "reason"]), json!({"decision": {"const": "deny"}, "reason": text})),
            own(closed(json!(["tool_input"]), json!({"tool_input": input}))),
        ]}),
        (Source::Copilot, GateQuestion::Call) => json!({"oneOf": [
            closed(
                json!(["permissionDecision", "permissionDecisionReason"]),
                json!({"permissionDecision": {"const": "deny"}, "permissionDecisionReason": text}),
            ),
            closed(json!(["modifiedArgs"]), json!({"modifiedArgs": input})),
        ]}),
        (Source::Copilot, GateQuestion::Leave) => json!({"oneOf": [
            closed(json!(["behavior"]), json!({"behavior": {"const": "allow"}})),
            closed(json!(["behavior", "message"]), json!({"behavior": {"const": "deny"}, "message": text})),
        ]}),
        (Source::Opencode, GateQuestion::Call) => closed(json!(["block"]), json!({"block": text})),
        (Source::Opencode, GateQuestion::Leave) => {
            closed(json!(["status"]), json!({"status": {"enum": ["allow", "deny"]}}))
        }
    }
}

fn verdicts() -> [GateVerdict; 8] {
    let allow = |input| GateVerdict::Allow { reason: "Approved.".to_owned(), input };
    [
        GateVerdict::Silent,
        GateVerdict::Held { request: "a.b".to_owned() },
        GateVerdict::Defer { request: "a.b".to_owned() },
        GateVerdict::Ask { number: 1 },
        allow(None),
        allow(Some(json!({"command": "x"}))),
        GateVerdict::Deny { reason: "Rejected.".to_owned() },
        GateVerdict::Deny { reason: String::new() },
    ]
}

#[test]
fn every_answer_is_one_that_its_vendor_takes() {
    for source in Source::ALL {
        for question in [GateQuestion::Call, GateQuestion::Leave] {
            let schema = schema(source, question);
            for verdict in verdicts() {
                let Some(said) = answer_of(source, question, &verdict) else { continue };
                let fits = jsonschema::is_valid(&schema, &said);
                assert!(fits, "{source} {question:?} {verdict:?}: {said}");
            }
        }
    }
}

#[test]
fn codex_is_never_told_what_it_takes_for_a_mistake() {
    let refused = ["\"ask\"", "\"defer\"", "continue", "stopReason", "suppressOutput"];
    for verdict in verdicts() {
        let said = answer_of(Source::Codex, GateQuestion::Call, &verdict);
        let text = said.as_ref().map(Json::to_string).unwrap_or_default();
        assert!(!refused.iter().any(|word| text.contains(word)), "{text}");
        let bare = text.contains("\"allow\"") && !text.contains("updatedInput");
        assert!(!bare && !text.contains("\"permissionDecisionReason\":\"\""), "{text}");
    }
}

/// What is undecided runs nowhere, except where a vendor asks its own user.
#[test]
fn what_is_not_allowed_is_denied_everywhere() {
    let held = GateVerdict::Held { request: "a.b".to_owned() };
    for source in Source::ALL {
        let said = answer_of(source, GateQuestion::Call, &held).expect("an answer").to_string();
        assert!(said.contains("deny") || said.contains("block"), "{source}: {said}");
        assert!(said.contains("Held for a human as a.b."), "{source}: {said}");
    }
    for source in [Source::Claude, Source::Codex] {
        assert_eq!(answer_of(source, GateQuestion::Leave, &held), None);
    }
    for source in [Source::Copilot, Source::Opencode] {
        let said = answer_of(source, GateQuestion::Leave, &held).expect("an answer").to_string();
        assert!(said.contains("deny"), "{source}: {said}");
    }
}

/// Where an input cannot be changed, an edited one must not run as it was.
#[test]
fn an_edited_input_is_the_one_that_runs_or_none_does() {
    let edited = GateVerdict::Allow {
        reason: "Approved.".to_owned(),
        input: Some(json!({"command": "new"})),
    };
    for source in Source::ALL {
        for question in [GateQuestion::Call, GateQuestion::Leave] {
            let said = answer_of(source, question, &edited).map(|said| said.to_string());
            let said = said.unwrap_or_default();
            let is_safe = ["\"new\"", "deny", "block"].iter().any(|word| said.contains(word));
            assert!(is_safe, "{source} {question:?}: {said}");
        }
    }
}
