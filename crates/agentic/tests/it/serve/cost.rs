//! What a server beside them costs commands: next to nothing, counted in instructions.

use agentic_testkit::{CostBench, MeasuredCommand, has_valgrind};

use super::*;

/// The commands that ring a bell.
const COMMANDS: [(MeasuredCommand, &str); 4] = [
    (MeasuredCommand::Commit, "commit"),
    (MeasuredCommand::TraceAdd, "trace add"),
    (MeasuredCommand::CommitTrace, "commit --trace"),
    (MeasuredCommand::Decide, "decide"),
];
/// How many more instructions a command may need beside a server, of a hundred thousand.
const MORE_MAX: u64 = 1_000;

/// Counts the instructions of each command.
fn count(served: &Served) -> Vec<u64> {
    let binary = Path::new(env!("CARGO_BIN_EXE_agentic"));
    let mut bench = CostBench::new(binary, served.sandbox.start()).expect("a repository");
    let mut count = |command: MeasuredCommand| bench.instructions(command).expect("it succeeds");
    COMMANDS.iter().map(|(command, _)| count(*command)).collect()
}

#[test]
fn commands_need_as_many_instructions_beside_a_server_as_alone() {
    if !has_valgrind() {
        println!("skipped: valgrind is not installed, so nobody counts instructions");
        return;
    }
    // The same repository twice, but for who stays beside it.
    let counts = [false, true].map(|is_served| {
        let mut served = Served::new();
        // Whoever counts asks nobody else's configuration.
        for (key, value) in [("user.name", "Ada"), ("user.email", "ada@example.com")] {
            let start = served.sandbox.start();
            served.sandbox.git(start, &["config", key, value]).expect("writable");
        }
        served.ok(&["spawn", "a1", "--empty", "-m", "x"]);
        if !is_served {
            served.ok(&["serve", "stop"]);
            served.process.wait().expect("a child");
        }
        count(&served)
    });
    let [alone, beside] = counts;
    for ((name, alone), beside) in COMMANDS.iter().map(|it| it.1).zip(alone).zip(beside) {
        println!("{name}: {alone} alone, {beside} beside a server");
        let most = alone + alone * MORE_MAX / 100_000;
        assert!(beside <= most, "{name} needs {alone} instructions alone, and {beside} beside");
    }
}
