use agentic_model::{Instant, Map, Value};

use super::*;

fn entry(kind: CapturedKind, text: String) -> CapturedEntry {
    let conversation = ConversationId { source: Source::Claude, native: "c".to_owned() };
    let place = EntryPlace { kind, at: Instant::from_millis(0), native: "n", part: 0 };
    CapturedEntry::new(&conversation, place, text)
}

#[test]
fn an_id_is_made_of_what_the_vendor_says() {
    let id =
        entry_id(Source::Claude, "6b6fb2a4-0594-4613-a69c-567857f07834", CapturedKind::Image, 2);
    assert_eq!(id, "f629ab4217a1399814bf3984e1f855a9");
    assert_eq!(
        entry_id(Source::Codex, "resp_1", CapturedKind::Usage, 0),
        "0a743e9cb51c781c6f24a08110a15cff"
    );
}

#[test]
fn a_long_result_keeps_its_ends() {
    let text = format!("{}é{}", "a".repeat(RESULT_BYTES_MAX), "b".repeat(RESULT_BYTES_MAX));
    let cut = entry(CapturedKind::ToolResult, text.clone());
    let left_out = text.len() - RESULT_BYTES_MAX;
    let begin = &text[..RESULT_BYTES_MAX / 4 * 3];
    let end = &text[text.len() - RESULT_BYTES_MAX / 4..];
    assert_eq!(cut.text, format!("{begin}[… {left_out} bytes left out …]{end}"));
    assert_eq!(cut.meta.get("cut").and_then(Value::as_int), i64::try_from(left_out).ok());
    assert_eq!(entry(CapturedKind::Reply, text.clone()).text, text);
    let fits = "a".repeat(RESULT_BYTES_MAX);
    assert_eq!(entry(CapturedKind::Raw, fits.clone()).text, fits);
    assert_eq!(entry(CapturedKind::ToolCall, text.clone()).text, text);
}

#[test]
fn no_character_is_cut_in_two() {
    let text = "€".repeat(RESULT_BYTES_MAX);
    let cut = entry(CapturedKind::Raw, text);
    assert!(cut.text.starts_with('€') && cut.text.ends_with('€'));
    let pieces = cut.to_entries();
    assert_eq!(pieces.len(), 2);
    assert!(pieces.iter().all(|piece| piece.meta == cut.meta));
}

#[test]
fn unknown_fields_have_a_bound() {
    let mut entry = entry(CapturedKind::Prompt, String::new());
    let mut deep = Value::Int(1);
    for _ in 0..60 {
        deep = Value::List(vec![deep]);
    }
    entry.put_more(Map::from([
        ("a".to_owned(), Value::text("x")),
        ("b".to_owned(), Value::text("y".repeat(9 << 10))),
        ("c".to_owned(), deep),
    ]));
    let more = entry.meta.get("more").expect("some fields have room");
    assert_eq!(more.get("a").and_then(Value::as_text), Some("x"));
    assert!(more.get("b").is_none() && more.get("c").and_then(Value::as_text).is_some());
    assert_eq!(
        entry.meta.get("drop").and_then(|drop| drop.get("what")),
        Some(&Value::text("fields"))
    );
}
