//! Child sessions, sessions that go on as others, and signals.

use std::time::{Duration, Instant};

use crate::languages::held_by;
use crate::stage::Stage;

/// How long a session may take until it is in a state.
const PATIENCE: Duration = Duration::from_secs(60);
/// A child that asks, one that is left alone, one that nobody waits for, and one that goes on as others.
const PROGRAMS: [(&str, &str); 5] = [
    (
        "asks.rhai",
        "\"child said \" + spawn(#{name: \"bob\", briefing: \"b\", flow: \"hold(\\\"Child asks\\\").value\"})",
    ),
    (
        "first.rhai",
        "let child = |name, close| spawn(#{name: name, close: close, briefing: \"b\", flow: \"hold(\\\"Go on?\\\").value\"});
any([|| child.call(\"carol\", \"cancel\"), || child.call(\"dave\", \"abandon\"), || child.call(\"erin\", \"wait\"), || hold(\"Or?\").action])",
    ),
    (
        "on.rhai",
        "let n = if input == () { 0 } else { input };
if n >= 3 { return \"end \" + n; }
continue_with(n + 1)",
    ),
    ("signal.rhai", "[suspend(\"go\"), suspend(\"go\"), suspend(\"stop\")]"),
    (
        "fails.rhai",
        "try { spawn(#{name: \"fred\", briefing: \"b\", flow: \"throw \\\"no\\\"\"}); return \"went on\"; } catch (e) { return \"caught\"; }",
    ),
];

fn stage() -> Stage {
    let stage = Stage::new();
    for (file, text) in PROGRAMS {
        std::fs::write(stage.sandbox.start().join(file), text).expect("the sandbox is writable");
    }
    stage.ends("agentic spawn alice -m x", 0);
    stage
}

/// Starts a program as the agent of the tests; returns its session.
fn start(stage: &Stage, program: &str, code: i32) -> String {
    let line = format!(
        "agentic session start alice --flow {program}.rhai --key {program} --sibyl-addr $S --json"
    );
    let said = stage.ends(&line, code);
    let shown: serde_json::Value = serde_json::from_str(&said).expect("it is JSON");
    shown["session"].as_str().expect("it has an id").to_owned()
}

/// Waits until a session is in a state.
fn comes_to(stage: &Stage, session: &str, state: &str) {
    let show = format!("agentic session show {session} --json");
    let begun = Instant::now();
    while stage.json(&show)["state"] != state {
        assert!(begun.elapsed() < PATIENCE, "{:#}", stage.json(&show));
    }
}

/// Approves what an agent waits for.
fn approve(stage: &Stage, agent: &str) {
    let request = held_by(&stage.json("agentic pending --json"), agent);
    stage.ends(&format!("agentic decide {request} approve --as user:a"), 0);
}

#[test]
fn the_hold_of_a_child_is_decided_and_its_parent_goes_on() {
    let stage = stage();
    let parent = start(&stage, "asks", 4);
    let pending = stage.json("agentic pending --json");
    assert_eq!(pending[0]["agent"], "bob");
    assert_eq!(pending[0]["waiting"][0]["agent"], "alice");
    let request = pending[0]["request"].as_str().expect("one waits").to_owned();
    stage.ends(&format!("agentic decide {request} approve --value '\"yes\"' --as user:a"), 0);
    comes_to(&stage, &parent, "done");
    let shown = stage.json(&format!("agentic session show {parent} --json"));
    assert_eq!(shown["result"], "child said yes");
    assert_eq!(stage.ends("agentic sub-agents alice", 0).trim(), "bob");
    stage.ends("agentic session replay --all", 0);
    let failed = start(&stage, "fails", 0);
    let shown = stage.json(&format!("agentic session show {failed} --json"));
    assert_eq!(shown["result"], "caught");
}

#[test]
fn what_becomes_of_a_child_is_as_it_was_recorded() {
    let stage = stage();
    let parent = start(&stage, "first", 4);
    approve(&stage, "alice");
    comes_to(&stage, "carol", "cancelled");
    let is = |agent: &str| stage.json(&format!("agentic session show {agent} --json"));
    assert_eq!(is("dave")["state"], "held", "it goes on by itself");
    assert_ne!(is("alice")["state"], "done", "it is not over before its child");
    approve(&stage, "erin");
    comes_to(&stage, &parent, "done");
    assert_eq!(is("dave")["state"], "held");
    stage.ends("agentic session verify alice", 0);
}

#[test]
fn children_stop_before_who_waits_for_them() {
    let stage = stage();
    let parent = start(&stage, "asks", 4);
    let stopped = stage.json(&format!("agentic session cancel {parent} -m enough --json"));
    assert_eq!(stopped["state"], "cancelled");
    comes_to(&stage, "bob", "cancelled");
    assert!(stage.ends("agentic pending", 0).is_empty());
    stage.ends(&format!("agentic session cancel {parent}"), 8);
    stage.ends("agentic session replay --all", 0);
}

#[test]
fn a_session_goes_on_as_others() {
    let stage = stage();
    start(&stage, "on", 0);
    let sessions = stage.json("agentic session list --json");
    let results: Vec<String> =
        sessions.as_array().expect("a list").iter().map(|it| it["result"].to_string()).collect();
    assert_eq!(results.len(), 4);
    assert!(results.contains(&"\"end 3\"".to_owned()), "{results:?}");
    stage.ends("agentic session replay --all", 0);
}

#[test]
fn signals_are_delivered_in_order_and_kept_until_somebody_waits() {
    let stage = stage();
    let session = start(&stage, "signal", 4);
    stage.ends(&format!("agentic session signal {session} stop --value '\"early\"'"), 0);
    stage.ends(&format!("agentic session signal {session} go --value 1"), 0);
    stage.ends(&format!("agentic session signal {session} go --value 2"), 0);
    let shown = stage.json(&format!("agentic session show {session} --json"));
    assert_eq!(shown["result"], serde_json::json!([1, 2, "early"]), "{shown:#}");
    stage.ends(&format!("agentic session signal {session} go"), 8);
    stage.ends("agentic session replay --all", 0);
}
