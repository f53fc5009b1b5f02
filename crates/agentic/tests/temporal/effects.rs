//! Effects of every class, and what people make of them.

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::stage::Stage;

/// How long a session may take until it is over.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long an effect may take to be stopped: it beats twice a second.
const STOPPED_WITHIN: Duration = Duration::from_secs(20);

fn stage() -> Stage {
    let stage = Stage::new();
    stage.ends("agentic spawn alice -m x", 0);
    stage
}

/// Starts a script as the agent of the tests; returns its session.
fn start(stage: &Stage, key: &str, script: &str, further: &str) -> Json {
    let file = stage.sandbox.start().join(format!("{key}.rhai"));
    std::fs::write(file, script).expect("the sandbox is writable");
    let line = format!(
        "agentic session start alice --flow {key}.rhai --key {key} {further} --sibyl-addr $S --json"
    );
    let said = stage.say(&line);
    serde_json::from_slice(&said.stdout)
        .unwrap_or_else(|error| panic!("{line}: {error}: {}", crate::stage::errors(&said)))
}

/// Shows a session.
fn shown(stage: &Stage, session: &Json) -> Json {
    let id = session["session"].as_str().expect("it has an id");
    stage.json(&format!("agentic session show {id} --json"))
}

/// Waits until a session is over, and shows it.
fn ended(stage: &Stage, session: &Json) -> Json {
    let id = session["session"].as_str().expect("it has an id");
    rest(stage, session);
    let (begun, over) = (Instant::now(), ["done", "failed", "cancelled"]);
    while !over.contains(&shown(stage, session)["state"].as_str().unwrap_or_default()) {
        assert!(begun.elapsed() < PATIENCE, "{:#}", shown(stage, session));
    }
    stage.ends(&format!("agentic session verify {id} --rebuild"), 0);
    stage.ends(&format!("agentic session replay {id}"), 0);
    shown(stage, session)
}

/// Decides the only thing that waits for a human.
fn decide(stage: &Stage, how: &str, code: i32) {
    let pending = stage.json("agentic pending --json");
    let request = pending[0]["request"].as_str().expect("one waits").to_owned();
    stage.ends(&format!("agentic decide {request} {how}"), code);
}

/// Waits until a session goes no further by itself.
fn rest(stage: &Stage, session: &Json) {
    let key = session["key"].as_str().expect("it has a key");
    // Who starts it once more waits for it.
    let line = format!("agentic session start alice --flow {key}.rhai --key {key} --sibyl-addr $S");
    let _it_may_have_failed = stage.say(&line);
}

#[test]
fn effects_that_are_not_allowed_wait_for_leave_once_or_for_the_session() {
    let stage = stage();
    let script = "let out = []; for n in [\"a\", \"b\", \"c\"] { out.push(exec([\"echo\", n]).stdout); } out";
    let session = start(&stage, "permits", script, "");
    assert_eq!(session["state"], "held", "{session:#}");
    decide(&stage, "edit --value '{\"argv\":[\"echo\",\"other\"]}' --as user:ada", 0);
    rest(&stage, &session);
    decide(&stage, "approve --scope rest-of-session --as user:ada", 0);
    let shown = ended(&stage, &session);
    assert_eq!(shown["result"], json!(["other\n", "b\n", "c\n"]), "{shown:#}");
    assert_eq!(shown["requests"][1]["decision"]["scope"], "rest-of-session");
    let refused =
        start(&stage, "refused", "try { exec(\"true\") } catch (e) { return \"no\"; }", "");
    decide(&stage, "reject --as user:ada", 0);
    assert_eq!(ended(&stage, &refused)["result"], "no");
}

#[test]
fn several_people_decide_by_giving_the_same_answer() {
    let stage = stage();
    let script = "hold(\"How many?\", #{quorum: #{need: 2}}).value";
    let session = start(&stage, "quorum", script, "");
    decide(&stage, "respond --value 5 --as user:eve", 0);
    decide(&stage, "respond --value 6 --as user:bob", 0);
    decide(&stage, "respond --value 6 --as user:eve", 8);
    let pending = stage.json("agentic pending --json");
    assert_eq!(pending[0]["votes"], json!({"need": 2, "have": 1}), "{pending:#}");
    decide(&stage, "respond --value 5 --as user:carol", 0);
    let shown = ended(&stage, &session);
    assert_eq!(shown["result"], 5);
}

#[test]
fn holds_expire_and_go_on_to_other_people() {
    let stage = stage();
    let script = "hold(\"Now?\", #{deadline: now() + 1000, on_expiry: \"nobody\"}).value";
    let session = start(&stage, "expires", script, "");
    assert_eq!(ended(&stage, &session)["result"], "nobody");
    let script = "hold(\"Now?\", #{assignees: [\"user:eve\"], deadline: now() + 1000, on_expiry: \
                  #{escalate: #{to: [\"user:bob\"], after_ms: 1500, on_expiry: \"nobody\"}}}).value";
    let session = start(&stage, "escalates", script, "");
    let shown = ended(&stage, &session);
    assert_eq!(shown["result"], "nobody", "{shown:#}");
    let log = stage.json("agentic log alice --kind decision --json");
    assert_eq!(log[0]["fields"]["escalated"], 1, "{log:#}");
}

#[test]
fn what_could_not_be_carried_is_tried_again_as_in_the_embedded_engine() {
    let stage = stage();
    let script = "exec(#{command: \"echo once >> effects; [ $(wc -l < effects) -ge 2 ] || exit 75; printf done\", retries: 2}).stdout";
    let session = start(&stage, "retries", script, "--allow exec");
    let shown = ended(&stage, &session);
    assert_eq!(shown["result"], "done", "{shown:#}");
    assert_eq!(shown["requests"][0]["attempts"].as_array().map(Vec::len), Some(1), "{shown:#}");
    let script = "exec(#{command: \"exit 75\", retries: 1}).status";
    let session = start(&stage, "gives-up", script, "--allow exec");
    assert_eq!(ended(&stage, &session)["result"], 75);
}

#[test]
fn what_nobody_waits_for_is_stopped_and_has_an_answer() {
    let stage = stage();
    let script = "any([|| exec(\"sleep 300\").status, || { exec(\"true\"); hold(\"Or?\").action }, || exec(\"sleep 1\").status])";
    let begun = Instant::now();
    let session = start(&stage, "withdraws", script, "--allow exec");
    let shown = ended(&stage, &session);
    assert!(begun.elapsed() < STOPPED_WITHIN, "{:?}", begun.elapsed());
    assert_eq!(shown["result"], 0, "{shown:#}");
    let requests = shown["requests"].as_array().expect("it lists its requests");
    assert!(requests.iter().all(|request| !request["answer"].is_null()), "{shown:#}");
    assert!(stage.ends("agentic pending", 0).is_empty());
    let log = stage.json("agentic log alice --kind decision --json");
    assert_eq!(log[0]["fields"]["principal"], "system:withdrawn", "{log:#}");
}

#[test]
fn an_answer_that_is_too_large_is_refused_where_it_is_made() {
    let stage = stage();
    let script = "try { exec(\"head -c 1500000 /dev/zero | tr '\\\\0' x\").stdout } catch (e) { return e.code; }";
    let session = start(&stage, "answer", script, "--allow exec");
    let shown = ended(&stage, &session);
    assert_eq!(shown["result"], "ValueTooLarge", "{shown:#}");
}
