//! Builds and records that do not fit together: the task fails, the run stays, and the right ones heal it.

use agentic_testkit::ProgramEnding;
use serde_json::Value as Json;

use crate::stage::{Stage, errors};

/// Keeps the state of the repository under a name.
fn keep(stage: &Stage, name: &str) {
    stage.ends(&format!("cp -a .git ../{name}"), 0);
}

/// Brings the repository to a state that was kept. Its folder stays the same: it is the same space.
fn bring_back(stage: &Stage, name: &str) {
    stage.ends(&format!("find .git -mindepth 1 -delete && cp -a ../{name}/. .git/"), 0);
}

/// Waits until the status of the run says that it has diverged; returns what it says.
fn diverged(stage: &Stage) -> String {
    let status = "agentic flow status k --sibyl-addr $S";
    stage.until("it has diverged", |stage| stage.say(status).ending == ProgramEnding::Exit(5));
    let said = stage.ends(status, 5);
    assert!(said.contains("diverged"), "{said}");
    said
}

#[test]
fn records_that_the_program_does_not_make_fail_the_task_and_the_right_ones_heal_it() {
    let mut stage = Stage::without_worker();
    let workflow = stage.detach("asking.as --run-id k");
    keep(&stage, "unsealed");
    stage.work();
    stage.ends("agentic flow run asking.as --sibyl-addr $S --run-id k", 4);
    stage.kill_worker();
    keep(&stage, "right");
    // Another host has made other records of the same session: it asked at another time.
    bring_back(&stage, "unsealed");
    stage.ends("agentic session resume k --take-over", 1);
    stage.ends("agentic flow run asking.as --run-id k --sibyl-addr local:", 4);
    stage.work();
    stage.server_says(&["workflow", "signal", "-w", &workflow, "--name", "agentic.seal"]);
    let said = diverged(&stage);
    assert!(said.contains("DIVERGED") && said.contains("/at: "), "{said}");
    // Whoever waits for it does so no longer, and it is not over.
    let waits = stage.say("agentic flow result k --sibyl-addr $S");
    assert_eq!(waits.ending, ProgramEnding::Exit(5), "{}", errors(&waits));
    stage.kill_worker();
    bring_back(&stage, "right");
    stage.work();
    stage.ends("agentic decide k --choice accept --as user:alice", 0);
    assert_eq!(stage.ends("agentic flow result k", 0), "A\n");
    stage.ends("agentic session verify run-k", 0);
}

#[test]
fn a_seal_with_other_bytes_is_a_divergence() {
    let mut stage = Stage::without_worker();
    stage.detach("asking.as --run-id k");
    stage.ends("agentic session resume k --take-over", 1);
    stage.ends("agentic flow run asking.as --run-id k --sibyl-addr local:", 4);
    let before = stage.json("agentic session show run-k --json")["chain"].clone();
    stage.work();
    let said = diverged(&stage);
    assert!(said.contains("DIVERGED") && said.contains("/at: "), "{said}");
    let after = stage.json("agentic session show run-k --json");
    assert_eq!(after["chain"], before, "what is sealed stays");
}

#[test]
fn a_run_that_was_reset_asks_nothing_again_whose_answer_is_sealed() {
    let stage = Stage::new();
    stage.write(&[
        ("count.as", "temporal static ( count >=> hold \"go?\" >=> upper )\n"),
        ("count", "#!/bin/sh\necho x >>ran\necho '\"done\"'\n"),
        (
            "r.json",
            r#"{"builtins":[{"name":"count","agent":"t/count","backends":["temporal"],"run":{"exec":["./count"]}}]}"#,
        ),
    ]);
    let run = "agentic flow run count.as --registry r.json --run-id k --sibyl-addr $S";
    stage.ends(run, 4);
    assert_eq!(stage.n_lines("ran"), 1);
    let shown = stage.json("agentic session show run-k --json");
    let workflow = shown["session"].as_str().expect("it has an id").to_owned();
    let reset = ["workflow", "reset", "-w", &workflow, "--reason", "a test"];
    stage.server_says(&[&reset[..], &["--type", "FirstWorkflowTask"]].concat());
    let said = diverged(&stage);
    assert!(said.contains("DIVERGED"), "{said}");
    assert_eq!(stage.n_lines("ran"), 1, "nothing is performed twice");
}

#[test]
fn a_run_of_a_build_that_understands_more_waits_for_it_and_holds_nobody_up() {
    let stage = Stage::new();
    let workflow = stage.detach("plain.as --run-id k");
    assert_eq!(stage.ends("agentic flow result k", 0), "A\n");
    let shown = stage.server_says(&["workflow", "show", "-w", &workflow, "-o", "json"]);
    let shown: Json = serde_json::from_str(&shown).expect("it is JSON");
    let begun = &shown["events"][0]["workflowExecutionStartedEventAttributes"];
    let data = begun["input"]["payloads"][0]["data"].as_str().expect("it has an input");
    let newer = "base64 -d | sed 's/\"semantics\":[0-9]*/\"semantics\":99/'";
    let input = stage.ends(&format!("echo {data} | {newer}"), 0);
    let queue = begun["taskQueue"]["name"].as_str().expect("it has a queue");
    let start = ["workflow", "start", "--workflow-id", "newer", "--type", "agentic.program.v1"];
    stage.server_says(&[&start[..], &["--task-queue", queue, "--input", &input]].concat());
    stage.until("its task fails", |stage| {
        let shown = stage.server_says(&["workflow", "show", "-w", "newer", "-o", "json"]);
        shown.contains("EVENT_TYPE_WORKFLOW_TASK_FAILED") && shown.contains("ENGINE")
    });
    assert_eq!(stage.ends("agentic flow run plain.as --sibyl-addr $S --run-id other", 0), "A\n");
    let said = stage.server_says(&["workflow", "describe", "-w", "newer", "-o", "json"]);
    assert!(said.contains("WORKFLOW_EXECUTION_STATUS_RUNNING"), "{said}");
}
