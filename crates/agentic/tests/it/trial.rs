//! Trials whose process dies at each record, and with it whatever process makes a step: every task counts
//! once, with the same scores.

use agentic_testkit::ProgramEnding;
use serde_json::{Value as Json, json};

use crate::mortal::{adopt, done, sandbox_with_tasks, through};
use crate::stage::text;

/// How many tasks the trial has: as few as can show anything.
const N_TASKS: usize = 6;
const OLD: &str = "commit(#{message: \"A\", files: #{\"answer\": \"wrong\"}}); 1";
const NEW: &str = "commit(#{message: \"A\", files: #{\"answer\": \"right\"}}); 1";
/// It only looks, so that a death leaves nothing in doubt.
const JUDGE: &str = "let got = request(\"exec\", #{command: \"cat answer\", probe: \"false\"}).stdout;
    if got == \"right\" { #{score: 1.0, verdict: \"pass\"} } else { #{score: 0.0, verdict: \"fail\"} }";

/// What a trial came to, but for what is drawn, and what a clock decides.
#[derive(Debug, PartialEq)]
struct TriedOutcome {
    figures: Json,
    /// By task: whether the block counts, and what each arm came to.
    blocks: Vec<String>,
}

/// Runs a trial, which dies at a point each time.
fn tried(point: Option<&str>) -> (TriedOutcome, usize) {
    let sandbox = sandbox_with_tasks("tasks.json", N_TASKS);
    let [old, new, judge] =
        [("old", OLD), ("new", NEW), ("judge", JUDGE)].map(|(name, it)| adopt(&sandbox, name, it));
    let trial = ["--json", "behaviour", "trial", "--name", "t", "--tasks", "tasks.json"];
    let arms = ["--arm", &old, "--arm", &new, "--score", &judge];
    let trial: Vec<&str> = trial.into_iter().chain(arms).collect();
    let (ended, n_deaths) = through(&sandbox, &trial, point);
    assert_eq!(ended.ending, ProgramEnding::Exit(0), "{}", text(&ended));
    let view: Json = serde_json::from_slice(&ended.stdout).expect("a view is JSON");
    let cid = view["cid"].as_str().expect("it is over");
    let object = done(&sandbox, &["--json", "object", "get", cid]);
    let run = |run: &Json| json!([run["arm"], run["outcome"], run["score"]]).to_string();
    let block = |block: &Json| {
        let runs = block["runs"].as_array().into_iter().flatten();
        let mut runs: Vec<String> = runs.map(run).collect();
        runs.sort();
        json!([block["task"], block["counted"], runs]).to_string()
    };
    let mut blocks: Vec<String> =
        object["blocks"].as_array().into_iter().flatten().map(block).collect();
    blocks.sort();
    let names = ["state", "blocks", "dropped", "tampered", "difference", "p", "verdict"];
    let figures = names.iter().map(|name| view[name].clone()).collect();
    done(&sandbox, &["session", "verify", "trial-t"]);
    done(&sandbox, &["session", "replay", "--all"]);
    assert_eq!(done(&sandbox, &["--json", "pending"]), json!([]));
    (TriedOutcome { figures, blocks }, n_deaths)
}

#[test]
fn a_trial_that_died_at_each_record_comes_to_the_same() {
    let (wanted, _) = tried(None);
    assert_eq!(wanted.figures[6], "better", "{wanted:?}");
    assert_eq!(wanted.blocks.len(), N_TASKS, "{wanted:?}");
    for point in ["after-session-record", "before-effect"] {
        let (found, n_deaths) = tried(Some(point));
        assert_eq!(found, wanted, "{point}");
        println!("{point}: {n_deaths} deaths");
        assert!(n_deaths > 20, "{n_deaths}: the points are not there");
    }
}
