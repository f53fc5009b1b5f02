use std::fs;
use std::path::PathBuf;

use super::*;
use crate::{ConversationId, Source};

struct Transcript {
    folder: tempfile::TempDir,
    conversation: ConversationId,
    known: KnownEntries,
    cursor: Option<TranscriptCursor>,
}

impl Transcript {
    fn new(source: Source) -> Transcript {
        Transcript {
            folder: tempfile::tempdir().expect("a temporary folder"),
            conversation: ConversationId { source, native: "c".to_owned() },
            known: KnownEntries::default(),
            cursor: None,
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("t.jsonl")
    }

    /// Writes the file and reads on; gives the texts of what is new.
    fn written(&mut self, content: &str) -> Vec<String> {
        fs::write(self.path(), content).expect("the folder is ours");
        let mut file = File::open(self.path()).expect("just written");
        let mut catching = CatchingUp {
            owner: CursorOwner { conversation: &self.conversation, subagent: None },
            name: "t.jsonl",
            key: &[1; 32],
            known: &mut self.known,
            parent_items: &mut |_| Vec::new(),
        };
        let read =
            catching.read_on(&mut file, self.cursor.as_ref(), &mut |_, _| None, &mut || false);
        let read = read.expect("it can be read");
        assert_eq!(read.rest, TranscriptRest::None);
        self.cursor = Some(read.cursor);
        read.entries.into_iter().map(|entry| entry.text).collect()
    }
}

/// A line of Codex, which has no id.
fn codex(second: usize, text: &str) -> String {
    format!(
        "{{\"timestamp\":\"2026-11-18T14:00:{second:02}.000Z\",\"type\":\"response_item\",\"payload\":{{\"type\":\"message\",\"role\":\"user\",\"content\":[{{\"type\":\"input_text\",\"text\":\"{text}\"}}]}}}}\n"
    )
}

/// A line of Claude, which has one.
fn claude(id: &str, text: &str) -> String {
    format!(
        "{{\"type\":\"user\",\"uuid\":\"{id}\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
    )
}

#[test]
fn what_was_read_is_not_read_again() {
    let mut transcript = Transcript::new(Source::Codex);
    let first = [codex(1, "one"), codex(2, "two")].concat();
    assert_eq!(transcript.written(&first), ["one", "two"]);
    assert_eq!(transcript.written(&first), Vec::<String>::new());
    let grown = [first, codex(3, "three"), codex(4, "cut")].concat();
    let cut = &grown[..grown.len() - 9];
    assert_eq!(transcript.written(cut), ["three"]);
    assert_eq!(transcript.written(&grown), ["cut"]);
    transcript.cursor = None;
    assert_eq!(transcript.written(&grown), Vec::<String>::new(), "a lost cursor doubles nothing");
}

#[test]
fn a_file_that_is_written_anew_gives_only_what_it_did_not_have() {
    let mut transcript = Transcript::new(Source::Codex);
    transcript.written(&[codex(1, "one"), codex(2, "two"), codex(3, "three")].concat());
    let anew = [codex(2, "two"), codex(3, "three"), codex(4, "four")].concat();
    assert_eq!(transcript.written(&anew), ["four"], "lines moved, and are known by what they say");
    let mut transcript = Transcript::new(Source::Claude);
    transcript.written(&[claude("u1", "one"), claude("u2", "two")].concat());
    assert_eq!(transcript.written(&[claude("u2", "two"), claude("u3", "two")].concat()), ["two"]);
}

#[test]
fn entries_of_a_trace_are_known_again() {
    let mut transcript = Transcript::new(Source::Claude);
    let long = "x".repeat(600_000);
    let content = [claude("u1", "one"), claude("u2", &long)].concat();
    let mut other = Transcript::new(Source::Claude);
    fs::write(other.path(), &content).expect("the folder is ours");
    assert_eq!(other.written(&content).len(), 2);
    let mut mapping = ConversationMapping::new(transcript.conversation.clone(), None);
    let line = claude("u2", &long);
    let entries = mapping.line(0, line.as_bytes(), &mut |_, _| None);
    let entries: Vec<Entry> = entries.iter().flat_map(CapturedEntry::to_entries).collect();
    assert!(entries.len() > 1, "it is cut in pieces");
    transcript.known.learn(&entries);
    assert_eq!(transcript.written(&content), ["one"]);
}
