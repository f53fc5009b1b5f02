use agentic_model::{AgentName, Entry, Kind, Person, Signature, Value};

use super::*;

mod kept;

struct Place {
    _dir: tempfile::TempDir,
    layout: Layout,
    stream: Stream,
}

fn place() -> Place {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let layout = Layout::new(dir.path());
    let stream = Stream::Agent(AgentName::parse("alice").expect("valid"));
    Place { _dir: dir, layout, stream }
}

fn now() -> Instant {
    Instant::from_millis(1_000)
}

fn entry(text: &str) -> Entry {
    let kind = Kind::parse("log").expect("valid");
    Entry::new(kind, now(), Value::text(text))
}

fn transaction(count: u64, from: u64) -> Transaction {
    let signature = Signature { person: Person::new("a", "b"), at: now(), offset_minutes: 0 };
    Transaction {
        verb: "commit".to_owned(),
        objects: vec![GitObject { kind: GitKind::Blob, bytes: vec![7; 100] }],
        branch: None,
        notes: None,
        taken: TakenEntries { from, count },
        follow: None,
        fold: None,
        pin: StreamPin::Unknown,
        author: signature.clone(),
        committer: signature,
    }
}

fn begin(place: &Place) -> Journal {
    let standing = StreamStanding {
        genesis: None,
        head: None,
        taken_before: 0,
        n_pending: 0,
        notes: None,
        compared: None,
        pin: StreamPin::Unknown,
    };
    Journal::create(&place.layout, &place.stream, standing, now()).expect("writable")
}

fn reopen(place: &Place) -> (Journal, u64) {
    match Journal::open(&place.layout, &place.stream).expect("not damaged") {
        OpenedJournal::Ready { journal, cut } => (*journal, cut),
        OpenedJournal::Absent { .. } => panic!("the journal is there"),
    }
}

fn pending(place: &Place) -> Vec<String> {
    let entries = pending_entries(&place.layout, &place.stream).expect("not damaged");
    entries.iter().map(|e| e.body.as_text().expect("text").to_owned()).collect()
}

fn cut(journal: &mut Journal, pending: Vec<Entry>) {
    journal.restart(pending, CarriedState::default(), now()).expect("room");
    journal.drop_segments_before(journal.segment()).expect("removable");
}

#[test]
fn entries_stay_pending_until_a_transaction_takes_them() {
    let place = place();
    let mut journal = begin(&place);
    journal.append_entries(vec![entry("a")], now(), Durability::Full).expect("room");
    journal.append_entries(vec![entry("b")], now(), Durability::Full).expect("room");
    let (mut journal, _) = reopen(&place);
    assert_eq!(pending(&place), ["a", "b"]);
    let from = journal.standing().taken_before;
    journal.append_transaction(transaction(2, from), None, Durability::Full).expect("room");
    assert!(pending(&place).is_empty());
    journal.append_abort(None, now()).expect("room");
    assert_eq!(pending(&place), ["a", "b"]);
    let from = journal.standing().taken_before;
    journal.append_transaction(transaction(2, from), None, Durability::Full).expect("room");
    journal.append_done(ComparedNotes::default(), now()).expect("room");
    journal.append_entries(vec![entry("c")], now(), Durability::Full).expect("room");
    assert_eq!(pending(&place), ["c"]);
    assert!(reopen(&place).0.last().transaction().is_none());
}

#[test]
fn a_transaction_without_outcome_is_found_again() {
    let place = place();
    let mut journal = begin(&place);
    journal.append_transaction(transaction(0, 0), None, Durability::Full).expect("room");
    assert_eq!(reopen(&place).0.last().transaction(), Some(&transaction(0, 0)));
    assert_eq!(unfinished(&place.layout, &place.stream).expect("whole"), Some(transaction(0, 0)));
}

#[test]
fn a_tail_cut_at_any_byte_loses_only_the_last_record() {
    let place = place();
    let mut journal = begin(&place);
    journal.append_entries(vec![entry("kept")], now(), Durability::Full).expect("room");
    let kept = journal.length;
    journal.append_entries(vec![entry("torn")], now(), Durability::Full).expect("room");
    let path = journal.path.clone();
    let whole = std::fs::read(&path).expect("readable");
    for end in kept as usize + 1..whole.len() {
        std::fs::write(&path, &whole[..end]).expect("writable");
        assert_eq!(pending(&place), ["kept"], "cut at {end}");
        let (mut journal, cut) = reopen(&place);
        assert_eq!(cut, end as u64 - kept, "cut at {end}");
        journal.append_entries(vec![entry("next")], now(), Durability::Full).expect("room");
        assert_eq!(pending(&place), ["kept", "next"], "cut at {end}");
    }
}

