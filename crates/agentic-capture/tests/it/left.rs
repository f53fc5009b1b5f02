//! A conversation that could not get its lock at its very end: the next event of any other takes in what
//! it left.

use std::fs;
use std::time::Duration;

use agentic_capture::error_log::faults;
use agentic_capture::hook::HookAnswer;
use agentic_capture::link::{UnlinkedReason, unlinked_commits};
use agentic_model::AgentName;
use agentic_session::SessionSpace;
use agentic_space::write::LockedStream;
use agentic_store::Stream;
use serde_json::json;

use crate::captured::CapturedFolder;

/// What conversations of a captured repository left.
struct LeftBehind {
    captured: CapturedFolder,
}

impl LeftBehind {
    fn new() -> LeftBehind {
        LeftBehind { captured: CapturedFolder::new() }
    }

    fn space(&self) -> SessionSpace {
        self.captured.space()
    }

    fn event(&self, conversation: &str, name: &str) {
        let payload = json!({"session_id": conversation, "cwd": self.captured.start(),
            "hook_event_name": name, "reason": "exit"});
        assert_eq!(self.captured.event(&[], &payload), HookAnswer::silent());
    }

    fn event_of_subagent(&self, conversation: &str, name: &str) {
        let payload = json!({"session_id": conversation, "cwd": self.captured.start(),
            "hook_event_name": name, "agent_id": "0a1b2c3d4e5f6071", "agent_type": "Explore"});
        assert_eq!(self.captured.event(&[], &payload), HookAnswer::silent());
    }

    /// Returns the newest codes of the error log.
    fn faults(&self) -> Vec<String> {
        let log = faults(self.space().repository().layout());
        log.into_iter().map(|fault| fault.code).collect()
    }

    /// Lists what waits: how many files in which folder of the spool.
    fn waiting(&self) -> Vec<(String, usize)> {
        let spool = self.space().repository().layout().capture().join("spool");
        let folders = fs::read_dir(spool).into_iter().flatten().flatten();
        let count = |folder: fs::DirEntry| {
            let n_files = fs::read_dir(folder.path()).expect("readable").count();
            (folder.file_name().to_string_lossy().into_owned(), n_files)
        };
        folders.map(count).filter(|(_, n_files)| *n_files > 0).collect()
    }

    fn n_marks(&self) -> usize {
        let left = self.space().repository().layout().capture().join("left");
        fs::read_dir(left).map_or(0, Iterator::count)
    }

    fn texts(&self, agent: &AgentName) -> Vec<String> {
        let pending = self.space().pending_trace(agent).expect("readable");
        pending.iter().filter_map(|entry| entry.body.as_text().map(str::to_owned)).collect()
    }
}

fn agent(name: &str) -> AgentName {
    AgentName::parse(name).expect("a name")
}

#[test]
fn what_an_end_could_not_write_is_taken_in_by_the_next_event_of_another_conversation() {
    let folder = LeftBehind::new();
    let first = agent("claude-00000001");
    folder.event("00000001-aaaa", "Notification");
    let space = folder.space();
    let held = space.pending_writer_within(&first, Duration::ZERO).expect("readable");
    folder.event("00000001-aaaa", "SessionEnd");
    assert_eq!(folder.waiting(), [("claude-00000001".to_owned(), 1)]);
    folder.event("00000002-bbbb", "Notification");
    assert_eq!(folder.waiting().len(), 1, "somebody still has the lock");
    drop(held);
    folder.event("00000002-bbbb", "Notification");
    assert_eq!(folder.waiting(), []);
    assert_eq!(folder.n_marks(), 0);
    let texts = folder.texts(&first);
    assert!(texts.last().is_some_and(|text| text == "session-end exit"), "{texts:?}");
}

#[test]
fn a_conversation_that_ended_before_it_had_an_agent_gets_one() {
    let folder = LeftBehind::new();
    folder.event("00000002-bbbb", "Notification");
    let space = folder.space();
    let lock = space.repository().layout().lock(&Stream::Agent(agent("claude-00000001")));
    fs::create_dir_all(lock.parent().expect("in a folder")).expect("writable");
    let held = fs::File::create(lock).expect("writable");
    held.lock().expect("free");
    folder.event("00000001-aaaa", "SessionEnd");
    assert_eq!(folder.waiting().len(), 1);
    held.unlock().expect("held");
    folder.event("00000002-bbbb", "Notification");
    assert_eq!(folder.waiting(), []);
    assert_eq!(folder.texts(&agent("claude-00000001")), ["session-end exit"]);
}

#[test]
fn a_subagent_that_ends_waits_for_nobody_who_keeps_its_lock() {
    let folder = LeftBehind::new();
    folder.event_of_subagent("00000001-aaaa", "SubagentStart");
    let space = folder.space();
    let child = agent("claude-00000001.0a1b2c3d");
    let held = space.pending_writer_within(&child, Duration::ZERO).expect("readable");
    folder.event_of_subagent("00000001-aaaa", "SubagentStop");
    assert_eq!(folder.faults(), ["busy"]);
    drop(held);
}

#[test]
fn an_agent_whose_archive_others_write_comes_back_at_a_later_event() {
    let folder = LeftBehind::new();
    folder.event("00000001-aaaa", "Notification");
    folder.event("00000001-aaaa", "SessionEnd");
    let (space, first) = (folder.space(), agent("claude-00000001"));
    assert!(space.head(&first).is_err(), "it was made for that conversation");
    let archive = Stream::of_branch("refs/agentic/private");
    let held = LockedStream::stream(&space, &archive).expect("readable");
    folder.event("00000001-aaaa", "Notification");
    assert_eq!(folder.faults(), ["busy"]);
    assert_eq!(folder.waiting().len(), 1, "what happened waits for the agent");
    drop(held);
    folder.event("00000001-aaaa", "Notification");
    assert_eq!(folder.waiting(), []);
    assert_eq!(folder.texts(&first).len(), 2);
}

#[test]
fn nothing_is_made_for_what_a_purge_took() {
    let folder = LeftBehind::new();
    let left = folder.space().repository().layout().capture().join("left");
    fs::create_dir_all(&left).expect("writable");
    fs::write(left.join("mark"), "claude\n00000001-aaaa").expect("writable");
    folder.event("00000002-bbbb", "Notification");
    assert_eq!(folder.n_marks(), 0);
    assert!(folder.space().head(&agent("claude-00000001")).is_err());
}

#[test]
fn a_commit_whose_agent_others_hold_is_listed_and_waited_for_by_nobody() {
    let folder = LeftBehind::new();
    let captured = &folder.captured;
    let call = |name: &str, printed: &str| {
        let payload = json!({"session_id": "00000001-aaaa", "cwd": captured.start(),
            "hook_event_name": name, "tool_name": "Bash", "tool_use_id": "t",
            "tool_response": printed});
        assert_eq!(captured.event(&[], &payload), HookAnswer::silent());
    };
    call("PreToolUse", "");
    let made = captured.git(&["commit", "--allow-empty", "-m", "Made by hand"]);
    let space = folder.space();
    let writer = space.pending_writer_within(&agent("claude-00000001"), Duration::ZERO);
    let held = writer.expect("readable");
    call("PostToolUse", &made);
    drop(held);
    let unlinked = unlinked_commits(space.repository().layout());
    assert_eq!(unlinked.len(), 1, "{made}");
    assert_eq!(unlinked[0].reason, UnlinkedReason::Busy);
}
