//! What runs on a server bear: clocks that are wrong, programs that never end, and stops and kills while
//! they go on as new executions.

use std::time::Duration;

use agentic_testkit::ProgramEnding;
use serde_json::Value as Json;

use crate::stage::Stage;

/// How far the clock of a worker is wrong, in milliseconds.
const SKEW_MS: i64 = 3_600_000;
/// How far the times of records may be from those of the test, in milliseconds.
const AWAY_MS: i64 = 900_000;
/// How many runs there are beside a program that never ends.
const N_BESIDE: usize = 20;
/// After how many events runs go on as new executions.
const EVENTS_MAX: usize = 40;
/// How often a worker is killed under a run that goes on as new executions.
const N_KILLS: usize = 5;
/// Between two kills, in milliseconds.
const PEACE_MS: [u64; N_KILLS] = [900, 2300, 400, 3100, 1500];
/// Shortly after their begin, runs are stopped, in milliseconds.
const STOPPED_AFTER_MS: [u64; 4] = [600, 1100, 1700, 2600];

/// Asks for many effects one after the other, and counts them where they happen.
const MANY: &str =
    "let n = 0; for i in 0..60 { n += exec(\"echo \" + i + \" >>did; exit 1\").status; } n";

fn stage_with(files: &[(&str, &str)]) -> Stage {
    let stage = Stage::new();
    stage.write(files);
    stage.ends("agentic spawn alice -m x", 0);
    stage
}

/// Starts a script in the background of a shell; its sessions roll over soon.
fn rolling(script: &str, key: &str) -> String {
    format!(
        "AGENTIC_TEMPORAL_EVENTS_MAX={EVENTS_MAX} agentic session start alice --flow {script} \
         --key {key} --allow exec --sibyl-addr $S --json"
    )
}

/// Says how many executions a run has had.
fn n_executions(stage: &Stage, session: &str) -> usize {
    let query = format!("WorkflowId='{session}'");
    let listed = stage.server_says(&["workflow", "list", "--output", "json", "--query", &query]);
    let listed: Json = serde_json::from_str(&listed).expect("it is JSON");
    listed.as_array().map_or(0, Vec::len)
}

fn now_ms() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(now.expect("it is after 1970").as_millis()).expect("it is not so late")
}

#[test]
fn a_worker_whose_clock_is_an_hour_wrong_changes_no_time_of_a_run() {
    for skew in [-SKEW_MS, SKEW_MS] {
        let mut stage = Stage::without_worker();
        stage.ends("agentic spawn alice -m x", 0);
        let begun = now_ms();
        let clock = (begun + skew).to_string();
        let address = stage.server.address();
        stage.work_with(&["--sibyl-addr", &address], &[("AGENTIC_NOW", &clock)]);
        stage.write(&[(
            "skewed.rhai",
            "let before = now(); sleep(200); exec(\"true\"); \
             let said = hold(\"Now?\", #{deadline: now() + 1000, on_expiry: \"nobody\"}).value; \
             commit(#{message: \"Made\"}); [said, now() - before, now()]",
        )]);
        let line = "agentic session start alice --flow skewed.rhai --key k --allow exec";
        let _it_may_be_held = stage.say(&format!("{line} --sibyl-addr $S"));
        stage.until("it is over", |stage| {
            stage.json("agentic session show alice --json")["state"] == "done"
        });
        let shown = stage.json("agentic session show alice --json");
        let result = &shown["result"];
        assert_eq!(result[0], "nobody", "{shown:#}");
        let (took, ended) = (result[1].as_i64(), result[2].as_i64());
        assert!(took.is_some_and(|took| (1200..AWAY_MS).contains(&took)), "{shown:#}");
        assert!(ended.is_some_and(|at| (begun..begun + AWAY_MS).contains(&at)), "{shown:#}");
        // Its commits have the times of the run, too.
        let times = stage.ends("git log --format=%ct -3 agents/alice", 0);
        for time in times.lines() {
            let seconds: i64 = time.parse().expect("it is a number");
            let at = seconds * 1000;
            assert!((begun - AWAY_MS..begun + AWAY_MS).contains(&at), "{times}");
        }
        stage.ends("agentic session verify alice --rebuild", 0);
    }
}

