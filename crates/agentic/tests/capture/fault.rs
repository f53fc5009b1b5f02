//! What goes wrong around a hook: the tool of the coding agent goes on.

use crate::stage::CaptureStage;

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
