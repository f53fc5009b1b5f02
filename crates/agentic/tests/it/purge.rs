//! Purge: what it takes out is nowhere any more, by means of its own and by others; whoever is killed on
//! the way comes to the same end; and a peer that still has it does not bring it back.

mod accepted;
mod aim;
mod announced;
mod branches;
mod peer;
mod session;
mod vendor;
mod walk;

use std::fmt::Write as _;
use std::time::Duration;

use agentic_testkit::{FinishedProgram, ProgramEnding, Sandbox, Setup, run};
use serde_json::Value as Json;

use crate::stage::{script, script_ok, text};

/// What is purged. No rule of redaction takes it for a secret.
const VALUE: &str = "tulip-orbit-9941-lamp";
/// More steps than a purge has; a walk that gets here is broken.
const STEPS_MAX: usize = 600;
/// A purge has at least these.
const STEPS_MIN: usize = 20;
const BEFORE_AT: &str = "1800000000000";
const AFTER_AT: &str = "1800000002000";
const LIMIT: Duration = Duration::from_secs(120);
const SCAN: &str = include_str!("purge_scan.py");

/// Traces of three agents, a note that was bound twice, what is pending, an archived agent, a pack, the
/// value in base64 and across two pieces of one entry, and an object that nothing reaches.
const STORY: &str = r#"
git config core.logAllRefUpdates always
for agent in alice bob carol dave; do agentic spawn $agent -m "Work of $agent"; done
for agent in alice bob carol; do
  echo "log in with VALUE, then go" | agentic trace add --agent $agent --kind log -
  echo "plain words of $agent" | agentic trace add --agent $agent --kind log -
  echo $agent >file-$agent
  agentic commit --agent $agent --path file-$agent -m "Did" --trace
done
printf 'as base64: ' >body; printf 'VALUE' | base64 >>body
agentic trace add --agent alice --kind log - <body
agentic trace attach --agent alice $(git rev-parse agents/alice)
head -c 262137 /dev/zero | tr '\0' 'x' >long; printf 'VALUE and more' >>long
agentic trace add --agent bob --kind log - <long
agentic trace attach --agent bob $(git rev-parse agents/bob)
echo "pending VALUE" | agentic trace add --agent carol --kind log -
echo "pending plain" | agentic trace add --agent carol --kind log -
echo "archived VALUE" | agentic trace add --agent dave --kind log -
agentic trace attach --agent dave $(git rev-parse agents/dave)
agentic archive dave
git repack -q -a -d
echo "nothing names this" | git hash-object -w --stdin >../unreachable
rm body long
"#;

fn story() -> String {
    STORY.replace("VALUE", VALUE)
}

fn sandbox(setup: Setup) -> Sandbox {
    let sandbox = Sandbox::in_memory(setup).expect("git is installed");
    sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
    std::fs::write(sandbox.root().join("scan.py"), SCAN).expect("writable");
    std::fs::write(sandbox.root().join("value"), VALUE).expect("writable");
    sandbox
}

