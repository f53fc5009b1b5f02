//! Which agent an event belongs to: each rule, and what contradicts it.

use std::fs;
use std::os::unix::fs::symlink;

use crate::stage::{CaptureStage, files};

/// A conversation whose first digits name its agent.
const ID: &str = "3f2a91c0-0000-4000-8000-0000000000aa";

/// Sends an event of Claude Code from a folder.
fn event(stage: &CaptureStage, id: &str, folder: &str, name: &str, env: &[(&str, &str)]) {
    let folder = stage.folder.join(folder).display().to_string();
    let payload = format!(
        r#"{{"session_id":"{id}","cwd":"{folder}","hook_event_name":"{name}","source":"startup"}}"#
    );
    let ended = stage.hook(&["claude"], &payload, env);
    assert_eq!((ended.exit, ended.stderr.as_str()), (0, ""), "{name} in {folder}");
}

fn check(stage: &CaptureStage, id: &str, agent: &str, reason: &str) {
    assert_eq!(stage.bound(id), Some((agent.to_owned(), reason.to_owned())));
}

#[test]
fn the_environment_comes_before_the_worktree_unless_it_was_set_for_another() {
    let stage = CaptureStage::new();
    let env = [("AGENTIC_AGENT", "other")];
    event(&stage, ID, "shop.agents/fix-cart", "SessionStart", &env);
    check(&stage, ID, "other", "env");
    let own = format!("claude:{ID}");
    let env = [("AGENTIC_AGENT", "other"), ("AGENTIC_CONVERSATION", own.as_str())];
    event(&stage, ID, "shop.agents/fix-cart", "Stop", &env);
    check(&stage, ID, "other", "env");
    let env = [("AGENTIC_AGENT", "other"), ("AGENTIC_CONVERSATION", "claude:another")];
    event(&stage, ID, "shop.agents/fix-cart", "Stop", &env);
    check(&stage, ID, "fix-cart", "worktree");
}

#[test]
fn a_worktree_is_its_agents_through_links_folders_and_a_rebase() {
    let stage = CaptureStage::new();
    symlink(stage.folder.join("shop.agents/fix-cart"), stage.folder.join("link"))
        .expect("writable");
    event(&stage, ID, "link", "SessionStart", &[]);
    check(&stage, ID, "fix-cart", "worktree");
    fs::create_dir(stage.folder.join("shop.agents/fix-cart/src")).expect("writable");
    event(&stage, "b", "shop.agents/fix-cart/src", "SessionStart", &[]);
    check(&stage, "b", "fix-cart", "worktree");
    let git_dir = stage.git("shop.agents/fix-cart", "rev-parse --absolute-git-dir");
    stage.git("shop.agents/fix-cart", "checkout -q --detach");
    let state = std::path::Path::new(git_dir.trim()).join("rebase-merge");
    fs::create_dir(&state).expect("writable");
    fs::write(state.join("head-name"), "refs/heads/agents/fix-cart\n").expect("writable");
    event(&stage, "c", "shop.agents/fix-cart", "SessionStart", &[]);
    check(&stage, "c", "fix-cart", "worktree");
}

#[test]
fn a_conversation_goes_on_where_it_is_resumed() {
    let stage = CaptureStage::new();
    stage.agentic("shop", "worktree add other");
    event(&stage, ID, "shop.agents/fix-cart", "SessionStart", &[]);
    event(&stage, ID, "shop.agents/other", "SessionStart", &[]);
    check(&stage, ID, "other", "worktree");
    // Outside of all worktrees it is still the same conversation.
    let project = stage.folder.join("shop").display().to_string();
    event(&stage, ID, "elsewhere", "Stop", &[("CLAUDE_PROJECT_DIR", &project)]);
    check(&stage, ID, "other", "conversation");
    // A checkout of another branch is somebody else's.
    event(&stage, ID, "shop", "Stop", &[]);
    check(&stage, ID, "claude-3f2a91c0", "adopted");
    event(&stage, ID, "shop", "Stop", &[]);
    check(&stage, ID, "claude-3f2a91c0", "conversation");
}

