use agentic_model::Instant;

use super::*;
use crate::Source;
use crate::entry::{CapturedKind, EntryPlace};

fn conversation(native: &str) -> ConversationId {
    ConversationId { source: Source::Cursor, native: native.to_owned() }
}

fn entry(of: &str, native: &str, text: &str, named_by: EntryName) -> CapturedEntry {
    let at = Instant::from_millis(1);
    let place = EntryPlace { kind: CapturedKind::Prompt, at, native, part: 0 };
    let entry = CapturedEntry::new(&conversation(of), place, text.to_owned());
    CapturedEntry { named_by, ..entry }
}

#[test]
fn what_is_named_by_its_place_is_known_by_what_it_says() {
    let long = "x".repeat(600 << 10);
    let mut known = KnownEntries::new(&[7; 32], PlaceNames::Hold);
    for (native, text) in [("c@0", "one"), ("c@10", &long)] {
        known.add(&conversation("c"), &entry("c", native, text, EntryName::Place).to_entries());
    }
    for (native, text, named_by, is_known) in [
        ("c@0", "other", EntryName::Place, true),
        ("c@99", "one", EntryName::Place, true),
        ("c@99", &long, EntryName::Place, true),
        ("c@99", "two", EntryName::Place, false),
        ("m-1", "one", EntryName::Vendor, false),
    ] {
        let asked = entry("c", native, text, named_by);
        assert_eq!(known.has(&asked), is_known, "{native} {named_by:?}");
    }
}

#[test]
fn what_was_purged_is_known_by_what_it_said_in_its_conversation_alone() {
    let key = [7; 32];
    let said = entry("c", "c@0", "one tulip-orbit-9941", EntryName::Place).to_entries();
    let gone = said.iter().map(|piece| piece.purged("4f")).collect();
    let clean = |text: &str| entry("c", "c@0", text, EntryName::Place).to_entries();
    for mut purged in [gone, clean("one [purged:4f]")] {
        keep_line(&key, &said, &mut purged);
        let mut again = clean("one");
        keep_line(&key, &purged, &mut again);
        for purged in [purged, again] {
            let mut known = KnownEntries::new(&key, PlaceNames::Moved);
            known.add(&conversation("c"), &purged);
            for (of, text, is_known) in [
                ("c", "one tulip-orbit-9941", true),
                ("c", "two tulip-orbit-9941", false),
                ("d", "one tulip-orbit-9941", false),
            ] {
                let asked = entry(of, "c@99", text, EntryName::Place);
                assert_eq!(known.has(&asked), is_known, "{of} {text}");
            }
        }
    }
}

#[test]
fn what_another_conversation_says_is_not_this_ones() {
    let mut known = KnownEntries::new(&[7; 32], PlaceNames::Hold);
    known.add(&conversation("d"), &entry("c", "c@0", "one", EntryName::Place).to_entries());
    assert!(!known.has(&entry("d", "d@5", "one", EntryName::Place)));
    assert!(known.has(&entry("d", "c@0", "two", EntryName::Vendor)), "ids are anybody's");
}

#[test]
fn in_a_file_that_was_written_anew_a_place_says_nothing() {
    let mut known = KnownEntries::new(&[7; 32], PlaceNames::Moved);
    known.add(&conversation("c"), &entry("c", "c@0", "one", EntryName::Place).to_entries());
    known.add(&conversation("c"), &entry("c", "m-1", "two", EntryName::Vendor).to_entries());
    for (native, text, named_by, is_known) in [
        ("c@0", "zero", EntryName::Place, false),
        ("c@10", "one", EntryName::Place, true),
        ("m-1", "changed", EntryName::Vendor, true),
    ] {
        let asked = entry("c", native, text, named_by);
        assert_eq!(known.has(&asked), is_known, "{native} {named_by:?}");
    }
}

#[test]
fn no_trace_says_how_far_a_file_was_read_of_which_lines_are_pending() {
    let mut known = KnownEntries::new(&[7; 32], PlaceNames::Hold);
    assert_eq!(known.reached("f"), None);
    known.add(&conversation("c"), &entry("c", "m-1", "one", EntryName::Vendor).to_entries());
    known.reached.insert("f".to_owned(), 10);
    known
        .add_pending(&conversation("c"), &entry("d", "m-2", "two", EntryName::Vendor).to_entries());
    assert_eq!(known.reached("f"), Some(10), "another conversation's say nothing");
    known.add_pending(
        &conversation("c"),
        &entry("c", "m-3", "three", EntryName::Vendor).to_entries(),
    );
    assert_eq!(known.reached("f"), Some(u64::MAX));
}