#[test]
fn damage_before_a_good_record_is_never_cut() {
    let place = place();
    let mut journal = begin(&place);
    journal.append_entries(vec![entry("a"), entry("b")], now(), Durability::Full).expect("room");
    let path = journal.path.clone();
    let mut bytes = std::fs::read(&path).expect("readable");
    bytes[20] ^= 1;
    std::fs::write(&path, &bytes).expect("writable");
    assert!(matches!(records(&place.layout, &place.stream), Err(Error::Damage(_))));
    assert_eq!(std::fs::read(&path).expect("readable"), bytes);
}

#[test]
fn long_journals_roll_into_segments_and_stay_chained() {
    let place = place();
    let mut journal = begin(&place);
    let long = "x".repeat(200_000);
    for _ in 0..12 {
        journal.append_entries(vec![entry(&long)], now(), Durability::Git).expect("room");
    }
    assert!(segment::list(&place.layout.journal(&place.stream)).expect("readable").len() > 1);
    assert_eq!(pending(&place).len(), 12);
    let records = records(&place.layout, &place.stream).expect("chained");
    assert!(records.iter().enumerate().all(|(n, record)| record.seq == n as u64));
}

#[test]
fn a_restarted_journal_carries_its_pending_entries() {
    let place = place();
    let mut journal = begin(&place);
    journal.append_entries(vec![entry("a")], now(), Durability::Full).expect("room");
    let entries = pending_entries(&place.layout, &place.stream).expect("whole");
    cut(&mut journal, entries);
    assert_eq!(pending(&place), ["a"]);
    assert_eq!(reopen(&place).0.standing().n_pending, 1);
}

#[test]
fn zeros_at_the_end_are_cut_and_nothing_else() {
    let place = place();
    let mut journal = begin(&place);
    journal.append_entries(vec![entry("kept")], now(), Durability::Full).expect("room");
    let (path, kept) = (journal.path.clone(), journal.length);
    let whole = std::fs::read(&path).expect("readable");
    for n_zeros in [1, 11, 12, 13, 4096] {
        std::fs::write(&path, [whole.clone(), vec![0; n_zeros]].concat()).expect("writable");
        assert_eq!(pending(&place), ["kept"], "{n_zeros} zeros");
        let (journal, cut) = reopen(&place);
        assert_eq!((journal.length, cut), (kept, n_zeros as u64), "{n_zeros} zeros");
    }
}

#[test]
fn a_batch_that_reached_the_disk_in_part_is_cut_whole() {
    let place = place();
    let mut journal = begin(&place);
    journal.append_entries(vec![entry("kept")], now(), Durability::Full).expect("room");
    let (path, kept) = (journal.path.clone(), journal.length as usize);
    let lost = vec![entry("first"), entry("second")];
    journal.append_entries(lost, now(), Durability::Full).expect("room");
    let mut bytes = std::fs::read(&path).expect("readable");
    bytes[kept..kept + 40].fill(0);
    std::fs::write(&path, &bytes).expect("writable");
    match Journal::open_after_power_cut(&place.layout, &place.stream) {
        Ok(OpenedJournal::Ready { journal, .. }) => assert_eq!(journal.length as usize, kept),
        other => panic!("the journal is there and sound: {other:?}"),
    }
    assert_eq!(pending(&place), ["kept"]);
}

#[test]
fn a_synced_record_that_rots_before_an_unsynced_one_is_damage() {
    let place = place();
    let mut journal = begin(&place);
    journal.append_entries(vec![entry("kept")], now(), Durability::Full).expect("room");
    let synced = journal.length as usize;
    journal.append_entries(vec![entry("a")], now(), Durability::Git).expect("room");
    let path = journal.path.clone();
    let mut bytes = std::fs::read(&path).expect("readable");
    bytes[synced - 8] ^= 1;
    std::fs::write(&path, &bytes).expect("writable");
    assert!(matches!(Journal::open(&place.layout, &place.stream), Ok(OpenedJournal::Ready { .. })));
    assert!(matches!(records(&place.layout, &place.stream), Err(Error::Damage(_))));
}

