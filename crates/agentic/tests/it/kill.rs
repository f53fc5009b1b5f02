//! `kill -9` at random, in the short form; `cargo run -p agentic-testkit --bin crash` has the long one.

use agentic_testkit::{Kills, kill_at_random};

#[test]
fn killed_processes_lose_nothing_that_was_acknowledged() {
    let program = env!("CARGO_BIN_EXE_agentic").into();
    let kills = Kills { program, n_kills: 50, seed: 7, check_every: 10 };
    let report = kill_at_random(&kills).expect("programs can be started");
    println!("{} kills, {} acknowledged", report.n_kills, report.n_acknowledged);
    assert_eq!(report.broken, Vec::<String>::new());
    assert!(report.n_acknowledged > report.n_kills, "the processes did next to nothing");
}
