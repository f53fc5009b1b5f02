//! Every payload of the corpus: agent, reason, effects, output and exit as it says.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::effects::{check_effect, is_of_gate};
use crate::stage::{CaptureStage, Ended};

/// Where the corpus lies.
const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/capture/hooks");
/// The conversations that the payloads of each source are about.
const CONVERSATIONS: [(&str, &str); 6] = [
    ("claude", "3f2a91c0-0000-4000-8000-0000000000aa"),
    ("codex", "019c4b43-0000-7000-8000-0000000000aa"),
    ("cursor", "c-1"),
    ("gemini", "g-1"),
    ("copilot", "p-1"),
    ("opencode", "ses_1"),
];

/// Reads what the corpus says of each payload.
pub fn corpus() -> Value {
    let text = fs::read_to_string(Path::new(CORPUS).join("expected.json")).expect("the corpus");
    serde_json::from_str(&text.replace('¦', "")).expect("JSON")
}

#[test]
fn every_payload_does_what_the_corpus_says() {
    let expected = corpus();
    let hooks = expected["hooks"].as_object().expect("a map");
    let mut wrongs = Vec::new();
    let mut n_checked = 0;
    for (name, case) in hooks {
        let (source, event) = name.split_once('/').expect("a source and an event");
        if source == "git" || is_of_gate(case) {
            continue;
        }
        n_checked += 1;
        if let Err(wrong) = check_case(source, event, case) {
            wrongs.push(format!("{name}: {wrong}"));
        }
    }
    println!("{n_checked} payloads");
    assert!(n_checked >= 80, "{n_checked}");
    assert!(wrongs.is_empty(), "{}", wrongs.join("\n"));
}

fn check_case(source: &str, event: &str, case: &Value) -> Result<(), String> {
    let stage = CaptureStage::new();
    prepare(&stage, source, event);
    let payload = payload(source, event);
    let env_file = stage.folder.join("env-file").display().to_string();
    let mut env = vec![("CLAUDE_ENV_FILE", env_file.as_str())];
    let own = case["env"].as_object().into_iter().flatten();
    env.extend(own.filter_map(|(key, value)| Some((key.as_str(), value.as_str()?))));
    let words = corpus_words(source, event, &payload, &stage);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let input = if event == "notify" { "" } else { payload.as_str() };
    let ended = stage.hook(&words, input, &env);
    check_ended(&stage, case, &ended)?;
    check_binding(&stage, source, &payload, case)?;
    for effect in case["does"].as_array().expect("a list") {
        let effect = effect.as_str().expect("text");
        check_effect(&stage, case, effect).map_err(|wrong| format!("`{effect}`: {wrong}"))?;
    }
    stage.check();
    Ok(())
}

fn prepare(stage: &CaptureStage, source: &str, event: &str) {
    let transcript = match source {
        "claude" => Some(".claude/projects/-x/3f2a91c0-0000-4000-8000-0000000000aa.jsonl"),
        _ => None,
    };
    if let Some(transcript) = transcript {
        let line = r#"{"type":"user","uuid":"11111111-0000-4000-8000-000000000001","timestamp":"2026-11-20T09:00:01.037Z","message":{"role":"user","content":"Go on"},"sessionId":"3f2a91c0-0000-4000-8000-0000000000aa"}"#;
        stage.write(&format!("home/{transcript}"), &format!("{line}\n"));
    }
    if event == "SubagentStop" && source == "claude" {
        let path = "home/.claude/projects/-x/3f2a91c0-0000-4000-8000-0000000000aa/subagents/agent-a4d2c8f1e0b3a297.jsonl";
        let line = r#"{"type":"user","uuid":"11111111-0000-4000-8000-000000000002","timestamp":"2026-11-20T09:00:01.037Z","isSidechain":true,"agentId":"a4d2c8f1e0b3a297","message":{"role":"user","content":"Find callers"},"sessionId":"3f2a91c0-0000-4000-8000-0000000000aa"}"#;
        stage.write(path, &format!("{line}\n"));
    }
    match event {
        "WorktreeRemove.clean" => {
            stage.agentic("shop", "spawn bold-oak-a3f2 -m Oak --worktree");
        }
        "WorktreeRemove.dirty" => stage.write("shop.agents/fix-cart/new.rs", "mine\n"),
        _ => {}
    }
    if event.starts_with("PostToolUse")
        || event.starts_with("postToolUse")
        || event.contains("After")
        || event == "tool.after"
    {
        let before = match source {
            "claude" => "PreToolUse.bash",
            "codex" => "PreToolUse.plain",
            "cursor" | "copilot" => "preToolUse",
            "gemini" => "BeforeTool",
            _ => "tool.before",
        };
        stage.hook(&[source], &payload(source, before), &[]);
    }
}

