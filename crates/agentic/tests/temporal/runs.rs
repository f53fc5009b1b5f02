//! The same programs, sessions and verbs as in the embedded engine.

use serde_json::Value as Json;

use crate::stage::{Stage, errors, sandbox, say};

/// Lists what a session asked: the ids of its requests and how they were answered.
fn asked(shown: &Json) -> Vec<(Json, Json)> {
    let requests = shown["requests"].as_array().expect("it lists its requests");
    requests.iter().map(|request| (request["id"].clone(), request["answer"].clone())).collect()
}

#[test]
fn a_run_is_the_same_as_in_the_embedded_engine() {
    let stage = Stage::new();
    let said = stage.ends("agentic flow run plain.as --sibyl-addr $S --run-id k", 0);
    assert_eq!(said, "A\n");
    assert_eq!(stage.ends("agentic flow run plain.as --sibyl-addr $S --run-id k", 0), "A\n");
    let here = stage.json("agentic session show run-k --json");
    let embedded = sandbox();
    let ran = say(
        &embedded,
        "",
        "agentic flow run plain.as --run-id k >&2 && agentic session show run-k --json",
    );
    let there: Json = serde_json::from_slice(&ran.stdout).expect("it is JSON");
    assert_eq!(here["session"], there["session"], "{}", errors(&ran));
    assert_eq!(asked(&here), asked(&there));
    assert!(!asked(&here).is_empty());
    stage.ends("agentic session verify run-k", 0);
}

#[test]
fn a_session_has_one_host() {
    let stage = Stage::new();
    stage.ends("agentic flow run asking.as --sibyl-addr $S --run-id k", 4);
    stage.ends("agentic flow run asking.as --run-id k", 11);
    assert_eq!(stage.ends("agentic session tick --json", 0).trim(), "[]");
    stage.ends("agentic flow run asking.as --sibyl-addr 127.0.0.1:1 --run-id other", 11);
    let sessions = stage.json("agentic session list --json");
    assert_eq!(sessions.as_array().map(Vec::len), Some(1), "nothing is left of the other");
}
