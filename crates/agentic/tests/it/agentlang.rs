//! Every public AgentLang program, killed at a request and run again: the same result, and the same
//! story of how it came about.

use std::path::PathBuf;
use std::time::Duration;

use agentic_testkit::{Ending, Finished, Sandbox, Setup, run};
use serde_json::Value as Json;

use crate::stage::text;

/// How long one command may take.
const LIMIT: Duration = Duration::from_secs(120);
/// How many public programs run to a result.
const RUNS: usize = 45;
/// How many of them ask the world for something.
const RUNS_WITH_REQUESTS: usize = 30;

/// A program that gives a result.
struct Case {
    name: String,
    folder: PathBuf,
    pipeline: String,
    input: String,
    flags: Vec<String>,
    result: Json,
}

/// Reads the public programs that run to a result.
fn cases() -> Vec<Case> {
    let folder =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance/agentlang/public");
    let entries = std::fs::read_dir(&folder).expect("the corpus is in the project");
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|file| file.strip_suffix(".expected.json").map(str::to_owned))
        .collect();
    names.sort();
    names.into_iter().filter_map(|name| case(&folder, name)).collect()
}

fn case(folder: &std::path::Path, name: String) -> Option<Case> {
    let read = |end: &str| -> Json {
        let bytes = std::fs::read(folder.join(format!("{name}.{end}.json")));
        serde_json::from_slice(&bytes.expect("a case has its files")).expect("they are JSON")
    };
    let (args, expected) = (read("args"), read("expected"));
    let result = expected.get("stdout_json")?.clone();
    let flags = args["flags"].as_array().into_iter().flatten();
    Some(Case {
        pipeline: args["pipeline"].as_str().expect("a run names its pipeline").to_owned(),
        input: args["inputs"].to_string(),
        flags: flags.filter_map(Json::as_str).map(str::to_owned).collect(),
        folder: folder.to_owned(),
        result,
        name,
    })
}

impl Case {
    /// Makes a repository with the program in it.
    fn sandbox(&self) -> Sandbox {
        let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
        sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
        let source = self.folder.join(format!("{}.agent", self.name));
        std::fs::copy(source, sandbox.start().join("main.agent")).expect("writable");
        sandbox
    }

    /// Runs the program under a start key.
    fn run(&self, sandbox: &Sandbox, key: &str, crash_at: Option<u64>) -> Finished {
        let mut command = sandbox.command("agentic", sandbox.start());
        command.args(["run", "main.agent", &self.pipeline, "--input", &self.input]);
        command.args(["--session", "--run-id", key, "--output-trace", &format!("{key}.json")]);
        command.args(&self.flags);
        if let Some(number) = crash_at {
            command.env("AGENTIC_CRASH_AT", format!("before-answer:{number}"));
        }
        run(command, b"", LIMIT).expect("the program can be started")
    }

    /// Runs it undisturbed, then killed before the answer to a request and once more. Returns how
    /// many requests it has, and what is wrong.
    fn check(&self) -> (u64, Vec<String>) {
        let sandbox = self.sandbox();
        let whole = self.run(&sandbox, "whole", None);
        let mut wrong = self.differences("undisturbed", &whole);
        let n_requests = n_requests(&sandbox);
        if n_requests == 0 {
            return (0, wrong);
        }
        let number = chosen(&self.name, n_requests);
        let killed = self.run(&sandbox, "killed", Some(number));
        if !matches!(killed.ending, Ending::Signal(_)) {
            wrong.push(format!("it survives request {number} of {n_requests}: {}", text(&killed)));
        }
        let resumed = self.run(&sandbox, "killed", None);
        let when = format!("killed at request {number} of {n_requests}");
        wrong.extend(self.differences(&when, &resumed));
        if story(&sandbox, "whole") != story(&sandbox, "killed") {
            wrong.push(format!("{when}: another trace"));
        }
        for verb in [["session", "verify", "run-killed"], ["session", "replay", "run-killed"]] {
            let mut command = sandbox.command("agentic", sandbox.start());
            command.args(verb);
            let checked = run(command, b"", LIMIT).expect("the program can be started");
            if checked.ending != Ending::Exit(0) {
                wrong.push(format!("{when}: {}", text(&checked)));
            }
        }
        (n_requests, wrong)
    }

    fn differences(&self, when: &str, finished: &Finished) -> Vec<String> {
        let given = serde_json::from_slice::<Json>(&finished.stdout).ok();
        if finished.ending == Ending::Exit(0) && given.as_ref() == Some(&self.result) {
            return Vec::new();
        }
        vec![format!("{when}: {}", text(finished))]
    }
}

fn n_requests(sandbox: &Sandbox) -> u64 {
    let mut command = sandbox.command("agentic", sandbox.start());
    command.args(["session", "show", "run-whole", "--json"]);
    let shown = run(command, b"", LIMIT).expect("the program can be started");
    let session: Json = serde_json::from_slice(&shown.stdout).expect("a session is JSON");
    session["requests"].as_array().expect("a session lists its requests").len() as u64
}

/// Chooses a request: any, but the same in every run of the test.
fn chosen(name: &str, n_requests: u64) -> u64 {
    let sum = name.bytes().fold(0_u64, |sum, byte| sum.wrapping_mul(31) + u64::from(byte));
    sum % n_requests + 1
}

/// Reads a trace without its times. Branches of a parallel block that pause may go on in any
/// order, so the events are sorted.
fn story(sandbox: &Sandbox, key: &str) -> Vec<String> {
    let bytes = std::fs::read(sandbox.start().join(format!("{key}.json")));
    let trace: Json =
        serde_json::from_slice(&bytes.expect("a trace was written")).expect("it is JSON");
    let mut events: Vec<String> = Vec::new();
    for event in trace["trace"].as_array().expect("a trace is a list") {
        let mut event = event.as_object().expect("an event is an object").clone();
        for field in ["timestamp", "duration_s", "id"] {
            event.remove(field);
        }
        events.push(Json::Object(event).to_string());
    }
    events.sort();
    events
}

#[test]
fn every_public_program_survives_a_kill() {
    let cases = cases();
    assert_eq!(cases.len(), RUNS, "the number of programs has changed");
    let (next, mut n_killed, mut failures) = (std::sync::Mutex::new(cases.iter()), 0, Vec::new());
    let work = || {
        let mut checked = Vec::new();
        loop {
            let case = next.lock().expect("no check panics under the lock").next();
            let Some(case) = case else { return checked };
            let (n_requests, wrong) = case.check();
            checked.push((n_requests, wrong, &case.name));
        }
    };
    let n_workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..n_workers).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            for (n_requests, wrong, name) in worker.join().expect("a check panicked") {
                n_killed += usize::from(n_requests > 0);
                failures.extend(wrong.into_iter().map(|line| format!("{name}: {line}")));
            }
        }
    });
    println!("{RUNS} programs, {n_killed} of them killed and resumed");
    assert!(failures.is_empty(), "{} differences:\n{}", failures.len(), failures.join("\n"));
    assert_eq!(n_killed, RUNS_WITH_REQUESTS, "the number of programs with requests has changed");
}
