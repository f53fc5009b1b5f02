use std::collections::BTreeMap;

use agentic_api::view::{DeciderView, InboxView, PendingView, QuestionView, VotesView};
use agentic_model::Instant;
use serde_json::json;

use super::{HOSTILE, elements, frame, sound};
use crate::page::hold::{HoldForm, TypedAnswer};
use crate::page::inbox::{self, InboxFilter, InboxRow};

fn decider() -> DeciderView {
    DeciderView {
        principal: "user:ada".to_owned(),
        address: "ada@example.org".to_owned(),
        key: None,
        login: None,
    }
}

/// A hold that asks about so many lines.
fn hold(n: usize, n_lines: usize) -> PendingView {
    let actions = ["approve", "reject", "edit", "respond"].map(str::to_owned).to_vec();
    PendingView {
        request: format!("807e807e.{n:08}"),
        session: "807e".repeat(16),
        agent: "alice".to_owned(),
        waiting: Vec::new(),
        path: "n7".to_owned(),
        kind: "hold".to_owned(),
        reason: "asked".to_owned(),
        warning: None,
        question: Some(HOSTILE.to_owned()),
        payload: json!({ "payload": "a line\n".repeat(n_lines) }),
        schema: Some(json!({ "type": "string" })),
        means: actions.iter().map(|name| (name.clone(), "it means this".to_owned())).collect(),
        actions,
        assignees: Vec::new(),
        role: None,
        choices: Vec::new(),
        escalated: 0,
        rest_of_session: None,
        on_expiry: None,
        asked_at: "2026-11-23T10:00:00Z".to_owned(),
        deadline: Some("2026-11-23T12:00:00Z".to_owned()),
        overdue: false,
        age_ms: 1,
        request_hash: "ab".repeat(32),
        votes: None,
        voted: Vec::new(),
        unverified: Vec::new(),
        replies: Vec::new(),
    }
}

fn row(n: usize, n_lines: usize, is_theirs: bool) -> InboxRow {
    let now = Instant::parse("2026-11-23T11:00:00Z").expect("an instant");
    let token = format!("1-{}", "cd".repeat(32));
    let form = is_theirs.then(|| HoldForm {
        decider: Some(decider()),
        may_decide: true,
        who: String::new(),
        token,
        given: TypedAnswer::default(),
        gone: None,
        nobody: None,
    });
    InboxRow { question: QuestionView::new(hold(n, n_lines), now), is_theirs, form, gone: None }
}

fn shown(rows: &[InboxRow]) -> String {
    let inbox = InboxView {
        decider: Some(decider()),
        holds: Vec::new(),
        next: None,
        waiting: rows.len(),
        mine: 0,
        overdue: 0,
        agents: Vec::new(),
        kinds: Vec::new(),
        reasons: Vec::new(),
        left_out: Vec::new(),
    };
    sound(&inbox::page(&frame(), &inbox, rows, &InboxFilter::default()))
}

#[test]
fn a_row_has_its_form_and_its_text_word_for_word() {
    let page = shown(&[row(1, 1, true), row(2, 1, false)]);
    assert_eq!(page.matches("<form class=\"decision\"").count(), 1, "{page}");
    assert!(page.contains("id=\"807e807e.00000001-reason\""), "{page}");
    assert!(page.contains("id=\"807e807e.00000001-value\""), "{page}");
    assert!(page.contains("Deciding as <strong>user:ada</strong>"), "{page}");
    let text = page.split_once("<pre class=\"shown\">").expect("its text").1;
    let text = text.split_once("</pre>").expect("its end").0;
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    assert_eq!(text.replace("&amp;", "&"), row(1, 1, true).question.text);
}

#[test]
fn no_button_stands_before_the_whole_text() {
    let page = shown(&[row(1, 100, true)]);
    let (before, unfolded) = page.split_once("<details>").expect("it is folded");
    assert!(!before.contains("class=\"decision\"") && unfolded.contains("class=\"decision\""));
    assert_eq!(
        before.split_once("<pre class=\"shown\">").expect("text").1.matches('\n').count(),
        12
    );
    let page = shown(&[row(1, 5_000, true)]);
    assert!(!page.contains("class=\"decision\""), "what is long has a page of its own");
}

#[test]
fn fifty_rows_have_forms_as_far_as_there_is_room() {
    let rows: Vec<InboxRow> = (0..50).map(|n| row(n, 1, true)).collect();
    let page = shown(&rows);
    let n_forms = page.matches("<form class=\"decision\"").count();
    let n_links = page.matches("class=\"button\"").count();
    assert!(n_forms >= 10, "{n_forms}");
    assert_eq!(n_forms + n_links, 50);
    assert!(elements(&page) > 700, "{}", elements(&page));
    let mut ids: BTreeMap<&str, usize> = BTreeMap::new();
    for part in page.split(" id=\"").skip(1) {
        *ids.entry(part.split_once('"').map_or("", |(id, _)| id)).or_default() += 1;
    }
    assert!(ids.values().all(|n| *n == 1), "{ids:?}");
}

#[test]
fn a_row_says_for_whom_until_when_and_how_many_have_answered() {
    let mut one = row(1, 1, true);
    one.question.hold = PendingView {
        payload: json!({ "payload": { "replicas": 5 }, "choices": ["now", "later"] }),
        assignees: vec!["user:ada".to_owned(), "role:ops".to_owned()],
        role: Some("lead".to_owned()),
        choices: vec!["now".to_owned(), "later".to_owned()],
        schema: None,
        actions: ["approve", "reject", "respond"].map(str::to_owned).to_vec(),
        votes: Some(VotesView { have: 1, need: 2 }),
        ..one.question.hold
    };
    let now = Instant::parse("2026-11-23T11:00:00Z").expect("an instant");
    one.question = QuestionView::new(one.question.hold, now);
    let page = shown(&[one]);
    for part in [
        "your turn",
        "for user:ada, role:ops",
        "only with lead",
        "1 of 2",
        "replicas",
        "datetime=\"2026-11-23T12:00:00Z\"",
        "data-deadline",
    ] {
        assert!(page.contains(part), "{part} is missing: {page}");
    }
    for choice in ["now", "later"] {
        assert!(page.contains(&format!(">{choice}</option>")), "{choice}: {page}");
    }
}

#[test]
fn an_empty_inbox_says_how_holds_come() {
    let page = shown(&[]);
    assert!(page.contains("Nothing waits for a person."), "{page}");
    assert!(page.contains("hold(&quot;Deploy?&quot;)"), "{page}");
}
