//! Commits that plain git made: linked where it is proved whose they are, and nowhere else.

use serde_json::json;

use crate::stage::{CaptureStage, Ended};

/// Begins or ends a call of a shell.
fn call(stage: &CaptureStage, id: &str, folder: &str, name: &str, output: &str) -> Ended {
    let payload = json!({
        "session_id": id,
        "cwd": stage.folder.join(folder),
        "hook_event_name": name,
        "tool_name": "Bash",
        "tool_input": { "command": "git commit" },
        "tool_use_id": "toolu_1",
        "tool_response": { "stdout": output },
    });
    stage.hook(&["claude"], &payload.to_string(), &[])
}

/// Commits with plain git, and returns the commit and what git printed.
fn commit(stage: &CaptureStage, folder: &str, words: &[&str]) -> (String, String) {
    let words = [&["commit", "--allow-empty"], words].concat();
    let ended = stage.program("git", folder, &words, &[], b"");
    assert_eq!(ended.exit, 0, "{}", ended.stderr);
    (stage.git(folder, "rev-parse HEAD").trim().to_owned(), ended.stdout)
}

fn has_trace(stage: &CaptureStage, agent: &str, commit: &str) -> bool {
    let words = ["notes", &format!("--ref=agentic/{agent}"), "show", commit];
    stage.program("git", "shop", &words, &[], b"").stdout.contains("trace bafy")
}

fn add_pending(stage: &CaptureStage, agent: &str) {
    stage.agentic("shop", &format!("trace add --agent {agent} looked"));
}

#[test]
fn a_commit_that_the_call_names_is_linked() {
    let stage = CaptureStage::new();
    add_pending(&stage, "fix-cart");
    call(&stage, "a", "shop.agents/fix-cart", "PreToolUse", "");
    let (made, output) = commit(&stage, "shop.agents/fix-cart", &["-m", "Fix"]);
    call(&stage, "a", "shop.agents/fix-cart", "PostToolUse", &output);
    assert!(has_trace(&stage, "fix-cart", &made));
    // An amendment in a later call is known as one.
    add_pending(&stage, "fix-cart");
    call(&stage, "a", "shop.agents/fix-cart", "PreToolUse", "");
    let (again, output) = commit(&stage, "shop.agents/fix-cart", &["--amend", "-m", "Fix it"]);
    call(&stage, "a", "shop.agents/fix-cart", "PostToolUse", &output);
    assert_ne!(made, again);
    let tree = stage.git("shop", "ls-tree -r --name-only refs/notes/agentic/fix-cart");
    assert!(tree.contains("objects/rewrite"), "{tree}");
    stage.check();
}

#[test]
fn a_commit_on_another_branch_is_linked_and_the_branch_is_named() {
    let stage = CaptureStage::new();
    let env = [("AGENTIC_AGENT", "other")];
    let cwd = stage.folder.join("shop");
    let send = |name: &str, output: &str| {
        let payload = json!({
            "session_id": "a", "cwd": cwd, "hook_event_name": name, "tool_name": "Bash",
            "tool_use_id": "t", "tool_response": output,
        });
        stage.hook(&["claude"], &payload.to_string(), &env);
    };
    add_pending(&stage, "other");
    send("PreToolUse", "");
    let (made, output) = commit(&stage, "shop", &["-m", "Fix"]);
    send("PostToolUse", &output);
    assert!(has_trace(&stage, "other", &made));
    let relations = stage.agentic("shop", "relations --json");
    assert!(relations.contains("committed-on") && relations.contains("branch:main"), "{relations}");
}

#[test]
fn what_is_not_proved_is_not_linked_and_is_listed() {
    // A person commits meanwhile: the call does not name it.
    let stage = CaptureStage::new();
    add_pending(&stage, "fix-cart");
    call(&stage, "a", "shop.agents/fix-cart", "PreToolUse", "");
    let (made, _) = commit(&stage, "shop.agents/fix-cart", &["-m", "By hand"]);
    call(&stage, "a", "shop.agents/fix-cart", "PostToolUse", "ok");
    assert!(!has_trace(&stage, "fix-cart", &made));
    let listed = std::fs::read_to_string(stage.capture("unlinked")).expect("a list");
    assert!(listed.contains(&made) && listed.contains("unnamed"), "{listed}");
    // Two conversations at once in one checkout.
    let stage = CaptureStage::new();
    add_pending(&stage, "fix-cart");
    call(&stage, "a", "shop.agents/fix-cart", "PreToolUse", "");
    call(&stage, "b", "shop.agents/fix-cart", "PreToolUse", "");
    let (made, output) = commit(&stage, "shop.agents/fix-cart", &["-m", "Whose"]);
    call(&stage, "b", "shop.agents/fix-cart", "PostToolUse", "ok");
    call(&stage, "a", "shop.agents/fix-cart", "PostToolUse", &output);
    assert!(!has_trace(&stage, "fix-cart", &made));
    let listed = std::fs::read_to_string(stage.capture("unlinked")).expect("a list");
    assert!(listed.contains("shared"), "{listed}");
}

