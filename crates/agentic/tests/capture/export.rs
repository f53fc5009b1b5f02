//! From a conversation in which a file was written to who wrote its lines, told as others tell it.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::stage::CaptureStage;

/// Where schemas of others lie.
const SCHEMAS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/export");
/// The conversation.
const CONVERSATION: &str = "3f2a91c0-0000-4000-8000-0000000000aa";
/// What a call of a tool wrote.
const WRITTEN: &str = "hello\nworld  \n";

/// A conversation that writes a file, in which a formatter changes a line and adds one, and commits it.
/// Returns the commit.
fn told(stage: &CaptureStage) -> String {
    let here = "shop.agents/fix-cart";
    let path = stage.folder.join(here).join("hello.txt");
    let line = |n: u32, mut fields: Value| {
        let more = json!({
            "uuid": format!("11111111-0000-4000-8000-{n:012x}"),
            "timestamp": format!("2026-11-20T09:00:{n:02}.000Z"),
            "sessionId": CONVERSATION,
            "version": "2.1.0",
        });
        let own = more.as_object().expect("a map").clone();
        fields.as_object_mut().expect("a map").extend(own);
        format!("{fields}\n")
    };
    let input = json!({ "file_path": path, "content": WRITTEN });
    let reply = json!({
        "id": "msg_1",
        "role": "assistant",
        "model": "claude-opus-4-5",
        "stop_reason": "tool_use",
        "usage": { "input_tokens": 120, "output_tokens": 40, "cache_read_input_tokens": 7 },
        "content": [
            { "type": "text", "text": "I greet." },
            { "type": "tool_use", "id": "toolu_1", "name": "Write", "input": input },
        ],
    });
    let result = json!([{ "type": "tool_result", "tool_use_id": "toolu_1", "content": "written" }]);
    let transcript = [
        line(1, json!({ "type": "user", "message": { "role": "user", "content": "Greet" } })),
        line(2, json!({ "type": "assistant", "message": reply })),
        line(4, json!({ "type": "user", "message": { "role": "user", "content": result } })),
    ];
    let place = format!("home/.claude/projects/-x/{CONVERSATION}.jsonl");
    stage.write(&place, &transcript.concat());
    let call = |name: &str, tool: &str, output: &str| {
        let payload = json!({
            "session_id": CONVERSATION,
            "cwd": stage.folder.join(here),
            "transcript_path": stage.folder.join(&place),
            "hook_event_name": name,
            "tool_name": tool,
            "tool_input": { "command": "git commit" },
            "tool_use_id": "toolu_2",
            "tool_response": { "stdout": output },
        });
        let ended = stage.hook(&["claude"], &payload.to_string(), &[]);
        assert_eq!((ended.exit, ended.stdout.as_str()), (0, ""), "{}", ended.stderr);
    };
    call("PostToolUse", "Write", "");
    // Blanks at ends are no difference; another line is nobody's edit.
    stage.write(&format!("{here}/hello.txt"), "hello\nworld\nand all\n");
    call("PreToolUse", "Bash", "");
    stage.git(here, "add hello.txt");
    let ended = stage.program("git", here, &["commit", "-m", "Greet"], &[], b"");
    call("PostToolUse", "Bash", &ended.stdout);
    stage.git(here, "rev-parse HEAD").trim().to_owned()
}

fn exported(stage: &CaptureStage, words: &str) -> String {
    let line = format!("export {words}");
    let text = stage.agentic("shop", &line);
    assert_eq!(stage.agentic("shop", &line), text, "twice the same bytes: {words}");
    text
}

