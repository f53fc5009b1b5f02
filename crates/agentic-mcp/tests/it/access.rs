//! Who writes, and as whom.

use agentic_api::verb::{AfterDecision, Decide, HoldAnswer};
use agentic_api::{Caller, Verb as _};
use agentic_session::decide::{Action, ApprovalScope};
use serde_json::{Value as Json, json};

use crate::line::{McpPlace, call_line, code_of};

const NOT_ALLOWED: i64 = 9;
const USAGE: i64 = 2;
const SCHEMA: i64 = 7;

#[track_caller]
fn check(tool: &str, mut arguments: Json) {
    let place = McpPlace::new();
    let heads = (place.head("alice"), place.head("bob"));
    arguments["agent"] = json!("bob");
    let mut client = place.writing("alice");
    assert_eq!(client.refusal(tool, arguments.clone()), NOT_ALLOWED);
    client.end();
    // A server of nobody writes as nobody.
    let mut client = place.deciding(None);
    assert_eq!(client.refusal(tool, arguments), USAGE);
    client.end();
    assert_eq!((place.head("alice"), place.head("bob")), heads);
}

#[test]
fn a_commit_is_the_servers_own() {
    check("commit", json!({ "message": "x", "files": { "a": "b" } }));
}

#[test]
fn a_trace_is_the_servers_own() {
    check("trace_add", json!({ "text": "x" }));
}

#[test]
fn a_relation_is_the_servers_own() {
    check("relate", json!({ "relation": "reviews", "target": "alice" }));
}

#[test]
fn a_session_is_the_servers_own() {
    check("session_start", json!({ "flow": "1" }));
}

#[test]
fn a_question_is_the_servers_own() {
    check("ask_human", json!({ "question": "Ship it?" }));
}

#[test]
fn sessions_of_other_agents_are_not_stopped_and_hear_no_signals() {
    let place = McpPlace::new();
    let mut bob = place.writing("bob");
    let held = bob.answer("session_start", json!({ "flow": "hold(\"Go?\").value" }));
    bob.end();
    let session = &held["session"];
    let mut alice = place.writing("alice");
    let stop = json!({ "session": session, "reason": "x" });
    assert_eq!(alice.refusal("session_cancel", stop), NOT_ALLOWED);
    let signal = json!({ "session": session, "name": "x" });
    assert_eq!(alice.refusal("session_signal", signal), NOT_ALLOWED);
    let tasks = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let cancelled = alice.ask("tasks/cancel", json!({ "taskId": session }), &tasks);
    assert_eq!(cancelled["error"]["data"]["error"]["code"], NOT_ALLOWED, "{cancelled}");
    let seen = alice.answer("session", json!({ "session": session }));
    assert_eq!(seen["state"], "held");
    alice.end();
}

#[test]
fn a_server_that_only_reads_has_no_tool_that_writes() {
    let place = McpPlace::new();
    let mut client = place.reading();
    let listed = client.ask("tools/list", json!({}), &json!({}));
    let tools = listed["result"]["tools"].as_array().expect("a list").clone();
    assert!(tools.iter().all(|tool| tool["annotations"]["readOnlyHint"] == true), "{tools:?}");
    let answer = client.call("commit", json!({ "message": "x" }));
    assert_eq!((answer["error"]["code"].as_i64(), code_of(&answer)), (Some(-32602), 0));
    client.end();
}

#[test]
fn a_server_that_only_reads_stops_no_task() {
    let place = McpPlace::new();
    let mut bob = place.writing("bob");
    let asked = bob.answer("ask_human", json!({ "question": "Go?" }));
    bob.end();
    let (task, head) = (&asked["session"], place.head("bob"));
    let tasks = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let mut client = place.reading_as("bob");
    for (method, params) in [
        ("tasks/cancel", json!({ "taskId": task })),
        ("tasks/update", json!({ "taskId": task, "inputResponses": {} })),
    ] {
        let answer = client.ask(method, params, &tasks);
        assert_eq!(answer["error"]["data"]["error"]["code"], NOT_ALLOWED, "{answer}");
    }
    assert_eq!(client.answer("session", json!({ "session": task }))["state"], "held");
    assert_eq!(place.head("bob"), head);
    client.end();
}

#[test]
fn null_is_no_value_of_a_field_and_no_field_is_unknown_for_it() {
    let place = McpPlace::new();
    let mut client = place.writing("alice");
    for (tool, arguments) in [
        ("log", json!({ "agent": "alice", "limit": null })),
        ("agents", json!({ "after": null })),
        ("agents", json!({ "x": null })),
        ("trace_add", json!({ "text": null })),
    ] {
        assert_eq!(client.call(tool, arguments.clone())["error"]["code"], -32602, "{arguments}");
    }
    // A value may be null.
    let held = client.answer("ask_human", json!({ "question": "Go?", "payload": null }));
    assert_eq!(held["state"], "held");
    client.end();
}

