use super::super::entry::{
    EntryRole, EntryStyle, GATE_SECONDS, WantedEntry, WorktreeHooks, capture_entries, gate_entries,
};
use super::{WiredText, roles_in, with_entries, without_entries};
use crate::Source;

const BOTH: &[EntryRole] = &[EntryRole::Capture, EntryRole::Gate];
const HOOKED: [Source; 5] =
    [Source::Claude, Source::Codex, Source::Cursor, Source::Gemini, Source::Copilot];

fn entries(source: Source, program: &str) -> Vec<WantedEntry> {
    let style = EntryStyle {
        source,
        program,
        worktrees: WorktreeHooks::Theirs,
        gate_seconds: GATE_SECONDS,
    };
    [capture_entries(&style), gate_entries(&style, Some("Bash"))].concat()
}

fn with(source: Source, old: Option<&str>) -> String {
    match with_entries(source, old, &entries(source, "/opt/agentic")).expect("fits") {
        WiredText::Text(text) => text,
        WiredText::Keep | WiredText::Remove => panic!("not put in"),
    }
}

#[test]
fn files_of_others_come_back_byte_for_byte() {
    let files = [
        "{}",
        "{\n}\n",
        "{\"version\":1}",
        "{\"hooks\": {}, \"version\": 1}",
        "{ \"hooks\" : {\"PreToolUse\": [], \"preToolUse\":[ ] }}",
        "{\r\n\t\"model\": \"x\",\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [\r\n\t\t\t{\"hooks\": [{\"type\": \"command\", \"command\": \"say\"}]}\r\n\t\t]\r\n\t}\r\n}",
        "{\n   \"hooks\": {\n      \"PreToolUse\": [{\n  \"matcher\": \"Bash\", \"hooks\": [{\"command\": \"lint\"}]}]\n   },\n   \"z\": {\"b\": 1.50, \"a\": \"\\u00e9\"}\n}\n\n",
    ];
    for source in HOOKED {
        for file in files {
            let wired = with(source, Some(file));
            assert_eq!(with(source, Some(&wired)), wired, "a second run changes nothing");
            assert_eq!(roles_in(source, &wired), BOTH);
            let back = without_entries(source, Some(&wired), BOTH).expect("readable");
            assert_eq!(back, WiredText::Text(file.to_owned()), "{source} by way of {wired}");
        }
    }
}

#[test]
fn a_file_that_was_made_goes_when_it_is_empty() {
    for source in HOOKED {
        let wired = with(source, None);
        assert_eq!(with(source, Some(&wired)), wired);
        let back = without_entries(source, Some(&wired), BOTH).expect("readable");
        assert_eq!(back, WiredText::Remove, "{wired}");
    }
}

#[test]
fn entries_of_ours_are_brought_up_to_date_where_they_stand() {
    for source in HOOKED {
        let wired = with(source, None);
        let doubled = wired.replacen("/opt/agentic", "/old/bin/agentic", 1);
        assert_eq!(with(source, Some(&doubled)), wired, "{source}");
        let now = with_entries(source, Some(&wired), &entries(source, "/new/agentic"));
        let now = now.expect("fits");
        assert_eq!(now, WiredText::Text(wired.replace("/opt/", "/new/")));
    }
}

#[test]
fn an_entry_that_somebody_copied_is_there_once_afterwards() {
    let file = r#"{"hooks": {"Stop": [
      {"hooks": [{"type": "command", "command": "agentic", "args": ["hook", "claude"]},
                 {"type": "command", "command": "say done"}]},
      {"hooks": [{"type": "command", "command": "agentic", "args": ["hook", "claude"]}]}]}}"#;
    let wired = with(Source::Claude, Some(file));
    let value: serde_json::Value = serde_json::from_str(&wired).expect("JSON");
    let stop = value["hooks"]["Stop"].to_string();
    assert_eq!(stop.matches("agentic").count(), 1, "{stop}");
    assert!(stop.contains("say done"));
}

#[test]
fn the_gate_stays_when_only_capture_is_wired_again() {
    let wired = with(Source::Claude, None);
    let style = EntryStyle {
        source: Source::Claude,
        program: "/opt/agentic",
        worktrees: WorktreeHooks::Theirs,
        gate_seconds: GATE_SECONDS,
    };
    let again = with_entries(Source::Claude, Some(&wired), &capture_entries(&style));
    assert_eq!(again.expect("fits"), WiredText::Text(wired));
}

#[test]
fn what_does_not_fit_is_left_alone() {
    for file in ["", "[]", "{\"hooks\": []}", "{\"hooks\": {\"Stop\": {}}}", "// c\n{}", "{,}"] {
        let changed = with_entries(Source::Claude, Some(file), &entries(Source::Claude, "agentic"));
        assert!(changed.is_err(), "{file}");
    }
}