#[test]
fn nothing_is_captured_where_nobody_asked_for_it() {
    let stage = CaptureStage::new();
    stage.git("shop", "init -q inner");
    let refs = stage.git("shop", "for-each-ref");
    for (folder, agent) in [("shop/inner", None), ("elsewhere", None), ("gone", None)] {
        event(&stage, ID, folder, "SessionStart", &[]);
        assert_eq!(stage.bound(ID), agent, "{folder}");
    }
    stage.git("shop", "config agentic.captureUnbound skip");
    event(&stage, ID, "shop", "SessionStart", &[]);
    assert_eq!(stage.bound(ID), None);
    stage.git("shop", "config agentic.capture off");
    event(&stage, ID, "shop.agents/fix-cart", "SessionStart", &[]);
    assert_eq!(stage.bound(ID), None);
    assert_eq!(stage.git("shop", "for-each-ref"), refs);
    // The key of redaction is there already: the briefings of the agents went through it.
    let mut kept = files(&stage.capture(""));
    kept.retain(|path| !path.ends_with("capture/key"));
    assert_eq!(kept, Vec::<std::path::PathBuf>::new());
    assert!(!stage.folder.join("shop/inner/.git/agentic").exists());
}

#[test]
fn an_agent_of_its_own_is_private_and_known_again() {
    let stage = CaptureStage::new();
    stage.agentic("shop", "spawn claude-3f2a91c0 -m Somebody");
    event(&stage, ID, "shop", "SessionStart", &[]);
    check(&stage, ID, "claude-3f2a91c000004000", "adopted");
    fs::remove_dir_all(stage.capture("")).expect("there");
    event(&stage, ID, "shop", "Stop", &[]);
    check(&stage, ID, "claude-3f2a91c000004000", "adopted");
    assert_eq!(stage.agents().len(), 4);
    stage.git(".", "init -q --bare hub.git");
    stage.git("shop", "remote add origin ../hub.git");
    stage.agentic("shop", "push");
    let pushed = stage.git("hub.git", "for-each-ref");
    assert!(pushed.contains("agents/claude-3f2a91c0\n"), "{pushed}");
    assert!(!pushed.contains("claude-3f2a91c000004000"), "{pushed}");
    event(&stage, ID, "shop", "SessionEnd", &[]);
    let archived = stage.agentic("shop", "archive --list");
    assert!(archived.contains("claude-3f2a91c000004000"), "{archived}");
    stage.agentic("shop", "push");
    let pushed = stage.git("hub.git", "for-each-ref");
    assert!(!pushed.contains("refs/agentic/archive"), "{pushed}");
    // A later event brings it back.
    event(&stage, ID, "shop", "SessionStart", &[]);
    assert!(stage.agentic("shop", "agents").contains("claude-3f2a91c000004000"));
    stage.agentic("shop", "agent public claude-3f2a91c000004000");
    stage.agentic("shop", "push");
    let pushed = stage.git("hub.git", "for-each-ref");
    assert!(pushed.contains("claude-3f2a91c000004000"), "{pushed}");
    stage.check();
}

