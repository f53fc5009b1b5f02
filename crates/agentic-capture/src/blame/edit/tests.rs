use agentic_model::{Instant, Kind, Map};

use super::*;

fn entry(kind: &str, meta: &[(&str, Value)], body: &str) -> Entry {
    let kind = Kind::parse(kind).expect("valid");
    let mut entry = Entry::new(kind, Instant::from_millis(1), Value::text(body));
    entry.meta =
        meta.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect::<Map>();
    entry
}

fn called(call: &str, input: &str) -> Entry {
    let meta = [("call", Value::text(call)), ("id", Value::text(format!("entry-{call}")))];
    entry("tool-call", &meta, input)
}

fn ended(call: &str, further: &[(&str, Value)]) -> Entry {
    let mut meta = vec![("call", Value::text(call))];
    meta.extend(further.iter().cloned());
    entry("tool-result", &meta, "done")
}

fn check(entries: &[Entry], path: &str, line: &str, expected: Option<&str>) {
    let roots = [PathBuf::from("/repo")];
    let place = EditPlace { path, roots: &roots };
    let found = TraceEdits::read(entries).find(&place, line);
    assert_eq!(found.and_then(|it| it.entry).as_deref(), expected, "{path} {line:?}");
}

#[test]
fn the_call_that_wrote_this_very_line_is_found() {
    let input =
        r#"{"file_path":"/repo/src/a.rs","new_string":"let a = 1;  \nlet b;","old_string":"x"}"#;
    let entries = [called("1", input), ended("1", &[])];
    check(&entries, "src/a.rs", "let a = 1;", Some("entry-1"));
    check(&entries, "src/a.rs", "let a = 2;", None);
    check(&entries, "src/a.rs", "x", None);
    check(&entries, "a.rs", "let a = 1;", None);
}

#[test]
fn of_several_calls_the_last_one_counts() {
    let input = r#"{"path":"a","content":"same"}"#;
    let entries = [called("1", input), ended("1", &[]), called("2", input), ended("2", &[])];
    check(&entries, "a", "same", Some("entry-2"));
}

#[test]
fn a_call_that_failed_or_has_no_result_wrote_nothing() {
    let input = r#"{"filePath":"a","newString":"line"}"#;
    check(&[called("1", input)], "a", "line", None);
    let failed = ended("1", &[("error", Value::Bool(true))]);
    check(&[called("1", input), failed], "a", "line", None);
    let exited = ended("1", &[("exit", Value::Int(1))]);
    check(&[called("1", input), exited], "a", "line", None);
}

#[test]
fn several_edits_and_patches_are_read() {
    let several = r#"{"file_path":"a","edits":[{"new_string":"one"},{"new_string":"two"}]}"#;
    let entries = [called("1", several), ended("1", &[])];
    check(&entries, "a", "two", Some("entry-1"));
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-old\n+new\n kept\n*** End Patch";
    let entries = [called("2", patch), ended("2", &[("exit", Value::Int(0))])];
    check(&entries, "src/a.rs", "new", Some("entry-2"));
    check(&entries, "src/a.rs", "kept", None);
    check(&entries, "src/a.rs", "old", None);
    let shell = serde_json::json!({ "command": ["apply_patch", patch] }).to_string();
    let entries = [called("3", &shell), ended("3", &[])];
    check(&entries, "src/a.rs", "new", Some("entry-3"));
}

#[test]
fn a_file_of_another_folder_is_another_file() {
    let here = std::env::temp_dir();
    let input = serde_json::json!({ "path": here.join("a.rs"), "content": "line" }).to_string();
    let entries = [called("1", &input), ended("1", &[])];
    check(&entries, "a.rs", "line", None);
    let gone = r#"{"path":"/no/such/worktree/src/a.rs","content":"line"}"#;
    let entries = [called("2", gone), ended("2", &[])];
    check(&entries, "src/a.rs", "line", Some("entry-2"));
}

#[test]
fn a_line_with_a_secret_was_kept_without_it_and_proves_nothing() {
    let input = r#"{"path":"a","content":"key = [redacted:env:0a1b2c3d]"}"#;
    let entries = [called("1", input), ended("1", &[])];
    check(&entries, "a", "key = hunter2", None);
}

#[test]
fn what_a_person_asked_before_is_told() {
    let input = r#"{"path":"a","content":"line"}"#;
    let entries = [
        entry("prompt", &[], "Write a"),
        entry("prompt", &[("injected", Value::Bool(true))], "<reminder>"),
        called("1", input),
        ended("1", &[]),
    ];
    let place = EditPlace { path: "a", roots: &[] };
    let found = TraceEdits::read(&entries).find(&place, "line").expect("it was written");
    assert_eq!(found.prompt.as_deref(), Some("Write a"));
}
