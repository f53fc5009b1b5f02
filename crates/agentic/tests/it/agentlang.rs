//! Every public AgentLang program and every one with handlers, as a session that is killed at a
//! request and run again: the same end, and the same story of how it came about.
//!
//! The programs and their handlers are those of the conformance cases. What each must come to is
//! checked there; here a run in memory says it.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use agentic_testkit::{FinishedProgram, ProgramEnding, Sandbox, Setup, run};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value as Json;

use crate::stage::text;

/// How long one command may take.
const LIMIT: Duration = Duration::from_secs(120);
/// How many commands of the cases run programs that ask the world for something.
const KILLED: [(&str, usize); 2] = [("public.case", 41), ("plugin.case", 30)];

/// A program, its handlers, and how it is run.
struct Case {
    name: String,
    files: Vec<File>,
    /// The command line behind `agentic`, as a shell reads it.
    line: String,
}

#[derive(Clone)]
struct File {
    path: String,
    bytes: Vec<u8>,
    mode: u32,
}

impl Case {
    /// Says whether a word stands in the program.
    fn says(&self, word: &str) -> bool {
        self.files.iter().any(|file| String::from_utf8_lossy(&file.bytes).contains(word))
    }
}

/// Reads the commands of a file of cases that run programs.
fn cases(file: &str) -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/agentlang");
    let text = std::fs::read_to_string(folder.join(file)).expect("the cases are in the project");
    let (mut cases, mut name, mut files) = (Vec::new(), String::new(), Vec::<File>::new());
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("== ") {
            (name, files) = (title.to_owned(), Vec::new());
        } else if let Some(path) = line.strip_prefix("file ") {
            let (path, kind) = path.split_once(' ').unwrap_or((path, ""));
            let encoded = kind.strip_prefix("base64 ").unwrap_or("");
            let bytes = BASE64.decode(encoded).expect("the case is well-formed");
            let mode = if kind == "executable" { 0o755 } else { 0o644 };
            files.push(File { path: path.to_owned(), bytes, mode });
        } else if let (Some(text), Some(file)) = (line.strip_prefix('|'), files.last_mut()) {
            file.bytes.extend(text.strip_prefix(' ').unwrap_or(text).bytes().chain([b'\n']));
        } else if let Some(line) = line.strip_prefix("$ agentic run main.agent ") {
            let (line, _) = line.split_once(" --output-trace").unwrap_or((line, ""));
            if !line.contains("--lower") {
                let (name, files) = (name.clone(), files.clone());
                cases.push(Case { name, files, line: line.to_owned() });
            }
        }
    }
    cases
}

/// What a run came to: how it ended, what it printed, and the error it ended with.
#[derive(Debug, PartialEq)]
struct Outcome {
    ending: ProgramEnding,
    printed: String,
    error: String,
}

impl Outcome {
    fn of(finished: &FinishedProgram) -> Outcome {
        let said = String::from_utf8_lossy(&finished.stderr).into_owned();
        Outcome {
            ending: finished.ending,
            printed: String::from_utf8_lossy(&finished.stdout).into_owned(),
            error: said.lines().find(|line| line.starts_with("error")).unwrap_or("").to_owned(),
        }
    }
}

/// A repository in which a case runs once.
struct Place<'a> {
    case: &'a Case,
    sandbox: Sandbox,
}

impl Place<'_> {
    fn new(case: &Case) -> Place<'_> {
        let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
        sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
        for file in &case.files {
            let path = sandbox.start().join(&file.path);
            std::fs::write(&path, &file.bytes).expect("writable");
            let mode = std::fs::Permissions::from_mode(file.mode);
            std::fs::set_permissions(&path, mode).expect("it is ours");
        }
        Place { case, sandbox }
    }

    fn shell(&self, line: &str, crash_at: &str) -> FinishedProgram {
        let mut command = self.sandbox.command("sh", self.sandbox.start());
        command.args(["-c", &format!("exec agentic {line}")]).env("AGENTIC_CRASH_AT", crash_at);
        run(command, b"", LIMIT).expect("there is a shell")
    }

    fn in_memory(&self) -> FinishedProgram {
        self.shell(&format!("run main.agent {}", self.case.line), "")
    }

    fn as_session(&self, crash_at: &str) -> FinishedProgram {
        let line = format!("run main.agent {}", self.case.line);
        self.shell(&format!("{line} --session --run-id k --output-trace trace.json"), crash_at)
    }

    fn json(&self, line: &str) -> Json {
        let shown = self.shell(line, "");
        serde_json::from_slice(&shown.stdout).unwrap_or_else(|_| panic!("{line}: {}", text(&shown)))
    }

    /// Counts the requests of the session, by kind.
    fn requests(&self) -> BTreeMap<String, u64> {
        let session = self.json("session show run-k --json");
        let mut counts = BTreeMap::new();
        for request in session["requests"].as_array().expect("a session lists its requests") {
            let kind = request["kind"].as_str().expect("a request has a kind");
            *counts.entry(kind.to_owned()).or_default() += 1;
        }
        counts
    }

    /// Lets everything be performed again of which nobody knows whether it happened. Says whether
    /// there was anything.
    fn resolve_doubts(&self) -> bool {
        let pending = self.json("pending --json");
        let pending = pending.as_array().expect("what is pending is a list");
        for hold in pending {
            assert_eq!(hold["reason"], "in-doubt", "{}: {hold}", self.case.name);
            let request = hold["request"].as_str().expect("a hold has a request");
            self.shell(&format!("decide {request} approve"), "");
        }
        !pending.is_empty()
    }

    /// Reads the trace without its times. Branches of a parallel block may go on in any order, so
    /// the events are sorted.
    fn story(&self) -> Vec<String> {
        let bytes = std::fs::read(self.sandbox.start().join("trace.json"));
        let bytes = bytes.expect("a trace was written");
        let trace: Json = serde_json::from_slice(&bytes).expect("it is JSON");
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
}