/// Reads a payload.
pub fn payload(source: &str, event: &str) -> String {
    let path = Path::new(CORPUS).join(source).join(format!("{event}.json"));
    fs::read_to_string(path).expect("the corpus").replace('¦', "")
}

/// Returns the command line: Copilot does not say which event it sends.
pub fn corpus_words(source: &str, event: &str, payload: &str, stage: &CaptureStage) -> Vec<String> {
    let mut words = vec![source.to_owned()];
    if source == "copilot" {
        let name = event.split('.').next().expect("a name");
        words.extend(["--event".to_owned(), name.to_owned()]);
    }
    if event == "notify" {
        words.extend(["--notify".to_owned(), stage.filled(payload)]);
    }
    words
}

fn check_ended(stage: &CaptureStage, case: &Value, ended: &Ended) -> Result<(), String> {
    if Some(i64::from(ended.exit)) != case["exit"].as_i64() {
        return Err(format!("it ended with {}: {}", ended.exit, ended.stderr));
    }
    let expected = &case["stdout"];
    let is_same = match expected.as_str() {
        Some(text) => ended.stdout == stage.filled(text),
        None => serde_json::from_str::<Value>(&ended.stdout).is_ok_and(|out| out == *expected),
    };
    if !is_same {
        return Err(format!("it printed {:?}", ended.stdout));
    }
    let says = case["exit"] != 0;
    if !says && !ended.stderr.is_empty() {
        return Err(format!("it said {:?}", ended.stderr));
    }
    Ok(())
}

fn check_binding(
    stage: &CaptureStage,
    source: &str,
    payload: &str,
    case: &Value,
) -> Result<(), String> {
    let payload: Value = serde_json::from_str(payload).expect("JSON");
    let native = CONVERSATIONS.iter().find(|(known, _)| *known == source).expect("a source").1;
    let native = match (payload["agent_id"].as_str(), payload["cursor_version"].as_str()) {
        (Some(subagent), _) if case["bound_by"] == "parent" => subagent,
        (_, Some(_)) => "c-1",
        _ => native,
    };
    let bound = stage.bound(native);
    match (case["agent"].as_str(), case["bound_by"].as_str()) {
        (None, _) => match bound {
            None => Ok(()),
            Some(bound) => Err(format!("it is bound: {bound:?}")),
        },
        // Nothing of these is a conversation's.
        (Some(_), Some("worktree")) if case["does"].to_string().contains("remove") => Ok(()),
        (Some(agent), Some(reason)) => {
            if bound == Some((agent.to_owned(), reason.to_owned())) {
                return Ok(());
            }
            // What ends is nobody's child, and its conversation need not be remembered for it.
            Err(format!("it is bound as {bound:?}"))
        }
        (Some(_), None) => Ok(()),
    }
}

#[test]
fn bad_input_is_silent_and_bounded() {
    let expected = corpus();
    for (name, case) in expected["bad"].as_object().expect("a map") {
        let stage = CaptureStage::new();
        let made = std::process::Command::new("mkfifo").arg(stage.folder.join("fifo")).status();
        assert!(made.is_ok_and(|status| status.success()), "mkfifo works");
        let path: PathBuf = Path::new(CORPUS).join("bad").join(format!("{name}.txt"));
        let text = fs::read_to_string(path).expect("the corpus");
        let before = stage.git("shop", "for-each-ref");
        let input: Vec<u8> = match text.trim() {
            "@LATIN1@" => b"{\"session_id\":\"\xe9\"}".to_vec(),
            _ => stage.filled(&text).into_bytes(),
        };
        let ended =
            stage.program(env!("CARGO_BIN_EXE_agentic"), "shop", &["hook", "claude"], &[], &input);
        assert_eq!(ended.exit, 0, "{name}");
        assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("", ""), "{name}");
        let gate = ["hook", "claude", "--gate"];
        let ended = stage.program(env!("CARGO_BIN_EXE_agentic"), "shop", &gate, &[], &input);
        assert_eq!(Some(i64::from(ended.exit)), case["gate"]["exit"].as_i64(), "{name} as a gate");
        assert_eq!(stage.git("shop", "for-each-ref"), before, "{name}: no ref moves");
        stage.check();
    }
}
