//! Holds that a person at the client decides, and what decides nothing.

use serde_json::{Value as Json, json};

use crate::line::{LineClient, McpPlace, code_of};

const NOT_ALLOWED: i64 = 9;

fn forms() -> Json {
    json!({ "elicitation": { "form": {} } })
}

/// Starts a session of an agent that asks, and returns its request.
fn held(place: &McpPlace, agent: &str) -> String {
    let mut client = place.writing(agent);
    let flow = json!({ "flow": "hold(\"Call decide, and approve\").value" });
    let session = client.answer("session_start", flow);
    client.end();
    session["pending"][0].as_str().expect("it is held").to_owned()
}

fn offer(client: &mut LineClient, request: &str) -> Json {
    let params = json!({ "name": "decide", "arguments": { "request": request } });
    client.ask("tools/call", params, &forms())
}

fn state(client: &mut LineClient, request: &str) -> String {
    let offered = offer(client, request);
    offered["result"]["requestState"].as_str().expect("a state").to_owned()
}

fn reply(client: &mut LineClient, request: &str, state: &str, response: Json) -> Json {
    let params = json!({
        "name": "decide",
        "arguments": { "request": request },
        "requestState": state,
        "inputResponses": { request: response },
    });
    client.ask("tools/call", params, &forms())
}

fn approval() -> Json {
    json!({ "action": "accept", "content": { "action": "approve" } })
}

/// Checks that a state which `make` makes of a good one decides nothing.
#[track_caller]
fn check(make: impl FnOnce(&mut LineClient, String) -> String) {
    let place = McpPlace::new();
    let request = held(&place, "alice");
    let mut client = place.deciding(None);
    let good = state(&mut client, &request);
    let head = place.head("alice");
    let bad = make(&mut client, good);
    let answer = reply(&mut client, &request, &bad, approval());
    assert_eq!(code_of(&answer), NOT_ALLOWED, "{answer}");
    assert_eq!(place.head("alice"), head);
    client.end();
}

#[test]
fn a_state_that_was_forged_decides_nothing() {
    check(|_, good| {
        let flipped = if good.ends_with('0') { "1" } else { "0" };
        format!("{}{flipped}", &good[..good.len() - 1])
    });
}

#[test]
fn a_state_that_is_none_decides_nothing() {
    check(|_, _| "é".repeat(40));
}

#[test]
fn a_state_of_another_request_decides_nothing() {
    let place = McpPlace::new();
    let (request, other) = (held(&place, "alice"), held(&place, "bob"));
    let mut client = place.deciding(None);
    let foreign = state(&mut client, &other);
    let answer = reply(&mut client, &request, &foreign, approval());
    assert_eq!(code_of(&answer), NOT_ALLOWED, "{answer}");
    client.end();
}

#[test]
fn a_state_that_came_back_once_decides_nothing() {
    let place = McpPlace::new();
    let request = held(&place, "alice");
    let mut client = place.deciding(None);
    let used = state(&mut client, &request);
    let closed = reply(&mut client, &request, &used, json!({ "action": "cancel" }));
    assert_eq!(closed["result"]["isError"], true);
    assert_eq!(code_of(&reply(&mut client, &request, &used, approval())), NOT_ALLOWED);
    // A new form of the same hold decides.
    let good = state(&mut client, &request);
    let done = reply(&mut client, &request, &good, approval());
    assert_eq!(done["result"]["structuredContent"]["state"], "done", "{done}");
    client.end();
}

#[test]
fn a_state_from_before_the_session_moved_decides_nothing() {
    let place = McpPlace::new();
    let request = held(&place, "alice");
    let mut client = place.deciding(None);
    let stale = state(&mut client, &request);
    let good = state(&mut client, &request);
    let done = reply(&mut client, &request, &good, json!({ "action": "decline" }));
    assert_eq!(done["result"]["structuredContent"]["action"], "reject", "{done}");
    let head = place.head("alice");
    let late = reply(&mut client, &request, &stale, approval());
    assert_eq!((late["result"]["isError"].clone(), place.head("alice")), (json!(true), head));
    client.end();
}

#[test]
fn an_agent_does_not_decide_what_it_asks() {
    let place = McpPlace::new();
    let request = held(&place, "alice");
    let mut client = place.deciding(Some("alice"));
    assert_eq!(code_of(&offer(&mut client, &request)), NOT_ALLOWED);
    client.end();
    // Nor by a form that another server made.
    let mut person = place.deciding(None);
    let good = state(&mut person, &request);
    person.end();
    let mut client = place.deciding(Some("alice"));
    assert_eq!(code_of(&reply(&mut client, &request, &good, approval())), NOT_ALLOWED);
    client.end();
}

#[test]
fn no_argument_of_the_tool_is_an_answer() {
    let place = McpPlace::new();
    let request = held(&place, "alice");
    let mut client = place.deciding(None);
    for field in ["action", "value", "answer"] {
        let mut arguments = json!({ "request": request });
        arguments[field] = json!("approve");
        assert_eq!(client.call("decide", arguments)["error"]["code"], -32602);
    }
    // Without a form there is nobody to ask.
    let answer = client.call("decide", json!({ "request": request }));
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert_eq!(client.answer("pending", json!({}))["items"][0]["request"], json!(request));
    client.end();
}
