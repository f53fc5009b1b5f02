//! `agentic flow worker`: a process that stays, and sees what changes meanwhile.

use std::process::Stdio;
use std::time::{Duration, Instant};

use agentic_testkit::{Sandbox, Setup};

use crate::serve::{PATIENCE, ok, run};

/// Asks, and then commits.
const FLOW: &str = r#"hold("go?"); commit(#{message: "Did it", files: #{"a": "b"}}); 1"#;

/// Answers the hold of an agent, and waits until its session is over.
fn answer(sandbox: &Sandbox, agent: &str) {
    ok(sandbox, sandbox.start(), &["decide", agent, "approve", "--only"]);
    let begun = Instant::now();
    while !ok(sandbox, sandbox.start(), &["session", "show", agent]).contains("done") {
        assert!(begun.elapsed() < PATIENCE, "nobody goes on with the session of {agent}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_worker_commits_as_whom_git_knows_now() {
    let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
    sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
    let start = sandbox.start().to_owned();
    std::fs::write(start.join("ask.rhai"), FLOW).expect("writable");
    for agent in ["alice", "bob"] {
        ok(&sandbox, &start, &["spawn", agent, "-m", "x"]);
        let begin = ["session", "start", agent, "--flow", "ask.rhai", "--key", "k"];
        assert_eq!(run(&sandbox, &start, &begin).status.code(), Some(4), "it waits for a person");
    }
    let mut worker = sandbox.command("agentic", &start);
    // It ends with this test, however that does.
    worker.args(["flow", "worker", "--kept"]).stdin(Stdio::piped());
    let mut worker = worker.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    // Once that is over it has begun.
    answer(&sandbox, "alice");
    sandbox.git(&start, &["config", "user.email", "eve@example.com"]).expect("git is configured");
    answer(&sandbox, "bob");
    drop(worker.stdin.take());
    worker.wait().expect("it is a child");
    let by = |agent: &str| {
        let branch = format!("agents/{agent}");
        sandbox.git(&start, &["log", "-1", "--format=%ce %s", &branch]).expect("git reads it")
    };
    assert!(!by("alice").contains("eve@example.com"), "{}", by("alice"));
    assert_eq!(by("bob").trim(), "eve@example.com Did it");
}
