//! Long runs: they go on as new executions, and what they recorded outlives the server.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value as Json;

use crate::languages::held_by;
use crate::stage::Stage;

/// After how many events the runs of these tests go on as new executions.
const EVENTS_MAX: usize = 60;
/// How many more there may be: new effects wait, and those under way are awaited.
const EVENTS_BEYOND: usize = 60;
/// A program that asks often, waits for a child meanwhile, asks a human and commits.
const LONG: &str = "
let child = || spawn(#{name: \"kid\", briefing: \"b\", flow: \"hold(\\\"Child asks\\\").value\"});
let work = || {
    let n = 0;
    for i in 0..40 { n += exec(\"exit \" + i).status; }
    commit(#{message: \"Half\", files: #{\"half.txt\": n.to_string()}});
    let said = hold(\"Go on?\").action;
    for i in 0..40 { n += exec(\"exit \" + i).status; }
    [said, n]
};
let both = all([work, child]);
sleep(1);
both
";

/// Lists the executions of a run on the server: how long their histories are.
fn histories(stage: &Stage, session: &str) -> Vec<usize> {
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_agentic"));
    let target = binary.ancestors().nth(2).expect("the binary lies in the target folder");
    let mut list = Command::new(target.join("temporal/venv/bin/temporal"));
    list.args(["workflow", "list", "--output", "json", "--address", &stage.server.address()]);
    list.args(["--query", &format!("WorkflowId='{session}'"), "--disable-config-file"]);
    let listed = list.env("HOME", stage.sandbox.root()).output().expect("it is installed");
    let listed: Json = serde_json::from_slice(&listed.stdout).expect("it is JSON");
    let executions = listed.as_array().expect("it lists executions").iter();
    let length = |it: &Json| it["historyLength"].as_str().and_then(|text| text.parse().ok());
    executions.map(|it| length(it).unwrap_or_default()).collect()
}

#[test]
fn a_long_run_goes_on_as_new_executions_and_outlives_the_server() {
    let mut stage = Stage::new();
    let program = stage.sandbox.start().join("long.rhai");
    std::fs::write(program, LONG).expect("the sandbox is writable");
    stage.ends("agentic spawn alice -m x", 0);
    let start = format!(
        "AGENTIC_TEMPORAL_EVENTS_MAX={EVENTS_MAX} agentic session start alice --flow long.rhai \
         --key k --allow exec --sibyl-addr $S --json"
    );
    let started: Json = serde_json::from_str(&stage.ends(&start, 4)).expect("it is JSON");
    let session = started["session"].as_str().expect("it has an id").to_owned();
    // A decision of a hold that is older than the execution, twice: the second is answered from the records.
    let pending = stage.json("agentic pending --json");
    let (own, of_child) = (held_by(&pending, "alice"), held_by(&pending, "kid"));
    stage.ends(&format!("agentic decide {own} approve --as user:bob"), 0);
    stage.ends(&format!("agentic decide {own} approve --as user:bob"), 0);
    stage.ends(&format!("agentic decide {own} reject --as user:carol"), 8);
    stage.ends(&format!("agentic decide {of_child} approve --value 7 --as user:bob"), 0);
    // Who starts it once more waits for it.
    stage.ends(&start, 0);
    let shown = stage.json(&format!("agentic session show {session} --json"));
    assert_eq!(shown["result"], serde_json::json!([["approve", 1560], 7]));
    let lengths = histories(&stage, &session);
    assert!(lengths.len() > 3, "{lengths:?}");
    assert!(lengths.iter().all(|length| *length < EVENTS_MAX + EVENTS_BEYOND), "{lengths:?}");
    stage.kill_worker();
    stage.server.kill();
    stage.ends(
        "git clone -q . ../copy && cd ../copy && git fetch -q origin \
         'refs/heads/agents/*:refs/heads/agents/*' 'refs/notes/agentic/*:refs/notes/agentic/*' && \
         agentic session verify alice --rebuild && agentic session verify kid --rebuild",
        0,
    );
}
