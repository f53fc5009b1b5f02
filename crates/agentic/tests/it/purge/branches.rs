//! Branches of agents that are made again without a value: children, notes, archives, worktrees, edges
//! and sessions go along, and every other branch stays.

use agentic_testkit::ProgramEnding;
use serde_json::Value as Json;

use super::walk::PurgeWalk;
use super::{AFTER_AT, VALUE, json};
use crate::stage::{script, script_ok, text};

/// Files, a name, messages and a briefing with the value; a child, an archived agent, a worktree, what is
/// pending, a plain commit in a worktree, and somebody whom it does not concern.
const STORY: &str = r#"
git config core.logAllRefUpdates always
agentic spawn alice -m "Work" --worktree ../alice
agentic spawn bob -m "Other work"
agentic spawn carol -m "Log in with VALUE"
agentic spawn dave -m "Old work"
echo 'key VALUE end' >config; mkdir -p deep; echo 'plain' >deep/VALUE.txt
agentic trace add --agent alice --kind log "wrote the file"
agentic commit --agent alice --path config --path deep/VALUE.txt -m "Added VALUE" --trace
agentic spawn alice.kid -m "Part of it" --from alice
echo kid >kid; agentic trace add --agent alice.kid --kind log "wrote kid"
agentic commit --agent alice.kid --path kid -m "Kid" --trace
echo bob >bob; agentic commit --agent bob --path bob -m "Bob"
agentic relate alice reviews bob
agentic trace add --agent carol --kind log "pending of carol"
agentic trace add --agent alice --kind log "pending of alice"
echo 'old VALUE' >old; agentic trace add --agent dave --kind log "wrote old"
agentic commit --agent dave --path old -m "Old" --trace
agentic archive dave
rm -rf config deep kid bob old
cd ../alice && echo more >more && git add more && git commit -q -m "More of VALUE" && cd -
git repack -q -a -d
"#;

const CHECKS: [(&str, &str); 14] = [
    ("git -C ../alice status --porcelain", ""),
    ("cat ../alice/config | sed 's/purged:[0-9a-f]*/purged:ID/'", "key [purged:ID] end"),
    ("ls ../alice/deep | sed 's/purged:[0-9a-f]*/purged:ID/'", "[purged:ID].txt"),
    ("git log --format=%s agents/alice | head -n 1 | cut -c 1-16", "More of [purged:"),
    ("agentic trace show alice.kid | grep -c 'wrote kid'", "1"),
    ("agentic trace show $(git rev-parse agents/alice~1) | grep -c 'wrote the file'", "1"),
    ("agentic trace show $(git rev-parse agents/alice~1) | grep -c 'how' || true", "0"),
    ("agentic trace pending --agent carol | grep -c 'pending of carol'", "1"),
    ("agentic trace pending --agent alice | grep -c 'pending of alice'", "1"),
    ("git merge-base --is-ancestor agents/alice~1 agents/alice.kid && echo below", "below"),
    (
        "agentic archive --restore dave >/dev/null && agentic trace show dave | grep -c 'wrote old'",
        "1",
    ),
    ("git show agents/dave:old | sed 's/purged:[0-9a-f]*/purged:ID/'", "old [purged:ID]"),
    ("agentic tree >/dev/null && agentic relations >/dev/null && echo fine", "fine"),
    (
        "agentic trace add --agent carol --kind log on && echo c >c && agentic commit --agent carol \
         --path c -m On --trace >/dev/null && rm c && agentic trace show carol | grep -c 'pending of'",
        "1",
    ),
];

fn purge_of<'w>(story: &'w str, arguments: &'w [&'w str]) -> PurgeWalk<'w> {
    PurgeWalk { story, value: VALUE, arguments, input: VALUE, checks: &CHECKS }
}

#[test]
fn branches_are_made_again_with_all_that_names_their_commits() {
    let purge = purge_of(STORY, &["--json", "purge", "--value", "--branches", "--apply"]);
    let sandbox = purge.stage();
    let stays = "git rev-parse main agents/bob";
    let before = script_ok(&sandbox, stays, AFTER_AT);
    let dates = "git log --format='%an %ae %at %cn %ct' agents/alice agents/alice.kid";
    let people = script_ok(&sandbox, dates, AFTER_AT);

    let plan = PurgeWalk { arguments: &["--json", "purge", "--value", "--branches"], ..purge };
    let plan = json(&plan.purge(&sandbox, &[]));
    assert_eq!(plan["left"], serde_json::json!([]), "{plan}");
    let hits = plan["hits"].as_array().expect("a list");
    let in_branch = |name: &str| hits.iter().any(|hit| hit["ref"] == name);
    for name in
        ["refs/heads/agents/alice", "refs/heads/agents/alice.kid", "refs/heads/agents/carol"]
    {
        assert!(in_branch(name), "{name}: {plan}");
    }
    assert!(!in_branch("refs/heads/agents/bob"), "{plan}");

    let purge = purge_of(STORY, &["--json", "purge", "--value", "--branches", "--apply"]);
    let done = purge.purge(&sandbox, &[]);
    assert_eq!(done.ending, ProgramEnding::Exit(0), "{}", text(&done));
    assert!(!text(&done).contains(VALUE));
    assert_eq!(json(&done)["left"], serde_json::json!([]), "{}", text(&done));
    assert_eq!(purge.broken(&sandbox), "");
    assert_eq!(script_ok(&sandbox, stays, AFTER_AT), before);
    assert_eq!(script_ok(&sandbox, dates, AFTER_AT), people);
}

