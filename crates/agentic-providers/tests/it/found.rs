//! What a file held before it was written, told again by a call that is made again after a crash.

use std::fs;

use agentic_model::{Instant, Value, json};
use agentic_providers::configuration::Configuration;
use agentic_providers::host::CancelFlag;
use agentic_providers::provider::{CallStamp, Providers};
use agentic_replay::{RequestAnswer, RequestId};

use crate::tool::{World, request, world};

/// Makes a call once more, after a crash: with what was found before it was made first.
fn call_again(world: &World, method: &str, args: &str, previous: Option<&str>) -> String {
    let configuration = world.inside().join("agentic.toml");
    let configuration = Configuration::parse("", &configuration).expect("it is empty");
    let found = Value::map([("previous", previous.map_or(Value::Null, Value::text))]);
    let stamp = CallStamp {
        session: "test".to_owned(),
        request_id: RequestId::from_bytes([7; 32]),
        at: Instant::from_millis(0),
        found: Some(found),
    };
    let request = request("file://workspace", method, args);
    let providers = Providers::configured(configuration);
    match providers.perform(&request, &stamp, &CancelFlag::new()) {
        Some(RequestAnswer::Ok(value)) => {
            value.get("json").and_then(Value::as_text).expect("a result is JSON").to_owned()
        }
        Some(RequestAnswer::Failed(failure)) => format!("{}: {}", failure.code, failure.message),
        other => format!("{other:?}"),
    }
}

#[test]
fn what_is_written_once_more_replaces_what_was_found_first() {
    let world = world("");
    let read = || fs::read_to_string(world.inside().join("a.txt")).expect("it is there");
    let write = r#"[{"path":"a.txt","content":"new"}]"#;
    for _ in 0..2 {
        let again = call_again(&world, "write", write, Some("old"));
        assert!(again.ends_with(r#""existed":true,"previous":"old"}]}"#), "{again}");
        let again = call_again(&world, "write", write, None);
        assert!(again.ends_with(r#""existed":false,"previous":null}]}"#), "{again}");
    }
    assert_eq!(read(), "new");
    // A patch is made once: where it was, nothing is left to do.
    let patch = r#"[{"path":"a.txt","search":"e","replace":"ee"}]"#;
    for _ in 0..3 {
        let again = call_again(&world, "patch", patch, Some("new"));
        assert!(again.ends_with(r#""previous":"new"}]}"#), "{again}");
        assert_eq!(read(), "neew");
    }
    fs::write(world.inside().join("a.txt"), "by somebody else").expect("ours");
    let again = call_again(&world, "patch", patch, Some("new"));
    assert_eq!(again, "refused: `a.txt` was changed by somebody else meanwhile");
    assert_eq!(read(), "by somebody else");
}

#[test]
fn a_look_finds_what_a_write_replaces_and_changes_nothing() {
    let world = world("");
    let configuration = world.inside().join("agentic.toml");
    let configuration = Configuration::parse("", &configuration).expect("it is empty");
    let providers = Providers::configured(configuration);
    let look = |method: &str, args: &str| {
        let looked = providers.look(&request("file://workspace", method, args));
        match looked {
            Ok(found) => found.map_or("nothing".to_owned(), |found| json::to_text(&found)),
            Err(RequestAnswer::Failed(failure)) => failure.message,
            Err(other) => format!("{other:?}"),
        }
    };
    let new = r#"[{"path":"deep/new/x","content":"x"}]"#;
    assert_eq!(look("write", new), r#"{"previous":null}"#);
    assert!(!world.inside().join("deep").exists());
    let old = r#"[{"path":"a.txt","search":"x","replace":"y"}]"#;
    assert_eq!(look("patch", old), r#"{"previous":"one\ntwo\nthree\n"}"#);
    assert_eq!(look("read", old), "nothing");
    assert_eq!(look("undo", "[[]]"), "nothing");
    for (path, part) in [("../outside/secret", "escapes"), (".git/config", "git"), ("src", "file")]
    {
        let said = look("write", &format!(r#"[{{"path":"{path}","content":"x"}}]"#));
        assert!(said.contains(part), "{path}: {said}");
    }
}
