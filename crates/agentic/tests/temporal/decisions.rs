//! What people decide of a run on a server.

use agentic_testkit::ProgramEnding;

use crate::stage::Stage;

/// How many people decide at the same time.
const N_DECIDING: usize = 20;

#[test]
fn of_twenty_decisions_one_counts_and_is_one_commit() {
    let stage = Stage::new();
    stage.ends("agentic flow run asking.as --sibyl-addr $S --run-id k", 4);
    let pending = stage.json("agentic pending --json");
    let request = pending[0]["request"].as_str().expect("one waits").to_owned();
    let line = |n: usize| format!("agentic decide {request} approve --as user:u{n}");
    let codes: Vec<ProgramEnding> = std::thread::scope(|scope| {
        let deciding: Vec<_> = (0..N_DECIDING)
            .map(|n| {
                scope.spawn({
                    let stage = &stage;
                    let line = line(n);
                    move || stage.say(&line).ending
                })
            })
            .collect();
        deciding.into_iter().map(|one| one.join().expect("it does not panic")).collect()
    });
    let count = |code| codes.iter().filter(|ending| **ending == ProgramEnding::Exit(code)).count();
    assert_eq!((count(0), count(8)), (1, N_DECIDING - 1), "{codes:?}");
    assert_eq!(stage.ends("agentic flow result k --sibyl-addr $S", 0), "A\n");
    let log = stage.json("agentic log run-k --kind decision --json");
    assert_eq!(log.as_array().map(Vec::len), Some(1));
}
