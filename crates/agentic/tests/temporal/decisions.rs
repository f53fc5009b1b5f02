//! What people decide of a run on a server.

use agentic_testkit::ProgramEnding;

use crate::stage::{Stage, errors};

/// How many decisions are of nothing.
const N_UNKNOWN: usize = 100;
/// How many people decide at the same time.
const N_DECIDING: usize = 40;

#[test]
fn of_forty_decisions_one_counts_and_is_one_commit() {
    let stage = Stage::new();
    stage.ends("agentic flow run asking.as --sibyl-addr $S --run-id k", 4);
    let pending = stage.json("agentic pending --json");
    let request = pending[0]["request"].as_str().expect("one waits").to_owned();
    let line = |n: usize| format!("agentic decide {request} approve --as user:u{n}");
    let codes: Vec<(ProgramEnding, String)> = std::thread::scope(|scope| {
        let deciding: Vec<_> = (0..N_DECIDING)
            .map(|n| {
                scope.spawn({
                    let stage = &stage;
                    let line = line(n);
                    move || {
                        let finished = stage.say(&line);
                        (finished.ending, errors(&finished))
                    }
                })
            })
            .collect();
        deciding.into_iter().map(|one| one.join().expect("it does not panic")).collect()
    });
    let count =
        |code| codes.iter().filter(|(ending, _)| *ending == ProgramEnding::Exit(code)).count();
    assert_eq!((count(0), count(8)), (1, N_DECIDING - 1), "{codes:?}");
    assert_eq!(stage.ends("agentic flow result k --sibyl-addr $S", 0), "A\n");
    let log = stage.json("agentic log run-k --kind decision --json");
    assert_eq!(log.as_array().map(Vec::len), Some(1));
}

#[test]
fn decisions_of_unknown_requests_are_refused_at_once_and_cost_nobody_a_place() {
    let stage = Stage::new();
    let workflow = stage.detach("asking.as --run-id k");
    stage.ends("agentic flow run asking.as --sibyl-addr $S --run-id k", 4);
    std::thread::scope(|scope| {
        for n in 0..N_UNKNOWN {
            let (stage, workflow) = (&stage, &workflow);
            scope.spawn(move || {
                let ask = serde_json::json!({
                    "session": workflow, "request": format!("{n:064x}"), "principal": "user:eve",
                    "action": "approve", "scope": "once", "client": "cli",
                });
                let ask = ask.to_string();
                let update = ["workflow", "update", "execute", "--name", "agentic.decide"];
                let of = ["-w", workflow, "-i", &ask];
                let said = stage.server_says(&[&update[..], &of].concat());
                assert!(said.contains("has no request"), "{said}");
            });
        }
    });
    stage.ends("agentic decide k approve --as user:alice", 0);
    assert_eq!(stage.ends("agentic flow result k --sibyl-addr $S", 0), "A\n");
}
