//! A journal that stays open between two writes goes on with what others did meanwhile, or is
//! opened anew.

use super::*;

/// What becomes of a journal that is kept open while something happens.
enum Expected {
    /// It is gone on with.
    GoneOn,
    /// It is opened anew.
    OpenedAnew,
}

fn check(what: &str, happens: impl FnOnce(&Place, &mut Journal), expected: Expected) {
    let place = place();
    let mut kept = begin(&place);
    kept.append_entries(vec![entry("a")], now(), Durability::Full).expect("room");
    let (mut other, _) = reopen(&place);
    happens(&place, &mut other);
    match (kept.read_on().expect("not damaged"), expected) {
        (Some(kept), Expected::GoneOn) => {
            let (opened, _) = reopen(&place);
            assert_eq!((kept.last(), kept.length), (opened.last(), opened.length), "{what}");
            let entries = kept.pending_here().expect("not damaged").unwrap_or_default();
            let said: Vec<_> = entries.iter().map(|entry| entry.body.as_text()).collect();
            let expected = pending(&place);
            assert_eq!(said, expected.iter().map(|text| Some(text.as_str())).collect::<Vec<_>>());
        }
        (None, Expected::OpenedAnew) => {}
        (found, _) => panic!("{what}: {found:?}"),
    }
}

fn add(journal: &mut Journal, text: &str) {
    journal.append_entries(vec![entry(text)], now(), Durability::Full).expect("room");
}

#[test]
fn what_others_appended_is_read_on() {
    check("nothing", |_, _| {}, Expected::GoneOn);
    check(
        "entries",
        |_, other| ["b", "c"].iter().for_each(|text| add(other, text)),
        Expected::GoneOn,
    );
    let bind = |_: &Place, other: &mut Journal| {
        let from = other.standing().taken_before;
        other.append_transaction(transaction(1, from), None, Durability::Full).expect("room");
        other.append_done(ComparedNotes::default(), now()).expect("room");
        add(other, "d");
    };
    check("a write", bind, Expected::GoneOn);
}

#[test]
fn a_journal_that_is_another_by_now_is_opened_anew() {
    check("a cut", |_, other| cut(other, vec![entry("a")]), Expected::OpenedAnew);
    let roll = |_: &Place, other: &mut Journal| {
        let long = "x".repeat(SEGMENT_BYTES_MAX as usize / 8);
        (0..9).for_each(|_| add(other, &long));
    };
    check("a new segment", roll, Expected::OpenedAnew);
    let set_aside = |place: &Place, _: &mut Journal| {
        let dir = place.layout.journal(&place.stream);
        std::fs::rename(&dir, dir.with_extension("aside")).expect("writable");
    };
    check("set aside", set_aside, Expected::OpenedAnew);
    let replaced = |place: &Place, other: &mut Journal| {
        set_aside(place, other);
        add(&mut begin(place), "new");
    };
    check("set aside and begun again", replaced, Expected::OpenedAnew);
    let torn = |place: &Place, other: &mut Journal| {
        add(other, "b");
        let path = segment::path(&place.layout.journal(&place.stream), 0);
        let file = std::fs::OpenOptions::new().write(true).open(path).expect("there");
        file.set_len(other.length - 1).expect("writable");
    };
    check("a record that was never finished", torn, Expected::OpenedAnew);
    let much = |_: &Place, other: &mut Journal| {
        let long = "x".repeat(100 << 10);
        (0..3).for_each(|_| add(other, &long));
    };
    check("more than is read at once", much, Expected::OpenedAnew);
}
