//! Many conversations at once: none stands in the way of another.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use agentic_git::PRIVATE_REF;
use agentic_model::AgentName;
use agentic_space::{Options, Space};
use agentic_store::{Layout, Stream};
use serde_json::{Value, json};

use crate::stage::{CaptureStage, files};
use crate::talk::{Talk, prompts};

/// The agent that the first conversation in the main checkout gets.
const OWN: &str = "claude-00000001";

/// Lists the folders below one, and it.
fn folders(top: &Path) -> Vec<PathBuf> {
    let mut found = vec![top.to_owned()];
    let mut at = 0;
    while let Some(folder) = found.get(at) {
        let entries = fs::read_dir(folder).expect("there").flatten();
        let below = entries.map(|entry| entry.path()).filter(|path| path.is_dir());
        let below: Vec<PathBuf> = below.collect();
        found.extend(below);
        at += 1;
    }
    found
}

/// Lists the folders in which something is made, removed or renamed meanwhile.
fn changed(top: &Path, act: impl FnOnce()) -> BTreeSet<PathBuf> {
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    for folder in folders(top) {
        File::open(folder).and_then(|folder| folder.set_modified(long_ago)).expect("ours");
    }
    act();
    let is_changed = |path: &PathBuf| {
        path.metadata().and_then(|found| found.modified()).expect("there") != long_ago
    };
    folders(top).into_iter().filter(is_changed).collect()
}

#[test]
fn conversations_that_go_on_change_no_folder_in_common() {
    let stage = CaptureStage::new();
    let git_dir = stage.folder.join("shop/.git");
    let [mut one, mut other] = [1, 2].map(|number| Talk::new(&stage, number));
    for name in ["UserPromptSubmit", "PostToolUse", "Stop"] {
        let changed = [&mut one, &mut other].map(|talk| {
            "shop".clone_into(&mut talk.folder);
            talk.say("before");
            talk.event(name, &[]);
            changed(&git_dir, || {
                talk.say(name);
                talk.event(name, &[]);
            })
        });
        assert!(!changed[0].is_empty(), "{name}: the cursor is written anew");
        let common: Vec<&PathBuf> = changed[0].intersection(&changed[1]).collect();
        // Whoever changes a folder waits for the disk, and all who change it for them.
        assert!(common.is_empty(), "{name}: {common:?}");
    }
    stage.check();
}

/// Holds a lock as somebody does who is at work.
fn hold(path: &Path) -> File {
    let file = File::options().write(true).create(true).truncate(false).open(path);
    let file = file.expect("writable");
    file.lock().expect("nobody holds it");
    file
}

fn layout(stage: &CaptureStage) -> Layout {
    Layout::new(&stage.folder.join("shop/.git"))
}

/// Returns the lock of whoever writes down who is private.
fn lock_of_privacy(stage: &CaptureStage) -> PathBuf {
    layout(stage).lock(&Stream::of_branch(PRIVATE_REF))
}

/// Begins a conversation in the main checkout, where it gets an agent of its own.
fn main_talk(stage: &CaptureStage) -> Talk<'_> {
    let mut talk = Talk::new(stage, 1);
    "shop".clone_into(&mut talk.folder);
    talk
}

/// Counts the entries that say that a conversation began.
fn n_begins(entries: &[Value]) -> usize {
    entries.iter().filter(|entry| entry["text"] == "session-start").count()
}

#[test]
fn a_conversation_whose_agent_cannot_be_made_now_gets_it_at_its_next_event() {
    let locks: [fn(&CaptureStage) -> PathBuf; 3] = [
        lock_of_privacy,
        |stage| layout(stage).lock(&Stream::Agent(AgentName::parse(OWN).expect("a name"))),
        |stage| layout(stage).syncs().with_added_extension("lock"),
    ];
    for (number, lock) in locks.iter().enumerate() {
        let stage = CaptureStage::new();
        // Nobody has synced this one yet.
        stage.git("shop", "commit -q --allow-empty -m More");
        let talk = main_talk(&stage);
        talk.say("one");
        let held = hold(&lock(&stage));
        talk.event("SessionStart", &[]);
        talk.event("UserPromptSubmit", &[]);
        assert!(!stage.agents().contains(&OWN.to_owned()), "{number}");
        assert_eq!(stage.bound(&talk.id), None, "{number}");
        assert_eq!(stage.errors(), ["busy", "busy"], "{number}");
        held.unlock().expect("it is held");
        talk.say("two");
        talk.event("Stop", &[]);
        talk.event("Stop", &[]);
        assert_eq!(prompts(&stage, OWN), ["one", "two"], "{number}");
        assert_eq!(n_begins(&stage.entries(OWN)), 1, "{number}: no transcript has it");
        assert_eq!(files(&stage.capture("spool")), Vec::<PathBuf>::new(), "{number}");
        let space = Space::open(&stage.folder.join("shop"), Options::default()).expect("there");
        let own = AgentName::parse(OWN).expect("a name");
        assert!(space.repository().is_private(&own).expect("sound"), "{number}");
        stage.check();
    }
}

