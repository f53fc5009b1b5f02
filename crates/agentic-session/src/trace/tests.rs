//! What the trace of an agent is told.

use agentic_model::Value;
use agentic_replay::ProgramEvent;

use super::{SAID_BYTES_MAX, SHOWN_CHARS_MAX, decision_entry, said, shown};
use crate::tests::{at, data};

fn told(data: Value) -> String {
    said(&ProgramEvent { kind: "trace".to_owned(), data })
}

#[test]
fn texts_are_kept_as_they_are_and_everything_else_as_json() {
    assert_eq!(told(Value::text("two\nlines")), "two\nlines");
    assert_eq!(told(data(r#"{"b":[1,null],"a":"x"}"#)), r#"{"a":"x","b":[1,null]}"#);
    assert_eq!(told(Value::Null), "null");
    assert_eq!(told(Value::text("")), "");
}

#[test]
fn what_is_too_long_stands_in_the_records_only() {
    let longest = "x".repeat(SAID_BYTES_MAX);
    assert_eq!(told(Value::text(&longest)), longest);
    let longer = told(Value::text(format!("{longest}y")));
    assert!(longer.len() < 2 * SHOWN_CHARS_MAX, "{}", longer.len());
    assert!(longer.contains(&format!("({} bytes)", SAID_BYTES_MAX + 1)), "{longer}");
}

#[test]
fn a_text_that_is_shown_is_one_short_line() {
    assert_eq!(shown("a\nb\tc\u{1b}[31md"), "a b c [31md");
    let long = "é".repeat(SHOWN_CHARS_MAX + 1);
    assert_eq!(shown(&long).chars().count(), SHOWN_CHARS_MAX);
}

#[test]
fn a_decision_is_one_entry_of_the_session() {
    let entry = decision_entry("decided".to_owned(), at(5));
    assert_eq!((entry.kind.as_str(), entry.at, entry.continues), ("session", at(5), false));
    assert_eq!(entry.body.as_text(), Some("decided"));
}