#[test]
fn a_program_that_never_ends_holds_nobody_up() {
    let stage = stage_with(&[("endless.rhai", "let n = 0; loop { n += 1; }")]);
    let start = "agentic session start alice --flow endless.rhai --key k --sibyl-addr $S --json";
    let mut endless = stage.start(&format!("{start} >endless.json"));
    let run = |n: usize| format!("agentic flow run plain.as --sibyl-addr $S --run-id b{n}");
    std::thread::scope(|scope| {
        for n in 0..N_BESIDE {
            let stage = &stage;
            scope.spawn(move || assert_eq!(stage.ends(&run(n), 0), "A\n"));
        }
    });
    endless.wait().expect("it is ours");
    let shown = stage.json("agentic session show alice --json");
    assert_eq!(shown["state"], "failed", "{shown:#}");
    stage.ends("agentic session verify alice", 0);
}

#[test]
fn a_run_is_stopped_while_it_goes_on_as_a_new_execution() {
    let stage = stage_with(&[("many.rhai", MANY)]);
    let mut n_executions_max = 0;
    for (n, after_ms) in STOPPED_AFTER_MS.into_iter().enumerate() {
        let key = format!("k{n}");
        let mut started = stage.start(&rolling("many.rhai", &key));
        stage.until("it has begun", |stage| {
            stage.say(&format!("agentic flow status {key}")).ending == ProgramEnding::Exit(0)
        });
        std::thread::sleep(Duration::from_millis(after_ms));
        let stopped = stage.json(&format!("agentic flow cancel {key} -m 'not now' --json"));
        assert_eq!(stopped["state"], "cancelled", "{stopped:#}");
        started.wait().expect("it is ours");
        let session = stopped["session"].as_str().expect("it has an id");
        n_executions_max = n_executions_max.max(n_executions(&stage, session));
        let did = stage.n_lines("did");
        stage.ends(&format!("agentic session verify {session} --rebuild"), 0);
        let shown = stage.json(&format!("agentic session show {session} --json"));
        assert_eq!(shown["state"], "cancelled", "{shown:#}");
        assert_eq!(stage.n_lines("did"), did, "nothing happens afterwards");
    }
    assert!(n_executions_max > 1, "one of them has gone on as a new execution");
}

#[test]
fn a_run_that_goes_on_as_new_executions_bears_kills_of_its_worker() {
    let again = r#"{"builtins":[{"name":"again","agent":"t/again","backends":["temporal"],"effect":"idempotent","run":{"exec":["./again"]}}]}"#;
    let chain = ["again"; 40].join(" >=> ");
    let mut stage = stage_with(&[
        ("r.json", again),
        ("again", "#!/bin/sh\necho \"$AGENTIC_REQUEST\" >>did\necho '\"r\"'\n"),
        ("chain.as", &format!("temporal static ( {chain} >=> upper )\n")),
    ]);
    let run = format!(
        "AGENTIC_TEMPORAL_EVENTS_MAX={EVENTS_MAX} agentic flow run chain.as --registry r.json \
         --sibyl-addr $S --run-id k"
    );
    let mut started = stage.start(&format!("{run} >result"));
    for peace in PEACE_MS {
        std::thread::sleep(Duration::from_millis(peace));
        stage.kill_worker();
        stage.work();
    }
    assert!(started.wait().expect("it is ours").success());
    assert_eq!(stage.ends("cat result", 0), "R\n");
    let shown = stage.json("agentic session show run-k --json");
    let session = shown["session"].as_str().expect("it has an id");
    assert!(n_executions(&stage, session) > 1, "{shown:#}");
    assert_eq!(shown["requests"].as_array().map(Vec::len), Some(41), "{shown:#}");
    let did = stage.ends("sort -u did | wc -l", 0);
    assert_eq!(did.trim(), "40", "each was asked, and no other");
    stage.ends("agentic session verify run-k --rebuild", 0);
    assert_eq!(shown["state"], "done");
}
