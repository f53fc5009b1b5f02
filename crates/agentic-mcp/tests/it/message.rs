//! What is no message, or none of ours.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::line::{McpPlace, call_line};

const CANCELLED: &str = "notifications/cancelled";

/// Checks what a line is answered with, at a server that was asked something before.
#[track_caller]
fn check(line: &str, code: i64) {
    let place = McpPlace::new();
    let mut client = place.reading();
    client.answer("agents", json!({}));
    client.raw(line.as_bytes());
    let answer = client.take();
    assert_eq!(answer["error"]["code"], code, "{answer}");
    // Whatever it was, the next request is answered.
    client.answer("agents", json!({}));
    client.end();
}

#[test]
fn what_is_no_json_is_a_parse_error() {
    check("{", -32700);
}

#[test]
fn a_batch_is_no_request() {
    check(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600);
}

#[test]
fn parameters_in_a_list_are_none() {
    check(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["agents",{}]}"#, -32600);
    check(r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}"#, -32600);
}

#[test]
fn an_id_beyond_64_bits_is_none() {
    check(r#"{"jsonrpc":"2.0","id":18446744073709551616,"method":"ping"}"#, -32600);
}

#[test]
fn a_very_long_id_is_none() {
    let id = "x".repeat(1 << 20);
    check(&format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"ping"}}"#), -32600);
}

#[test]
fn a_message_beyond_four_mebibytes_is_not_kept() {
    let text = "x".repeat(4 << 20);
    check(
        &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":"{text}"}}}}"#),
        -32600,
    );
}

#[test]
fn notifications_before_anything_was_asked_are_passed_over() {
    let place = McpPlace::new();
    let mut client = place.reading();
    client.raw(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    client.raw(br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    client.raw(br#"{"jsonrpc":"2.0","id":4,"result":{}}"#);
    client.answer("agents", json!({}));
    client.end();
}

#[test]
fn a_closed_stream_ends_the_server_within_a_second() {
    let place = McpPlace::new();
    let mut client = place.writing("alice");
    client.answer("trace_add", json!({ "text": "x" }));
    let began = Instant::now();
    client.end();
    assert!(began.elapsed() < Duration::from_secs(1));
}

#[test]
fn what_is_too_deep_is_answered_with_its_id() {
    let place = McpPlace::new();
    let mut client = place.reading();
    client.answer("agents", json!({}));
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let line = format!(r#"{{"jsonrpc":"2.0","params":{{"id":1,"x":{deep}}},"id":"deep"}}"#);
    client.raw(line.as_bytes());
    let answer = client.take();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("deep"), &json!(-32600)));
    client.end();
    check(&"[".repeat(200), -32700);
}

#[test]
fn what_no_text_or_number_can_be_is_named() {
    for value in [r#""\ud800""#, "1e999"] {
        let place = McpPlace::new();
        let mut client = place.reading();
        client.answer("agents", json!({}));
        let line =
            format!(r#"{{"jsonrpc":"2.0","id":"n","method":"ping","params":{{"x":{value}}}}}"#);
        client.raw(line.as_bytes());
        let answer = client.take();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("n"), &json!(-32600)));
        assert!(!answer["error"]["message"].to_string().contains("levels"), "{answer}");
        client.end();
    }
}

#[test]
fn methods_with_other_parameters_are_known() {
    for method in ["tasks/update", "tasks/get", "subscriptions/listen"] {
        let line =
            format!(r#"{{"jsonrpc":"2.0","id":"m","method":"{method}","params":{{"x":1}}}}"#);
        check(&line, -32602);
    }
}

#[test]
fn an_id_is_free_again_when_it_was_answered() {
    let place = McpPlace::new();
    let mut client = place.writing("alice");
    client.answer("agents", json!({}));
    for text in ["once", "twice"] {
        client.raw(call_line("one", "trace_add", json!({ "text": text })).as_bytes());
        let answer = client.take();
        assert!(answer["result"].is_object(), "{answer}");
    }
    client.end();
}

#[test]
fn whoever_gives_calls_up_hears_of_all_that_was_written() {
    let place = McpPlace::new();
    let head = place.head("alice");
    let mut client = place.writing("alice");
    client.answer("agents", json!({}));
    for n in 0..12 {
        let files = json!({ "n": n.to_string() });
        let id = format!("c{n}");
        let call = call_line(&id, "commit", json!({ "message": "m", "files": files }));
        let given_up = json!({ "requestId": id });
        let give_up = json!({ "jsonrpc": "2.0", "method": CANCELLED, "params": given_up });
        client.raw(format!("{call}\n{give_up}").as_bytes());
    }
    let rest = client.rest();
    let told = rest.iter().filter(|answer| answer["result"]["isError"] == false).count();
    assert_eq!(told, rest.len(), "what wrote nothing is not answered: {rest:?}");
    let range = format!("{}..agents/alice", head.trim());
    let written = place.sandbox.git(place.sandbox.start(), &["rev-list", "--count", &range]);
    assert_eq!(written.expect("it counts").trim(), told.to_string());
}
