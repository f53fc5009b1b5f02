//! The cases of `conformance/capture`: files of vendors, and what they become.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::*;

/// Where a file names the place of its cases.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/capture")
}

/// Reads a file of the corpus: the mark that breaks its secrets is taken out.
fn read(path: &Path) -> String {
    let text =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.replace('¦', "")
}

fn expected(path: &Path) -> Value {
    agentic_model::json::from_text(&read(path)).expect("the expectation is JSON")
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_text).unwrap_or_default()
}

/// Splits a text into its whole lines, each with its offset.
pub(super) fn lines(text: &str) -> Vec<(u64, &str)> {
    let mut at = 0;
    let mut lines = Vec::new();
    for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
        lines.push((at, line));
        at += u64::try_from(line.len()).expect("files of cases are short");
    }
    lines
}

/// Maps a whole file, which may be a fork of another.
fn map(mapping: &mut ConversationMapping, content: &str, parent: &str) -> Vec<CapturedEntry> {
    let mut entries = Vec::new();
    for (offset, line) in lines(content) {
        if mapping.expects_copies() {
            let items = lines(parent).into_iter();
            let items =
                items.filter_map(|(_, line)| CopiedItem::read(line.as_bytes(), &mut |_, _| None));
            mapping.expect_copies(items.collect());
        }
        entries.extend(mapping.line(offset, line.as_bytes(), &mut |_, _| None));
    }
    entries.extend(mapping.end());
    entries.sort_by_key(|entry| entry.at);
    entries
}

fn check_case(source: Source, case: &Path) {
    let wanted = expected(&case.join("expected.json"));
    let (mut known, mut whole) = (BTreeSet::new(), BTreeMap::new());
    for file in wanted.get("files").and_then(Value::as_list).expect("a case has files") {
        let content = read(&case.join(text(file, "path")));
        let facts = file.get("facts").expect("a file has facts");
        let id = ConversationId { source, native: text(facts, "conversation").to_owned() };
        let subagent = facts.get("subagent").and_then(Value::as_text);
        let mut mapping = ConversationMapping::new(id, subagent);
        let parent = facts.get("forked_from_id").and_then(Value::as_text);
        let parent = parent.and_then(|parent| whole.get(parent)).map_or("", String::as_str);
        let mut entries = map(&mut mapping, &content, parent);
        whole.insert(text(facts, "conversation").to_owned(), content.clone());
        entries.retain(|entry| known.insert(entry.id().to_owned()));
        let place = format!("{}/{}", case.display(), text(file, "path"));
        check_facts(&place, facts, mapping.facts());
        check_entries(&place, file, &entries);
        let consumed = lines(&content).last().map_or(0, |(at, line)| at + line.len() as u64);
        assert_eq!(
            file.get("cursor").and_then(Value::as_int),
            i64::try_from(consumed).ok(),
            "{place}"
        );
    }
}

fn check_facts(place: &str, wanted: &Value, found: &ConversationFacts) {
    for (name, value) in wanted.as_map().expect("facts are a map") {
        if name == "source" || name == "conversation" {
            continue;
        }
        let said = found.said().get(name);
        let is_said = said.is_some_and(|said| has(said, value));
        assert!(is_said, "{place}: {name} is {said:?}, not {value:?}");
    }
}

fn check_entries(place: &str, file: &Value, found: &[CapturedEntry]) {
    let wanted = file.get("entries").and_then(Value::as_list).expect("a file has entries");
    for (at, (wanted, found)) in wanted.iter().zip(found).enumerate() {
        let place = format!("{place}: entry {at}");
        assert_eq!(found.kind.as_str(), text(wanted, "kind"), "{place} {found:?}");
        assert_eq!(found.at.to_string(), text(wanted, "at"), "{place}");
        assert_eq!(found.text, unredacted(text(wanted, "text"), &found.text), "{place}");
        let meta = Value::Map(found.meta.clone());
        assert!(
            has(&meta, wanted.get("meta").expect("an entry has meta")),
            "{place} {found:?} {wanted:?}"
        );
    }
    assert_eq!(found.len(), wanted.len(), "{place}: {found:?}");
}

