//! What tools answer fits what they say that they answer.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use crate::line::McpPlace;

#[test]
fn answers_and_refusals_fit_the_schema_of_their_tool() {
    let place = McpPlace::new();
    let mut client = place.writing("alice");
    let listed = client.ask("tools/list", json!({}), &json!({}));
    let tools = listed["result"]["tools"].as_array().expect("a list");
    let schemas: BTreeMap<&str, jsonschema::Validator> = tools
        .iter()
        .map(|tool| {
            let schema = jsonschema::validator_for(&tool["outputSchema"]).expect("a schema");
            (tool["name"].as_str().expect("a name"), schema)
        })
        .collect();
    let mut check = |tool: &str, arguments: Json| {
        let answer = client.call(tool, arguments);
        let data = &answer["result"]["structuredContent"];
        assert!(data.is_object(), "{tool}: {answer}");
        let faults: Vec<String> =
            schemas[tool].iter_errors(data).map(|fault| fault.to_string()).collect();
        assert!(faults.is_empty(), "{tool}: {faults:?} in {data}");
        data.clone()
    };
    check("commit", json!({ "message": "Add a", "files": { "a": "b" }, "fields": { "n": 1 } }));
    check("commit", json!({ "message": "Again", "files": {} }));
    check("trace_add", json!({ "text": "looked" }));
    check("relate", json!({ "relation": "reviews", "target": "bob" }));
    check("spawn", json!({ "name": "carl", "briefing": "x" }));
    check("spawn", json!({ "name": "carl", "briefing": "x" }));
    let held = check("session_start", json!({ "flow": "hold(\"Go?\").value" }));
    check("session_start", json!({ "flow": "throw \"broken\"" }));
    check("ask_human", json!({ "question": "Ship it?", "choices": ["yes", "no"] }));
    check("session", json!({ "session": held["session"], "limit": 1 }));
    check("session_cancel", json!({ "session": held["session"], "reason": "enough" }));
    check("session_signal", json!({ "session": held["session"], "name": "x" }));
    for (tool, arguments) in [
        ("agents", json!({})),
        ("agent", json!({ "agent": "alice" })),
        ("agent", json!({ "agent": "nobody" })),
        ("log", json!({ "limit": 1 })),
        ("show", json!({ "id": "alice" })),
        ("trace", json!({ "id": "alice" })),
        ("relations", json!({})),
        ("sessions", json!({})),
        ("pending", json!({})),
        ("query", json!({ "text": "? commit(agent: A, kind: K)." })),
        ("query", json!({ "text": "? nonsense" })),
        ("search", json!({ "query": "work" })),
        ("search", json!({ "query": "after:soon" })),
    ] {
        check(tool, arguments);
    }
    client.end();
}
