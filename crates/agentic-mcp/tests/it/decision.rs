//! Holds that a person at the client decides, and what decides nothing.

use serde_json::{Value as Json, json};

use crate::line::{LineClient, McpPlace, call_line, code_of};

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

#[test]
fn a_state_is_good_in_one_spelling() {
    check(|_, good| good.to_uppercase());
    check(|_, good| format!("{}{}", &good[..64], good[64..].to_uppercase()));
}

#[test]
fn a_form_that_was_closed_at_one_server_decides_nothing_at_another() {
    let place = McpPlace::new();
    let request = held(&place, "alice");
    let mut client = place.deciding(None);
    let used = state(&mut client, &request);
    let closed = reply(&mut client, &request, &used, json!({ "action": "cancel" }));
    assert_eq!(closed["result"]["isError"], true);
    client.end();
    let head = place.head("alice");
    let mut client = place.deciding(None);
    let late = reply(&mut client, &request, &used, approval());
    assert_eq!((code_of(&late), place.head("alice")), (NOT_ALLOWED, head), "{late}");
    client.end();
}

#[test]
fn a_server_of_an_agent_puts_holds_of_others_before_the_person() {
    let place = McpPlace::new();
    let request = held(&place, "alice");
    let mut client = place.deciding(Some("bob"));
    let good = state(&mut client, &request);
    let done = reply(&mut client, &request, &good, approval());
    assert_eq!(done["result"]["structuredContent"]["state"], "done", "{done}");
    client.end();
}

/// Begins as an earlier client that shows forms, and returns the form of a hold that it is asked to show.
fn asked(client: &mut LineClient, request: &str) -> Json {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": forms(),
        "clientInfo": { "name": "lines", "version": "1" },
    });
    client.send("initialize", &params);
    client.take();
    client.raw(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let call = json!({
        "jsonrpc": "2.0",
        "id": "decision",
        "method": "tools/call",
        "params": { "name": "decide", "arguments": { "request": request } },
    });
    client.raw(call.to_string().as_bytes());
    let asked = client.take();
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    asked
}

#[test]
fn a_call_that_was_given_up_while_the_form_was_shown_decides_nothing() {
    let place = McpPlace::new();
    let request = held(&place, "alice");
    let head = place.head("alice");
    let mut client = place.deciding(None);
    let form = asked(&mut client, &request);
    let give_up = json!({
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": { "requestId": "decision" },
    });
    client.raw(give_up.to_string().as_bytes());
    let accept = json!({ "jsonrpc": "2.0", "id": form["id"], "result": approval() });
    client.raw(accept.to_string().as_bytes());
    // What was given up is not answered; what is asked next is.
    assert_eq!(client.answer("pending", json!({}))["items"][0]["request"], json!(request));
    assert_eq!(place.head("alice"), head);
    client.end();
}

#[test]
fn a_call_with_an_id_that_is_in_use_is_refused_and_does_nothing() {
    let place = McpPlace::new();
    let request = held(&place, "alice");
    let mut client = place.deciding(Some("bob"));
    let form = asked(&mut client, &request);
    client.raw(call_line("decision", "trace_add", json!({ "text": "x" })).as_bytes());
    let second = client.take();
    assert_eq!((&second["id"], &second["error"]["code"]), (&json!("decision"), &json!(-32600)));
    let reply = json!({ "jsonrpc": "2.0", "id": form["id"], "result": approval() });
    client.raw(reply.to_string().as_bytes());
    let first = client.take();
    assert_eq!(first["result"]["structuredContent"]["state"], "done", "{first}");
    let noted = client.answer("trace_add", json!({ "text": "y" }));
    assert_eq!(noted["pending"], 1, "the second was not done: {noted}");
    client.end();
}

#[test]
fn a_task_takes_answers_to_what_it_has_shown_itself() {
    let place = McpPlace::new();
    let (request, other) = (held(&place, "alice"), held(&place, "bob"));
    let mut client = place.deciding(None);
    let can = json!({
        "elicitation": { "form": {} },
        "extensions": { "io.modelcontextprotocol/tasks": {} },
    });
    let task = |client: &mut LineClient, request: &str| {
        let open = client.answer("pending", json!({}));
        let holds = open["items"].as_array().expect("a list");
        let hold = holds.iter().find(|hold| hold["request"] == request).expect("it is open");
        let shown = client.ask("tasks/get", json!({ "taskId": hold["session"] }), &can);
        assert_eq!(shown["result"]["status"], "input_required", "{shown}");
        hold["session"].clone()
    };
    let (own, foreign) = (task(&mut client, &request), task(&mut client, &other));
    let heads = (place.head("alice"), place.head("bob"));
    let update = |client: &mut LineClient, task: &Json| {
        let responses = json!({ &request: approval() });
        client.ask("tasks/update", json!({ "taskId": task, "inputResponses": responses }), &can)
    };
    for task in [&json!("nonsense"), &json!("0".repeat(64)), &foreign] {
        let answer = update(&mut client, task);
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    assert_eq!((place.head("alice"), place.head("bob")), heads);
    let answer = update(&mut client, &own);
    assert!(answer["error"].is_null(), "{answer}");
    assert_ne!(place.head("alice"), heads.0);
    client.end();
}

#[test]
fn a_hold_of_others_has_no_form_and_a_task_shows_those_that_are_ours() {
    let place = McpPlace::new();
    let mut client = place.writing("alice");
    let ask = "all([||hold(\"A\", #{assignees: [\"user:zoe\"]}), ||hold(\"B\"), ||hold(\"C\")])";
    let session = client.answer("session_start", json!({ "flow": ask }));
    client.end();
    let mut client = place.deciding(None);
    let holds = client.answer("pending", json!({}))["items"].as_array().expect("a list").clone();
    let request = |question: &str| {
        let hold = holds.iter().find(|hold| hold["question"] == question).expect("it is open");
        hold["request"].as_str().expect("a text").to_owned()
    };
    let refused = offer(&mut client, &request("A"));
    assert_eq!(code_of(&refused), NOT_ALLOWED, "{refused}");
    let can = json!({
        "elicitation": { "form": {} },
        "extensions": { "io.modelcontextprotocol/tasks": {} },
    });
    let shown = client.ask("tasks/get", json!({ "taskId": session["session"] }), &can);
    assert_eq!(shown["result"]["status"], "input_required", "{shown}");
    let forms = shown["result"]["inputRequests"].as_object().expect("forms");
    let mut wanted = [request("B"), request("C")];
    wanted.sort();
    assert_eq!(forms.keys().cloned().collect::<Vec<_>>(), wanted, "{shown}");
    client.end();
}

#[test]
fn a_form_that_was_closed_leaves_a_word_in_the_trace() {
    let place = McpPlace::new();
    let request = held(&place, "alice");
    let mut client = place.deciding(None);
    let state = state(&mut client, &request);
    reply(&mut client, &request, &state, json!({ "action": "cancel" }));
    let found = client.answer("search", json!({ "query": "dismissed" }));
    assert!(found["items"].to_string().contains(&format!("dismissed {request}")), "{found}");
    client.end();
}