#[test]
fn nobody_is_asked_for_what_they_could_not_approve() {
    let place = McpPlace::new();
    let mut client = place.writing("alice");
    let ask = |length: usize| json!({ "question": "Go?", "payload": "x".repeat(length) });
    assert_eq!(client.refusal("ask_human", ask((1 << 20) - (16 << 10))), SCHEMA);
    let held = client.answer("ask_human", ask((1 << 20) - (17 << 10)));
    assert_eq!(held["state"], "held");
    client.end();
    let space = place.space();
    let verb = Decide {
        request: held["request"].as_str().expect("a request").to_owned(),
        node: None,
        answer: HoldAnswer::Act {
            action: Action::Approve,
            value: None,
            scope: ApprovalScope::Once,
        },
        why: "x".repeat(8 << 10),
        expect: None,
        by: None,
        seen: None,
        then: AfterDecision::GoOn,
        for_person: None,
        grant: None,
    };
    verb.run(&Caller::new(&space, place.sandbox.start())).expect("it can be approved");
}

#[test]
fn what_is_too_long_for_a_message_is_cut_and_hides_nothing_behind_it() {
    let place = McpPlace::new();
    let mut client = place.writing("alice");
    let long =
        "let s = \"\\x01\"; for i in 0..18 { s += s; } hold(\"Long\", #{payload: [s, s, s]})";
    let begun = client.answer("session_start", json!({ "flow": long }));
    assert!(begun["session"].is_string(), "{begun:.200}");
    client.answer("session_start", json!({ "flow": "hold(\"Short\")" }));
    for limit in [1, 50] {
        let (mut questions, mut after) = (Vec::new(), None);
        loop {
            let mut given = json!({ "limit": limit });
            if let Some(after) = after {
                given["after"] = after;
            }
            let page = client.answer("pending", given);
            let items = page["items"].as_array().expect("a list");
            questions.extend(items.iter().map(|hold| hold["question"].clone()));
            after = page.get("next").cloned();
            if after.is_none() {
                break;
            }
        }
        assert_eq!(questions, ["Long", "Short"]);
    }
    client.end();
}

#[test]
fn a_list_of_resources_is_short_whatever_is_asked() {
    let place = McpPlace::new();
    let mut client = place.writing("alice");
    for n in 0..5 {
        let question = format!("{n}\u{1b}[31m\n{}", "x".repeat(900_000));
        client.answer("ask_human", json!({ "question": question }));
    }
    let listed = client.ask("resources/list", json!({}), &json!({}));
    let holds = listed["result"]["resources"].as_array().expect("a list");
    assert!(holds.len() >= 5 && listed.to_string().len() < 8_000, "{listed:.500}");
    assert!(!listed.to_string().contains("\\u001b"), "{listed:.500}");
    client.end();
}

#[test]
fn a_field_of_a_commit_has_a_name() {
    let place = McpPlace::new();
    let mut client = place.writing("alice");
    let fields = json!({ "message": "m", "files": { "a": "b" }, "fields": { "": 1 } });
    assert_eq!(client.refusal("commit", fields), USAGE);
    client.end();
}

#[test]
fn what_to_do_next_is_said_in_tools() {
    let place = McpPlace::new();
    let mut client = place.writing("alice");
    for (tool, arguments, next) in [
        ("commit", json!({ "message": "m", "files": {} }), "send `files`"),
        ("commit", json!({ "message": "m" }), "send `files`"),
        ("trace", json!({ "id": place.head("alice").trim() }), "`trace_add`"),
        ("log", json!({ "agent": "zoe" }), "`spawn` makes one"),
    ] {
        let call = client.call(tool, arguments.clone());
        let hint = call["result"]["structuredContent"]["error"]["hint"].as_str();
        assert!(hint.is_some_and(|hint| hint.contains(next)), "{arguments}: {call}");
        assert!(!call.to_string().contains("--"), "{call}");
    }
    client.end();
}

#[test]
fn a_whole_number_beyond_64_bits_is_refused_and_not_changed() {
    let place = McpPlace::new();
    let head = place.head("alice");
    let mut client = place.writing("alice");
    client.answer("agents", json!({}));
    let fields = json!({ "message": "m", "files": { "a": "b" }, "fields": { "x": 7 } });
    let line = call_line("n", "commit", fields).replace("\"x\":7", "\"x\":18446744073709551617");
    client.raw(line.as_bytes());
    let answer = client.take();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("n"), &json!(-32602)));
    assert_eq!(place.head("alice"), head);
    client.end();
}

#[test]
fn a_repository_that_went_away_is_not_written_to_and_ends_the_server() {
    let place = McpPlace::new();
    let git = place.sandbox.start().join(".git");
    let aside = place.sandbox.start().join("aside");
    let mut client = place.writing("alice");
    client.answer("trace_add", json!({ "text": "x" }));
    std::fs::rename(&git, &aside).expect("it moves");
    assert_eq!(client.refusal("trace_add", json!({ "text": "y" })), 1);
    let end = client.outcome().expect_err("it does not serve another repository");
    assert!(end.to_string().contains("gone"), "{end}");
    assert!(!git.exists(), "nothing is made there");
}
