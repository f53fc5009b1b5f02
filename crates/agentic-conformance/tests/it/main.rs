//! The runner itself: what passes, what fails, and how a failure reads. The binary is a script.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agentic_conformance::{ApartCase, CaseCompany, Error, RunReport, Scoreboard, SuiteChoice, run};

/// A program that does, as its first argument says, what a broken binary might do.
const FAKE: &str = r#"#!/bin/sh
case "$1" in
  say) shift; printf '%s\n' "$@" ;;
  json) echo '{"head":"0123456789012345678901234567890123456789","n":[1,2],"at":"2026-11-21T22:40:01.250Z"}' ;;
  refuse) echo 'error: agent `alice` already exists' >&2; echo 'hint: choose another name' >&2; exit 3 ;;
  refuse-without-hint) echo 'error: no' >&2; exit 1 ;;
  refuse-but-write) git branch sneaky; echo 'error: no' >&2; echo 'hint: -' >&2; exit 1 ;;
  panic) echo "thread 'main' panicked at src/main.rs" >&2; exit 101 ;;
  crash) kill -SEGV $$ ;;
  hang) sleep 600 ;;
  damage) oid=$(git rev-parse HEAD); rm -f ".git/objects/$(printf %.2s "$oid")/${oid#??}" ;;
  misname)
    blob=$(printf '\241\144type\141x' | git hash-object -w --stdin)
    tree=$(printf '100644 blob %s\tx\n' "$blob" | git mktree)
    top=$(printf '040000 tree %s\tobjects\n' "$tree" | git mktree)
    git update-ref refs/notes/agentic/alice "$(git commit-tree -m notes "$top")" ;;
esac
"#;

fn options(folder: &Path, suites: &[&str]) -> SuiteChoice {
    let bin = folder.join("fake");
    fs::write(&bin, FAKE).expect("writable");
    fs::set_permissions(&bin, fs::Permissions::from_mode(0o755)).expect("ours");
    SuiteChoice {
        bin,
        cases_dir: folder.join("conformance"),
        suites: suites.iter().map(ToString::to_string).collect(),
        command_limit: Duration::from_millis(1500),
        company: CaseCompany::Nobody,
    }
}

fn write_suite(folder: &Path, suite: &str, text: &str) {
    let folder = folder.join("conformance").join(suite);
    fs::create_dir_all(&folder).expect("writable");
    fs::write(folder.join("all.case"), text).expect("writable");
}

fn run_cases(text: &str) -> RunReport {
    let folder = tempfile::tempdir().expect("writable");
    write_suite(folder.path(), "suite", text);
    run(&options(folder.path(), &[]), &|_| {}).expect("there are cases")
}

fn passes(case: &str) {
    let report = run_cases(&format!("== title\n{case}"));
    assert_eq!((report.passed(), report.failed()), (1, 0), "{}", report.failures_text());
}

fn fails(case: &str, part: &str) {
    let report = run_cases(&format!("== title\n{case}"));
    assert_eq!((report.passed(), report.failed()), (0, 1), "{case}");
    let text = report.failures_text();
    assert!(text.starts_with("suite/all.case:1: title\n"), "{text}");
    assert!(text.contains(part), "{part:?} in\n{text}");
}

#[test]
fn output_is_compared_line_by_line() {
    passes("$ agentic say one two\n> one\n> [..]\n");
    fails("$ agentic say one two\n> one\n> three\n", "    one\n    - three\n    + two\n");
    fails("$ agentic say one\n> one\n> two\n", "- two");
    fails("$ true\n> one\n", "- one");
    fails("$ agentic say one\nstdout is empty\n", "must be empty");
    fails("$ agentic say one\nstdout lacks one\n", "must not have");
    fails("$ agentic say one\nstderr has one\n", "stderr must have");
}

#[test]
fn json_is_compared_by_path() {
    passes("$ agentic json\njson .head is oid\njson .n has 2 items\njson .at is instant\n");
    passes("$ agentic json\njson .n[1] = 2\njson .none missing\njson .head matches ^0.*9$\n");
    passes("$ agentic json\njson .n contains 2\njson .n lacks 3\njson .n != [1]\n");
    fails("$ agentic json\njson .n[1] = 3\n", "json .n[1] must be 3, but is 2");
    fails("$ agentic json\njson .head is cid\n", "must be cid");
    fails("$ agentic json\njson .n missing\n", "must not be there");
    fails("$ agentic json\njson .none = null\n", "is not there");
    fails("$ agentic say x\njson . is map\n", "stdout is not JSON");
}

#[test]
fn captured_values_reach_commands_and_expectations() {
    passes("$ agentic json\nlet head = json .head\n\n$ agentic say $head\n> ${head}\n");
    passes("$ agentic say a\nlet a = stdout\nfile f\n| ${a}\n$ cat f -\n< ${a}\n> a\n> a\n");
    fails("$ agentic say x\n> ${unknown}\n", "nothing is called `unknown`");
}

#[test]
fn a_refusal_has_a_hint_and_changes_nothing() {
    passes("$ agentic refuse\nrefused 3 `alice`\n");
    fails("$ agentic refuse\n", "expected exit 0, found exit 3");
    fails("$ agentic refuse\nrefused 3 `bob`\n", "stderr must have: `bob`");
    fails("$ agentic refuse-without-hint\nrefused 1\n", "`hint: …`");
    fails("$ agentic refuse-but-write\nrefused 1\n", "added repo/.git:refs/heads/sneaky");
}

