//! What `capture status` tells: of what was heard, read, taken out, and of what went wrong.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::stage::{CaptureStage, files};
use crate::talk::Talk;

fn status(stage: &CaptureStage) -> Value {
    let text = stage.agentic("shop", "capture status --json");
    serde_json::from_str(&text).expect("JSON")
}

/// What is said of Claude Code.
fn claude(stage: &CaptureStage) -> Value {
    let status = status(stage);
    let sources = status["sources"].as_array().expect("a list");
    sources.iter().find(|it| it["source"] == "claude").cloned().unwrap_or_default()
}

fn check(stage: &CaptureStage, expected: Value) {
    let found = claude(stage);
    for (key, value) in expected.as_object().expect("a map") {
        assert_eq!(found[key], *value, "{key} of {found}");
    }
}

fn put_back(stage: &CaptureStage, path: &Path, day: &str) {
    let path = path.display().to_string();
    let ended = stage.program("touch", "shop", &["-d", day, &path], &[], b"");
    assert_eq!(ended.exit, 0, "{}", ended.stderr);
}

#[test]
fn what_was_heard_and_read_is_told() {
    let stage = CaptureStage::new();
    let talk = Talk::new(&stage, 1);
    talk.say("one");
    check(&stage, json!({"last": null, "conversations": 0, "unread": 0}));
    talk.event("UserPromptSubmit", &[("AGENTIC_NOW", "2026-11-20T09:00:02Z")]);
    check(
        &stage,
        json!({"last": "2026-11-20T09:00:02.000Z", "conversations": 1, "unread": 0, "unbound": 0}),
    );
    let before = fs::metadata(talk.transcript()).expect("there").len();
    talk.say("two");
    let after = fs::metadata(talk.transcript()).expect("there").len();
    check(&stage, json!({"unread": after - before, "gone": 0}));
    // Without its cursor nobody knows that anything was read.
    fs::remove_dir_all(stage.capture("cursor")).expect("there");
    check(&stage, json!({"unread": after}));
    talk.event("Stop", &[]);
    check(&stage, json!({"unread": 0}));
    fs::remove_file(talk.transcript()).expect("there");
    check(&stage, json!({"unread": 0, "gone": 1}));
    let text = stage.agentic("shop", "capture status");
    assert!(text.contains("  conversations 1\n"), "{text}");
    assert!(text.contains("transcripts that are gone, of which what was read stays 1\n"), "{text}");
}

#[test]
fn a_conversation_whose_agent_is_gone_is_unbound() {
    let stage = CaptureStage::new();
    let talk = Talk::new(&stage, 1);
    talk.event("Stop", &[("AGENTIC_AGENT", "other")]);
    check(&stage, json!({"conversations": 1, "unbound": 0}));
    stage.git("shop", "branch -q -D agents/other");
    check(&stage, json!({"conversations": 1, "unbound": 1}));
}

#[test]
fn secrets_are_counted_by_rule_and_errors_by_code() {
    let stage = CaptureStage::new();
    let talk = Talk::new(&stage, 1);
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    talk.say(&format!("use {secret}, or once more {secret}"));
    talk.event("Stop", &[("AGENTIC_AGENT", "nobody")]);
    check(&stage, json!({"redactions": {"github-token": 2}, "errors": {"unknown-agent": 1}}));
    // An import counts on.
    talk.say(&format!("again {secret}"));
    stage.agentic("shop", "import claude --all --agent fix-cart");
    check(&stage, json!({"redactions": {"github-token": 3}}));
    let text = stage.agentic("shop", "capture status");
    assert!(text.contains("  redacted github-token 3\n"), "{text}");
    assert!(text.contains("  error unknown-agent 1\n"), "{text}");
    stage.hook(&["nobody"], "{}", &[]);
    stage.program(env!("CARGO_BIN_EXE_agentic"), "shop", &["hook", "git", "nonsense"], &[], b"");
    assert!(status(&stage)["errors"].is_object());
}

