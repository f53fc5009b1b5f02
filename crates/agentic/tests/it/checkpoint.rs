//! Logs are cut by size and at rest, by writes that nobody asked to do so, and nothing that counts
//! goes with them.

use std::fs;

use agentic_testkit::{ProgramEnding, Sandbox, Setup};

use crate::stage::{AFTER_AT, Stage, script, script_ok, text};
use crate::state::State;
use crate::verb::VERBS;

/// Ten minutes after everything else, when all records may be dropped.
const LATER_AT: &str = "1800000700000";

/// Runs a verb and tells which segments of a journal there are before and after it.
fn segments(name: &str, agent: &str) -> (Vec<String>, Vec<String>, Stage<'static>) {
    let verb = VERBS.iter().find(|verb| verb.name == name).expect("such a verb is listed");
    let stage = Stage::new(verb);
    let list = || {
        let folder = stage.sandbox.start().join(".git/agentic/journal").join(agent);
        let entries = fs::read_dir(folder).expect("the agent has a journal");
        let mut names: Vec<String> =
            entries.flatten().map(|entry| entry.file_name().to_string_lossy().into()).collect();
        names.sort();
        names
    };
    stage.rewind();
    let before = list();
    stage.run(&[]);
    let after = list();
    (before, after, stage)
}

/// Checks that everything is there without the journals too, and after a replay of what is left.
fn check_without_journals(stage: &Stage<'_>) {
    assert_eq!(State::read(&stage.sandbox), stage.after);
    assert_eq!(stage.check_sound(), Vec::<String>::new());
    script_ok(&stage.sandbox, "agentic doctor --replay", LATER_AT);
    assert_eq!(State::read(&stage.sandbox), stage.after);
    let lines = "git fsck --strict --no-dangling --no-progress; agentic doctor > /dev/null";
    script_ok(&stage.sandbox, lines, LATER_AT);
}

#[test]
fn a_write_cuts_the_logs_of_agents_at_rest() {
    let (before, after, stage) = segments("commit that cuts the logs of agents at rest", "bob");
    assert_eq!(before, ["00000000.log"]);
    assert_eq!(after, ["00000001.log"]);
    let git_dir = stage.sandbox.start().join(".git/agentic");
    assert!(!git_dir.join("dirty/bob").exists(), "nothing of bob needs a replay any more");
    assert!(git_dir.join("dirty/alice").exists(), "the write itself is young");
    check_without_journals(&stage);
}

#[test]
fn a_write_cuts_the_oldest_part_of_its_own_log() {
    let (before, after, stage) = segments("trace add that cuts the oldest part of a log", "alice");
    assert_eq!(before, ["00000000.log", "00000001.log"]);
    assert_eq!(after, ["00000001.log"]);
    check_without_journals(&stage);
}

#[test]
fn young_records_a_collection_and_the_configuration_keep_a_log() {
    let verb = VERBS.iter().find(|verb| verb.name.ends_with("agents at rest")).expect("listed");
    let stage = Stage::new(verb);
    let cases = [
        ("", "1", "a write ten minutes later"),
        ("AGENTIC_NOW=1799990599999", "0", "a write a moment too early"),
        ("touch .git/gc.pid;", "0", "a collection is running"),
        ("git config agentic.keepLog true;", "0", "all logs are kept"),
    ];
    for (prelude, expected, what) in cases {
        stage.rewind();
        let run = format!("{prelude} sh -c '{}'", verb.run.replace('\'', "'\\''"));
        let line = format!("{run} > /dev/null; ls .git/agentic/journal/bob");
        let found = script_ok(&stage.sandbox, &line, crate::stage::VERB_AT);
        assert_eq!(found.trim(), format!("0000000{expected}.log"), "{what}");
    }
}

#[test]
fn a_decision_outlives_the_log_that_made_it_one() {
    let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
    sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
    let decide = r#"echo 'hold("Go on?").action' > ../flow.rhai
        agentic spawn alice -m x
        agentic session start alice --flow ../flow.rhai || [ $? = 4 ]
        AGENTIC_CRASH_AT=before-session-record agentic decide alice approve"#;
    let finished = script(&sandbox, decide, AFTER_AT, &[]);
    assert_ne!(
        finished.ending,
        ProgramEnding::Exit(0),
        "the answer is not noted: {}",
        text(&finished)
    );
    let lines = "agentic spawn bob -m y; ls .git/agentic/journal/alice
        agentic session resume alice --json";
    let said = script_ok(&sandbox, lines, LATER_AT);
    assert!(said.contains("00000001.log") && !said.contains("00000000.log"), "{said}");
    assert!(said.contains("\"state\":\"done\"") && said.contains("\"approve\""), "{said}");
}
