//! What the verbs tell of runs, wherever they are.

use agentic_testkit::ProgramEnding;

use crate::stage::{Stage, errors, sandbox, say};

#[test]
fn two_repositories_do_not_share_a_run() {
    let stage = Stage::new();
    let run = "agentic flow run asking.as --sibyl-addr $S --run-id k";
    stage.ends(run, 4);
    // The same agent, program, input and key give the same id: it is the first repository's here.
    let other = sandbox();
    let refused = say(&other, &stage.server.address(), run);
    assert_eq!(refused.ending, ProgramEnding::Exit(8), "{}", errors(&refused));
    assert!(errors(&refused).contains("for another repository"), "{}", errors(&refused));
    let left = say(&other, "", "agentic session list --json");
    assert_eq!(String::from_utf8_lossy(&left.stdout).trim(), "[]");
    // Elsewhere it may run, and whoever has it goes on with it.
    let here = say(&other, "", "agentic flow run asking.as --run-id k");
    assert_eq!(here.ending, ProgramEnding::Exit(4), "{}", errors(&here));
    stage.ends("agentic decide k --choice accept --as user:alice", 0);
    assert_eq!(stage.ends("agentic flow result k --sibyl-addr $S", 0), "A\n");
}

#[test]
fn verbs_find_the_run_where_it_is() {
    let stage = Stage::new();
    stage.ends("agentic flow run asking.as --sibyl-addr $S --run-id k", 4);
    // No verb is told where it is.
    assert!(stage.ends("agentic flow status k", 0).contains("held"));
    let history = stage.json("agentic flow history k --json");
    assert!(history.as_array().is_some_and(|events| events.len() > 1), "{history}");
    stage.ends("agentic flow result k", 4);
    stage.ends("agentic session resume run-k", 4);
    let listed = stage.json("agentic session list --json");
    assert_eq!(listed[0]["engine"].as_str(), Some(stage.server.address().as_str()));
    let shown = stage.json("agentic session show run-k --json");
    assert_eq!(shown["engine"], listed[0]["engine"]);
    let stopped = stage.json("agentic flow cancel k --json");
    assert_eq!(stopped["state"], "cancelled");
}

#[test]
fn what_is_over_is_told_without_the_server() {
    let mut stage = Stage::new();
    stage.ends("agentic flow run plain.as --sibyl-addr $S --run-id over", 0);
    stage.ends("agentic flow run asking.as --sibyl-addr $S --run-id held", 4);
    stage.server.kill();
    assert_eq!(stage.ends("agentic flow result over", 0), "A\n");
    assert!(stage.ends("agentic flow status over", 0).contains("done"));
    stage.ends("agentic session verify run-over", 0);
    // What is sealed of the other is still shown, and it is said that there may be more.
    stage.ends("agentic flow status held", 11);
    let shown = stage.say("agentic session show run-held");
    assert_eq!(shown.ending, ProgramEnding::Exit(0), "{}", errors(&shown));
    assert!(errors(&shown).contains("what is sealed is shown"), "{}", errors(&shown));
    stage.server.start().expect("its data are there");
}

#[test]
fn what_waits_at_a_server_is_listed_without_a_worker() {
    let mut stage = Stage::new();
    stage.ends("agentic flow run asking.as --sibyl-addr $S --run-id k", 4);
    stage.kill_worker();
    // The server's own listing comes a little later.
    let begun = std::time::Instant::now();
    let listed = loop {
        let listed = stage.json("cd / && agentic pending --sibyl-addr $S --json");
        if listed[0].is_object() || begun.elapsed() > std::time::Duration::from_secs(60) {
            break listed;
        }
    };
    assert_eq!(listed[0]["question"], "go?");
    assert_eq!((&listed[0]["agent"], &listed[0]["key"]), (&"run-k".into(), &"k".into()));
    // What is listed is what `decide` takes, once somebody works again.
    stage.work();
    let request = listed[0]["request"].as_str().expect("it has one");
    stage.ends(&format!("agentic decide {request} approve --as user:alice"), 0);
    assert_eq!(stage.ends("agentic flow result k", 0), "A\n");
}

#[test]
fn runs_are_searched_for_once_the_server_is_set_up() {
    let stage = Stage::new();
    // Before that nothing is refused for it.
    stage.ends("agentic flow run asking.as --sibyl-addr $S --run-id before", 4);
    let said = stage.say("agentic flow worker --setup --sibyl-addr $S");
    assert_eq!(said.ending, ProgramEnding::Exit(0), "{}", errors(&said));
    assert!(errors(&said).contains("AgenticAgent"), "{}", errors(&said));
    let again = stage.say("agentic flow worker --setup --sibyl-addr $S");
    assert!(errors(&again).contains("knows all"), "{}", errors(&again));
    // The server itself takes a moment to know them everywhere.
    let count = |query: &str| {
        let mut command = std::process::Command::new(Stage::program());
        let address = stage.server.address();
        command.args(["workflow", "count", "--address", &address, "--query", query]);
        command.args(["--disable-config-file", "--disable-config-env"]);
        let counted = command.env("HOME", stage.sandbox.root()).output().expect("it runs");
        String::from_utf8_lossy(&counted.stdout).into_owned()
    };
    stage.ends("agentic flow run asking.as --sibyl-addr $S --run-id after", 4);
    let query =
        "AgenticAgent = 'run-after' AND AgenticHeld = true AND AgenticLanguage = 'pipeline'";
    let begun = std::time::Instant::now();
    while !count(query).contains('1') {
        assert!(begun.elapsed() < std::time::Duration::from_secs(60), "{}", count(query));
    }
}
