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

#[test]
fn what_is_found_is_read_page_by_page() {
    let place = McpPlace::new();
    let mut client = place.writing("bob");
    for number in 0..5 {
        client.answer("trace_add", json!({ "text": format!("kestrel {number} was seen") }));
    }
    let whole = client.answer("search", json!({ "query": "kestrel" }));
    assert_eq!(whole["items"].as_array().map(Vec::len), Some(5), "{whole}");
    assert_eq!((&whole["more"], &whole["next"]), (&json!(false), &json!(null)), "{whole}");
    let (mut items, mut after) = (Vec::new(), None);
    loop {
        let mut asked = json!({ "query": "kestrel", "limit": 2 });
        if let Some(after) = after {
            asked["after"] = after;
        }
        let page = client.answer("search", asked);
        items.extend(page["items"].as_array().expect("a list").clone());
        assert_eq!(page["more"], json!(page["next"].is_string()), "{page}");
        match page["next"].is_string() {
            true => after = Some(page["next"].clone()),
            false => break,
        }
    }
    assert_eq!(json!(items), whole["items"]);
    assert_eq!(client.refusal("search", json!({ "query": "kestrel", "after": "nothing" })), 2);
    client.end();
}
