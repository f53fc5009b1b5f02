//! How the requests that touch the space are read.

use agentic_model::{AgentName, Map, Value};
use agentic_replay::{End, Path, ProgramFailure, Request, RequestAnswer};

use super::spawning::{STEM_BYTES_MAX, called_agent, stem};
use super::{Edit, PerformedEffect, answer_of, edits, executed, fields};
use crate::tests::data;

/// Says in a word what becomes of a file.
fn fate(edit: &Edit) -> String {
    match edit {
        Edit::Write { content, .. } => format!("write {}", String::from_utf8_lossy(content)),
        Edit::WriteSpooled { .. } => "spooled".to_owned(),
        Edit::Delete => "delete".to_owned(),
    }
}

#[test]
fn files_are_texts_bytes_or_gone() {
    let mut files = data(r#"{"a":"one","b/c":null}"#).as_map().cloned().expect("a map");
    files.insert("d".to_owned(), Value::Bytes(b"two".to_vec()));
    let read = edits(&Value::map([("files", Value::Map(files))])).expect("they are files");
    let fates: Vec<_> = read.iter().map(|(path, edit)| (path.as_str(), fate(edit))).collect();
    let wanted = [("a", "write one"), ("b/c", "delete"), ("d", "write two")];
    assert_eq!(fates, wanted.map(|(path, fate)| (path, fate.to_owned())));
    assert!(edits(&data("{}")).is_some_and(|none| none.is_empty()));
}

#[test]
fn a_file_that_is_anything_else_makes_no_commit() {
    for files in ["5", "[]", "null", r#"{"a":5}"#, r#"{"a":true}"#, r#"{"a":["x"]}"#, r#"{"a":{}}"#]
    {
        assert!(edits(&data(&format!(r#"{{"files":{files}}}"#))).is_none(), "{files}");
    }
}

#[test]
fn open_fields_are_a_map_or_nothing() {
    assert_eq!(fields(&data("{}")), Some(Map::new()));
    assert_eq!(fields(&data(r#"{"fields":null}"#)), Some(Map::new()));
    assert_eq!(fields(&data(r#"{"fields":{"a":1}}"#)).map(|map| map.len()), Some(1));
    assert_eq!(fields(&data(r#"{"fields":[1]}"#)), None);
}

#[test]
fn a_call_names_the_agent_that_is_called() {
    let called = |payload: &str| called_agent(&Request::new(Path::root(), "spawn", data(payload)));
    assert_eq!(called(r#"{"input":{"call":"Writer.draft"}}"#).as_deref(), Some("writer"));
    assert_eq!(called(r#"{"input":{"call":"writer"}}"#), None);
    assert_eq!(called(r#"{"input":{"call":5}}"#), None);
    assert_eq!(called(r#"{"input":"Writer.draft"}"#), None);
    let long = format!(r#"{{"input":{{"call":"{}.draft"}}}}"#, "x".repeat(STEM_BYTES_MAX + 1));
    assert_eq!(called(&long), None, "its name would be too long for a branch");
}

#[test]
fn the_names_of_children_of_children_stay_short_enough() {
    let longest = AgentName::parse(&"a".repeat(63)).expect("a valid name");
    assert_eq!(stem(&longest).len(), STEM_BYTES_MAX);
    let child = format!("{}-{}", stem(&longest), "0".repeat(8));
    assert!(AgentName::parse(&child).is_ok(), "{child}");
    assert_eq!(stem(&AgentName::parse("bob").expect("a valid name")), "bob");
}

#[test]
fn what_a_child_came_to_is_an_answer() {
    let failure = ProgramFailure::new("no-bread", "there is none");
    assert_eq!(answer_of(&End::Done(Value::Int(1))), RequestAnswer::Ok(Value::Int(1)));
    assert_eq!(answer_of(&End::Failed(failure.clone())), RequestAnswer::Failed(failure));
    let RequestAnswer::Failed(cancelled) = answer_of(&End::Cancelled) else { panic!("a failure") };
    assert_eq!(cancelled.code, "cancelled");
}

#[test]
fn a_fault_of_the_store_is_none_of_the_programs_business() {
    let full = agentic_store::Error::io("write", std::path::Path::new("x"));
    let fault = full(std::io::ErrorKind::StorageFull.into());
    assert!(executed(Err(fault.into())).is_err(), "it has no answer, and is performed again");
    let refused = crate::error::ProgramError::BadRequest { reason: "no".to_owned() };
    let answered = executed(Err(refused.into())).expect("the program caused it");
    let PerformedEffect::Answered(RequestAnswer::Failed(failure), _) = answered else {
        panic!("it is a failure that the program can catch")
    };
    assert_eq!(failure.code, "refused");
}
