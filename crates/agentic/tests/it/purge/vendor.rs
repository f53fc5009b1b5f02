//! Transcripts of vendors: named by file and line, and changed only where a person asks for it.

use agentic_testkit::ProgramEnding;

use super::walk::PurgeWalk;
use super::{AFTER_AT, VALUE, json};
use crate::stage::{script_ok, text};

const STORY: &str = r#"
git config agentic.capture on
agentic spawn alice -m "Work" --worktree
projects=$HOME/.claude/projects/p
mkdir -p $projects
cd ../$(basename $PWD).agents/alice
id=0b6f3c1e-5d1a-4a57-9e44-000000000001
line() {
  printf '{"type":"user","uuid":"00000000-0000-4000-8000-00000000000%s","parentUuid":null,"sessionId":"%s","timestamp":"2026-11-20T10:00:00.000Z","cwd":"%s","message":{"role":"user","content":"%s"}}\n' \
    "$1" "$id" "$PWD" "$2" >>$projects/$id.jsonl
}
line 1 "plain words"
line 2 "log in with VALUE"
chmod 600 $projects/$id.jsonl
printf '{"session_id":"%s","cwd":"%s","transcript_path":"%s","hook_event_name":"SessionEnd"}' \
  "$id" "$PWD" "$projects/$id.jsonl" | agentic hook claude
"#;

const SHOWN: (&str, &str) = ("agentic trace show alice | grep -c 'log in with .purged:'", "1");
const FILE: &str = "$HOME/.claude/projects/p/0b6f3c1e-5d1a-4a57-9e44-000000000001.jsonl";

#[test]
fn a_transcript_is_named_by_its_line_and_left_alone() {
    let count = format!("grep -c VALUE {FILE}").replace("VALUE", VALUE);
    let purge = PurgeWalk {
        story: STORY,
        value: VALUE,
        arguments: &["--json", "purge", "--value", "--apply"],
        input: VALUE,
        checks: &[SHOWN, (&count, "1")],
    };
    let sandbox = purge.stage();
    let done = purge.purge(&sandbox, &[]);
    assert_eq!(done.ending, ProgramEnding::Exit(0), "{}", text(&done));
    let done = json(&done);
    let sources = done["sources"].as_array().expect("a list");
    let (place, line) = (&sources[0]["place"], &sources[0]["line"]);
    assert_eq!((sources.len(), place.as_str(), line.as_u64()), (1, Some("source"), Some(2)));
    assert_eq!(purge.broken(&sandbox), "");
}

#[test]
fn a_transcript_is_changed_where_a_person_asks_for_it() {
    let gone = format!("grep -c VALUE {FILE} || true").replace("VALUE", VALUE);
    let left = format!("grep -c 'plain words' {FILE}; grep -c purged: {FILE}; wc -l <{FILE}");
    let mode = format!("stat -c %a {FILE}");
    let purge = PurgeWalk {
        story: STORY,
        value: VALUE,
        arguments: &["--json", "purge", "--value", "--apply", "--sources"],
        input: VALUE,
        checks: &[SHOWN, (&gone, "0"), (&left, "1\n1\n2"), (&mode, "600")],
    };
    purge.walk();
    // What is read of the file afterwards makes nothing new.
    let sandbox = purge.stage();
    let done = purge.purge(&sandbox, &[]);
    assert_eq!(done.ending, ProgramEnding::Exit(0), "{}", text(&done));
    let count = "agentic trace show alice --json | grep -o '\"kind\"' | wc -l";
    let before = script_ok(&sandbox, count, AFTER_AT);
    let import = "export HOME=$PWD/../home; agentic import claude --all --json; ";
    script_ok(&sandbox, import, AFTER_AT);
    assert_eq!(script_ok(&sandbox, count, AFTER_AT), before);
}
