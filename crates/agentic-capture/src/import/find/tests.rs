use super::*;

fn check(files: &[&str], source: Source, expected: &[(&str, Option<&str>, &str)]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for file in files {
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().expect("in a folder")).expect("writable");
        std::fs::write(path, "x").expect("writable");
    }
    let environment = HookEnvironment::of([("HOME", folder.path())]);
    let found = transcripts(source, &environment);
    let found: Vec<(&str, Option<&str>, &str)> = found
        .iter()
        .map(|it| {
            let below = it.path.strip_prefix(folder.path()).expect("below");
            (it.id.native.as_str(), it.subagent.as_deref(), below.to_str().expect("text"))
        })
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn each_source_has_its_places() {
    check(
        &[
            ".claude/projects/-x/a.jsonl",
            ".claude/projects/-x/a/subagents/agent-b.jsonl",
            ".claude/projects/-x/agent-c.jsonl",
            ".claude/projects/-x/notes.txt",
            ".claude/history.jsonl",
        ],
        Source::Claude,
        &[
            ("a", Some("b"), ".claude/projects/-x/a/subagents/agent-b.jsonl"),
            ("a", None, ".claude/projects/-x/a.jsonl"),
            ("", Some("c"), ".claude/projects/-x/agent-c.jsonl"),
        ],
    );
    check(
        &[
            ".gemini/tmp/p/chats/session-1.jsonl",
            ".gemini/tmp/p/chats/session-2.json",
            ".gemini/tmp/p/logs.json",
        ],
        Source::Gemini,
        &[
            ("session-1", None, ".gemini/tmp/p/chats/session-1.jsonl"),
            ("session-2", None, ".gemini/tmp/p/chats/session-2.json"),
        ],
    );
    check(
        &[
            ".local/share/opencode/storage/session/p/ses_1.json",
            ".local/share/opencode/storage/message/ses_1/msg_1.json",
            ".local/share/opencode/log/x.json",
            ".local/share/opencode/opencode.db",
            ".local/share/opencode/other.db",
        ],
        Source::Opencode,
        &[
            // What cannot be read is found all the same, and then told.
            ("opencode", None, ".local/share/opencode/opencode.db"),
            ("ses_1", None, ".local/share/opencode/storage/session/p/ses_1.json"),
        ],
    );
    check(
        &[".copilot/session-state/p-1/events.jsonl", ".copilot/session-state/p-1/x.jsonl"],
        Source::Copilot,
        &[("p-1", None, ".copilot/session-state/p-1/events.jsonl")],
    );
    check(
        &[
            ".cursor/projects/x/agent-transcripts/c-1.jsonl",
            ".cursor/projects/x/agent-transcripts/c-2/c-2.jsonl",
            ".cursor/projects/x/c-3.jsonl",
        ],
        Source::Cursor,
        &[
            ("c-1", None, ".cursor/projects/x/agent-transcripts/c-1.jsonl"),
            ("c-2", None, ".cursor/projects/x/agent-transcripts/c-2/c-2.jsonl"),
        ],
    );
}

#[test]
fn the_plain_file_of_a_thread_wins() {
    let name = "rollout-2026-11-18T14-00-00-019c4b43-0000-7000-8000-00000000000";
    let file =
        |folder: &str, digit: u8, end: &str| format!(".codex/{folder}/{name}{digit}.jsonl{end}");
    let files = [
        file("sessions/2026/11/18", 1, ".zst"),
        file("archived_sessions", 1, ""),
        file("sessions/2026/11/18", 2, ".zst"),
    ];
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    check(
        &files,
        Source::Codex,
        &[
            ("019c4b43-0000-7000-8000-000000000001", None, files[1]),
            ("019c4b43-0000-7000-8000-000000000002", None, files[2]),
        ],
    );
}
