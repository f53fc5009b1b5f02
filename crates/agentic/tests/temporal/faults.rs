//! What is killed, and what has no room.

use crate::stage::Stage;

/// A program of one effect, which says that it began and waits until it may end.
const SLOW: [(&str, &str); 2] = [
    ("slow.as", "temporal static ( slow >=> upper )\n"),
    (
        "slow",
        "#!/bin/sh\necho \"$AGENTIC_REQUEST\" >>ran\nwhile ! test -e go; do sleep 0.02; done\necho '\"done\"'\n",
    ),
];

/// Makes the registry of the program, whose effect is of a class.
fn registry(class: &str) -> String {
    let run = r#""backends":["temporal"],"run":{"exec":["./slow"]}"#;
    format!(r#"{{"builtins":[{{"name":"slow","agent":"t/slow","effect":"{class}",{run}}}]}}"#)
}

/// Starts the program on the server, and waits until its effect is under way.
fn begin(stage: &Stage, class: &str) {
    stage.write(&SLOW);
    stage.write(&[("r.json", &registry(class))]);
    let line = "agentic flow run slow.as --registry r.json --sibyl-addr $S --run-id k --detach";
    stage.ends(line, 0);
    stage.until("the effect is under way", |stage| stage.n_lines("ran") == 1);
}

#[test]
fn a_worker_and_the_server_may_die_while_a_run_is_held() {
    let mut stage = Stage::new();
    stage.ends("agentic flow run asking.as --sibyl-addr $S --run-id k", 4);
    stage.kill_worker();
    stage.server.kill();
    stage.server.start().expect("its data are there");
    stage.work();
    stage.ends("agentic decide k --choice accept --as user:alice", 0);
    assert_eq!(stage.ends("agentic flow result k --sibyl-addr $S", 0), "A\n");
    stage.ends("agentic session verify run-k", 0);
}

#[test]
fn what_may_happen_again_does_when_its_worker_dies() {
    for class in ["read", "idempotent"] {
        let mut stage = Stage::new();
        begin(&stage, class);
        stage.kill_worker();
        stage.write(&[("go", "")]);
        stage.work();
        assert_eq!(
            stage.ends("agentic flow run slow.as --registry r.json --sibyl-addr $S --run-id k", 0),
            "DONE\n"
        );
        let ran = std::fs::read_to_string(stage.sandbox.start().join("ran")).expect("it ran");
        let keys: Vec<&str> = ran.lines().collect();
        assert_eq!(keys.len(), 2, "{class}");
        assert_eq!(keys[0], keys[1], "its key is the same");
    }
}

#[test]
fn what_may_happen_once_is_in_doubt_when_its_worker_dies() {
    let mut stage = Stage::new();
    begin(&stage, "once");
    stage.kill_worker();
    stage.write(&[("go", "")]);
    stage.work();
    stage.ends("agentic flow run slow.as --registry r.json --sibyl-addr $S --run-id k", 4);
    let pending = stage.json("agentic pending --json");
    assert_eq!(pending[0]["reason"], "in-doubt");
    assert_eq!(stage.n_lines("ran"), 1);
    stage.ends("agentic decide k approve", 0);
    assert_eq!(
        stage.ends("agentic flow run slow.as --registry r.json --sibyl-addr $S --run-id k", 0),
        "DONE\n"
    );
    assert_eq!(stage.n_lines("ran"), 2);
    stage.ends("agentic session verify run-k", 0);
}

#[test]
fn a_server_that_dies_in_an_effect_and_in_a_deadline_has_both_afterwards() {
    let mut stage = Stage::new();
    begin(&stage, "once");
    stage.write(&[(
        "late.as",
        "temporal static ( echo \"a\" >=> hold ( question: \"go?\" timeout_s: 3 on_timeout: \"accept\" ) >=> upper )\n",
    )]);
    stage.ends("agentic flow run late.as --sibyl-addr $S --run-id late", 4);
    stage.server.kill();
    stage.server.start().expect("its data are there");
    stage.write(&[("go", "")]);
    let again = "agentic flow run slow.as --registry r.json --sibyl-addr $S --run-id k";
    assert_eq!(stage.ends(again, 0), "DONE\n");
    assert_eq!(stage.n_lines("ran"), 1, "its worker lived");
    stage.until("the deadline has come", |stage| {
        stage.json("agentic flow status late --sibyl-addr $S --json")["state"] == "done"
    });
    let log = stage.json("agentic log run-late --kind decision --json");
    assert_eq!(log[0]["author"], "system:expiry", "{log}");
}

#[test]
fn a_run_on_a_full_disk_goes_on_when_there_is_room() {
    let mut stage = Stage::new();
    stage.kill_worker();
    let workflow = stage.detach("asking.as --run-id k");
    stage.work_within("ulimit -f 0; trap '' XFSZ;");
    stage.until_tried_in_vain(&workflow);
    assert!(stage.ends("agentic pending", 0).is_empty(), "what is not sealed asks nobody");
    stage.kill_worker();
    stage.work();
    stage.ends("agentic flow run asking.as --sibyl-addr $S --run-id k", 4);
    stage.kill_worker();
    stage.work_within("ulimit -f 0; trap '' XFSZ;");
    let mut deciding = stage.start("agentic decide k approve --as user:alice");
    stage.until_tried_in_vain(&workflow);
    assert_eq!(stage.json("agentic pending --json").as_array().map(Vec::len), Some(1));
    stage.kill_worker();
    stage.work();
    assert!(deciding.wait().expect("it is ours").success(), "what is acknowledged is a commit");
    let log = stage.json("agentic log run-k --kind decision --json");
    assert_eq!(log.as_array().map(Vec::len), Some(1));
    assert_eq!(stage.ends("agentic flow result k --sibyl-addr $S", 0), "A\n");
}

#[test]
fn a_run_is_stopped_while_it_is_held() {
    let stage = Stage::new();
    stage.ends("agentic flow run asking.as --sibyl-addr $S --run-id k", 4);
    let stopped = stage.json("agentic flow cancel k --sibyl-addr $S -m 'not now' --json");
    assert_eq!(stopped["state"], "cancelled");
    stage.ends("agentic flow cancel k --sibyl-addr $S", 8);
    assert!(stage.ends("agentic pending", 0).is_empty());
}

#[test]
fn a_run_is_stopped_in_an_effect_which_hears_of_it() {
    let stage = Stage::new();
    begin(&stage, "once");
    let stopped = stage.json("agentic flow cancel k --sibyl-addr $S -m 'not now' --json");
    assert_eq!(stopped["state"], "cancelled");
    let shown = stage.json("agentic session show run-k --json");
    assert_eq!(shown["state"], "cancelled");
    stage.ends("agentic session verify run-k", 0);
}

#[test]
fn a_run_that_the_server_ends_is_cancelled_by_it() {
    let stage = Stage::new();
    let workflow = stage.detach("asking.as --run-id k");
    stage.ends("agentic flow run asking.as --sibyl-addr $S --run-id k", 4);
    stage.server_says(&["workflow", "terminate", "-w", &workflow, "--reason", "a test"]);
    let status = stage.json("agentic flow status k --sibyl-addr $S --json");
    assert_eq!(status["state"], "cancelled");
    let shown = stage.json("agentic session show run-k --json");
    assert_eq!(shown["state"], "cancelled");
    assert!(stage.ends("agentic pending", 0).is_empty());
    stage.ends("agentic decide k approve", 8);
    stage.ends("agentic session verify run-k", 0);
}

#[test]
fn a_run_that_the_server_has_forgotten_is_what_its_repository_says() {
    let stage = Stage::new();
    let workflow = stage.detach("plain.as --run-id k");
    stage.ends("agentic flow run plain.as --sibyl-addr $S --run-id k", 0);
    stage.server_says(&["workflow", "delete", "-w", &workflow, "--yes"]);
    stage.until("it is forgotten", |stage| {
        !stage.server_says(&["workflow", "list"]).contains(&workflow)
    });
    assert_eq!(stage.ends("agentic flow run plain.as --sibyl-addr $S --run-id k", 0), "A\n");
    assert!(!stage.server_says(&["workflow", "list"]).contains(&workflow), "it does not run again");
}

#[test]
fn a_claim_without_a_run_is_started_by_the_same_start() {
    let mut stage = Stage::new();
    stage.kill_worker();
    let workflow = stage.detach("plain.as --run-id k");
    stage.server_says(&["workflow", "delete", "-w", &workflow, "--yes"]);
    stage.until("it is forgotten", |stage| {
        !stage.server_says(&["workflow", "list"]).contains(&workflow)
    });
    stage.work();
    assert_eq!(stage.ends("agentic flow run plain.as --sibyl-addr $S --run-id k", 0), "A\n");
}

#[test]
fn a_run_whose_server_is_gone_for_good_is_taken_over() {
    let mut stage = Stage::new();
    stage.ends("agentic flow run asking.as --sibyl-addr $S --run-id k", 4);
    stage.ends("agentic flow run asking.as --sibyl-addr $S --run-id other", 4);
    stage.kill_worker();
    stage.server.kill();
    stage.ends("agentic decide k approve", 11);
    stage.ends("agentic session resume run-k", 11);
    stage.ends("agentic session resume run-k --take-over", 4);
    stage.ends("agentic session resume run-k --take-over", 1);
    stage.ends("agentic decide k approve", 0);
    assert_eq!(stage.ends("agentic flow result k", 0), "A\n");
    stage.ends("agentic session verify run-k", 0);
    stage.ends("agentic session resume run-other", 11);
}

#[test]
fn what_may_happen_once_is_in_doubt_when_its_run_is_taken_over() {
    let mut stage = Stage::new();
    begin(&stage, "once");
    stage.ends("agentic flow status k --sibyl-addr $S", 0);
    stage.kill_worker();
    stage.server.kill();
    stage.write(&[("go", "")]);
    stage.ends("agentic session resume run-k --take-over", 4);
    assert_eq!(stage.json("agentic pending --json")[0]["reason"], "in-doubt");
    assert_eq!(stage.n_lines("ran"), 1);
}

#[test]
fn signals_that_nobody_can_read_are_passed_over() {
    let stage = Stage::new();
    let workflow = stage.detach("asking.as --run-id k");
    stage.ends("agentic flow run asking.as --sibyl-addr $S --run-id k", 4);
    for name in ["agentic.signal", "agentic.cancel", "agentic.child", "agentic.unknown"] {
        for input in ["17", "\"text\"", "{\"id\": []}", "null"] {
            let signal = ["workflow", "signal", "-w", &workflow, "--name", name];
            stage.server_says(&[&signal[..], &["--input", input]].concat());
        }
        let bytes = ["--input-meta", "encoding=binary/plain", "--input", "\u{1}"];
        let signal = ["workflow", "signal", "-w", &workflow, "--name", name];
        stage.server_says(&[&signal[..], &bytes].concat());
    }
    stage.ends("agentic decide k --choice accept --as user:alice", 0);
    assert_eq!(stage.ends("agentic flow result k", 0), "A\n");
    stage.ends("agentic session verify run-k", 0);
}
