//! A repository rebuilt from an older copy of git's part and the journals of today.

use agentic_testkit::{ProgramEnding, Sandbox, Setup};

use crate::stage::{AFTER_AT, script_ok, text};
use crate::state::State;

/// When the copy is made: everything before it is checkpointed.
const COPY_AT: &str = "1799990000000";

const BEFORE_THE_COPY: &str = "
    agentic spawn alice -m x; agentic spawn bob --from alice -m y
    echo '{\"a\":\"1\"}' | agentic commit --agent alice -m one --stdin
    agentic trace add --agent alice first";

const AFTER_THE_COPY: &str = "
    echo '{\"a\":\"2\"}' | agentic commit --agent alice -m two --stdin --trace
    echo '{\"b\":\"2\"}' | agentic commit --agent bob -m three --stdin
    agentic merge bob --into alice; agentic relate alice reviews bob
    agentic trace add --agent bob second; agentic spawn carol --from alice -m z
    agentic trace attach agents/bob --agent bob; agentic trace add --agent bob third";

/// Makes the copy; after it, the journals are all that is taken from today.
const COPY: &str = "cp -a .git ../copy";
const REBUILD: &str = "
    mv .git/agentic ../journals; rm -rf .git; cp -a ../copy .git
    rm -rf .git/agentic; mv ../journals .git/agentic
    agentic doctor --replay --json; git fsck --strict --no-dangling --no-progress";

fn rebuild(checkpoint: &str) {
    let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
    sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
    script_ok(&sandbox, BEFORE_THE_COPY, "1799980000000");
    script_ok(&sandbox, &format!("{checkpoint}\n{COPY}"), COPY_AT);
    script_ok(&sandbox, AFTER_THE_COPY, AFTER_AT);
    let wanted = State::read(&sandbox);
    let finished = crate::stage::script(&sandbox, &format!("set -e\n{REBUILD}"), AFTER_AT, &[]);
    assert_eq!(finished.ending, ProgramEnding::Exit(0), "{}", text(&finished));
    let found = State::read(&sandbox);
    let differences = wanted.difference("rebuilt", &found);
    assert_eq!(differences, Vec::<String>::new(), "{}", text(&finished));
    let again = script_ok(&sandbox, "agentic doctor --json", AFTER_AT);
    assert!(again.contains("\"sound\":true"), "{again}");
}

#[test]
fn a_copy_that_is_as_old_as_the_last_checkpoint_is_brought_up_to_date() {
    // The checkpoint drops what the copy has: only what came after it is in the journals.
    rebuild("agentic doctor --json | grep -q '\"cut\":2'");
}

#[test]
fn a_copy_is_brought_up_to_date_by_journals_that_were_never_cut() {
    rebuild("git config agentic.keepLog true");
}
