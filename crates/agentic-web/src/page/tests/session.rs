use agentic_api::view::{
    ComparedRequestView, DiffView, ForkView, ReplayedSessionView, RequestView,
    SessionComparisonView, SessionPageView, SessionView,
};
use serde_json::{Value as Json, json};

use super::{HOSTILE, frame, link, number, sound};
use crate::page::session::{self, SessionFilter, SessionQuery};
use crate::page::session_diff;

fn asked(n: usize, answer: Option<Json>) -> RequestView {
    RequestView {
        seq: 2 * n as u64 + 2,
        request: format!("807e807e.{n:08}"),
        path: format!("b{n}/{HOSTILE}"),
        kind: HOSTILE.to_owned(),
        payload: json!({ "command": HOSTILE.repeat(50), "deep": [[[HOSTILE]]] }),
        line: Some(3),
        asked_at: format!("2026-11-23T10:{:02}:{:02}Z", n / 60 % 60, n % 60),
        answered_at: answer.as_ref().map(|_| format!("2026-11-23T11:{:02}:00Z", n % 60)),
        took_ms: answer.as_ref().map(|_| 2_100),
        executed: None,
        decision: None,
        votes: Vec::new(),
        attempts: Vec::new(),
        by: answer.as_ref().map(|_| "executor".to_owned()),
        answer,
        overtaken: Vec::new(),
    }
}

fn session(id: &str, requests: Option<Vec<RequestView>>) -> SessionView {
    SessionView {
        session: id.repeat(16),
        agent: "alice".to_owned(),
        flow: "bafyr4iflow".to_owned(),
        key: HOSTILE.to_owned(),
        state: "held".to_owned(),
        started_at: "2026-11-23T10:00:00Z".to_owned(),
        records: 2_001,
        chain: "c".repeat(64),
        result: Some(json!(HOSTILE.repeat(500))),
        error: None,
        until: None,
        pending: vec!["807e807e.00000999".to_owned()],
        question: Some(HOSTILE.to_owned()),
        overdue: false,
        unattended: true,
        age_ms: Some(1),
        engine: Some(HOSTILE.to_owned()),
        parent: None,
        forked_at: None,
        configuration: None,
        configuration_changed: false,
        requests,
    }
}

fn long() -> ReplayedSessionView {
    let answer = |n: usize| (n != 999).then(|| json!({ "ok": HOSTILE.repeat(20) }));
    let requests = (0..1_000).map(|n| asked(n, answer(n))).collect();
    let fork =
        |n: u64| ForkView { session: "ab".repeat(32), agent: HOSTILE.to_owned(), forked_at: n };
    ReplayedSessionView {
        session: session("807e", Some(requests)),
        at: "2026-11-23T12:00:00Z".to_owned(),
        records: 2_001,
        forks: (0..100).map(fork).collect(),
    }
}

/// The newest sessions, the one that is shown among them.
fn recent() -> Vec<SessionView> {
    (0..50).map(|n| session(&format!("{:04x}", 0x8050 + n), None)).collect()
}

#[test]
fn a_session_is_compared_with_one_of_a_list() {
    let query = SessionQuery { at: None, from: 0 };
    let page = sound(&session::page(&frame(), &long(), query, &recent()));
    let list = page.split_once("<select name=\"with\">").expect("a list").1;
    let list = list.split_once("</select>").expect("its end").0;
    assert_eq!(list.matches("<option").count(), 1 + 49, "forks once, itself never: {list}");
    let own = format!("value=\"{}\"", "807e".repeat(16));
    assert!(!list.contains(&own), "{list}");
}

#[test]
fn what_waits_has_waited_until_the_record_that_is_shown() {
    let mut shown = long();
    shown.session.requests = Some(vec![asked(0, None)]);
    shown.at = "2026-11-23T10:12:00Z".to_owned();
    let page = session::page(&frame(), &shown, SessionQuery { at: Some(2), from: 0 }, &[]);
    assert!(sound(&page).contains(" 12 min 0 s waiting"), "{}", page.0);
}

#[test]
fn a_thousand_requests_are_ten_pages() {
    let shown = long();
    let (mut from, mut n_pages) = (0, 0);
    loop {
        let query = SessionQuery { at: None, from };
        let page = sound(&session::page(&frame(), &shown, query, &recent()));
        assert!(page.contains("⑂ forked at 0"), "fork points are named");
        n_pages += 1;
        match link(&page, "next") {
            Some(next) => from = number(&next, "from"),
            None => {
                assert!(
                    page.contains("class=\"waiting\" fill=\"url(#hatch)\""),
                    "what waits is hatched"
                );
                break;
            }
        }
    }
    assert_eq!(n_pages, 10);
}

#[test]
fn the_scrubber_leads_from_record_to_record() {
    let at = |at: Option<u64>| {
        sound(&session::page(&frame(), &long(), SessionQuery { at, from: 0 }, &recent()))
    };
    let to = |n: u64, word: &str| format!("?at={n}\" aria-label=\"{word}\"");
    let middle = at(Some(38));
    for (n, word) in [
        (1, "first record"),
        (37, "one record back"),
        (39, "one record on"),
        (2_001, "last record"),
    ] {
        assert!(middle.contains(&to(n, word)), "{word}: {middle}");
    }
    assert!(middle.contains("nothing is performed"), "{middle}");
    assert!(!at(Some(1)).contains("aria-label=\"one record back\""));
    assert!(!at(None).contains("aria-label=\"one record on\""));
}

#[test]
fn a_request_is_shown_whole_as_text() {
    let mut one = asked(1, Some(json!({ "failed": { "message": HOSTILE.repeat(9_000) } })));
    one.payload = json!(HOSTILE.repeat(200_000));
    sound(&session::request_page(&frame(), &session("807e", None), &one));
}

#[test]
fn a_list_of_sessions_is_text_and_small() {
    let items = (0..50).map(|_| session("807e", None)).collect();
    let page = SessionPageView { items, next: Some(50), left_out: Vec::new() };
    let filter = SessionFilter { agent: HOSTILE.to_owned(), state: "held".to_owned(), after: 0 };
    let page = sound(&session::list(&frame(), &page, &filter));
    assert!(link(&page, "next").is_some_and(|next| next.ends_with("after=50")), "{page}");
}

#[test]
fn equal_requests_are_folded_and_the_first_difference_is_marked() {
    let row = |n: usize, same: bool| ComparedRequestView {
        path: format!("n{n}"),
        same,
        left: Some(asked(n, Some(json!({ "ok": n })))),
        right: Some(asked(n, Some(json!({ "ok": HOSTILE })))),
    };
    let mut requests: Vec<_> = (0..20).map(|n| row(n, true)).collect();
    requests.extend((20..400).map(|n| row(n, false)));
    let found = SessionComparisonView {
        difference: DiffView { same: false, at: Some(41), left: None, right: None },
        left: session("807e", None),
        right: session("ab01", None),
        requests,
    };
    let page = sound(&session_diff::page(&frame(), &found, 0));
    assert!(page.contains("20 equal requests, n0 to n19"), "{page}");
    assert!(page.contains("record 41"), "{page}");
    assert_eq!(page.matches("first difference").count(), 1);
    let marked = page.split_once("id=\"first\"").expect("it is marked").1;
    assert!(marked.contains("n20"), "{marked}");
    assert!(link(&page, "next").is_some());
}
