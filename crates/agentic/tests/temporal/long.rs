//! A run of many requests: it ends, no history on the server is long, and its record outlives the server.
//! `AGENTIC_REQUESTS` says how many; `cargo xtask test temporal --long` asks for fifty thousand.

use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::kills::number;
use crate::stage::Stage;

/// How many requests there are where nobody says otherwise.
const N_REQUESTS: usize = 2_000;
/// How many are under way at once.
const N_AT_ONCE: usize = 16;
/// How long the history of an execution may be.
const EVENTS_MAX: usize = 10_000;
/// How long may pass for each request, in milliseconds: it is there to end what hangs.
const MS_A_REQUEST: u64 = 500;

#[test]
fn a_run_of_many_requests_ends_in_short_histories_and_outlives_the_server() {
    let mut stage = Stage::new();
    let n_requests = number("AGENTIC_REQUESTS", N_REQUESTS);
    let n_rounds = n_requests / N_AT_ONCE;
    // Objects are small, and each is asked for: the file system of the agent is not what is looked at.
    let places: Vec<usize> = (0..N_AT_ONCE).collect();
    let script = format!(
        "let n = 0; for i in 0..{n_rounds} {{ \
         for said in map({places:?}, |k| exec([\"true\"]).status) {{ n += said; }} }} n"
    );
    stage.write(&[("many.rhai", &script)]);
    stage.ends("agentic spawn alice -m x", 0);
    let begun = Instant::now();
    let start = "agentic session start alice --flow many.rhai --key k --allow exec --sibyl-addr $S";
    let mut started = stage.start(start);
    let patience = Duration::from_millis(MS_A_REQUEST * n_requests as u64);
    while started.try_wait().expect("it is ours").is_none() {
        assert!(begun.elapsed() < patience, "it never ends");
        std::thread::sleep(Duration::from_millis(200));
    }
    let took = begun.elapsed();
    let listed = stage.json("agentic session list --json");
    assert_eq!(listed[0]["state"], "done", "{listed:#}");
    let session = listed[0]["session"].as_str().expect("it has an id").to_owned();
    let query = format!("WorkflowId='{session}'");
    let of_all = ["workflow", "list", "--output", "json", "--query", &query];
    let executions: Json = serde_json::from_str(&stage.server_says(&of_all)).expect("it is JSON");
    let length = |one: &Json| one["historyLength"].as_str().and_then(|text| text.parse().ok());
    let lengths: Vec<usize> =
        executions.as_array().into_iter().flatten().filter_map(length).collect();
    println!("{n_requests} requests took {took:?} in {} executions: {lengths:?}", lengths.len());
    assert!(lengths.iter().all(|length| *length < EVENTS_MAX), "{lengths:?}");
    assert!(lengths.len() > n_requests / EVENTS_MAX, "{lengths:?}");
    stage.kill_worker();
    stage.server.kill();
    let begun = Instant::now();
    stage.ends(
        "git clone -q . ../copy && cd ../copy && git fetch -q origin \
         'refs/heads/agents/*:refs/heads/agents/*' 'refs/notes/agentic/*:refs/notes/agentic/*' && \
         agentic session verify alice --rebuild",
        0,
    );
    println!("verifying it took {:?}", begun.elapsed());
}