#[test]
fn what_commands_append_one_by_one_is_not_read_again_from_the_beginning() {
    let place = place();
    drop(begin(&place));
    let long = "x".repeat(3_000);
    for turn in 0..100 {
        let (mut journal, cut) = reopen(&place);
        assert_eq!(cut, 0);
        // As much is looked at whenever the journal is opened.
        let n_unsure = journal.length - journal.last.synced;
        assert!(n_unsure <= segment::UNSURE_BYTES_MAX + 4_000, "turn {turn}: {n_unsure}");
        journal.append_entries(vec![entry(&long)], now(), Durability::Full).expect("room");
    }
    assert_eq!(pending(&place).len(), 100);
}

#[test]
fn segments_that_come_back_after_the_log_was_cut_do_not_count() {
    let place = place();
    let mut journal = begin(&place);
    let long = "x".repeat(600_000);
    for _ in 0..4 {
        journal.append_entries(vec![entry(&long)], now(), Durability::Git).expect("room");
    }
    let dir = place.layout.journal(&place.stream);
    let dropped = segment::path(&dir, 0);
    let bytes = std::fs::read(&dropped).expect("readable");
    cut(&mut journal, vec![entry("kept")]);
    std::fs::write(&dropped, bytes).expect("writable");
    assert_eq!(pending(&place), ["kept"]);
    let records = records(&place.layout, &place.stream).expect("whole");
    assert!(records[0].is_restart() && records.len() == 2);
}

/// A journal with a decision and two entries, in two segments and the beginning of a third.
fn in_three_segments(place: &Place) -> (Journal, Oid) {
    let decision = Oid::from_bytes(&[3; 20]).expect("twenty bytes");
    let branch =
        BranchMove { name: "refs/heads/agents/alice".to_owned(), expect: None, new: decision };
    let mut decide = transaction(0, 0);
    (decide.verb, decide.branch) = (DECIDE.to_owned(), Some(branch));
    decide.objects[0].bytes = vec![7; SEGMENT_BYTES_MAX as usize];
    let mut journal = begin(place);
    for _ in 0..2 {
        journal.append_transaction(decide.clone(), None, Durability::Full).expect("room");
        journal.append_done(ComparedNotes::default(), now()).expect("room");
    }
    let entries = vec![entry("a"), entry("b")];
    journal.append_entries(entries, now(), Durability::Full).expect("room");
    assert_eq!(journal.segment(), 2);
    (journal, decision)
}

#[test]
fn a_journal_in_use_loses_its_oldest_segments_and_keeps_what_they_decided() {
    let place = place();
    let (mut journal, decision) = in_three_segments(&place);
    let first = records_of(&place.layout, &place.stream, 1).expect("whole")[0].seq;
    let dropped = records_of(&place.layout, &place.stream, 0).expect("whole");
    let carried = CarriedState::from_records(&dropped, None);
    assert_eq!(carried.decisions, [decision]);
    journal.append_cut(first, carried, now()).expect("room");
    // Until the segments are gone, and if they come back, their records do not count.
    let path = segment::path(&place.layout.journal(&place.stream), 0);
    let bytes = std::fs::read(&path).expect("readable");
    journal.drop_segments_before(1).expect("removable");
    for is_back in [false, true] {
        if is_back {
            std::fs::write(&path, &bytes).expect("writable");
        }
        let records = records(&place.layout, &place.stream).expect("chained");
        assert_eq!(records[0].seq, first);
        let decisions = records.iter().flat_map(JournalRecord::decisions).collect::<Vec<_>>();
        assert_eq!(decisions, [decision, decision]);
        assert_eq!(pending(&place), ["a", "b"]);
    }
    assert_eq!(reopen(&place).0.standing().n_pending, 2);
}

#[test]
fn a_segment_that_is_missing_without_a_cut_is_damage() {
    for number in [0, 1] {
        let place = place();
        let (_journal, _) = in_three_segments(&place);
        let path = segment::path(&place.layout.journal(&place.stream), number);
        std::fs::remove_file(&path).expect("removable");
        let found = records(&place.layout, &place.stream);
        assert!(matches!(found, Err(Error::Damage(_))), "without segment {number}");
    }
}