/// Runs lines of shell as the program of a conversation would run them.
fn in_fake_claude(stage: &CaptureStage, folder: &str, lines: &str) -> Ended {
    let cwd = stage.folder.join(folder).display().to_string();
    let payload = json!({
        "session_id": "a", "cwd": cwd, "hook_event_name": "SessionStart", "source": "startup",
    });
    stage.write("payload", &payload.to_string());
    let payload = stage.folder.join("payload").display().to_string();
    stage.write("fake-claude.sh", &format!("agentic hook claude < {payload}\n{lines}\nexit $?\n"));
    let script = stage.folder.join("fake-claude.sh").display().to_string();
    stage.program("sh", folder, &[&script], &[], b"")
}

fn install_git_hooks(stage: &CaptureStage) {
    for name in ["post-commit", "post-rewrite"] {
        let text = format!("#!/bin/sh\nexec agentic hook git {name} \"$@\"\n");
        stage.write(&format!("shop/.git/hooks/{name}"), &text);
        stage.git("shop", "config core.fileMode true");
        let path = stage.folder.join(format!("shop/.git/hooks/{name}"));
        let ended = stage.program("chmod", ".", &["+x", &path.display().to_string()], &[], b"");
        assert_eq!(ended.exit, 0);
    }
}

#[test]
fn a_commit_below_the_program_of_a_conversation_is_linked() {
    let stage = CaptureStage::new();
    install_git_hooks(&stage);
    add_pending(&stage, "fix-cart");
    let folder = "shop.agents/fix-cart";
    let ended = in_fake_claude(&stage, folder, "git commit -q --allow-empty -m Quiet");
    assert_eq!(ended.exit, 0, "{}", ended.stderr);
    let made = stage.git(folder, "rev-parse HEAD").trim().to_owned();
    assert!(has_trace(&stage, "fix-cart", &made));
    // The program is gone: what a person commits is theirs.
    add_pending(&stage, "fix-cart");
    let (made, _) = commit(&stage, folder, &["-m", "By hand"]);
    assert!(!has_trace(&stage, "fix-cart", &made));
    // Commits that were rewritten are known by their new name.
    stage.git(folder, "commit -q --amend --allow-empty -m Again");
    let tree = stage.git("shop", "ls-tree -r --name-only refs/notes/agentic/fix-cart");
    assert!(tree.contains("objects/rewrite"), "{tree}");
    stage.check();
}

#[test]
fn a_commit_that_was_linked_before_a_word_was_said_gets_what_is_said_of_it() {
    let stage = CaptureStage::new();
    install_git_hooks(&stage);
    let folder = "shop.agents/fix-cart";
    let event = |name: &str| {
        let cwd = stage.folder.join(folder);
        format!(
            r#"{{"session_id":"a","cwd":"{}","hook_event_name":"{name}","tool_name":"Bash","tool_use_id":"t""#,
            cwd.display()
        )
    };
    let lines = format!(
        "echo '{}}}' | agentic hook claude\n\
         git commit -q --allow-empty -m Begin && git commit -q --allow-empty -m Fix\n\
         git notes --ref=agentic/fix-cart show >&2\n\
         agentic trace add --agent fix-cart said-later\n\
         printf '{},\"tool_response\":\"[agents/fix-cart %s] Fix\"}}' $(git rev-parse --short HEAD) | agentic hook claude",
        event("PreToolUse"),
        event("PostToolUse"),
    );
    let ended = in_fake_claude(&stage, folder, &lines);
    assert!(ended.exit == 0 && ended.stderr.contains("entries 0"), "{}", ended.stderr);
    let shown = stage.agentic(folder, "trace show HEAD");
    assert!(shown.contains("said-later"), "{shown}");
    stage.check();
}

#[test]
fn what_only_a_person_may_do_is_refused_below_a_conversation() {
    let stage = CaptureStage::new();
    let ended = in_fake_claude(&stage, "shop", "agentic agent public other");
    assert_eq!(ended.exit, 9, "{}", ended.stderr);
    assert!(ended.stderr.contains("claude:a"), "{}", ended.stderr);
    stage.agentic("shop", "agent public other");
}
