//! Holds about what is very large, very deep or very wide.

use std::time::{Duration, Instant as Moment};

use agentic_api::view::{DeciderView, PendingView, QuestionView};
use agentic_model::Instant;
use serde_json::{Value as Json, json};

use super::{ELEMENTS_MAX, elements, frame};
use crate::page::hold::{HoldForm, TypedAnswer, page};

/// How soon a page is made. A build with all checks is some ten times slower than the one that people
/// have.
const SOON: Duration = Duration::from_secs(if cfg!(debug_assertions) { 10 } else { 1 });
/// How much of a page is not the text that is asked about, in bytes.
const AROUND_BYTES_MAX: usize = 32 << 10;

fn hold_about(payload: Json) -> PendingView {
    let text = |text: &str| text.to_owned();
    PendingView {
        request: text("5e55.1"),
        session: text("5e55"),
        agent: text("alice"),
        waiting: Vec::new(),
        path: text("n1"),
        kind: text("hold"),
        reason: text("asked"),
        warning: None,
        question: Some(text("Go?")),
        payload,
        schema: Some(json!({ "type": "string", "pattern": "^(a+)+$" })),
        actions: ["approve", "reject", "edit", "respond"].map(text).to_vec(),
        assignees: Vec::new(),
        role: None,
        choices: Vec::new(),
        escalated: 0,
        rest_of_session: None,
        means: std::collections::BTreeMap::new(),
        on_expiry: None,
        asked_at: text("2026-01-01T00:00:00.000Z"),
        deadline: None,
        overdue: false,
        age_ms: 0,
        request_hash: text("bafy"),
        votes: None,
        voted: Vec::new(),
        unverified: Vec::new(),
        replies: Vec::new(),
    }
}

fn check_small_and_soon(payload: Json) {
    let begun = Moment::now();
    let question = QuestionView::new(hold_about(payload), Instant::from_millis(0));
    let form = HoldForm {
        decider: None::<DeciderView>,
        may_decide: true,
        who: String::new(),
        token: "token".to_owned(),
        given: TypedAnswer::default(),
        gone: None,
        nobody: None,
    };
    let shown = page(&frame(), &question, &form).0;
    assert!(begun.elapsed() < SOON, "it took {:?}", begun.elapsed());
    assert!(elements(&shown) < ELEMENTS_MAX, "{} elements", elements(&shown));
    // A text is as long as it is; nothing of it stands twice.
    let most = question.text.len() * 2 + AROUND_BYTES_MAX;
    assert!(shown.len() < most, "{} bytes of {}", shown.len(), question.text.len());
}

#[test]
fn ten_mebibytes_have_a_page_soon() {
    check_small_and_soon(json!("x".repeat(10 << 20)));
}

#[test]
fn lines_of_ten_mebibytes_have_a_page_soon() {
    check_small_and_soon(
        json!({ "before": "a\n".repeat(2 << 20), "after": "b\n".repeat(2 << 20) }),
    );
}

#[test]
fn what_nests_sixty_deep_has_a_page_soon() {
    check_small_and_soon((0..60).fold(json!(1), |inner, _| json!({ "a": inner })));
}

#[test]
fn a_hundred_thousand_keys_have_a_page_soon() {
    let pairs = (0..100_000).map(|number| (format!("key{number}"), json!(number)));
    check_small_and_soon(Json::Object(pairs.collect()));
}
