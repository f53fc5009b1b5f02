use std::io::Read as _;

use super::*;

fn read(source: Source, json: &str) -> HookEvent {
    let payload = Payload::of_bytes(json.as_bytes()).expect("an object");
    HookEvent::read(source, payload, None).expect("an event")
}

#[test]
fn fields_are_found_by_any_spelling() {
    for (source, json, conversation, moment) in [
        (
            Source::Claude,
            r#"{"session_id":"s","hook_event_name":"Stop"}"#,
            "s",
            HookMoment::TurnEnds,
        ),
        (
            Source::Codex,
            r#"{"type":"agent-turn-complete","thread-id":"t"}"#,
            "t",
            HookMoment::TurnEnds,
        ),
        (
            Source::Cursor,
            r#"{"conversation_id":"c","session_id":"s","hook_event_name":"stop"}"#,
            "c",
            HookMoment::TurnEnds,
        ),
        (
            Source::Gemini,
            r#"{"session_id":"g","hook_event_name":"BeforeAgent"}"#,
            "g",
            HookMoment::Prompt,
        ),
        (
            Source::Copilot,
            r#"{"sessionId":"p","toolName":"x","toolResult":{}}"#,
            "p",
            HookMoment::AfterTool,
        ),
        (Source::Copilot, r#"{"sessionId":"p","stopReason":"x"}"#, "p", HookMoment::TurnEnds),
        (Source::Copilot, r#"{"sessionId":"p","reason":"x"}"#, "p", HookMoment::Ends),
        (Source::Opencode, r#"{"session":"o","event":"session.idle"}"#, "o", HookMoment::TurnEnds),
        (
            Source::Claude,
            r#"{"session_id":"s","hook_event_name":"FileChanged","event":"change"}"#,
            "s",
            HookMoment::Unknown,
        ),
    ] {
        let event = read(source, json);
        assert_eq!(event.conversation.expect("an id").native, conversation, "{json}");
        assert_eq!(event.moment, moment, "{json}");
    }
}

#[test]
fn a_disguise_is_seen_through() {
    for (json, source) in [
        (r#"{"hook_event_name":"Stop","cursor_version":"2"}"#, Source::Cursor),
        (r#"{"hook_event_name":"Stop","transcript_path":"/h/.cursor/x.jsonl"}"#, Source::Cursor),
        (r#"{"hook_event_name":"Stop","transcript_path":"/h/.copilot/x.jsonl"}"#, Source::Copilot),
        (r#"{"hook_event_name":"PostToolUse","timestamp":"x","tool_result":{}}"#, Source::Copilot),
        (
            r#"{"hook_event_name":"PostToolUse","timestamp":"x","tool_result":{},"transcript_path":null}"#,
            Source::Claude,
        ),
        (r#"{"hook_event_name":"Stop","transcript_path":"/h/.cursors/x.jsonl"}"#, Source::Claude),
    ] {
        assert_eq!(read(Source::Claude, json).source, source, "{json}");
    }
}

#[test]
fn ids_that_are_none_are_none() {
    let long = "x".repeat(NATIVE_ID_BYTES_MAX + 1);
    for id in ["null", "7", "\"\"", "[\"a\"]", "\"a\\nb\"", "\"a\\u0000b\"", &format!("\"{long}\"")]
    {
        let json = format!(r#"{{"hook_event_name":"Stop","session_id":{id}}}"#);
        assert_eq!(read(Source::Claude, &json).conversation, None, "{id}");
    }
}

#[test]
fn what_cannot_be_read_is_named() {
    let deep = format!(r#"{{"a":{}1{}}}"#, "[".repeat(65), "]".repeat(65));
    for (bytes, error) in [
        (&b""[..], PayloadError::Empty),
        (b" \n", PayloadError::Empty),
        (b"hello", PayloadError::NotJson),
        (b"{\"a\":", PayloadError::NotJson),
        (b"[1]", PayloadError::NotAnObject),
        (b"{\"a\":\"\xe9\"}", PayloadError::NotText),
        (deep.as_bytes(), PayloadError::NotJson),
    ] {
        assert_eq!(Payload::of_bytes(bytes).expect_err("none"), error);
    }
    let payload = Payload::of_bytes(b"{\"session_id\":\"x\"}").expect("an object");
    assert_eq!(HookEvent::read(Source::Claude, payload, None), Err(PayloadError::NoEvent));
}

#[test]
fn of_two_keys_the_last_counts_and_no_number_is_too_large() {
    let event = read(
        Source::Claude,
        r#"{"hook_event_name":"Stop","hook_event_name":"SessionEnd","n":123456789012345678901234567890,"m":1e999}"#,
    );
    assert_eq!(event.moment, HookMoment::Ends);
    assert_eq!(event.payload.map.get("m"), Some(&Value::text("1e999")));
    let digits = Value::text("123456789012345678901234567890");
    assert_eq!(event.payload.map.get("n"), Some(&digits));
}

#[test]
fn of_what_is_too_long_the_scalars_count() {
    let head = r#"{"session_id":"s\u0041","nested":{"session_id":"no","a":[1,"}"]},"#;
    let long = std::iter::repeat_n(b'x', PAYLOAD_BYTES_MAX).collect::<Vec<_>>();
    let tail = br#"","n":7,"hook_event_name":"Stop"}"#;
    let input = head.as_bytes().chain(&b"\"big\":\""[..]).chain(long.as_slice()).chain(&tail[..]);
    let payload = Payload::read(input).expect("an object");
    assert_eq!(payload.extent, PayloadExtent::Scalars);
    let event = HookEvent::read(Source::Claude, payload, None).expect("an event");
    assert_eq!(event.conversation.expect("an id").native, "sA");
    assert_eq!(event.payload.map.get("n"), Some(&Value::Int(7)));
    assert!(!event.payload.map.contains_key("big"));
}

#[test]
fn of_what_has_too_many_values_the_scalars_count() {
    let many = format!("[{}0]", "0,".repeat(super::payload::VALUES_MAX));
    let text = format!(r#"{{"session_id":"s","many":{many},"hook_event_name":"Stop"}}"#);
    let payload = Payload::read(text.as_bytes()).expect("an object");
    assert_eq!(payload.extent, PayloadExtent::Scalars);
    assert!(!payload.map.contains_key("many"));
    assert_eq!(payload.map.get("hook_event_name"), Some(&Value::text("Stop")));
    let few = text.replacen("0,", "", 8);
    assert_eq!(Payload::read(few.as_bytes()).expect("an object").extent, PayloadExtent::Whole);
}

#[test]
fn a_session_of_opencode_with_a_parent_is_a_subagent() {
    let event = read(
        Source::Opencode,
        r#"{"event":"session.created","session":"c","properties":{"info":{"id":"c","parentID":"p"}}}"#,
    );
    assert_eq!(event.moment, HookMoment::SubagentBegins);
    assert_eq!(event.conversation.expect("an id").native, "p");
    assert_eq!(event.subagent.expect("one").id, "c");
}

#[test]
fn fields_that_no_table_knows_are_told() {
    let unknown = |source, json| {
        let event = read(source, json);
        event.unknown_fields().map(|(key, _)| key.clone()).collect::<Vec<_>>()
    };
    let claude = r#"{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","new":1,
        "nothing":null}"#;
    assert_eq!(unknown(Source::Claude, claude), ["new"]);
    // Others speak as Claude Code does, too.
    let gemini = r#"{"hook_event_name":"AfterTool","llm_request":{},"tool_use_id":"t","new":{}}"#;
    assert_eq!(unknown(Source::Gemini, gemini), ["new"]);
}