#[test]
fn agents_of_conversations_that_are_over_go_to_the_archive() {
    let stage = CaptureStage::new();
    let mut talk = Talk::new(&stage, 0x3f2a_91c0);
    talk.folder = "shop".to_owned();
    talk.say("one");
    talk.event("Stop", &[("AGENTIC_NOW", "2020-01-01T00:00:00Z")]);
    status(&stage);
    assert!(stage.agentic("shop", "agents").contains("claude-3f2a91c0"), "it may go on");
    put_back(&stage, &talk.transcript(), "2020-01-01");
    status(&stage);
    assert!(!stage.agentic("shop", "agents").contains("claude-3f2a91c0"));
    assert!(stage.agentic("shop", "archive --list").contains("claude-3f2a91c0"));
    let shown = stage.agentic("shop", "trace show claude-3f2a91c0 --json");
    assert!(shown.contains("one"), "what was pending is bound: {shown}");
    // A later event brings it back, and agents of worktrees stay.
    talk.say("two");
    talk.event("Stop", &[]);
    status(&stage);
    let open = stage.agentic("shop", "agents");
    assert!(open.contains("claude-3f2a91c0") && open.contains("fix-cart"), "{open}");
    stage.check();
}

#[test]
fn a_transcript_that_is_about_to_be_deleted_is_warned_of_until_it_is_read() {
    let stage = CaptureStage::new();
    let shop = stage.folder.join("shop").display().to_string();
    let line = |id: &str, cwd: &str| {
        format!(
            r#"{{"type":"user","uuid":"{id}","cwd":"{cwd}","timestamp":"2026-01-20T09:00:01.000Z","message":{{"role":"user","content":"Hello"}}}}"#
        ) + "\n"
    };
    for (id, cwd) in [("3f2a91c0-aa", shop.as_str()), ("3f2a91c0-bb", "/elsewhere")] {
        let path = format!("home/.claude/projects/x/{id}.jsonl");
        stage.write(&path, &line(id, cwd));
    }
    check(&stage, json!({"endangered": 0}));
    for file in files(&stage.folder.join("home/.claude/projects")) {
        put_back(&stage, &file, "26 days ago");
    }
    check(&stage, json!({"endangered": 1}));
    let text = stage.agentic("shop", "capture status");
    assert!(text.contains("agentic import claude --all"), "{text}");
    stage.agentic("shop", "import claude --all");
    check(&stage, json!({"endangered": 0, "conversations": 1}));
}

#[test]
fn commits_that_are_nobodys_and_holds_that_were_passed_are_named() {
    let stage = CaptureStage::new();
    let head = stage.git("shop", "rev-parse HEAD").trim().to_owned();
    let line = json!({"commit": head, "agent": "fix-cart", "reason": "shared"});
    let path = stage.capture("unlinked");
    fs::create_dir_all(path.parent().expect("in a folder")).expect("writable");
    fs::write(&path, format!("{line}\n")).expect("writable");
    assert_eq!(status(&stage)["ambiguous"], json!([line]));
    let text = stage.agentic("shop", "capture status");
    assert!(text.contains(&format!("commit {head} may be of fix-cart")), "{text}");
    assert_eq!(status(&stage)["passed"], json!([]));
}

#[test]
fn damaged_files_are_nothing_and_nothing_of_them_reaches_a_terminal() {
    let stage = CaptureStage::new();
    let talk = Talk::new(&stage, 1);
    talk.say("one");
    talk.event("UserPromptSubmit", &[]);
    fs::create_dir_all(stage.capture("gate")).expect("writable");
    fs::write(stage.capture("gate/0123"), "").expect("writable");
    fs::write(stage.capture("errors.log"), "").expect("writable");
    fs::write(stage.capture("unlinked"), "").expect("writable");
    let own = |path: &std::path::PathBuf| !path.ends_with("key") && !path.ends_with("whole");
    let all: Vec<_> = files(&stage.capture("")).into_iter().filter(own).collect();
    assert!(all.len() > 5, "{all:?}");
    let hostile: [&[u8]; 5] = [
        b"",
        b"\x1b[31m\xff\xfe\x00\n\x1b]0;x\x07\n",
        b"[[[[{\"commit\":\"\\u001b[31m\",\"agent\":\"\\u001b\",\"reason\":\"shared\"}\n",
        b"{\"commit\":\"\\u001b[31m\",\"agent\":\"\\u001b\",\"reason\":\"shared\"}\n",
        b"2026-11-20T09:00:02.000Z claude Stop \x1b[31m\n2026-11-20T09:00:02.000Z - - \x1b[31m\n",
    ];
    for content in hostile {
        for path in &all {
            fs::write(path, content).expect("writable");
        }
        let text = stage.agentic("shop", "capture status");
        let is_control = |c: char| c.is_control() && c != '\n';
        assert!(!text.contains(is_control), "{text:?}");
        status(&stage);
    }
    for path in &all {
        fs::remove_file(path).expect("there");
        fs::create_dir(path).expect("writable");
    }
    status(&stage);
    stage.check();
}
