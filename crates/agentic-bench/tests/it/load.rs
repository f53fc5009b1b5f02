//! The harness of loads itself, with little to do: every sort of work, by processes and inside one.

use std::process::Command;
use std::time::Duration;

use agentic_bench::LoadWork;
use agentic_space::model::{AgentName, Briefing};
use agentic_space::spawn::{SpawnOrigin, spawn};
use agentic_space::{Options, Space};
use agentic_testkit::{ProgramEnding, Sandbox, Setup, run};

const LIMIT: Duration = Duration::from_secs(120);

fn lines(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect()
}

#[test]
fn every_work_is_done_by_two_processes_and_nothing_is_lost() {
    let sandbox = Sandbox::in_memory(Setup::NoRepository).expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_load"));
    command.args(["--processes", "2", "--rounds", "3", "--in"]).arg(sandbox.root());
    let finished = run(command, b"", LIMIT).expect("the program starts");
    assert_eq!(finished.ending, ProgramEnding::Exit(0), "{:?}", lines(&finished.stderr));
    let reports = lines(&finished.stdout);
    assert_eq!(reports.len(), LoadWork::ALL.len());
    for (report, (_, name)) in reports.iter().zip(LoadWork::ALL) {
        assert!(report.starts_with(&format!("{name}: 2 processes")), "{report}");
        assert!(report.ends_with("0 errors, 0 lost, fsck clean"), "{report}");
        assert!(!report.contains(", 0 done"), "{report}");
    }
}

#[test]
fn work_inside_a_process_is_done_once_for_each_line() {
    let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
    for (key, value) in [("user.name", "Ada"), ("user.email", "ada@example.com")] {
        sandbox.git(sandbox.start(), &["config", key, value]).expect("writable");
    }
    let space = Space::open(sandbox.start(), Options::default()).expect("a repository");
    let name = AgentName::parse("w0").expect("valid");
    let briefing = Briefing::of_text("x").to_object().expect("short");
    spawn(&space, &name, &briefing, &SpawnOrigin::Root).expect("the name is free");
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_load"), sandbox.start());
    command.args(["each", "--work", "own-branches"]);
    let finished = run(command, b"\n\n\n", LIMIT).expect("the program starts");
    assert_eq!(finished.ending, ProgramEnding::Exit(0), "{:?}", lines(&finished.stderr));
    let took = lines(&finished.stdout);
    assert_eq!(took.len(), 3);
    assert!(took.iter().all(|micros| micros.parse::<u64>().is_ok_and(|micros| micros > 0)));
    let n_commits = sandbox.git(sandbox.start(), &["rev-list", "--count", "agents/w0"]);
    assert_eq!(n_commits.expect("git starts").trim(), "4");
}