/// Runs agentic with the value on its standard input.
fn with_value(
    sandbox: &Sandbox,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> FinishedProgram {
    let mut command = sandbox.command("agentic", sandbox.start());
    command.args(arguments).env("AGENTIC_NOW", AFTER_AT).envs(variables.iter().copied());
    run(command, VALUE.as_bytes(), LIMIT).expect("the program can be started")
}

fn json(finished: &FinishedProgram) -> Json {
    serde_json::from_slice(&finished.stdout).unwrap_or_else(|_| panic!("{}", text(finished)))
}

/// Says what is not as it should be after a purge.
fn broken(sandbox: &Sandbox) -> String {
    let mut broken = String::new();
    let verified = with_value(sandbox, &["--json", "purge", "verify"], &[]);
    if verified.ending != ProgramEnding::Exit(0) {
        writeln!(broken, "verify: {}", text(&verified)).expect("a string");
    }
    let scan = format!("python3 {0}/scan.py .git <{0}/value", sandbox.root().display());
    let checks = [
        (scan.as_str(), ""),
        ("git fsck --strict --no-dangling --no-progress", ""),
        ("git cat-file -p $(cat ../unreachable)", "nothing names this"),
        ("agentic doctor --json | grep -o '\"sound\":true'", "\"sound\":true"),
        ("agentic trace show alice | grep -c purged:", ""),
        ("agentic trace pending --agent carol | grep -c 'pending plain'", "1"),
    ];
    for (check, expected) in checks {
        let finished = script(sandbox, check, AFTER_AT, &[]);
        let said = text(&finished);
        let is_count = check.contains("purged:");
        if finished.ending != ProgramEnding::Exit(0) || (said != expected && !is_count) {
            writeln!(broken, "{check}: {said}").expect("a string");
        }
    }
    broken
}

#[test]
fn a_value_that_was_purged_is_nowhere_by_other_means_too() {
    let sandbox = sandbox(Setup::Repository);
    script_ok(&sandbox, &story(), BEFORE_AT);
    let scan = format!("python3 {0}/scan.py .git <{0}/value", sandbox.root().display());
    assert!(!script_ok(&sandbox, &scan, AFTER_AT).is_empty(), "the script finds nothing at all");
    let before = script_ok(&sandbox, "git rev-parse main agents/alice agents/bob", AFTER_AT);
    let found = with_value(&sandbox, &["--json", "purge", "verify"], &[]);
    assert_eq!(found.ending, ProgramEnding::Exit(1), "{}", text(&found));

    let planned = with_value(&sandbox, &["--json", "purge", "--value"], &[]);
    assert_eq!(planned.ending, ProgramEnding::Exit(0), "{}", text(&planned));
    let plan = json(&planned);
    assert_eq!((&plan["applied"], &plan["left"]), (&Json::Bool(false), &Json::Array(vec![])));

    let purge = ["--json", "purge", "--value", "--apply", "-m", "a password in a log"];
    let purged = with_value(&sandbox, &purge, &[]);
    assert_eq!(purged.ending, ProgramEnding::Exit(0), "{}", text(&purged));
    assert!(!text(&purged).contains(VALUE));
    let done = json(&purged);
    assert_eq!(done["left"], Json::Array(vec![]), "{done}");
    assert_eq!(broken(&sandbox), "");
    assert_eq!(script_ok(&sandbox, "git rev-parse main agents/alice agents/bob", AFTER_AT), before);
    // The audit of what was bound when survives, and so does what was not purged.
    let history = script_ok(&sandbox, "git log --format=%s refs/notes/agentic/alice", AFTER_AT);
    assert!(history.lines().count() > 3, "{history}");
    let shown = script_ok(&sandbox, "agentic trace show bob && agentic trace show carol", AFTER_AT);
    assert!(shown.contains("plain words of bob") && shown.contains("and more"), "{shown}");
    let proof = json(&with_value(&sandbox, &["--json", "purge", "verify"], &[]));
    let counted = script_ok(&sandbox, "git count-objects -v", AFTER_AT);
    for (name, field) in [("count", "loose"), ("in-pack", "packed")] {
        assert!(counted.contains(&format!("{name}: {}\n", proof[field])), "{counted} {proof}");
    }
    // What goes on after a purge goes on.
    let on = "agentic restore dave; echo more | agentic trace add --agent alice --kind log - \
        && echo b >file-alice && agentic commit --agent alice --path file-alice -m More --trace";
    let on = on.replace("agentic restore dave;", "agentic archive --restore dave;");
    script_ok(&sandbox, &on, AFTER_AT);
    script_ok(
        &sandbox,
        "git fsck --strict --no-dangling --no-progress && agentic doctor",
        AFTER_AT,
    );
    let again = with_value(&sandbox, &["--json", "purge", "verify"], &[]);
    assert_eq!(again.ending, ProgramEnding::Exit(0), "{}", text(&again));
}

#[test]
fn a_purge_that_is_killed_at_any_step_comes_to_the_same_end() {
    let sandbox = sandbox(Setup::Repository);
    script_ok(&sandbox, &story(), BEFORE_AT);
    sandbox.save("before").expect("writable");
    let purge = ["purge", "--value", "--apply"];
    walk::kill_at_each_step(
        &sandbox,
        |variables| with_value(&sandbox, &purge, variables),
        || broken(&sandbox),
    );
}

#[test]
fn a_peer_that_still_has_it_does_not_bring_it_back() {
    let sandbox = sandbox(Setup::TwoSpaces);
    let before = format!(
        "agentic init\nagentic spawn alice -m Work\necho 'log in with {VALUE}' | agentic trace add --agent alice --kind log -\n\
         echo a >a\nagentic commit --agent alice --path a -m Did --trace\nagentic push\n\
         cd ../there\nagentic init\nagentic fetch --adopt alice\n\
         echo 'from there' | agentic trace add --agent alice --kind log -\n\
         agentic trace attach --agent alice $(git rev-parse agents/alice)\nagentic push"
    );
    script_ok(&sandbox, &before, BEFORE_AT);
    let purged = with_value(&sandbox, &["--json", "purge", "--value", "--apply"], &[]);
    assert_eq!(purged.ending, ProgramEnding::Exit(0), "{}", text(&purged));
    for _ in 0..2 {
        script_ok(&sandbox, "agentic fetch", AFTER_AT);
        let verified = with_value(&sandbox, &["--json", "purge", "verify"], &[]);
        assert_eq!(verified.ending, ProgramEnding::Exit(0), "{}", text(&verified));
    }
    let shown = script_ok(&sandbox, "agentic trace show alice", AFTER_AT);
    assert!(shown.contains("from there") && shown.contains("[purged:"), "{shown}");
    let checked = "git fsck --strict --no-dangling --no-progress && agentic doctor";
    script_ok(&sandbox, checked, AFTER_AT);
}
