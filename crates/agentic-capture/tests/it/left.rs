//! A conversation that could not get its lock at its very end: the next event of any other takes in what
//! it left.

use std::fs;
use std::time::Duration;

use agentic_capture::hook::HookAnswer;
use agentic_model::AgentName;
use agentic_session::SessionSpace;
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
