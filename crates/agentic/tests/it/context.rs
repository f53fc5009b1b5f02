//! Programs of the context language as sessions that die at each of their records: the same command
//! finishes them, and they come to what they come to undisturbed.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use agentic_testkit::{FinishedProgram, ProgramEnding, Sandbox, Setup, run};
use serde_json::Value as Json;

use crate::stage::text;

/// How long one command may take.
const LIMIT: Duration = Duration::from_secs(60);
/// When everything happens: the same ids and times must come out.
const NOW: &str = "1800000000000";
/// More visits than any program makes of a point; a walk that gets here is broken.
const VISITS_MAX: u64 = 400;
/// The points around a record of a session, and in front of what it lets happen.
const RECORD_POINTS: [&str; 4] =
    ["before-session-record", "mid-session-record", "after-session-record", "before-effect"];
/// How many cases of the corpus run, and how many are refused before they do.
const N_RUNNING: usize = 40;
const N_REFUSED: usize = 11;

/// A program in a repository of its own, as a session.
struct Stage {
    sandbox: Sandbox,
    arguments: Vec<String>,
}

impl Stage {
    fn new(files: &[(&str, &str)], arguments: &[&str]) -> Stage {
        let stage = Stage::empty(arguments.iter().map(|word| (*word).to_owned()).collect());
        for (name, content) in files {
            std::fs::write(stage.sandbox.start().join(name), content).expect("writable");
        }
        stage.sandbox.save("before").expect("writable");
        stage
    }

    fn empty(arguments: Vec<String>) -> Stage {
        let sandbox = Sandbox::in_memory(Setup::EmptyRepository).expect("git is installed");
        sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
        let session = ["run", "main.as", "--session", "--run-id", "k"].map(str::to_owned);
        Stage { sandbox, arguments: session.into_iter().chain(arguments).collect() }
    }

    /// Takes over a case of the corpus.
    fn of_case(folder: &Path, case: &Json) -> Stage {
        let mut arguments = vec!["--dialect".to_owned(), word(&case["dialect"])];
        let mut add = |flag: &str, value: String| arguments.extend([flag.to_owned(), value]);
        add("--input", case["input"].to_string());
        let (agent, function) = (&case["options"]["agent"], &case["options"]["function"]);
        if !agent.is_null() || !function.is_null() {
            let dot = if function.is_null() { "" } else { "." };
            add("--entry", format!("{}{dot}{}", word(agent), word(function)));
        }
        for (site, name) in case["options"]["variant"].as_object().into_iter().flatten() {
            add("--variant", format!("{site}={}", word(name)));
        }
        if case["llm"].is_array() {
            add("--script", "replies.json".to_owned());
        }
        if case["tools"] == "mock" && case["memory"] == "mock" {
            arguments.push("--mock".to_owned());
        }
        let stage = Stage::empty(arguments);
        let start = stage.sandbox.start();
        let copied = Command::new("cp").arg("-r").arg(folder.join(".")).arg(start).status();
        assert!(copied.is_ok_and(|status| status.success()), "{}", folder.display());
        std::fs::write(start.join("replies.json"), case["llm"].to_string()).expect("writable");
        stage.sandbox.save("before").expect("writable");
        stage
    }

    fn command(&self, arguments: &[&str], crash: Option<&str>) -> FinishedProgram {
        let mut command = self.sandbox.command("agentic", self.sandbox.start());
        command.args(arguments).env("AGENTIC_NOW", NOW);
        for variable in ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"] {
            command.env(variable, "1800000000 +0000");
        }
        if let Some(point) = crash {
            command.env("AGENTIC_CRASH_AT", point);
        }
        run(command, b"", LIMIT).expect("the program can be started")
    }

    fn run(&self, crash: Option<&str>) -> FinishedProgram {
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        self.command(&arguments, crash)
    }

    /// Lets it die at every visit of a point, and finishes it. Returns how often it died.
    fn walk(&self, point: &str, wanted: &FinishedProgram, name: &str) -> u64 {
        for visit in 1..VISITS_MAX {
            self.sandbox.restore("before").expect("writable");
            let at = format!("{point}:{visit}");
            let broken_off = self.run(Some(&at));
            if !matches!(broken_off.ending, ProgramEnding::Signal(_)) {
                assert_eq!(broken_off.stdout, wanted.stdout, "{name}: {at} is not met");
                return visit - 1;
            }
            let again = self.run(None);
            let place = format!("{name}: killed at {at}: {}", text(&again));
            assert_eq!(again.ending, wanted.ending, "{place}");
            let found = String::from_utf8_lossy(&again.stdout);
            assert_eq!(found, String::from_utf8_lossy(&wanted.stdout), "{place}");
            let replayed = self.command(&["session", "replay", "--all"], None);
            assert_eq!(replayed.ending, ProgramEnding::Exit(0), "{place}: {}", text(&replayed));
        }
        panic!("{name}: `{point}` is visited without end");
    }
}

