//! What goes wrong around a hook: the tool of the coding agent goes on.

use crate::stage::CaptureStage;
use crate::talk::{Talk, prompts};

#[test]
fn a_hook_without_a_home_or_a_folder_is_silent() {
    let stage = CaptureStage::new();
    let payload =
        r#"{"session_id":"a","cwd":"@ROOT@/shop.agents/fix-cart","hook_event_name":"Stop"}"#;
    let ended = stage.hook(&["claude"], payload, &[("HOME", "")]);
    assert_eq!((ended.exit, ended.stdout.as_str(), ended.stderr.as_str()), (0, "", ""));
    let ended = stage.hook(&["nobody"], payload, &[]);
    assert_eq!((ended.exit, ended.stderr.as_str()), (0, ""));
    let ended = stage.hook(&["nobody", "--gate"], payload, &[]);
    assert_eq!(ended.exit, 2);
}

#[test]
fn a_damaged_store_is_a_line_in_the_log() {
    let stage = CaptureStage::new();
    let payload = r#"{"session_id":"a","cwd":"@ROOT@/shop","hook_event_name":"SessionStart"}"#;
    stage.write("shop/.git/refs/heads/main", "nonsense\n");
    let ended = stage.hook(&["claude"], payload, &[]);
    assert_eq!((ended.exit, ended.stdout.as_str(), ended.stderr.as_str()), (0, "", ""));
    assert_eq!(stage.errors().len(), 1, "{:?}", stage.errors());
}

#[test]
fn a_full_disk_is_silent_and_loses_nothing() {
    let stage = CaptureStage::new();
    let talk = Talk::new(&stage, 1);
    talk.say("one");
    talk.event("Stop", &[]);
    talk.say("two");
    let payload = serde_json::json!({
        "session_id": talk.id,
        "cwd": stage.folder.join(&talk.folder),
        "transcript_path": talk.transcript(),
        "hook_event_name": "Stop",
    });
    let line = format!("trap '' XFSZ; ulimit -f 0; {} hook claude", env!("CARGO_BIN_EXE_agentic"));
    let ended = stage.program("sh", "shop", &["-c", &line], &[], payload.to_string().as_bytes());
    assert_eq!((ended.exit, ended.stdout.as_str(), ended.stderr.as_str()), (0, "", ""));
    assert_eq!(prompts(&stage, "fix-cart"), ["one"]);
    talk.event("Stop", &[]);
    assert_eq!(prompts(&stage, "fix-cart"), ["one", "two"]);
    stage.check();
}
