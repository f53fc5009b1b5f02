use agentic_model::{Instant, Kind, Map};

use super::*;

fn layout(folder: &tempfile::TempDir) -> Layout {
    Layout::new(folder.path())
}

fn entry(text: &str, more: &str) -> Entry {
    let kind = Kind::parse("prompt").expect("a kind");
    let mut entry = Entry::new(kind, Instant::from_millis(0), Value::text(text));
    entry.meta = Map::from([("more".to_owned(), Value::List(vec![Value::text(more)]))]);
    entry
}

#[test]
fn marks_are_counted_by_their_rule_wherever_they_stand() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let layout = layout(&folder);
    let entries = [
        entry("[redacted:bearer:00000000] and [redacted:flag:00000000]", "nothing"),
        entry("[redacted:", "[redacted:flag:00000000] [redacted:No Rule:0] [redacted::x]"),
    ];
    for _ in 0..2 {
        RedactionTally::of(&entries).keep(&layout, Source::Claude);
    }
    let counted = redactions(&layout, Source::Claude);
    assert_eq!(counted, BTreeMap::from([("bearer".to_owned(), 2), ("flag".to_owned(), 4)]));
    assert!(redactions(&layout, Source::Codex).is_empty());
}

#[test]
fn many_that_count_at_once_count_no_more_than_there_is() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let layout = layout(&folder);
    let entries = [entry("[redacted:flag:00000000]", "")];
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| RedactionTally::of(&entries).keep(&layout, Source::Claude));
        }
    });
    let counted = redactions(&layout, Source::Claude)["flag"];
    assert!((1..=8).contains(&counted), "{counted}");
}

#[test]
fn damaged_counts_say_nothing_and_are_counted_on() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let layout = layout(&folder);
    let path = layout.capture().join("redactions/claude");
    std::fs::create_dir_all(path.parent().expect("in a folder")).expect("writable");
    for (content, expected) in [
        (&b"flag 18446744073709551615\n"[..], u64::MAX),
        (b"flag -1\nflag\n\xff 1\n../x 3\nflag 4", 5),
        (b"\x1b[31m 7\n", 1),
        (&[b'x'; 200 << 10], 1),
    ] {
        std::fs::write(&path, content).expect("writable");
        RedactionTally::of(&[entry("[redacted:flag:00000000]", "")]).keep(&layout, Source::Claude);
        let counted = redactions(&layout, Source::Claude);
        assert_eq!(counted, BTreeMap::from([("flag".to_owned(), expected)]));
    }
}
