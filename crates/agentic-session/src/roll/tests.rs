//! What becomes of the file: whatever happens to it, it says what was written or nothing.

use std::path::Path;

use agentic_replay::SessionId;

use super::{HASH_BYTES, LINE_BYTES, Mark, RollFile, RollLine};
use crate::stamp::{FolderStamp, STAMP_BYTES};

fn session(n: u8) -> RollLine {
    let mark = Mark { agent: [n; HASH_BYTES], key: [n ^ 1; HASH_BYTES] };
    RollLine::Session(SessionId::from_bytes([n; 32]), mark)
}

fn shard(at: usize) -> RollLine {
    RollLine::Shard(at, FolderStamp::from_bytes(&[at as u8; STAMP_BYTES]))
}

fn sessions(path: &Path) -> Vec<SessionId> {
    RollFile::open(path).marks().map(|(id, _)| id).collect()
}

/// Makes a file with two sessions and the stamp of a folder.
fn written(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("sessions");
    RollFile::open(&path).add(&[session(1), session(2)]);
    RollFile::open(&path).add(&[shard(3)]);
    path
}

#[test]
fn lines_read_back_as_they_were_added() {
    let folder = crate::tests::temporary_folder();
    let path = written(folder.path());
    assert_eq!(sessions(&path), [1, 2].map(|n| SessionId::from_bytes([n; 32])));
    let stamps = RollFile::open(&path).stamps();
    assert_eq!(stamps[3], Some(FolderStamp::from_bytes(&[3; STAMP_BYTES])));
    assert_eq!(stamps.iter().flatten().count(), 1);
}

#[test]
fn a_file_that_is_damaged_anywhere_says_nothing_and_is_written_anew() {
    let folder = crate::tests::temporary_folder();
    let path = written(folder.path());
    let sound = std::fs::read(&path).expect("it was written");
    let damaged = (0..sound.len()).map(|at| {
        let mut bytes = sound.clone();
        bytes[at] ^= 1 << (at % 8);
        bytes
    });
    let torn = (1..LINE_BYTES).map(|n_lost| sound[..sound.len() - n_lost].to_vec());
    let zeroed = [[&sound[..], &[0; LINE_BYTES]].concat()];
    for bytes in damaged.chain(torn).chain(zeroed) {
        std::fs::write(&path, &bytes).expect("writable");
        let roll = RollFile::open(&path);
        assert_eq!((roll.marks().count(), roll.stamps().iter().flatten().count()), (0, 0));
        roll.add(&[session(9)]);
        assert_eq!(sessions(&path), [SessionId::from_bytes([9; 32])]);
    }
}

#[test]
fn what_is_added_to_a_file_that_was_replaced_meanwhile_goes_with_it() {
    let folder = crate::tests::temporary_folder();
    let path = written(folder.path());
    let (read, other) = (RollFile::open(&path), folder.path().join("other"));
    std::fs::write(&other, b"").expect("writable");
    std::fs::rename(&other, &path).expect("writable");
    // The stamp rests on the lines that were read, which the new file does not have.
    read.add(&[shard(4)]);
    assert_eq!(std::fs::read(&path).expect("it is there"), b"");
}

#[test]
fn a_file_full_of_old_stamps_is_written_anew() {
    let folder = crate::tests::temporary_folder();
    let path = written(folder.path());
    let many: Vec<RollLine> = (0..super::STAMPS_MAX).map(|n| shard(n % 7)).collect();
    RollFile::open(&path).add(&many);
    RollFile::open(&path).add(&[session(5)]);
    let n_lines = std::fs::read(&path).expect("it is there").len() / LINE_BYTES;
    assert_eq!(n_lines, 3 + 7);
    assert_eq!(sessions(&path).len(), 3);
}
