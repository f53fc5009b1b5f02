//! `agentic ui` in a build that does not have it.

use std::time::Duration;

use agentic_testkit::{ProgramEnding, Sandbox, Setup, run};

use crate::stage::text;

#[test]
fn a_build_without_the_screen_says_how_to_build_one_with_it() {
    let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
    sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
    let mut command = sandbox.command("agentic", sandbox.start());
    command.arg("ui");
    let finished = run(command, b"", Duration::from_secs(60)).expect("the program can be started");
    let said = text(&finished);
    assert_eq!(finished.ending, ProgramEnding::Exit(2), "{said}");
    assert!(said.contains("cargo install --path crates/agentic --features tui"), "{said}");
}
