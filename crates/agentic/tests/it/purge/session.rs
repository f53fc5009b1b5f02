//! A value in sessions: it goes out of records, long values and seals; what is left of a session is
//! shown and verified, and says what it lacks.

use agentic_testkit::ProgramEnding;

use super::walk::PurgeWalk;
use super::{AFTER_AT, VALUE, json};
use crate::stage::{script, script_ok, text};

/// A session that was told the value, asked a program for it, and had a long answer with it; a fork
/// that shares this; and one that knows nothing of it. All are over.
const STORY: &str = r#"
agentic spawn alice -m "Work"
agentic spawn bob -m "Other work"
cat >../told.rhai <<'E'
let said = exec("echo " + input.word);
exec("printf VALUE; head -c 300000 /dev/zero | tr '\\0' x");
hold("Go on?");
exec("echo once more " + input.word);
said.stdout
E
printf '%s' 'exec("echo plain"); 7' >../plain.rhai
agentic session start alice --flow ../told.rhai --key k --allow exec --input '{"word":"VALUE"}' || true
agentic session start bob --flow ../plain.rhai --key k --allow exec
agentic session fork alice --as carol || true
agentic decide alice approve -m fine
agentic decide carol approve -m fine
rm -f ../told.rhai ../plain.rhai
"#;

const CHECKS: [(&str, &str); 6] = [
    ("agentic session verify alice --json | grep -c 'was purged'", "1"),
    ("agentic session verify carol --json | grep -c 'was purged'", "1"),
    ("agentic session verify bob --json | grep -c 'was purged' || true", "0"),
    ("agentic session show alice --json | grep -o '\"purged\":' | head -n 1", "\"purged\":"),
    ("agentic session show bob >/dev/null && agentic session replay bob | cut -c 14-", "same"),
    (
        "agentic session replay carol --json | grep -o '\"verdict\":\"[a-z]*\"'",
        "\"verdict\":\"purged\"",
    ),
];

fn purge_of<'w>(story: &'w str, arguments: &'w [&'w str]) -> PurgeWalk<'w> {
    PurgeWalk { story, value: VALUE, arguments, input: VALUE, checks: &CHECKS }
}

/// The program of the story has the value in its text, which is an object of its own.
fn told_by_input(story: &str) -> String {
    story.replace("printf VALUE;", "printf \" + input.word + \";")
}

#[test]
fn a_value_goes_out_of_sessions_that_can_be_looked_at_still() {
    let story = told_by_input(STORY);
    let purge = purge_of(&story, &["--json", "purge", "--value", "--apply", "-m", "told"]);
    let sandbox = purge.stage();
    let before = script_ok(&sandbox, "git rev-parse main agents/alice agents/carol", AFTER_AT);
    let done = purge.purge(&sandbox, &[]);
    assert_eq!(done.ending, ProgramEnding::Exit(0), "{}", text(&done));
    let done = json(&done);
    let hits = done["hits"].as_array().expect("a list");
    let in_sessions = hits.iter().filter(|hit| hit["place"] == "session").count();
    assert!(in_sessions >= 2, "{done}");
    assert_eq!(purge.broken(&sandbox), "");
    assert_eq!(
        script_ok(&sandbox, "git rev-parse main agents/alice agents/carol", AFTER_AT),
        before
    );
    // A second purge of the same finds nothing.
    let again = json(&purge.purge(&sandbox, &[]));
    assert_eq!(again["hits"], serde_json::json!([]), "{again}");
}

#[test]
fn a_purge_of_sessions_that_is_killed_at_any_step_comes_to_the_same_end() {
    let story = told_by_input(STORY);
    purge_of(&story, &["purge", "--value", "--apply"]).walk();
}

#[test]
fn a_session_that_is_not_over_is_refused_unless_it_is_cancelled() {
    let story = told_by_input(STORY).replace("agentic decide alice approve -m fine", "");
    let refused = purge_of(&story, &["--json", "purge", "--value", "--apply"]);
    let sandbox = refused.stage();
    let before = script_ok(&sandbox, "git for-each-ref", AFTER_AT);
    let finished = refused.purge(&sandbox, &[]);
    assert_eq!(finished.ending, ProgramEnding::Exit(1), "{}", text(&finished));
    assert!(text(&finished).contains("not over"), "{}", text(&finished));
    assert_eq!(script_ok(&sandbox, "git for-each-ref", AFTER_AT), before);
    let planned = purge_of(&story, &["--json", "purge", "--value"]).purge(&sandbox, &[]);
    let plan = json(&planned);
    assert_eq!(plan["sessions"].as_array().map(Vec::len), Some(1), "{plan}");
    let cancelled = purge_of(&story, &["--json", "purge", "--value", "--apply", "--cancel"]);
    let finished = cancelled.purge(&sandbox, &[]);
    assert_eq!(finished.ending, ProgramEnding::Exit(0), "{}", text(&finished));
    assert_eq!(cancelled.broken(&sandbox), "");
    let shown = script(&sandbox, "agentic session resume alice; agentic pending", AFTER_AT, &[]);
    assert!(!text(&shown).contains(VALUE), "{}", text(&shown));
}