#[test]
fn a_purge_of_branches_that_is_killed_at_any_step_comes_to_the_same_end() {
    purge_of(STORY, &["purge", "--value", "--branches", "--apply"]).walk();
}

#[test]
fn other_branches_and_what_only_they_hold_are_named_and_stay() {
    let story = r#"
agentic spawn alice -m "Work"
echo 'key VALUE' >config
agentic commit --agent alice --path config -m "Added" 
git add config && git commit -q -m "Mine" && git tag mine
"#;
    let purge = PurgeWalk {
        checks: &[],
        ..purge_of(story, &["--json", "purge", "--value", "--branches", "--apply"])
    };
    let sandbox = purge.stage();
    let before = script_ok(&sandbox, "git rev-parse main mine", AFTER_AT);
    let done = purge.purge(&sandbox, &[]);
    assert_eq!(done.ending, ProgramEnding::Exit(1), "{}", text(&done));
    let left = json(&done);
    let left = left["left"].as_array().expect("a list");
    let named = |name: &str| left.iter().any(|hit| hit["ref"] == name && hit["path"] == "config");
    assert!(named("refs/heads/main") && named("refs/tags/mine"), "{left:?}");
    assert!(!left.iter().any(|hit| hit["ref"] == "refs/heads/agents/alice"), "{left:?}");
    assert_eq!(script_ok(&sandbox, "git rev-parse main mine", AFTER_AT), before);
    let shown = script_ok(&sandbox, "git show agents/alice:config", AFTER_AT);
    assert!(shown.starts_with("key [purged:"), "{shown}");
}

#[test]
fn work_in_a_worktree_is_never_overwritten() {
    let story = r#"
agentic spawn alice -m "Work" --worktree ../alice
cd ../alice && echo 'key VALUE' >config && git add config && git commit -q -m "Added" && echo mine >>config
"#;
    let purge = PurgeWalk {
        checks: &[],
        ..purge_of(story, &["purge", "--value", "--branches", "--apply"])
    };
    let sandbox = purge.stage();
    let before = script_ok(&sandbox, "git rev-parse agents/alice && cat ../alice/config", AFTER_AT);
    let done = purge.purge(&sandbox, &[]);
    assert_ne!(done.ending, ProgramEnding::Exit(0), "{}", text(&done));
    let after = script_ok(&sandbox, "git rev-parse agents/alice && cat ../alice/config", AFTER_AT);
    assert_eq!(after, before);
    let left = script(&sandbox, "ls .git/agentic/purge 2>/dev/null", AFTER_AT, &[]);
    assert_eq!(text(&left), "");
}

#[test]
fn a_session_whose_decision_was_made_again_is_verified() {
    let story = r#"
agentic spawn alice -m "Work with VALUE"
printf '%s' 'hold("Go on?"); 7' >../held.rhai
agentic session start alice --flow ../held.rhai --key k || true
agentic decide alice approve -m fine
rm ../held.rhai
"#;
    let checks = [
        ("agentic session verify alice >/dev/null && echo sound", "sound"),
        (
            "agentic session show alice --json | grep -o '\"state\":\"done\"' | head -n 1",
            "\"state\":\"done\"",
        ),
    ];
    let purge = PurgeWalk {
        checks: &checks,
        ..purge_of(story, &["purge", "--value", "--branches", "--apply"])
    };
    purge.walk();
}

#[test]
fn a_remote_that_still_has_a_branch_does_not_bring_it_back() {
    let sandbox = super::sandbox(agentic_testkit::Setup::TwoSpaces);
    let before = format!(
        "agentic init\nagentic spawn alice -m Work\necho 'key {VALUE}' >config\n\
         agentic commit --agent alice --path config -m Added --trace\nrm config\nagentic push"
    );
    script_ok(&sandbox, &before, super::BEFORE_AT);
    let purge = ["--json", "purge", "--value", "--branches", "--apply"];
    let purged = super::with_value(&sandbox, &purge, &[]);
    assert_eq!(purged.ending, ProgramEnding::Exit(0), "{}", text(&purged));
    for _ in 0..2 {
        script_ok(&sandbox, "agentic fetch", AFTER_AT);
        let verified = super::with_value(&sandbox, &["--json", "purge", "verify"], &[]);
        assert_eq!(verified.ending, ProgramEnding::Exit(0), "{}", text(&verified));
    }
    let pushed = script_ok(&sandbox, "agentic push --purge --remote origin --json", AFTER_AT);
    let pushed: Json = serde_json::from_str(&pushed).unwrap_or_else(|_| panic!("{pushed}"));
    let refs = pushed["pushed"].as_array().expect("a list");
    assert!(refs.iter().any(|name| name == "refs/heads/agents/alice"), "{pushed}");
    let same = "test \"$(git ls-remote origin refs/heads/agents/alice | cut -f1)\" = \"$(git rev-parse agents/alice)\"";
    script_ok(&sandbox, same, AFTER_AT);
    script_ok(&sandbox, "agentic push && agentic fetch && agentic doctor", AFTER_AT);
}