#[test]
fn subagents_of_subagents_are_a_tree_and_end_with_the_conversation() {
    let stage = CaptureStage::new();
    let cwd = stage.folder.join("shop.agents/fix-cart").display().to_string();
    let send = |session: &str, name: &str, more: &str| {
        let payload = format!(
            r#"{{"session_id":"{session}","cwd":"{cwd}","hook_event_name":"{name}","transcript_path":null{more}}}"#
        );
        let ended = stage.hook(&["codex"], &payload, &[]);
        assert_eq!((ended.exit, ended.stderr.as_str()), (0, ""), "{name}");
    };
    send("root", "SessionStart", "");
    send("root", "SubagentStart", r#","agent_id":"aaaaaaaa01","agent_type":"x""#);
    send("root", "SubagentStart", r#","agent_id":"aaaaaaaa01","agent_type":"x""#);
    send("aaaaaaaa01", "SubagentStart", r#","agent_id":"bbbbbbbb01","agent_type":"y""#);
    // The same digits, another subagent.
    send("root", "SubagentStart", r#","agent_id":"aaaaaaaa02","agent_type":"x""#);
    let tree = stage.agentic("shop", "sub-agents fix-cart --all");
    for name in ["fix-cart.aaaaaaaa", "fix-cart.aaaaaaaa.bbbbbbbb"] {
        assert!(tree.contains(name), "{name}: {tree}");
    }
    assert_eq!(stage.agents().len(), 5, "{:?}", stage.agents());
    // A helper of the vendor's ends and never began.
    send("root", "SubagentStop", r#","agent_id":"ffff","agent_type":"""#);
    assert_eq!(stage.agents().len(), 5);
    send("root", "SessionEnd", "");
    let archived = stage.agentic("shop", "archive --list");
    assert!(archived.contains("fix-cart.aaaaaaaa.bbbbbbbb"), "{archived}");
    assert!(!archived.contains("fix-cart "), "{archived}");
    stage.check();
}

#[test]
fn an_agent_that_is_gone_is_as_if_it_had_never_been_bound() {
    let stage = CaptureStage::new();
    event(&stage, ID, "shop", "SessionStart", &[("AGENTIC_AGENT", "other")]);
    stage.git("shop", "branch -q -D agents/other");
    event(&stage, ID, "shop", "Stop", &[]);
    check(&stage, ID, "claude-3f2a91c0", "adopted");
    assert!(stage.errors().contains(&"agent-gone".to_owned()));
}

#[test]
fn worktrees_are_made_for_names_that_are_free_and_kept_while_there_is_work() {
    let stage = CaptureStage::new();
    let cwd = stage.folder.join("shop").display().to_string();
    for (name, exit) in [("fix-cart", 1), ("../x", 1), ("", 1), ("Oak", 1), ("oak", 0), ("oak", 1)]
    {
        let payload = format!(
            r#"{{"session_id":"{ID}","cwd":"{cwd}","hook_event_name":"WorktreeCreate","name":"{name}"}}"#
        );
        let ended = stage.hook(&["claude"], &payload, &[]);
        assert_eq!(ended.exit, exit, "{name}: {}", ended.stderr);
        assert_eq!(ended.stdout.is_empty(), exit == 1, "{name}");
    }
    check(&stage, ID, "oak", "created");
    event(&stage, ID, "shop.agents/oak", "SessionStart", &[]);
    check(&stage, ID, "oak", "worktree");
    let remove = |path: &str| {
        let path = stage.folder.join(path).display().to_string();
        let payload = format!(
            r#"{{"session_id":"{ID}","cwd":"{cwd}","hook_event_name":"WorktreeRemove","worktree_path":"{path}"}}"#
        );
        stage.hook(&["claude"], &payload, &[])
    };
    stage.write("shop.agents/oak/new.rs", "mine\n");
    let ended = remove("shop.agents/oak");
    assert_eq!(ended.exit, 1);
    assert!(ended.stderr.contains("new.rs"), "{}", ended.stderr);
    assert!(stage.folder.join("shop.agents/oak/new.rs").exists());
    for path in ["shop", "elsewhere", "gone"] {
        assert_eq!(remove(path).exit, 1, "{path}");
    }
    fs::remove_file(stage.folder.join("shop.agents/oak/new.rs")).expect("there");
    assert_eq!(remove("shop.agents/oak").exit, 0);
    stage.git("shop", "rev-parse agents/oak");
}

#[test]
fn a_submodule_is_a_repository_of_its_own() {
    let stage = CaptureStage::new();
    stage.git(".", "init -q -b main lib");
    stage.write("lib/lib.rs", "lib\n");
    stage.git("lib", "add lib.rs");
    stage.git("lib", "commit -q -m Lib");
    stage.git("shop", "-c protocol.file.allow=always submodule --quiet add ../lib sub");
    let refs = stage.git("shop", "for-each-ref");
    event(&stage, ID, "shop/sub", "SessionStart", &[]);
    assert_eq!(stage.bound(ID), None, "nobody asked for it there");
    let own = stage.folder.join("shop/.git/modules/sub");
    assert!(!own.join("agentic").exists());
    stage.git("shop/sub", "config agentic.capture on");
    event(&stage, ID, "shop/sub", "SessionStart", &[]);
    assert_eq!(stage.bound(ID), None, "it is not the repository around it");
    assert!(own.join("agentic/capture/conversation").exists());
    let agents = stage.git("shop/sub", "for-each-ref --format=%(refname) refs/heads/agents");
    assert_eq!(agents.trim(), "refs/heads/agents/claude-3f2a91c0");
    assert_eq!(stage.git("shop", "for-each-ref"), refs);
    // What is around it is still captured as ever.
    event(&stage, ID, "shop", "SessionStart", &[]);
    check(&stage, ID, "claude-3f2a91c0", "adopted");
}

#[test]
fn a_bare_repository_gives_conversations_agents_of_their_own() {
    let stage = CaptureStage::new();
    stage.git(".", "clone -q --bare shop bare.git");
    stage.git("bare.git", "config agentic.capture on");
    event(&stage, ID, "bare.git", "SessionStart", &[]);
    let found =
        stage.git("bare.git", "for-each-ref --format=%(refname) refs/heads/agents/claude-3f2a91c0");
    assert_eq!(found.trim(), "refs/heads/agents/claude-3f2a91c0");
    assert_eq!(
        stage.git("bare.git", "rev-parse agents/claude-3f2a91c0^"),
        stage.git("shop", "rev-parse main")
    );
    assert_eq!(stage.bound(ID), None);
}