#[test]
fn panics_crashes_and_hangs_are_failures() {
    fails("$ agentic panic\nexit 101\n", "panicked");
    fails("$ agentic crash\nexit 0\n", "");
    fails("$ agentic hang\n", "time limit");
}

#[test]
fn the_last_check_reads_the_repository() {
    fails("$ agentic damage\n", "git fsck --strict finds");
    passes("last-check: none, the commit was removed\n$ agentic damage\n");
    fails("$ agentic misname\n", "object x");
}

#[test]
fn a_file_that_cannot_be_read_is_a_failed_case() {
    let report = run_cases("== fine\n$ true\n== broken\n$ true\nfrobnicate\n");
    assert_eq!((report.passed(), report.failed()), (0, 1));
    assert!(report.failures_text().starts_with("suite/all.case:5: "), "{}", report.failures_text());
}

#[test]
fn suites_are_chosen_by_name_and_counted() {
    let folder = tempfile::tempdir().expect("writable");
    write_suite(folder.path(), "a", "== one\n$ true\n== two\n$ false\n");
    write_suite(folder.path(), "b", "== three\n$ true\n");
    fs::create_dir(folder.path().join("conformance/data-only")).expect("writable");
    let n_called = AtomicUsize::new(0);
    let count = |_: agentic_conformance::SuiteProgress| {
        n_called.fetch_add(1, Ordering::Relaxed);
    };
    let report = run(&options(folder.path(), &[]), &count).expect("there are cases");
    assert_eq!(n_called.into_inner(), 3);
    assert_eq!(
        report.to_json().to_string(),
        r#"{"suites":[{"failed":1,"name":"a","passed":1},{"failed":0,"name":"b","passed":1}]}"#
    );
    Scoreboard::default().with(&report).write(folder.path()).expect("writable");
    let written = fs::read_to_string(folder.path().join("scoreboard.md")).expect("written");
    assert!(written.ends_with("| a | 1 | 1 |\n| b | 1 | 0 |\n| **all** | 2 | 1 |\n"), "{written}");
    let only_b = run(&options(folder.path(), &["b"]), &|_| {}).expect("there are cases");
    assert_eq!(only_b.suites.len(), 1);
    let unknown = run(&options(folder.path(), &["c"]), &|_| {});
    assert!(matches!(unknown, Err(Error::NoSuite { known, .. }) if known == "a, b"));
}

#[test]
fn counts_with_a_server_stay_when_others_are_counted_again() {
    let folder = tempfile::tempdir().expect("writable");
    write_suite(folder.path(), "a", "== one\n$ true\n");
    let report = run(&options(folder.path(), &[]), &|_| {}).expect("there are cases");
    let mut served = report.clone();
    let (place, title) = ("a/all.case:1".to_owned(), "one".to_owned());
    served.suites[0].apart.push(ApartCase { place, title, reason: "it ticks".to_owned() });
    Scoreboard::default().with_served(&served).write(folder.path()).expect("writable");
    let loaded = Scoreboard::load(folder.path()).expect("it was written so");
    assert_eq!(loaded, Scoreboard::default().with_served(&served));
    let written = loaded.with(&report).files();
    let markdown = &written["scoreboard.md"];
    assert!(markdown.contains("| a | 1 | 0 |\n| **all** | 1 | 0 |\n"), "{markdown}");
    assert!(markdown.contains("| **all** | 1 | 0 | 0 | 1 |\n"), "{markdown}");
    assert!(markdown.ends_with("| it ticks | 1 |\n"), "{markdown}");
    fs::write(folder.path().join("scoreboard.json"), "{}").expect("writable");
    assert!(matches!(Scoreboard::load(folder.path()), Err(Error::NoScoreboard { .. })));
}

#[test]
fn a_case_that_needs_something_says_why_and_is_played_only_there() {
    passes("needs embedded-engine: it ticks\nneeds no-server: it restarts\n$ true\n");
    let folder = tempfile::tempdir().expect("writable");
    let text = "needs no-server: it restarts\n\n== one\n$ true\n== two\n$ true\n";
    write_suite(folder.path(), "a", text);
    let choice = options(folder.path(), &[]);
    let report = run(&choice, &|_| {}).expect("there are cases");
    assert_eq!((report.passed(), report.suites[0].apart.len()), (2, 0));
    let served = SuiteChoice { company: CaseCompany::Server, ..choice };
    let report = run(&served, &|_| {}).expect("there are cases");
    assert_eq!((report.passed(), report.failed()), (0, 0), "{}", report.failures_text());
    assert_eq!(report.suites[0].apart[1].reason, "it restarts");
    assert_eq!(report.suites[0].apart[1].title, "two");
    for bad in ["needs no-server", "needs rain: it is dry", "engine: embedded, it ticks"] {
        for text in [format!("== title\n{bad}\n$ true\n"), format!("{bad}\n== title\n$ true\n")] {
            assert_eq!(run_cases(&text).failed(), 1, "{text}");
        }
    }
}

#[test]
fn a_missing_binary_is_an_error_and_not_a_result() {
    let folder = tempfile::tempdir().expect("writable");
    write_suite(folder.path(), "a", "== one\n$ true\n");
    let mut options = options(folder.path(), &[]);
    options.bin = folder.path().join("missing");
    assert!(matches!(run(&options, &|_| {}), Err(Error::NoBinary { .. })));
}
