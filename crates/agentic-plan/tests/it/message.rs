//! What people are told, along which ways, and who answers.

use agentic_model::{Map, Value, json};
use agentic_plan::{ChannelMessage, Identities, MessageSeverity, Route, Router};

fn message(severity: MessageSeverity) -> ChannelMessage {
    ChannelMessage {
        subject: "asked".to_owned(),
        id: "s.r".to_owned(),
        title: "t".to_owned(),
        body: String::new(),
        severity,
        evidence: Vec::new(),
        actions: ChannelMessage::actions_of(&["ship", "accept"]),
        links: vec![("n".to_owned(), "u".to_owned())],
        run: "s".to_owned(),
        metadata: Map::new(),
    }
}

#[test]
fn a_message_offers_the_standard_choices_once() {
    assert_eq!(
        json::to_text(&message(MessageSeverity::Low).to_value()),
        concat!(
            r#"{"actions":[{"id":"accept","label":"accept","style":"primary"},"#,
            r#"{"id":"reject","label":"reject","style":"danger"},"#,
            r#"{"id":"ship","label":"ship","style":"default"},"#,
            r#"{"id":"snooze","label":"snooze","style":"default"}],"#,
            r#""body":"","evidence":[],"links":[{"name":"n","url":"u"}],"metadata":{},"run":"s","#,
            r#""severity":"low","subject":{"id":"s.r","kind":"asked"},"title":"t"}"#
        )
    );
}

#[test]
fn what_is_too_long_is_cut_at_characters() {
    let long = "漢".repeat(1 << 20);
    let message = ChannelMessage {
        title: long.clone(),
        body: long.clone(),
        evidence: vec![Value::text(&long), Value::Int(7)],
        ..message(MessageSeverity::Info)
    };
    let value = message.to_value();
    let chars = |value: &Value| value.as_text().map(|text| text.chars().count());
    assert_eq!(value.get("title").and_then(chars), Some(201));
    assert_eq!(value.get("body").and_then(chars), Some(8_001));
    let evidence = value.get("evidence").and_then(Value::as_list).expect("a list");
    assert!(evidence[0].as_text().expect("text").len() <= (64 << 10) + 3);
    assert_eq!(evidence[1], Value::Int(7));
}

#[test]
fn severities_are_ordered_words() {
    let words = ["info", "low", "medium", "HIGH", "Critical"];
    let read: Vec<MessageSeverity> = words.into_iter().filter_map(MessageSeverity::parse).collect();
    assert_eq!(read.len(), 5);
    assert!(read.is_sorted());
    assert_eq!(MessageSeverity::parse("urgent"), None);
}

fn check(severity_min: MessageSeverity, subject: Option<&str>, agent: Option<&str>, wanted: usize) {
    let route = Route {
        channel: "team".to_owned(),
        target: "#a".to_owned(),
        severity_min,
        subject: subject.map(str::to_owned),
        agent: agent.map(str::to_owned),
    };
    // The same way twice is one.
    let router = Router { routes: vec![route.clone(), route] };
    let found = router.route(&message(MessageSeverity::Medium), "run-x");
    assert_eq!(found.len(), wanted, "{severity_min:?} {subject:?} {agent:?}");
}

#[test]
fn a_message_goes_along_every_route_that_it_meets() {
    check(MessageSeverity::Info, None, None, 1);
    check(MessageSeverity::Medium, Some("asked"), Some("run-x"), 1);
    check(MessageSeverity::Info, None, Some("run"), 1);
    check(MessageSeverity::High, None, None, 0);
    check(MessageSeverity::Info, Some("in-doubt"), None, 0);
    check(MessageSeverity::Info, None, Some("ru"), 0);
    check(MessageSeverity::Info, None, Some("run-x-y"), 0);
}

#[test]
fn people_have_one_name_whatever_channels_call_them() {
    let names = [("slack:U1", "user:alice"), ("mail:x", "nobody")];
    let names = names.map(|(native, name)| (native.to_owned(), name.to_owned()));
    let identities = Identities { names: names.into_iter().collect() };
    for (native, wanted) in [
        ("slack:U1", Some("user:alice")),
        ("slack:U2", Some("slack:U2")),
        ("mail:x", None),
        ("alice", None),
        ("", None),
        ("user:", None),
        ("user:a b", None),
        ("user:a\u{0}", None),
    ] {
        assert_eq!(identities.resolve(native), wanted, "{native:?}");
    }
}