#[test]
fn what_no_transcript_has_waits_for_the_agent_whatever_dies_in_between() {
    let id = "3f2a91c0-0000-4000-8000-0000000000aa";
    for step in 1..200 {
        let stage = CaptureStage::new();
        let ask = |prompt: &str, env: &[(&str, &str)]| {
            let payload = json!({
                "session_id": id, "cwd": stage.folder.join("shop"), "transcript_path": null,
                "hook_event_name": "UserPromptSubmit", "prompt": prompt,
            });
            stage.hook(&["codex"], &payload.to_string(), env).exit
        };
        let held = hold(&lock_of_privacy(&stage));
        assert_eq!(ask("one", &[]), 0);
        assert_eq!(ask("two", &[]), 0);
        held.unlock().expect("it is held");
        let at = format!("*:{step}");
        let exit = ask("three", &[("AGENTIC_CRASH_AT", &at)]);
        ask("four", &[]);
        let mut said = prompts(&stage, "codex-3f2a91c0");
        // Of the one that died nobody else knows.
        said.retain(|prompt| prompt != "three");
        assert_eq!(said, ["one", "two", "four"], "after a crash at step {step}");
        if exit == 0 {
            assert!(step > 10, "the points are armed");
            return;
        }
    }
    panic!("a hook has fewer steps");
}

#[test]
fn a_subagent_whose_agent_cannot_be_made_now_is_no_helper() {
    for is_parent_bound in [true, false] {
        let stage = CaptureStage::new();
        let talk = main_talk(&stage);
        let send = |event: &str, sort: &str| {
            let payload = json!({
                "session_id": talk.id, "cwd": stage.folder.join("shop"),
                "transcript_path": talk.transcript(), "hook_event_name": event,
                "agent_id": "a4d2c8f1", "agent_type": sort,
            });
            let ended = stage.hook(&["claude"], &payload.to_string(), &[]);
            assert_eq!((ended.exit, ended.stdout.as_str()), (0, ""));
        };
        talk.say("one");
        if is_parent_bound {
            talk.event("UserPromptSubmit", &[]);
        }
        let held = hold(&lock_of_privacy(&stage));
        send("SubagentStart", "explore");
        held.unlock().expect("it is held");
        assert!(!stage.agents().contains(&format!("{OWN}.a4d2c8f1")));
        send("SubagentStop", "");
        assert!(stage.agents().contains(&format!("{OWN}.a4d2c8f1")), "{is_parent_bound}");
        talk.event("Stop", &[]);
        assert_eq!(prompts(&stage, OWN), ["one"], "{is_parent_bound}");
        stage.check();
    }
}

#[test]
fn a_conversation_that_ends_after_it_was_put_off_is_kept_whole() {
    let stage = CaptureStage::new();
    let talk = main_talk(&stage);
    talk.say("one");
    let held = hold(&lock_of_privacy(&stage));
    talk.event("SessionStart", &[]);
    held.unlock().expect("it is held");
    talk.say("two");
    talk.event("SessionEnd", &[]);
    let entries = stage.entries(OWN);
    let said = entries.iter().filter(|entry| entry["kind"] == "prompt");
    let said: Vec<&str> = said.filter_map(|entry| entry["text"].as_str()).collect();
    assert_eq!(said, ["one", "two"]);
    assert_eq!(n_begins(&entries), 1);
    assert!(stage.agentic("shop", "archive --list").contains(OWN));
    stage.check();
}

#[test]
fn what_was_put_aside_is_taken_by_an_import_too() {
    let stage = CaptureStage::new();
    let talk = main_talk(&stage);
    let line = json!({
        "type": "user", "uuid": "00000001-0000-4000-8000-0000000000aa", "sessionId": talk.id,
        "timestamp": "2026-11-20T09:00:01.037Z", "cwd": stage.folder.join("shop"),
        "message": { "role": "user", "content": "one" },
    });
    let below = talk.transcript().strip_prefix(&stage.folder).expect("at home").to_owned();
    stage.write(&below.display().to_string(), &format!("{line}\n"));
    let held = hold(&lock_of_privacy(&stage));
    talk.event("SessionStart", &[]);
    held.unlock().expect("it is held");
    stage.agentic("shop", "import claude --all");
    assert_eq!(files(&stage.capture("spool")), Vec::<PathBuf>::new());
    let entries = stage.entries(OWN);
    assert_eq!(entries.iter().filter(|entry| entry["kind"] == "prompt").count(), 1);
    assert_eq!(n_begins(&entries), 1);
    stage.check();
}