/// Where a run is killed: before a handler begins, so that nothing is done twice, else before the
/// answer to a request that is only computed.
fn crash_point(case: &Case, requests: &BTreeMap<String, u64>) -> Option<String> {
    let n_handled = requests.get("task").copied().unwrap_or(0);
    let sum = case.name.bytes().fold(0_u64, |sum, byte| sum.wrapping_mul(31) + u64::from(byte));
    // Any, but the same in every run of the test.
    let any = |count: u64| sum % count + 1;
    match (n_handled, requests.values().sum()) {
        (0, 0) => None,
        (0, count) => Some(format!("before-answer:{}", any(count))),
        // How often a handler is tried whose time is limited is not the same in every run.
        _ if case.says("timeout") => Some("before-effect:1".to_owned()),
        // Where several run at once nobody would know what became of the others.
        (last, _) if case.says("parallel") => Some(format!("before-effect:{last}")),
        (count, _) => Some(format!("before-effect:{}", any(count))),
    }
}

/// Runs a case in memory, as a session, and as one that is killed. Says whether it was killed, and
/// what is wrong.
fn check(case: &Case) -> (bool, Vec<String>) {
    let memory = Place::new(case).in_memory();
    if !text(&memory).contains("Executing task") {
        return (false, Vec::new());
    }
    let wanted = Outcome::of(&memory);
    let mut wrong = Vec::new();
    let mut compare = |when: &str, finished: &FinishedProgram| {
        if Outcome::of(finished) != wanted {
            wrong.push(format!("{when}: {}\ninstead of {wanted:?}", text(finished)));
        }
    };
    let whole = Place::new(case);
    compare("undisturbed", &whole.as_session(""));
    let Some(point) = crash_point(case, &whole.requests()) else { return (false, wrong) };
    let place = Place::new(case);
    let killed = place.as_session(&point);
    let mut resumed = place.as_session("");
    if place.resolve_doubts() {
        resumed = place.as_session("");
    }
    compare(&format!("killed at {point}"), &resumed);
    if !matches!(killed.ending, ProgramEnding::Signal(_)) {
        wrong.push(format!("it survives {point}: {}", text(&killed)));
    }
    if !case.says("timeout") && whole.story() != place.story() {
        wrong.push(format!("{point}: another trace"));
    }
    for verb in ["verify", "replay"] {
        let checked = place.shell(&format!("session {verb} run-k"), "");
        if checked.ending != ProgramEnding::Exit(0) {
            wrong.push(format!("{point}, {verb}: {}", text(&checked)));
        }
    }
    (true, wrong)
}

/// Checks cases on all processors; returns how many were killed, and what is wrong.
fn check_all(cases: &[Case]) -> (usize, Vec<String>) {
    let next = Mutex::new(cases.iter());
    let work = || {
        let (mut n_killed, mut failures) = (0, Vec::new());
        loop {
            let case = next.lock().expect("no check panics under the lock").next();
            let Some(case) = case else { return (n_killed, failures) };
            let (is_killed, wrong) = check(case);
            n_killed += usize::from(is_killed);
            failures.extend(wrong.into_iter().map(|line| format!("{}: {line}", case.name)));
        }
    };
    let n_workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..n_workers).map(|_| scope.spawn(work)).collect();
        let done = workers.into_iter().map(|worker| worker.join().expect("a check panicked"));
        done.fold((0, Vec::new()), |(n, all), (n_more, more)| (n + n_more, [all, more].concat()))
    })
}

#[test]
fn every_program_that_asks_for_something_survives_a_kill() {
    for (file, n_expected) in KILLED {
        let cases = cases(file);
        let (n_killed, failures) = check_all(&cases);
        println!("{file}: {} commands, {n_killed} of them killed and resumed", cases.len());
        assert!(failures.is_empty(), "{} differences:\n{}", failures.len(), failures.join("\n"));
        assert_eq!(
            n_killed, n_expected,
            "{file}: the number of programs with requests has changed"
        );
    }
}
