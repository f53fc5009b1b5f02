//! However a transcript is fed, and whatever one of its lines is, the others become the same.

use super::corpus::{files, lines};
use super::*;

/// Maps lines; between two of them the state goes through a cursor.
fn map_over_cursors(source: Source, content: &[(u64, Vec<u8>)]) -> Vec<CapturedEntry> {
    let id = ConversationId { source, native: "c".to_owned() };
    let mut mapping = ConversationMapping::new(id.clone(), None);
    let mut entries = Vec::new();
    for (offset, line) in content {
        entries.extend(mapping.line(*offset, line, &mut |_, _| None));
        let state = agentic_model::canonical::encode(&mapping.state()).expect("a state is stored");
        let state = agentic_model::canonical::decode(&state).expect("a state reads back");
        let restored = ConversationMapping::restore(id.clone(), &state);
        assert_eq!(restored.as_ref(), Some(&mapping));
        mapping = restored.expect("compared just now");
    }
    entries.extend(mapping.end());
    entries.sort_by(|a, b| (a.at, a.id()).cmp(&(b.at, b.id())));
    entries
}

fn map_at_once(source: Source, content: &[(u64, Vec<u8>)]) -> Vec<CapturedEntry> {
    let id = ConversationId { source, native: "c".to_owned() };
    let mut mapping = ConversationMapping::new(id, None);
    let mut entries = Vec::new();
    for (offset, line) in content {
        entries.extend(mapping.line(*offset, line, &mut |_, _| None));
    }
    entries.extend(mapping.end());
    entries.sort_by(|a, b| (a.at, a.id()).cmp(&(b.at, b.id())));
    entries
}

fn owned(content: &str) -> Vec<(u64, Vec<u8>)> {
    lines(content).into_iter().map(|(at, line)| (at, line.as_bytes().to_vec())).collect()
}

#[test]
fn fed_over_cursors_or_at_once_the_entries_are_the_same() {
    for (source, content) in files() {
        let content = owned(&content);
        assert_eq!(map_over_cursors(source, &content), map_at_once(source, &content));
    }
}

/// The lines of a transcript that an entry can come from: its own, or that of what it answers.
fn damaged(content: &[(u64, Vec<u8>)], at: usize, how: usize) -> Vec<(u64, Vec<u8>)> {
    let mut content = content.to_vec();
    let line = &mut content[at].1;
    let middle = line.len() / 2;
    match how {
        0 => line.iter_mut().take(middle).skip(1).for_each(|byte| *byte = 0),
        1 => line[middle..].iter_mut().for_each(|byte| *byte = b'x'),
        _ => line.iter_mut().for_each(|byte| *byte = 0xff),
    }
    let last = line.len() - 1;
    line[last] = b'\n';
    content
}

#[test]
fn a_damaged_line_becomes_raw_and_the_others_stay() {
    for (source, content) in files() {
        let content = owned(&content);
        let whole = map_at_once(source, &content);
        for at in 0..content.len() {
            for how in 0..3 {
                let found = map_at_once(source, &damaged(&content, at, how));
                let bad = found.iter().filter(|entry| entry.meta.contains_key("bad")).count();
                let was_bad = whole.iter().filter(|entry| entry.meta.contains_key("bad")).count();
                let has_text = content[at].1.iter().any(|byte| !byte.is_ascii_whitespace());
                assert!(bad >= was_bad && bad <= was_bad + usize::from(has_text));
                let known = |entry: &&CapturedEntry| whole.iter().any(|one| one.id() == entry.id());
                let kept = found.iter().filter(known).count();
                let lost = whole.len() - kept;
                // A line of these files makes at most eight entries; a head decides what follows it.
                assert!(lost <= 8 || at == 0, "{source} line {at}: {lost} entries lost");
            }
        }
    }
}

#[test]
fn a_line_that_is_hostile_stops_nobody() {
    let deep = format!("{{\"type\":\"user\",\"x\":{}{}}}", "[".repeat(5000), "]".repeat(5000));
    let long_id = format!(
        "{{\"type\":\"user\",\"uuid\":\"{}\",\"message\":{{\"content\":\"x\"}}}}",
        "i".repeat(5000)
    );
    let hostile: [&[u8]; 12] = [
        b"",
        b"\0",
        b"[]",
        b"7",
        b"\xef\xbb\xbf{}",
        b"{\"type\":7,\"uuid\":null,\"message\":[]}",
        b"{\"type\":\"user\",\"message\":{\"content\":[null,7,[],{}]}}",
        b"{\"type\":\"assistant\",\"message\":{\"id\":{},\"content\":\"\\ud800\",\"usage\":7}}",
        b"{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":3,\"content\":7}}",
        b"{\"type\":\"event_msg\",\"payload\":{\"type\":\"token_count\",\"info\":{\"last_token_usage\":[]}}}",
        deep.as_bytes(),
        long_id.as_bytes(),
    ];
    for source in Source::ALL {
        let id = ConversationId { source, native: "../\0x".to_owned() };
        let mut mapping = ConversationMapping::new(id, None);
        for (at, line) in hostile.iter().enumerate() {
            for entry in mapping.line(at as u64 * 10, line, &mut |_, _| None) {
                let entries = entry.to_entries();
                let trace = agentic_model::ConsoleTrace::new(
                    agentic_model::AgentName::parse("a").expect("a name"),
                    entries,
                );
                assert!(trace.to_objects().is_ok(), "{source}: {entry:?}");
            }
        }
        mapping.end();
    }
}

/// A request whose usage is recorded is counted once, however often the screen shows its count; one of
/// an older version, which records none, by what the screen shows.
#[test]
fn usage_of_a_request_counts_once() {
    let record = |n: u32, tokens: u32| {
        format!(
            "{{\"timestamp\":\"2026-11-20T09:00:0{n}.000Z\",\"ordinal\":{n},\"type\":\"token_usage_record\",\
             \"payload\":{{\"response_id\":\"resp_{n}\",\"usage\":{{\"input_tokens\":{tokens}}}}}}}\n"
        )
    };
    let shown = |n: u32, tokens: u32| {
        format!(
            "{{\"timestamp\":\"2026-11-20T09:00:0{n}.000Z\",\"ordinal\":{n},\"type\":\"event_msg\",\
             \"payload\":{{\"type\":\"token_count\",\"info\":{{\"last_token_usage\":{{\"input_tokens\":{tokens}}}}}}}}}\n"
        )
    };
    let count = |content: String| {
        let entries = map_over_cursors(Source::Codex, &owned(&content));
        entries.iter().filter(|entry| entry.kind == CapturedKind::Usage).count()
    };
    let recorded = [record(1, 12), shown(2, 12), shown(3, 12), record(4, 12), shown(5, 12)];
    assert_eq!(count(recorded.concat()), 2);
    assert_eq!(count([shown(1, 12), shown(2, 15)].concat()), 2);
}

#[test]
fn usage_of_copilot_is_usage() {
    let line = "{\"type\":\"session.usage_record\",\"id\":\"u1\",\"timestamp\":\"2026-11-20T09:00:01.000Z\",\
                \"data\":{\"usage\":{\"model\":\"m\",\"inputTokens\":12,\"outputTokens\":5}}}\n";
    let entries = map_at_once(Source::Copilot, &owned(line));
    let [entry] = entries.as_slice() else { panic!("{entries:?}") };
    assert_eq!(entry.kind, CapturedKind::Usage);
    let usage = Value::map([("in", Value::Int(12)), ("out", Value::Int(5))]);
    assert_eq!(entry.to_entries()[0].meta.get("usage"), Some(&usage));
}
