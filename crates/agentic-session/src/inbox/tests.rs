//! Letters: how they are written and read, and in which order.

use agentic_model::Value;
use agentic_replay::Signal;
use agentic_replay::record::{CancelMode, CancelRecord};

use super::{InboxMessage, WAKE, names, read, token};
use crate::tests::{data, temporary_folder};

#[test]
fn a_letter_is_read_as_it_was_written() {
    let cancel = |mode| CancelRecord { who: "user:ada".to_owned(), why: String::new(), mode };
    let signal = |value| Signal { id: "1-2-3".to_owned(), name: "go".to_owned(), value };
    for letter in [
        InboxMessage::Signal(signal(Value::Null)),
        InboxMessage::Signal(signal(data(r#"{"cancel":"me","kill":true}"#))),
        InboxMessage::Cancel(cancel(CancelMode::Kill)),
        InboxMessage::Cancel(cancel(CancelMode::Cooperative)),
    ] {
        assert_eq!(InboxMessage::from_value(&letter.to_value()), Some(letter));
    }
}

#[test]
fn what_lacks_a_part_is_no_letter() {
    for text in [
        "5",
        "{}",
        r#"{"signal":"go","id":"1"}"#,
        r#"{"signal":"go","value":1}"#,
        r#"{"signal":5,"id":"1","value":1}"#,
        r#"{"cancel":"ada","why":"x"}"#,
        r#"{"cancel":"ada","kill":true}"#,
        r#"{"why":"x","kill":true}"#,
    ] {
        assert_eq!(InboxMessage::from_value(&data(text)), None, "{text}");
    }
    let gentle = InboxMessage::from_value(&data(r#"{"cancel":"ada","why":"x","kill":"yes"}"#));
    let is_gentle = |letter: &InboxMessage| matches!(letter, InboxMessage::Cancel(cancel) if cancel.mode == CancelMode::Cooperative);
    assert!(gentle.is_some_and(|letter| is_gentle(&letter)), "only `true` kills");
}

#[test]
fn bytes_that_are_no_data_are_no_letter() {
    let folder = temporary_folder();
    let path = folder.path().join("1");
    for bytes in [&b""[..], b"\xff", b"{}", b"\xa0\x00"] {
        std::fs::write(&path, bytes).expect("writable");
        assert_eq!(read(&path).expect("readable"), None, "{bytes:?}");
    }
    assert!(read(&folder.path().join("none")).is_err());
}

#[test]
fn letters_are_listed_in_the_order_of_their_names_and_what_is_being_written_is_not() {
    let folder = temporary_folder();
    assert_eq!(names(&folder.path().join("none")).expect("there is none"), Vec::<String>::new());
    for name in ["3-1-0", "1-1-0", "2-1-0", "2-1-0.damaged", ".2-1-1.new", WAKE] {
        std::fs::write(folder.path().join(name), b"").expect("writable");
    }
    assert_eq!(names(folder.path()).expect("readable"), ["1-1-0", "2-1-0", "3-1-0"]);
}

#[test]
fn later_letters_have_later_names_and_none_is_called_like_the_one_that_wakes() {
    let tokens: Vec<String> = (0..100).map(|_| token()).collect();
    let distinct: std::collections::BTreeSet<&String> = tokens.iter().collect();
    assert_eq!(distinct.len(), tokens.len());
    let moments: Vec<&str> = tokens.iter().filter_map(|token| token.split('-').next()).collect();
    assert!(moments.is_sorted());
    assert!(tokens.iter().all(|token| !token.contains('.')));
}
