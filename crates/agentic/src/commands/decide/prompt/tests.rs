//! Dialogs: what is asked, what is typed, what comes of it.

use std::collections::BTreeMap;

use agentic_api::view::{PendingView, QuestionView};
use agentic_model::Instant;
use serde_json::{Value as Json, json};

use super::ask;

fn hold(payload: Json) -> PendingView {
    PendingView {
        waiting: Vec::new(),
        request: "0123456789ab.0123456789ab".to_owned(),
        session: "0123456789ab".to_owned(),
        agent: "alice".to_owned(),
        path: "0".to_owned(),
        kind: "hold".to_owned(),
        reason: "asked".to_owned(),
        warning: None,
        question: Some("Deploy?".to_owned()),
        payload,
        schema: None,
        actions: ["approve", "reject", "edit", "respond"].map(str::to_owned).to_vec(),
        assignees: Vec::new(),
        role: None,
        choices: Vec::new(),
        escalated: 0,
        rest_of_session: None,
        means: BTreeMap::new(),
        on_expiry: None,
        asked_at: "2026-11-21T22:00:00.000Z".to_owned(),
        deadline: None,
        overdue: false,
        age_ms: 0,
        request_hash: String::new(),
        votes: None,
        voted: Vec::new(),
        unverified: Vec::new(),
        replies: Vec::new(),
    }
}

/// Plays a dialog: what was shown must have all of the texts, and what came of it is compared.
fn check(payload: Json, typed: &str, shown: &[&str], expected: &str) {
    let mut output = Vec::new();
    let question = QuestionView::new(hold(payload), Instant::from_millis(0));
    let said = ask(&question, &mut typed.as_bytes(), &mut output);
    let output = String::from_utf8(output).expect("questions are text");
    for text in shown {
        assert!(output.contains(text), "{text:?} is not in {output:?}");
    }
    let said = said.map_or_else(
        |failure| format!("exit {}", failure.code()),
        |said| {
            let value = said.value.as_ref().map(agentic_model::json::to_text);
            format!("{} {} {}", said.action.name(), value.unwrap_or_default(), said.why)
        },
    );
    assert_eq!(said, expected, "after {typed:?}");
}

#[test]
fn an_approval_needs_one_word_and_may_say_why() {
    let asked = ["alice asks: Deploy?", "approve, reject, edit, respond? ", "\"env\": \"prod\""];
    let payload = json!({"payload": {"env": "prod"}});
    check(payload, "approve\nlooks good\n", &asked, "approve  looks good");
}

#[test]
fn an_edit_is_shown_as_a_difference_and_confirmed() {
    let payload = json!({"payload": {"env": "prod", "n": 1}});
    let typed = "edit\n{\"env\": \"staging\", \"n\": 1}\nyes\n\n";
    let shown = ["-   \"env\": \"prod\",\n+   \"env\": \"staging\",\n    \"n\": 1\n", "decide so"];
    let expected = "edit {\"env\":\"staging\",\"n\":1} ";
    check(payload.clone(), typed, &shown, expected);
    let refused = "edit\n{\"env\": \"staging\", \"n\": 1}\nno\n";
    check(payload, refused, &["decide so"], "exit 2");
}

#[test]
fn a_change_is_shown_as_a_difference() {
    let payload = json!({"payload": {"path": "a.txt", "before": "one\ntwo", "after": "one\n2"}});
    check(payload, "reject\n\n", &["path: a.txt\n  one\n- two\n+ 2\n"], "reject  ");
}

#[test]
fn what_is_no_answer_decides_nothing() {
    for typed in ["", "yes\nok\nsure\napprove\n", "respond\n{\n", "expire\nexpire\nexpire\n"] {
        check(json!({}), typed, &["alice asks"], "exit 2");
    }
    check(json!({}), "what\nrespond\nnope\n5\n\n", &[], "respond 5 ");
}

#[test]
fn a_payload_cannot_steer_the_terminal() {
    let payload = json!({"payload": "harmless\u{1b}[2K\rapprove"});
    check(payload, "reject\n", &["harmless⟦001B⟧[2K⟦000D⟧approve"], "reject  ");
}
