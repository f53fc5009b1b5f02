use super::*;
use crate::Source;

/// A worktree's git directory with a log, and a place for windows.
struct WindowStage {
    folder: tempfile::TempDir,
    layout: Layout,
}

impl WindowStage {
    fn new() -> WindowStage {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir_all(folder.path().join("logs")).expect("writable");
        let layout = Layout::new(folder.path());
        WindowStage { folder, layout }
    }

    fn commit(&self, digit: char) {
        let id = |digit: char| String::from_iter(std::iter::repeat_n(digit, 40));
        let line = format!("{} {} A <a@b> 1 +0000\tcommit: x\n", id('0'), id(digit));
        let path = self.folder.path().join("logs/HEAD");
        let mut text = std::fs::read_to_string(&path).unwrap_or_default();
        text.push_str(&line);
        std::fs::write(path, text).expect("writable");
    }

    fn with<T>(&self, conversation: &str, call: &str, act: impl FnOnce(&WindowCall<'_>) -> T) -> T {
        let id = ConversationId { source: Source::Claude, native: conversation.to_owned() };
        act(&WindowCall { git_dir: self.folder.path(), conversation: &id, call })
    }

    fn open(&self, conversation: &str, call: &str) {
        let agent = AgentName::parse("fix").expect("a name");
        self.with(conversation, call, |call| open(&self.layout, call, &agent)).expect("writable");
    }

    fn close(&self, conversation: &str, call: &str) -> Option<(usize, WindowCompany)> {
        let closed = self.with(conversation, call, |call| close(&self.layout, call));
        closed.expect("writable").map(|closed| (closed.steps.len(), closed.company))
    }
}

#[test]
fn a_window_has_what_happened_while_it_was_open() {
    let stage = WindowStage::new();
    stage.commit('1');
    stage.open("a", "1");
    stage.commit('2');
    stage.commit('3');
    assert_eq!(stage.close("a", "1"), Some((2, WindowCompany::Alone)));
    assert_eq!(stage.close("a", "1"), None, "it is closed");
}

#[test]
fn windows_of_others_are_company_however_they_overlap() {
    for order in [["a", "b", "b", "a"], ["a", "b", "a", "b"]] {
        let stage = WindowStage::new();
        stage.open(order[0], "1");
        stage.open(order[1], "1");
        assert_eq!(stage.close(order[2], "1"), Some((0, WindowCompany::Shared)), "{order:?}");
        assert_eq!(stage.close(order[3], "1"), Some((0, WindowCompany::Shared)), "{order:?}");
    }
    let stage = WindowStage::new();
    stage.open("a", "1");
    stage.open("a", "2");
    assert_eq!(stage.close("a", "1"), Some((0, WindowCompany::Alone)));
    stage.open("b", "1");
    assert_eq!(stage.close("a", "2"), Some((0, WindowCompany::Shared)));
    assert_eq!(stage.close("b", "1"), Some((0, WindowCompany::Shared)));
    stage.open("a", "3");
    assert_eq!(stage.close("a", "3"), Some((0, WindowCompany::Alone)), "they are all closed");
}

#[test]
fn what_nobody_closes_is_forgotten_with_the_turn() {
    let stage = WindowStage::new();
    stage.open("a", "1");
    stage
        .with("a", "1", |call| forget(&stage.layout, call.git_dir, call.conversation))
        .expect("writable");
    stage.open("b", "1");
    assert_eq!(stage.close("b", "1"), Some((0, WindowCompany::Alone)));
}

#[test]
fn commits_are_found_in_what_git_prints() {
    for (output, ids) in [
        ("[main 1234567] Fix it\n 1 file changed\n", &["1234567"][..]),
        ("[main (root-commit) 1234567] x", &["1234567"]),
        ("[detached HEAD 1234567abc] x\n[agents/a abcdef01] y", &["1234567abc", "abcdef01"]),
        ("[1234567] x", &[]),
        ("[main zzzzzzz] x", &[]),
        ("see 1234567", &[]),
    ] {
        assert_eq!(named_commits(output), ids, "{output}");
    }
}
