//! What may be asked of a decision.

use agentic_model::json;
use agentic_replay::{HOLD, Path, Request};

use super::{check_hold, check_policy};

fn field_of(payload: &str) -> Option<String> {
    let payload = json::from_text(payload).expect("the case is JSON");
    let failure = check_hold(&Request::new(Path::root(), HOLD, payload)).err()?;
    let field = failure.details.get("field").and_then(|field| field.as_text());
    Some(field.expect("a failure names its field").to_owned())
}

#[test]
fn well_formed_holds_are_asked() {
    for payload in [
        r#"{"question":"Q"}"#,
        r#"{"question":"Q","assignees":"user:ada","payload":null}"#,
        r#"{"question":"Q","assignees":["user:ada","role:lead"],"quorum":{"need":3,"role":"lead"}}"#,
        r#"{"question":"Q","deadline":5,"on_expiry":{"deploy":false}}"#,
        r#"{"deadline":"2026-11-21T22:10:00.000Z","on_expiry":{"escalate":{"to":"role:lead","after_ms":1,"on_expiry":"no"}}}"#,
        r#"{"deadline":5,"on_expiry":{"escalate":{"to":["user:bob"]}}}"#,
        r#"{"node":"n1","input":1,"choices":[],"on_timeout":"fail","question":"Q"}"#,
        r#"{"schema":{"type":"string"},"deadline":5,"on_expiry":"no"}"#,
        r#"{"question":"Q","scopes":["once","rest-of-session"]}"#,
        r#"{"actions":["approve","reject"],"choices":["red"],"severity":"high","body":"B"}"#,
    ] {
        assert_eq!(field_of(payload), None, "{payload}");
    }
}

#[test]
fn a_malformed_or_unknown_field_is_named() {
    for (payload, field) in [
        ("5", ""),
        (r#"{"assignee":["user:ada"]}"#, "assignee"),
        (r#"{"question":5}"#, "question"),
        (r#"{"scopes":"once"}"#, "scopes"),
        (r#"{"scopes":["for-ever"]}"#, "scopes"),
        (r#"{"severity":"huge"}"#, "severity"),
        (r#"{"assignees":"ada"}"#, "assignees"),
        (r#"{"assignees":["service:ci"]}"#, "assignees"),
        (r#"{"assignees":["user: "]}"#, "assignees"),
        (r#"{"assignees":[]}"#, "assignees"),
        (r#"{"assignees":5}"#, "assignees"),
        (r#"{"quorum":2}"#, "quorum"),
        (r#"{"quorum":{"ned":2}}"#, "quorum.ned"),
        (r#"{"quorum":{"need":0}}"#, "quorum.need"),
        (r#"{"quorum":{"need":-1}}"#, "quorum.need"),
        (r#"{"quorum":{"need":"2"}}"#, "quorum.need"),
        (r#"{"quorum":{"need":2.0}}"#, "quorum.need"),
        (r#"{"quorum":{"need":2,"reject":0}}"#, "quorum.reject"),
        (r#"{"quorum":{"need":2,"role":5}}"#, "quorum.role"),
        (r#"{"quorum":{"need":2},"assignees":["user:ada","user:ada"]}"#, "quorum.need"),
        (r#"{"deadline":"tomorrow"}"#, "deadline"),
        (r#"{"deadline":null}"#, "deadline"),
        (r#"{"on_expiry":"no"}"#, "on_expiry"),
        (r#"{"deadline":5,"schema":{"type":"integer"},"on_expiry":"no"}"#, "on_expiry"),
        (r#"{"deadline":5,"on_expiry":{"escalate":{"to":5}}}"#, "on_expiry.escalate.to"),
        (r#"{"deadline":5,"on_expiry":{"escalate":{}}}"#, "on_expiry.escalate.to"),
        (r#"{"deadline":5,"on_expiry":{"escalate":{"to":"user:a"},"x":1}}"#, "on_expiry.x"),
        (
            r#"{"deadline":5,"on_expiry":{"escalate":{"to":"user:a","after":1}}}"#,
            "on_expiry.escalate.after",
        ),
        (
            r#"{"deadline":5,"on_expiry":{"escalate":{"to":"user:a","after_ms":0}}}"#,
            "on_expiry.escalate.after_ms",
        ),
        (
            r#"{"deadline":5,"on_expiry":{"escalate":{"to":"user:a","on_expiry":1}}}"#,
            "on_expiry.escalate.on_expiry",
        ),
        (r#"{"actions":["fly"]}"#, "actions"),
        (r#"{"actions":[]}"#, "actions"),
        (r#"{"actions":"approve"}"#, "actions"),
        (r#"{"choices":"yes"}"#, "choices"),
        (r#"{"choices":[]}"#, "choices"),
        (r#"{"choices":[1]}"#, "choices"),
        (r#"{"schema":"string"}"#, "schema"),
        (r#"{"schema":{"type":"strnig"}}"#, "schema"),
        (r#"{"schema":{"type":"string","pattern":"("}}"#, "schema"),
    ] {
        assert_eq!(field_of(payload).as_deref(), Some(field), "{payload}");
    }
}

#[test]
fn another_kind_keeps_its_own_fields() {
    let check = |payload: &str| {
        let payload = json::from_text(payload).expect("the case is JSON");
        check_policy(&Request::new(Path::root(), "suspend", payload)).is_ok()
    };
    assert!(check(r#"{"tag":"t","anything":1}"#));
    assert!(check("5"));
    assert!(!check(r#"{"tag":"t","quorum":{"ned":2}}"#));
}
