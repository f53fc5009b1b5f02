//! Logs that are shortened, torn, damaged, and that keep room.

use super::*;

/// Joins all payloads of a segment to one.
fn joined(_: u64, payloads: Vec<Vec<u8>>) -> Result<Option<Vec<Vec<u8>>>> {
    Ok((payloads.len() > 1).then(|| vec![payloads.concat()]))
}

#[test]
fn a_shorter_log_goes_on_and_old_places_are_none_of_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dir = folder.path().join("agentic/log");
    let (mut log, _) = LogFile::open(&dir).expect("writable");
    let mut places = Vec::new();
    for payload in [&b"one"[..], b"two", b"three"] {
        log.append(&[payload], Durability::Full).expect("writable");
        places.push(log.end());
    }
    // What a crash left of an attempt to do so.
    std::fs::write(dir.join("00000000.log.1-0.new"), b"half").expect("writable");
    log.shorten(joined).expect("writable");
    assert_eq!(payloads(&dir).expect("readable"), [b"onetwothree"]);
    assert_eq!(std::fs::read_dir(&dir).expect("it is there").count(), 1);
    for place in places {
        assert!(payloads_after(&dir, place).is_err(), "{place:?}");
    }
    let end = log.end();
    assert_eq!(payloads_after(&dir, end).expect("it is its end"), (vec![], end));
    log.append(&[b"four"], Durability::Full).expect("writable");
    assert_eq!(payloads_after(&dir, end).expect("readable").0, [b"four"]);
    let (log, n_cut) = LogFile::open(&dir).expect("sound");
    assert_eq!((n_cut, payloads_after(&dir, log.end()).expect("readable").1), (0, log.end()));
}

#[test]
fn what_follows_a_shorter_log_may_be_torn() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dir = folder.path().join("agentic/log");
    let (mut log, _) = LogFile::open(&dir).expect("writable");
    log.append(&[b"one", b"two"], Durability::Full).expect("writable");
    log.shorten(joined).expect("writable");
    let length = log.end().offset;
    log.append(&[b"three"], Durability::Full).expect("writable");
    let path = segment::path(&dir, 0);
    let whole = std::fs::read(&path).expect("readable");
    for end in length..whole.len() as u64 {
        std::fs::write(&path, &whole[..end as usize]).expect("writable");
        assert_eq!(payloads(&dir).expect("torn, not damaged"), [b"onetwo"], "{end}");
    }
}

/// Returns how many bytes of the disk a segment takes.
fn n_taken(dir: &Path) -> u64 {
    std::fs::metadata(segment::path(dir, 0)).expect("it is there").blocks() * 512
}

#[test]
fn room_is_kept_behind_the_end_until_it_is_given_back() {
    const ROOM: u64 = 64 << 10;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dir = folder.path().join("agentic/log");
    let (mut log, _) = LogFile::open(&dir).expect("writable");
    log.append(&[b"one"], Durability::Full).expect("writable");
    let (before, length) = (n_taken(&dir), log.end());
    log.keep_room(ROOM).expect("the disk is not full");
    log.keep_room(ROOM).expect("the disk is not full");
    assert_eq!((log.end(), n_taken(&dir) >= before + 2 * ROOM - 4096), (length, true));
    log.use_room(ROOM);
    log.append(&[b"two"], Durability::Full).expect("writable");
    assert!(n_taken(&dir) >= ROOM, "what else is kept stays");
    log.give_room_back();
    assert!(n_taken(&dir) <= before + 4096, "{}", n_taken(&dir));
    let (log, n_cut) = LogFile::open(&dir).expect("sound");
    assert_eq!((n_cut, payloads(&dir).expect("sound").len()), (0, 2));
    drop(log);
}

#[test]
fn a_log_that_was_left_with_room_is_sound_and_goes_on() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dir = folder.path().join("agentic/log");
    let (mut log, _) = LogFile::open(&dir).expect("writable");
    log.keep_room(64 << 10).expect("the disk is not full");
    log.append(&[b"one"], Durability::Full).expect("writable");
    drop(log);
    let (mut log, n_cut) = LogFile::open(&dir).expect("sound");
    log.append(&[b"two"], Durability::Full).expect("writable");
    assert_eq!(
        (n_cut, payloads(&dir).expect("sound")),
        (0, vec![b"one".to_vec(), b"two".to_vec()])
    );
}

/// Makes a payload as sessions chain them: the n-th, with something in it.
fn record(seq: i64, data: &[u8]) -> Vec<u8> {
    let data = Value::Bytes(data.to_vec());
    let record = Value::map([("seq", Value::Int(seq)), ("data", data)]);
    canonical::encode(&record).expect("it is data")
}

/// Makes a log of records, each appended by itself, and returns the bytes of its segment.
fn log_of(dir: &Path, records: &[Vec<u8>]) -> Vec<u8> {
    let (mut log, _) = LogFile::open(dir).expect("writable");
    for record in records {
        log.append(&[record.as_slice()], Durability::Full).expect("writable");
    }
    std::fs::read(segment::path(dir, 0)).expect("readable")
}

#[test]
fn a_log_within_a_torn_record_is_no_damage() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let other: Vec<_> = (0..6).map(|seq| record(seq, b"other")).collect();
    let other = log_of(&folder.path().join("agentic/other"), &other);
    for n_before in 1..6 {
        let dir = folder.path().join(format!("agentic/{n_before}"));
        let own: Vec<_> = (0..n_before).map(|seq| record(seq, b"own")).collect();
        let kept = log_of(&dir, &own);
        // The last record holds what a program read from the log of somebody, itself even.
        for copied in [&other, &kept] {
            let whole = log_of(&dir, &[record(n_before, copied)]);
            for end in kept.len() + 1..whole.len() {
                std::fs::write(segment::path(&dir, 0), &whole[..end]).expect("writable");
                assert_eq!(payloads(&dir).expect("torn, not damaged"), own, "{n_before} {end}");
            }
            let (_, n_cut) = LogFile::open(&dir).expect("torn, not damaged");
            assert_eq!(n_cut as usize, whole.len() - 1 - kept.len());
        }
    }
}

#[test]
fn a_record_that_was_changed_before_others_of_its_log_is_damage() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dir = folder.path().join("agentic/log");
    let all: Vec<_> = (0..4).map(|seq| record(seq, b"own")).collect();
    let first = log_of(&folder.path().join("agentic/first"), &all[..1]).len();
    let whole = log_of(&dir, &all);
    for at in first..2 * first {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        std::fs::write(segment::path(&dir, 0), &bytes).expect("writable");
        assert!(payloads(&dir).is_err() && LogFile::open(&dir).is_err(), "byte {at}");
        assert_eq!(std::fs::read(segment::path(&dir, 0)).expect("readable"), bytes, "never cut");
    }
}
