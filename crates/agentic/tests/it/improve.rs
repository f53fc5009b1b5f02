//! Improvements of behaviours whose process dies at each record: all that was asked counts once.

use agentic_testkit::{ProgramEnding, Sandbox};
use serde_json::{Value as Json, json};

use crate::loopback::{Model, Reply};
use crate::mortal::{adopt, done, sandbox_with_tasks, through};
use crate::stage::text;

/// How many tasks the trial has: as few as can show anything.
const N_TASKS: usize = 6;
/// The improvement.
const IMPROVE: [&str; 8] =
    ["--json", "behaviour", "improve", "reviewer", "--holdout", "holdout.json", "--score", "judge"];

const OLD: &str = "commit(#{message: \"A\", files: #{\"answer\": \"wrong\"}}); 1";
const NEW: &str = "commit(#{message: \"A\", files: #{\"answer\": \"right\"}}); 1";
/// It only looks, so that a death leaves nothing in doubt.
const JUDGE: &str = "let show = \"git show \" + input.commit + \":answer\";
    let got = request(\"exec\", #{command: show, probe: \"false\"}).stdout;
    if got.contains(\"right\") { #{score: 1.0, verdict: \"pass\"} } else { #{score: 0.0, verdict: \"fail\"} }";

/// Makes a repository with a behaviour in force, a scorer, tasks and a model.
fn sandbox(model: &Model) -> Sandbox {
    let sandbox = sandbox_with_tasks("holdout.json", N_TASKS);
    let url = &model.url;
    let toml = format!(
        "default_model = \"m\"\n[models.m]\nuri = \"openai://m\"\nbase_url = \"{url}\"\nretries = 0\n"
    );
    std::fs::write(sandbox.start().join("agentic.toml"), toml).expect("writable");
    adopt(&sandbox, "judge", JUDGE);
    adopt(&sandbox, "reviewer", OLD);
    sandbox
}

/// Improves, approves, and tells what came of it.
fn improved(point: Option<&str>) -> (Json, usize) {
    let reply = json!({"source": NEW, "reason": "It was wrong"}).to_string();
    let model = Model::new(move |_, _| Reply::Says(reply.clone()));
    let sandbox = sandbox(&model);
    let (held, n_deaths) = through(&sandbox, &IMPROVE, point);
    assert_eq!(held.ending, ProgramEnding::Exit(4), "{}", text(&held));
    let view: Json = serde_json::from_slice(&held.stdout).expect("a view is JSON");
    let request = view["request"].as_str().expect("it asks");
    let (decided, n_more) = through(&sandbox, &["decide", request, "approve", "-m", "Good"], point);
    let n_deaths = n_deaths + n_more;
    // Who dies after the decision is recorded has said what there was to say.
    let is_over = matches!(decided.ending, ProgramEnding::Exit(0 | 3));
    assert!(is_over, "{}", text(&decided));
    let (last, n_more) = through(&sandbox, &IMPROVE, point);
    assert_eq!(last.ending, ProgramEnding::Exit(0), "{}", text(&last));
    let view: Json = serde_json::from_slice(&last.stdout).expect("a view is JSON");
    assert!(view["adoption"].is_string(), "{view}");
    let adoptions = done(&sandbox, &["--json", "behaviour", "log", "reviewer"]);
    let told: Vec<Json> = adoptions
        .as_array()
        .into_iter()
        .flatten()
        .map(|one| json!([one["from"], one["to"], one["reason"], one["decided_by"]]))
        .collect();
    let trial = done(&sandbox, &["--json", "behaviour", "trial", "list"]);
    let figures: Vec<&Json> = ["blocks", "dropped", "difference", "p", "verdict"]
        .iter()
        .map(|it| &trial[0][it])
        .collect();
    done(&sandbox, &["session", "replay", "--all"]);
    let came = json!({
        "proposal": view["proposal"], "reason": view["reason"], "verdict": view["verdict"],
        "adoptions": told, "trial": figures,
    });
    (came, n_deaths + n_more)
}

#[test]
fn an_improvement_that_died_at_each_record_comes_to_the_same() {
    let (wanted, _) = improved(None);
    assert_eq!(wanted["adoptions"].as_array().map(Vec::len), Some(2), "{wanted}");
    assert_eq!(wanted["verdict"], "better");
    for point in ["after-session-record", "before-effect"] {
        let (found, n_deaths) = improved(Some(point));
        assert_eq!(found, wanted, "{point}");
        println!("{point}: {n_deaths} deaths");
        assert!(n_deaths > 20, "{n_deaths}: the points are not there");
    }
}
