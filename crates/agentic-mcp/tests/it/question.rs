//! Questions that send a client to the page where people answer them.

use std::sync::Arc;

use agentic_api::PageFinder;
use agentic_session::SessionSpace;
use serde_json::{Value as Json, json};

use crate::line::{LineClient, McpPlace, code_of};

const NOT_ALLOWED: i64 = 9;
/// Where the page is that these tests pretend is served.
const PAGE: &str = "http://a-page.localhost:42000";

/// A page that is always served, at one address.
#[derive(Debug)]
struct SteadyPage;

impl PageFinder for SteadyPage {
    fn address(&self, _: &SessionSpace) -> Option<String> {
        Some(PAGE.to_owned())
    }
}

fn served() -> Option<Arc<dyn PageFinder>> {
    Some(Arc::new(SteadyPage))
}

fn opens_pages() -> Json {
    json!({ "elicitation": { "url": {} } })
}

fn question() -> Json {
    json!({ "name": "ask_human", "arguments": { "question": "Ship \u{202e}it?" } })
}

/// Begins as a client of an earlier revision that says it can do this.
fn begin(client: &mut LineClient, revision: &str, can: &Json) {
    let params = json!({
        "protocolVersion": revision,
        "capabilities": can,
        "clientInfo": { "name": "lines", "version": "1" },
    });
    client.send("initialize", &params);
    client.take();
    client.raw(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
}

fn is_address_of(asked: &Json, request: &Json) {
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    let params = &asked["params"];
    assert_eq!(params["mode"], "url", "{asked}");
    let request = request.as_str().expect("a request");
    assert_eq!(params["url"], format!("{PAGE}/holds/{request}"), "{asked}");
    assert_eq!(params["message"], "alice asks: Ship ⟦202E⟧it?", "{asked}");
}

/// Checks what a client of this revision is answered whose person does this with the address.
#[track_caller]
fn check_earlier(action: &str) {
    let place = McpPlace::new();
    let mut client = place.writing_beside("alice", served());
    begin(&mut client, "2025-11-25", &opens_pages());
    client.send("tools/call", &question());
    let asked = client.take();
    let reply = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": action } });
    client.raw(reply.to_string().as_bytes());
    let answer = client.take();
    let answer = &answer["result"]["structuredContent"];
    is_address_of(&asked, &answer["request"]);
    assert_eq!(answer["state"], "held", "opening a page decides nothing: {answer}");
    client.end();
}

#[test]
fn an_earlier_client_is_sent_to_the_page_and_told_of_the_hold() {
    check_earlier("accept");
}

#[test]
fn a_person_who_does_not_open_the_page_has_decided_nothing() {
    check_earlier("decline");
}

#[test]
fn a_person_who_closes_the_address_has_decided_nothing() {
    check_earlier("cancel");
}

#[test]
fn a_client_of_the_newest_revision_is_sent_to_the_page_and_asks_once() {
    let place = McpPlace::new();
    let mut client = place.writing_beside("alice", served());
    let asked = client.ask("tools/call", question(), &opens_pages());
    let sent = &asked["result"];
    assert_eq!(sent["resultType"], "input_required", "{asked}");
    let requests = sent["inputRequests"].as_object().expect("requests");
    let (request, input) = requests.iter().next().expect("one request");
    is_address_of(input, &json!(request));
    let mut again = question();
    again["requestState"] = sent["requestState"].clone();
    again["inputResponses"] = json!({ request: { "action": "accept" } });
    let answer = client.ask("tools/call", again, &opens_pages());
    let answer = &answer["result"]["structuredContent"];
    assert_eq!((&answer["request"], &answer["state"]), (&json!(request), &json!("held")));
    let open = client.answer("pending", json!({}));
    assert_eq!(open["items"].as_array().map(Vec::len), Some(1), "it is asked once: {open}");
    client.end();
}

#[test]
fn a_state_that_is_no_question_of_the_agent_tells_nothing() {
    let place = McpPlace::new();
    let mut bob = place.writing("bob");
    let foreign = bob.answer("ask_human", json!({ "question": "Mine?" }));
    bob.end();
    let mut client = place.writing_beside("alice", served());
    let other = client.answer("session_start", json!({ "flow": "hold(\"Go?\").value" }));
    let states =
        [foreign["session"].clone(), other["session"].clone(), json!("0".repeat(64)), json!("")];
    for state in states {
        let mut call = question();
        call["requestState"] = state;
        let answer = client.ask("tools/call", call, &opens_pages());
        assert_eq!(code_of(&answer), NOT_ALLOWED, "{answer}");
    }
    let open = client.answer("pending", json!({}));
    assert_eq!(open["items"].as_array().map(Vec::len), Some(2), "nothing was asked: {open}");
    client.end();
}

/// Checks that a client is answered at once.
#[track_caller]
fn check_plain(revision: &str, can: &Json, page: Option<Arc<dyn PageFinder>>) {
    let place = McpPlace::new();
    let mut client = place.writing_beside("alice", page);
    begin(&mut client, revision, can);
    client.send("tools/call", &question());
    let answer = client.take();
    assert_eq!(answer["result"]["structuredContent"]["state"], "held", "{answer}");
    client.end();
}

#[test]
fn a_revision_that_knows_no_addresses_is_sent_nowhere() {
    check_plain("2025-06-18", &opens_pages(), served());
}

#[test]
fn a_client_that_opens_no_pages_is_sent_nowhere() {
    check_plain("2025-11-25", &json!({ "elicitation": { "form": {} } }), served());
}

#[test]
fn without_a_page_nobody_is_sent_anywhere() {
    check_plain("2025-11-25", &opens_pages(), None);
}
