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

/// How often is counted until no command needs more.
const ROUNDS: usize = 3;

/// Who stays beside the commands.
#[derive(Clone, Copy)]
enum Beside {
    Nobody,
    Server,
}

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
    // The same repository again and again, but for who stays beside it.
    let alone = count_beside(Beside::Nobody);
    let mut least = vec![u64::MAX; COMMANDS.len()];
    for round in 1..=ROUNDS {
        // Whoever looks into a session for a moment has another wait for that long, which takes a
        // few instructions: what a command needs each time is the least of some.
        let beside = count_beside(Beside::Server);
        least = least.into_iter().zip(beside).map(|(one, other)| one.min(other)).collect();
        let mut all = COMMANDS.iter().map(|it| it.1).zip(alone.iter().zip(&least));
        let is_more = |alone: u64, beside: u64| beside > alone + alone * MORE_MAX / 100_000;
        let more = all.find(|(_, (alone, beside))| is_more(**alone, **beside));
        println!("round {round}: {alone:?} alone, {least:?} beside a server");
        let Some((name, (alone, beside))) = more else { return };
        assert!(round < ROUNDS, "{name} needs {alone} instructions alone, and {beside} beside");
    }
}

/// Counts the instructions of each command in a repository of its own.
fn count_beside(beside: Beside) -> Vec<u64> {
    let mut served = Served::new();
    // Whoever counts asks nobody else's configuration.
    for (key, value) in [("user.name", "Ada"), ("user.email", "ada@example.com")] {
        let start = served.sandbox.start();
        served.sandbox.git(start, &["config", key, value]).expect("writable");
    }
    served.ok(&["spawn", "a1", "--empty", "-m", "x"]);
    match beside {
        Beside::Server => {}
        Beside::Nobody => {
            served.ok(&["serve", "stop"]);
            served.process.wait().expect("a child");
        }
    }
    count(&served)
}
