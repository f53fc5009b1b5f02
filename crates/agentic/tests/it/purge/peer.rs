//! A purge that somebody else made: until a person decides on it, nothing brings the value back.

use agentic_testkit::{ProgramEnding, Sandbox, Setup};

use super::{AFTER_AT, BEFORE_AT, VALUE, json, sandbox, with_value};
use crate::stage::{script, script_ok, text};

/// Here has what there has purged since.
fn purged_there() -> (Sandbox, String) {
    let sandbox = sandbox(Setup::TwoSpaces);
    let before = format!(
        "agentic init\nagentic spawn alice -m Work\n\
         echo 'log in with {VALUE}' | agentic trace add --agent alice --kind log -\n\
         echo a >a\nagentic commit --agent alice --path a -m Did --trace\nagentic push\n\
         cd ../there\nagentic init\nagentic fetch --adopt alice\n\
         printf {VALUE} | agentic purge --value --apply -m 'a password'\n\
         agentic push --purge --remote origin"
    );
    script_ok(&sandbox, &before, BEFORE_AT);
    script_ok(&sandbox, "agentic fetch", AFTER_AT);
    let listed = script_ok(&sandbox, "agentic --json purge tombstones", AFTER_AT);
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("JSON");
    let tombstone = listed[0]["tombstone"].as_str().expect("one waits").to_owned();
    let refused = script(&sandbox, "agentic push", AFTER_AT, &[]);
    assert_eq!(refused.ending, ProgramEnding::Exit(3), "{}", text(&refused));
    (sandbox, tombstone)
}

#[test]
fn a_tombstone_that_is_set_aside_holds_nobody_up() {
    let (sandbox, tombstone) = purged_there();
    script_ok(&sandbox, &format!("agentic purge ignore {tombstone}"), AFTER_AT);
    let left = script_ok(&sandbox, "agentic --json purge tombstones", AFTER_AT);
    assert_eq!(left.trim(), "[]");
    let still = with_value(&sandbox, &["--json", "purge", "verify"], &[]);
    assert_eq!(still.ending, ProgramEnding::Exit(1), "{}", text(&still));
    script_ok(&sandbox, "agentic push && agentic doctor", AFTER_AT);
    let wrong = script(&sandbox, &format!("agentic purge ignore {tombstone}"), AFTER_AT, &[]);
    assert_eq!(wrong.ending, ProgramEnding::Exit(1), "{}", text(&wrong));
}

#[test]
fn a_tombstone_that_is_followed_takes_the_value_out() {
    let (sandbox, tombstone) = purged_there();
    let follow = format!("agentic --json purge --follow {tombstone} --apply");
    script_ok(&sandbox, &follow, AFTER_AT);
    let gone = with_value(&sandbox, &["--json", "purge", "verify"], &[]);
    assert_eq!(gone.ending, ProgramEnding::Exit(0), "{}", text(&gone));
    assert_eq!(json(&gone)["hits"], serde_json::json!([]));
    script_ok(&sandbox, "agentic push && agentic doctor", AFTER_AT);
}
