//! What a server takes at once: the rest waits in the run.

use serde_json::Value as Json;

use crate::stage::Stage;

/// How long the inputs of one task may be together, in bytes; what stands around them comes to it.
const TASK_BYTES_MAX: usize = (1 << 20) + (64 << 10);

/// What starts the script of a test.
const START: &str =
    "agentic session start alice --flow p.rhai --key k --allow exec --sibyl-addr $S";

#[test]
fn inputs_of_a_mebibyte_go_into_one_task_and_no_more() {
    let stage = Stage::new();
    let script = "let text = \"x\"; text.pad(204800, 'x');
all([0, 1, 2, 3, 4, 5, 6, 7].map(|n| || exec(#{command: \"wc -c\", stdin: text}).status)).len()";
    stage.write(&[("p.rhai", script)]);
    stage.ends("agentic spawn alice -m x", 0);
    stage.ends(START, 0);
    let shown = stage.json("agentic session show alice --json");
    assert_eq!(shown["result"], 8);
    let workflow = shown["session"].as_str().expect("it has an id");
    let show = ["workflow", "show", "-w", workflow, "-o", "json"];
    let history: Json = serde_json::from_str(&stage.server_says(&show)).expect("it is JSON");
    let events = history["events"].as_array().expect("it has events");
    let mut tasks: std::collections::BTreeMap<String, usize> = Default::default();
    for event in events {
        let asked = &event["activityTaskScheduledEventAttributes"];
        // A seal is bounded by itself, and does not wait for anything.
        if asked.is_null() || asked["activityType"]["name"] == "agentic.seal" {
            continue;
        }
        // As it stands here it is written in Base64.
        let n_bytes = asked["input"].to_string().len() / 4 * 3;
        let task = asked["workflowTaskCompletedEventId"].to_string();
        *tasks.entry(task).or_default() += n_bytes;
    }
    assert!(tasks.len() > 1, "{tasks:?}");
    assert!(tasks.values().all(|n_bytes| *n_bytes <= TASK_BYTES_MAX), "{tasks:?}");
}