fn word(json: &Json) -> String {
    json.as_str().unwrap_or_default().to_owned()
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/context/public");
    let entries = std::fs::read_dir(folder).expect("the corpus is there");
    let mut cases: Vec<PathBuf> =
        entries.map(|entry| entry.expect("the corpus can be read").path()).collect();
    cases.sort();
    cases
}

#[test]
fn every_case_of_the_corpus_is_finished_after_it_died_at_any_record() {
    let (mut n_running, mut n_refused, mut n_deaths) = (0, 0, 0);
    for folder in cases() {
        let name = folder.file_name().expect("a case has a name").to_string_lossy().into_owned();
        let case = std::fs::read_to_string(folder.join("case.json")).expect("a case is text");
        let case: Json = serde_json::from_str(&case).expect("a case is JSON");
        let stage = Stage::of_case(&folder, &case);
        let wanted = stage.run(None);
        let exit = case["expect"]["exit"].as_i64().unwrap_or(1);
        assert_eq!(wanted.ending, ProgramEnding::Exit(exit as i32), "{name}: {}", text(&wanted));
        let sessions = stage.command(&["session", "list", "--json"], None);
        if sessions.stdout.trim_ascii() == b"[]" {
            n_refused += 1;
            continue;
        }
        n_running += 1;
        for point in RECORD_POINTS {
            n_deaths += stage.walk(point, &wanted, &name);
        }
    }
    println!("{n_running} cases, {n_deaths} deaths; {n_refused} refused");
    assert_eq!((n_running, n_refused), (N_RUNNING, N_REFUSED));
    assert!(n_deaths > 5 * N_RUNNING as u64, "{n_deaths}: the points are not there");
}

#[test]
fn what_a_write_replaces_is_told_truly_after_a_death_at_any_step() {
    const PROGRAM: &str = "import tool File from 'file://workspace'\n\
        main agent A { main func(input) {\n\
        over = File.write({ path: 'over', content: 'new' })\n\
        fresh = File.write({ path: 'sub/fresh', content: 'x' })\n\
        patched = File.patch({ path: 'patched', search: 'a', replace: 'aa' })\n\
        [over.effects[0], fresh.effects[0], patched.effects[0],\n\
        File.read({ path: 'over' }).content, File.read({ path: 'patched' }).content]\n} }\n";
    let files = [("main.as", PROGRAM), ("over", "old"), ("patched", "ba")];
    let stage = Stage::new(&files, &["--quiet"]);
    let wanted = stage.run(None);
    assert_eq!(wanted.ending, ProgramEnding::Exit(0), "{}", text(&wanted));
    let value: Json = serde_json::from_slice(&wanted.stdout).expect("a value is JSON");
    assert_eq!(value[0]["previous"], "old");
    assert_eq!((&value[1]["existed"], &value[1]["previous"]), (&Json::Bool(false), &Json::Null));
    assert_eq!((&value[2]["previous"], &value[3]), (&Json::from("ba"), &Json::from("new")));
    assert_eq!(value[4], "baa");
    let n_deaths = stage.walk("*", &wanted, "write and patch");
    assert!(n_deaths > 30, "{n_deaths}: the points are not there");
}

#[test]
fn iterations_and_children_are_finished_after_a_death_at_any_record() {
    const PROGRAM: &str = "import llm M from 'mock://m'\n\
        main agent Lead { main func(input) {\n\
        parallel for x in [1, 2, 3] max 3 { Worker(x) }\n} }\n\
        agent Worker {\nmodel M\nrole 'R'\ndescription 'D'\nmain func(n) {\n\
        use one of {\nnone: empty\nnumber: n\n} as n\n\
        r = generate({ input: 'Go.' }) -> { ok: boolean }\n{ n: n, ok: r.ok }\n} }\n";
    for flags in [&["--mock"][..], &["--mock", "--branches"]] {
        let stage = Stage::new(&[("main.as", PROGRAM)], flags);
        let wanted = stage.run(None);
        assert_eq!(wanted.ending, ProgramEnding::Exit(0), "{}", text(&wanted));
        let n_deaths = stage.walk("after-session-record", &wanted, &flags.join(" "));
        assert!(n_deaths >= 3, "{n_deaths}: the points are not there");
    }
}
