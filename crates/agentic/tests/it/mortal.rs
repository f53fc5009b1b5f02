//! Commands about behaviours that die again and again, and are given once more until they come through.

use std::time::Duration;

use agentic_testkit::{FinishedProgram, ProgramEnding, Sandbox, Setup, run};
use serde_json::{Value as Json, json};

use crate::stage::text;

/// How long one command may take.
const LIMIT: Duration = Duration::from_secs(60);
/// How often the process may die; what is tried here has not nearly as many records.
const DEATHS_MAX: usize = 2_000;

/// Makes a repository with the tasks of a trial in a file.
pub fn sandbox_with_tasks(file: &str, n_tasks: usize) -> Sandbox {
    let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
    sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
    let mut git = sandbox.command("git", sandbox.start());
    git.args(["rev-parse", "HEAD"]);
    let base = run(git, b"", LIMIT).expect("git can be started").stdout;
    let base = String::from_utf8_lossy(&base).trim().to_owned();
    let tasks: Vec<Json> = (0..n_tasks)
        .map(|number| json!({"briefing": format!("Task {number}"), "base": base}))
        .collect();
    std::fs::write(sandbox.start().join(file), json!(tasks).to_string()).expect("writable");
    sandbox
}

/// Adds a behaviour, and lets a name mean it.
pub fn adopt(sandbox: &Sandbox, name: &str, source: &str) -> String {
    let file = format!("{name}.rhai");
    std::fs::write(sandbox.start().join(&file), source).expect("writable");
    let kept = done(sandbox, &["--json", "behaviour", "add", name, &file]);
    let cid = kept["cid"].as_str().expect("it has an id").to_owned();
    done(sandbox, &["behaviour", "adopt", name, &cid, "-m", "why"]);
    cid
}

fn agentic(sandbox: &Sandbox, arguments: &[&str], crash: Option<&str>) -> FinishedProgram {
    let mut command = sandbox.command("agentic", sandbox.start());
    command.args(arguments);
    if let Some(point) = crash {
        command.env("AGENTIC_CRASH_AT", point);
    }
    run(command, b"", LIMIT).expect("the program can be started")
}

/// Runs a command that comes to its end; returns what it prints, as JSON if it is that.
pub fn done(sandbox: &Sandbox, arguments: &[&str]) -> Json {
    let finished = agentic(sandbox, arguments, None);
    assert_eq!(finished.ending, ProgramEnding::Exit(0), "{arguments:?}: {}", text(&finished));
    serde_json::from_slice(&finished.stdout).unwrap_or(Json::Null)
}

/// Goes on with a command, which dies at a record each time, until it comes through. Returns how it ended
/// and how often it died.
pub fn through(
    sandbox: &Sandbox,
    arguments: &[&str],
    point: Option<&str>,
) -> (FinishedProgram, usize) {
    for n_deaths in 0..DEATHS_MAX {
        // What goes on again may make a record before it gets where it was.
        let crash = point.map(|point| format!("{point}:{}", n_deaths % 3 + 1));
        let finished = agentic(sandbox, arguments, crash.as_deref());
        if !matches!(finished.ending, ProgramEnding::Signal(_)) {
            return (finished, n_deaths);
        }
    }
    panic!("it dies without end");
}