/// Nothing is redacted here: what a marker stands for is whatever stands there.
fn unredacted(wanted: &str, found: &str) -> String {
    let mut pieces = wanted.split("[redacted:");
    let mut whole = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (_, after) = piece.split_once(']').unwrap_or(("", piece));
        let stop: String = after.chars().take(8).collect();
        let rest = found.get(whole.len()..).unwrap_or_default();
        let hidden = if stop.is_empty() { rest.len() } else { rest.find(&stop).unwrap_or(0) };
        whole.push_str(&rest[..hidden]);
        whole.push_str(after);
    }
    whole
}

/// Tells whether a value has all that another says.
fn has(found: &Value, wanted: &Value) -> bool {
    match (found, wanted) {
        (Value::Map(found), Value::Map(wanted)) => {
            wanted.iter().all(|(key, value)| found.get(key).is_some_and(|found| has(found, value)))
        }
        _ => found == wanted,
    }
}

fn check_source(source: Source) {
    let mut cases: Vec<PathBuf> = fs::read_dir(folder().join(source.as_str()))
        .expect("the source has cases")
        .map(|entry| entry.expect("the folder can be read").path())
        .collect();
    cases.sort();
    assert!(!cases.is_empty());
    for case in cases {
        check_case(source, &case);
    }
}

#[test]
fn claude_becomes_what_its_cases_say() {
    check_source(Source::Claude);
}

#[test]
fn codex_becomes_what_its_cases_say() {
    check_source(Source::Codex);
}

/// The sources of which there is one file each: kind, text and part of `meta` are given.
fn check_other(source: Source, file: &str, conversation: &str) {
    let wanted = expected(&folder().join("other/expected.json"));
    let wanted = wanted.get(file).and_then(|file| file.get("entries")).and_then(Value::as_list);
    let content = read(&folder().join("other").join(file));
    let id = ConversationId { source, native: conversation.to_owned() };
    let mut mapping = ConversationMapping::new(id, None);
    let mut found = Vec::new();
    for (offset, line) in lines(&content) {
        found.extend(mapping.line(offset, line.as_bytes(), &mut |_, _| None));
    }
    found.extend(mapping.end());
    let wanted = wanted.expect("the file has entries");
    for (wanted, found) in wanted.iter().zip(&found) {
        assert_eq!(found.kind.as_str(), text(wanted, "kind"), "{file}: {found:?}");
        assert_eq!(found.text, unredacted(text(wanted, "text"), &found.text), "{file}");
        for (key, value) in wanted.as_map().expect("an entry is a map") {
            match key.as_str() {
                "kind" | "text" => {}
                "native" => {
                    let native = value.as_text().unwrap_or_default();
                    let native = native.replacen('@', &format!("{conversation}@"), 1);
                    assert_eq!(found.id(), crate::entry::entry_id(source, &native, found.kind, 0));
                }
                _ => assert_eq!(found.meta.get(key), Some(value), "{file}: {key} of {found:?}"),
            }
        }
    }
    assert_eq!(found.len(), wanted.len(), "{file}: {found:?}");
}

#[test]
fn the_other_sources_become_what_their_files_say() {
    check_other(Source::Gemini, "gemini.jsonl", "g-1");
    check_other(Source::Opencode, "opencode.rows.jsonl", "ses_1");
    check_other(Source::Copilot, "copilot.events.jsonl", "p-1");
    check_other(Source::Cursor, "cursor.jsonl", "c-1");
}

/// All files of all cases, with their sources.
pub(super) fn files() -> Vec<(Source, String)> {
    let mut files = Vec::new();
    for source in [Source::Claude, Source::Codex] {
        let cases = fs::read_dir(folder().join(source.as_str())).expect("the source has cases");
        for case in cases {
            let case = case.expect("the folder can be read").path();
            let wanted = expected(&case.join("expected.json"));
            for file in wanted.get("files").and_then(Value::as_list).expect("a case has files") {
                files.push((source, read(&case.join(text(file, "path")))));
            }
        }
    }
    let others = [
        (Source::Gemini, "gemini.jsonl"),
        (Source::Opencode, "opencode.rows.jsonl"),
        (Source::Copilot, "copilot.events.jsonl"),
        (Source::Cursor, "cursor.jsonl"),
    ];
    let others = others.map(|(source, file)| (source, read(&folder().join("other").join(file))));
    files.extend(others);
    files
}
