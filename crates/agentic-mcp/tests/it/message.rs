//! What is no message, or none of ours.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::line::McpPlace;

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