#[test]
fn a_restart_that_was_never_finished_changes_nothing() {
    let place = place();
    let mut journal = begin(&place);
    journal.append_entries(vec![entry("kept")], now(), Durability::Full).expect("room");
    let dir = place.layout.journal(&place.stream);
    let unfinished = segment::path(&dir, 1).with_added_extension("7-0.new");
    std::fs::write(&unfinished, b"half a segm").expect("writable");
    let (mut journal, cut_off) = reopen(&place);
    assert_eq!((cut_off, pending(&place)), (0, vec!["kept".to_owned()]));
    let entries = pending_entries(&place.layout, &place.stream).expect("whole");
    cut(&mut journal, entries);
    assert!(!unfinished.exists());
    assert_eq!(pending(&place), ["kept"]);
}

#[test]
fn a_journal_of_an_earlier_release_opens_and_goes_on() {
    let place = place();
    let mut journal = begin(&place);
    journal.append_transaction(transaction(0, 0), None, Durability::Full).expect("room");
    journal.append_done(ComparedNotes::default(), now()).expect("room");
    let written = journal.last().encode().expect("short");
    let value = agentic_model::canonical::decode(&written).expect("canonical");
    // So did the releases write it that knew nothing of comparing.
    assert_eq!(value.get("compared"), None);
    assert_eq!(value.get("body"), Some(&agentic_model::Value::Null));
    drop(journal);
    let (mut journal, _) = reopen(&place);
    assert_eq!(journal.standing().compared, None);
    journal.append_transaction(transaction(0, 0), None, Durability::Full).expect("room");
    let tip = Oid::from_bytes(&[7; 20]).ok();
    journal.append_done(ComparedNotes { tip, removed: Vec::new() }, now()).expect("room");
    assert_eq!(reopen(&place).0.standing().compared, tip);
}

#[test]
fn a_torn_record_that_holds_a_journal_is_torn() {
    // The journal of another agent, longer than this one, and this one itself.
    let (other, place) = (place(), place());
    let genesis = Oid::parse(&"1".repeat(40)).expect("an id");
    let standing = StreamStanding { genesis: Some(genesis), ..begin(&other).standing().clone() };
    std::fs::remove_dir_all(other.layout.journal(&other.stream)).expect("removable");
    let mut journal =
        Journal::create(&other.layout, &other.stream, standing, now()).expect("writable");
    for _ in 0..9 {
        journal.append_entries(vec![entry("x")], now(), Durability::Full).expect("writable");
    }
    let copied = std::fs::read(segment::path(&other.layout.journal(&other.stream), 0));
    let mut journal = begin(&place);
    journal.append_entries(vec![entry("first")], now(), Durability::Full).expect("writable");
    let path = segment::path(&place.layout.journal(&place.stream), 0);
    let own = std::fs::read(&path).expect("readable");
    for bytes in [copied.expect("readable"), own.clone()] {
        std::fs::write(&path, &own).expect("writable");
        let mut journal = reopen(&place).0;
        let object = GitObject { kind: GitKind::Blob, bytes };
        let holding = Transaction { objects: vec![object], ..transaction(0, 0) };
        journal.append_transaction(holding, None, Durability::Full).expect("writable");
        let whole = std::fs::read(&path).expect("readable");
        for end in own.len() + 1..whole.len() {
            let found = segment::scan(&whole[..end]);
            assert_eq!(found, frame::Scan::Torn { end: own.len() }, "cut at {end}");
        }
        // Nor is it taken for whole where it ends as one of the frames in it does.
        let is_end = |end: &usize| frame::before(&whole[..*end], *end).is_some();
        let ends: Vec<usize> = (own.len() + 1..whole.len()).filter(is_end).collect();
        assert!(ends.len() >= 2);
        for end in ends {
            std::fs::write(&path, &whole[..end]).expect("writable");
            assert_eq!(reopen(&place).0.length as usize, own.len(), "cut at {end}");
        }
        std::fs::write(&path, &whole).expect("writable");
        // With a record after it, it was whole.
        journal.append_entries(vec![entry("last")], now(), Durability::Full).expect("writable");
        let mut bytes = std::fs::read(&path).expect("readable");
        bytes[own.len() + 20] ^= 0x40;
        assert_eq!(segment::scan(&bytes), frame::Scan::Damaged { start: own.len() });
    }
}
