//! What agents said is found by the tool, wherever they are now.

use agentic_api::verb::Archive;
use agentic_api::{Caller, Verb as _};
use serde_json::json;

use crate::line::McpPlace;

#[test]
fn what_an_archived_agent_said_is_found() {
    let place = McpPlace::new();
    let mut client = place.writing("bob");
    client.answer("trace_add", json!({ "text": "a kestrel was seen" }));
    client.answer("commit", json!({ "message": "Saw the kestrel", "files": {}, "trace": true }));
    let before = client.answer("search", json!({ "query": "kestrel" }));
    assert_eq!(before["items"].as_array().map(Vec::len), Some(2), "{before}");
    client.end();
    let space = place.space();
    let archive = Archive { agents: vec!["bob".to_owned()] };
    archive.run(&Caller::new(&space, place.sandbox.start())).expect("nobody is at it");
    let mut client = place.reading();
    let after = client.answer("search", json!({ "query": "kestrel" }));
    assert_eq!(after["items"], before["items"]);
    let briefed = client.answer("search", json!({ "query": "agent:bob in:briefing" }));
    assert_eq!(briefed["items"].as_array().map(Vec::len), Some(1), "{briefed}");
    client.end();
}