/// Checks a value against a schema of others.
fn check(schema: &str, value: &Value) {
    let text =
        std::fs::read_to_string(format!("{SCHEMAS}/{schema}.schema.json")).expect("it is there");
    let schema: Value = serde_json::from_str(&text).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let errors: Vec<String> = validator.iter_errors(value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{value:#}");
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn lines_that_a_call_wrote_are_known_by_their_edit() {
    let stage = CaptureStage::new();
    let commit = told(&stage);
    let found = stage.agentic("shop.agents/fix-cart", "blame hello.txt --json");
    let found = json_of(&found);
    assert_eq!(found.as_array().map(Vec::len), Some(2), "{found:#}");
    let edit = &found[0];
    assert_eq!(edit["lines"], json!([1, 2]), "{found:#}");
    assert_eq!((&edit["by"], &edit["how"]), (&json!("edit"), &json!("exact")), "{found:#}");
    assert_eq!((&edit["source"], &edit["conversation"]), (&json!("claude"), &json!(CONVERSATION)));
    assert_eq!((&edit["model"], &edit["prompt"]), (&json!("claude-opus-4-5"), &json!("Greet")));
    assert_eq!((&edit["commit"], &edit["agent"]), (&json!(commit), &json!("fix-cart")));
    assert_eq!((&found[1]["by"], &found[1]["lines"]), (&json!("commit"), &json!([3, 3])));
}

#[test]
fn agent_trace_has_the_lines_of_a_conversation() {
    let stage = CaptureStage::new();
    let commit = told(&stage);
    let record = json_of(&exported(&stage, "agent-trace --agent fix-cart"));
    check("agent-trace", &record);
    assert_eq!(record["vcs"], json!({ "type": "git", "revision": commit }));
    let conversations = record["files"][0]["conversations"].as_array().expect("a list").clone();
    let of = |contributor: &str| {
        let is = |it: &&Value| it["contributor"]["type"] == contributor;
        conversations.iter().find(is).cloned().expect("it is there")
    };
    let (ai, mixed) = (of("ai"), of("mixed"));
    assert_eq!(ai["contributor"]["model_id"], "anthropic/claude-opus-4-5", "{record:#}");
    assert_eq!(ai["url"], format!("agentic:conversation/claude/{CONVERSATION}"));
    let lines =
        |it: &Value| (it["ranges"][0]["start_line"].clone(), it["ranges"][0]["end_line"].clone());
    assert_eq!((lines(&ai), lines(&mixed)), ((json!(1), json!(2)), (json!(3), json!(3))));
    assert_eq!(record["metadata"]["dev.agentic"]["agent"], "fix-cart");
    assert_eq!(record["tool"]["name"], "claude");
    // Of what nobody proves nothing is told.
    assert_eq!(exported(&stage, "agent-trace --commit main"), "");
}

#[test]
fn git_ai_has_the_lines_of_a_session_and_no_note_is_written_over() {
    let stage = CaptureStage::new();
    let commit = told(&stage);
    let note = exported(&stage, &format!("git-ai --commit {commit}"));
    let (lines, metadata) = note.split_once("---\n").expect("the divider");
    let metadata = json_of(metadata);
    assert_eq!(metadata["schema_version"], "authorship/3.0.0");
    assert_eq!(metadata["base_commit_sha"], commit.as_str());
    let mut lines = lines.lines();
    assert_eq!(lines.next(), Some("hello.txt"));
    let call = lines.next().expect("an entry").strip_prefix("  ").expect("two blanks");
    let (key, range) = call.split_once(' ').expect("a range");
    let (session, trace) = key.split_once("::").expect("both ids");
    assert_eq!((range, lines.next()), ("1-2", None));
    assert!(trace.starts_with("t_") && trace.len() == 16, "{trace}");
    let agent = &metadata["sessions"][session]["agent_id"];
    assert_eq!(*agent, json!({ "tool": "claude", "id": CONVERSATION, "model": "claude-opus-4-5" }));
    stage.agentic("shop", &format!("export git-ai --commit {commit} --write-notes"));
    let shown = stage.git("shop", &format!("notes --ref=refs/notes/ai show {commit}"));
    assert_eq!(shown, note);
    stage.git("shop", &format!("notes --ref=refs/notes/ai add -f -m mine {commit}"));
    stage.agentic("shop", &format!("export git-ai --commit {commit} --write-notes"));
    let shown = stage.git("shop", &format!("notes --ref=refs/notes/ai show {commit}"));
    assert_eq!(shown, "mine\n");
}

#[test]
fn spans_have_the_agent_its_models_and_its_calls() {
    let stage = CaptureStage::new();
    told(&stage);
    let spans = json_of(&exported(&stage, "otlp --agent fix-cart"));
    check("otlp", &spans);
    let text = spans.to_string();
    assert!(!text.contains("Greet") && !text.contains("hello"), "contents are left out: {text}");
    let spans = spans["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().cloned();
    let spans = spans.expect("a list");
    let names: BTreeSet<&str> = spans.iter().filter_map(|span| span["name"].as_str()).collect();
    let expected = ["invoke_agent fix-cart", "chat claude-opus-4-5", "execute_tool Write"];
    assert_eq!(names, BTreeSet::from(expected));
    let root = spans.iter().find(|span| span["parentSpanId"].is_null()).expect("a root");
    let is_below = |span: &&Value| span["parentSpanId"] == root["spanId"];
    assert_eq!(spans.iter().filter(is_below).count(), 2);
    let said = stage.agentic("shop", "export otlp --agent fix-cart --content");
    check("otlp", &json_of(&said));
    assert!(said.contains("Greet"), "{said}");
}

#[test]
fn statements_are_signed_where_a_key_signs() {
    let stage = CaptureStage::new();
    let commit = told(&stage);
    let statement = exported(&stage, &format!("in-toto --commit {commit}"));
    check("in-toto", &json_of(&statement));
    let key = stage.folder.join("key");
    let words = ["-q", "-t", "ed25519", "-N", "", "-f", key.to_str().expect("text")];
    assert_eq!(stage.program("ssh-keygen", "shop", &words, &[], b"").exit, 0);
    stage.git("shop", "config agentic.sign true");
    stage.git("shop", "config gpg.format ssh");
    stage.git("shop", &format!("config user.signingKey {}.pub", key.display()));
    let envelope = json_of(&exported(&stage, &format!("in-toto --commit {commit}")));
    let bytes = |field: &Value| STANDARD.decode(field.as_str().expect("text")).expect("base64");
    let payload = bytes(&envelope["payload"]);
    assert_eq!(String::from_utf8_lossy(&payload), statement.trim_end());
    // Checked by others, from what DSSE says is signed.
    let kind = "application/vnd.in-toto+json";
    assert_eq!(envelope["payloadType"], kind);
    let head = format!("DSSEv1 {} {kind} {} ", kind.len(), payload.len());
    let signed = [head.as_bytes(), &payload].concat();
    std::fs::write(stage.folder.join("sig"), bytes(&envelope["signatures"][0]["sig"]))
        .expect("writable");
    let sig = stage.folder.join("sig").display().to_string();
    let words = ["-Y", "check-novalidate", "-n", "agentic-export", "-s", &sig];
    let checked = stage.program("ssh-keygen", "shop", &words, &[], &signed);
    assert_eq!(checked.exit, 0, "{}", checked.stderr);
    let keyid = envelope["signatures"][0]["keyid"].as_str().expect("a key");
    assert!(keyid.starts_with("SHA256:") && checked.stdout.contains(keyid), "{keyid} {checked:?}");
}

#[test]
fn each_text_is_a_file_where_a_folder_is_named() {
    let stage = CaptureStage::new();
    let commit = told(&stage);
    for format in ["agent-trace", "git-ai", "in-toto", "otlp"] {
        stage.agentic("shop", &format!("export {format} --range main..agents/fix-cart --out out"));
    }
    for name in [format!("{commit}.json"), format!("{commit}.txt"), "spans.json".to_owned()] {
        let text = std::fs::read_to_string(stage.folder.join("shop/out").join(&name));
        assert!(text.is_ok_and(|text| text.ends_with('\n')), "{name}");
    }
    let export = |words: &str| {
        let words: Vec<&str> = ["export"].into_iter().chain(words.split(' ')).collect();
        stage.program(env!("CARGO_BIN_EXE_agentic"), "shop", &words, &[], b"").exit
    };
    assert_eq!(export("sarif"), 2);
    assert_eq!(export("otlp --write-notes"), 2);
    assert_eq!(export("otlp --range nothing..main"), 1);
    assert_eq!(export("otlp --range=--output=x"), 1);
    assert_eq!(export("otlp --agent nobody"), 1);
}
