//! Runs under way are sealed by themselves, for whoever forks them and for whoever follows them.

use crate::stage::Stage;

/// An effect, and one that waits for a file.
const PROGRAM: &str = "let first = exec(\"echo x >>FOLDER/ran; printf one\").stdout;
first + exec(\"echo w >>FOLDER/waits; until test -e FOLDER/go || ! test -d FOLDER; do sleep 0.02; done; printf two\").stdout
";
/// What starts it.
const START: &str =
    "agentic session start alice --flow slow.rhai --key k --allow exec --sibyl-addr $S";

/// Makes a repository with the program, and an agent.
fn stage() -> Stage {
    let stage = Stage::new();
    let folder = stage.sandbox.start().display().to_string();
    stage.write(&[("slow.rhai", &PROGRAM.replace("FOLDER", &folder))]);
    stage.ends("agentic spawn alice -m x", 0);
    stage
}

/// Says how many activities of sealing the server has seen.
fn n_seals(stage: &Stage) -> usize {
    let listed = stage.server_says(&["workflow", "list", "-o", "json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("it is JSON");
    let Some(workflow) = listed[0]["execution"]["workflowId"].as_str() else { return 0 };
    let shown = stage.server_says(&["workflow", "show", "-w", workflow, "-o", "json"]);
    shown.matches("agentic.seal").count()
}

#[test]
fn what_happens_is_sealed_after_a_while() {
    let mut stage = stage();
    let mut starting = stage.start(&format!("AGENTIC_TEMPORAL_SEAL_MS=200 {START}"));
    stage.until("the second effect is under way", |stage| stage.n_lines("waits") == 1);
    stage.until("the first is sealed", |stage| n_seals(stage) > 0);
    stage.kill_worker();
    stage.server.kill();
    let _it_may_have_failed = starting.kill();
    let _it_may_have_failed = starting.wait();
    let shown = stage.json("agentic session show alice --json");
    assert_eq!(shown["requests"][0]["answer"]["ok"]["stdout"], "one", "{shown:#}");
}

#[test]
fn a_fork_of_a_session_under_way_seals_first() {
    let stage = stage();
    let mut starting = stage.start(START);
    stage.until("the second effect is under way", |stage| stage.n_lines("waits") == 1);
    assert_eq!(n_seals(&stage), 0);
    let mut forking = stage.start("agentic session fork alice --as other");
    stage.until("the fork asks for it, too", |stage| stage.n_lines("waits") == 2);
    assert_eq!(stage.n_lines("ran"), 1, "it knows the answer to the first");
    stage.write(&[("go", "")]);
    assert!(forking.wait().expect("it is ours").success());
    assert!(starting.wait().expect("it is ours").success());
    for agent in ["alice", "other"] {
        let shown = stage.json(&format!("agentic session show {agent} --json"));
        assert_eq!(shown["result"], "onetwo", "{shown:#}");
    }
    stage.ends("agentic session verify other", 0);
}

#[test]
fn a_session_under_way_is_followed() {
    let stage = stage();
    let mut starting = stage.start(START);
    stage.until("the second effect is under way", |stage| stage.n_lines("waits") == 1);
    let mut watching = stage.start("agentic session watch alice >watched");
    stage.until("it shows the first", |stage| stage.n_lines("watched") >= 3);
    stage.write(&[("go", "")]);
    assert!(watching.wait().expect("it is ours").success());
    assert!(starting.wait().expect("it is ours").success());
    let watched = std::fs::read_to_string(stage.sandbox.start().join("watched"));
    let watched = watched.expect("it was followed");
    assert!(watched.contains("two") && watched.contains(" end "), "{watched}");
}
