use std::fs::{self, File};
use std::io::Write as _;

use super::*;
use crate::transcript::{TranscriptLine, TranscriptReader};
use crate::vendor_file::TranscriptForm;

const KEY: CaptureKey = [7; 32];

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        Place { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("transcript.jsonl")
    }

    fn write(&self, content: &[u8]) {
        fs::write(self.path(), content).expect("the folder is ours");
    }

    fn file(&self) -> VendorFile {
        let file = File::open(self.path()).expect("it was written");
        let below = PathBuf::from("transcript.jsonl");
        VendorFile { file, path: self.path(), below, form: TranscriptForm::Lines }
    }

    /// Reads on from a cursor; gives the offsets of what was read, and the cursor after it.
    fn read(&self, cursor: Option<&TranscriptCursor>) -> (CursorMatch, Vec<u64>, TranscriptCursor) {
        let file = self.file();
        let open = open_at(&file, cursor, &KEY).expect("it can be read");
        let mut reader = TranscriptReader::new(open.input, open.place);
        let mut offsets = Vec::new();
        while let Some(line) = reader.next_line().expect("it can be read") {
            match line {
                TranscriptLine::Whole { offset, .. } | TranscriptLine::TooLong { offset, .. } => {
                    offsets.push(offset);
                }
                TranscriptLine::Stepped => {}
            }
        }
        let cursor = TranscriptCursor::of(&file, reader.place(), &KEY).expect("readable");
        (open.found, offsets, cursor)
    }
}

#[test]
fn a_file_that_grew_is_read_on() {
    let place = Place::new();
    place.write(b"one\ntwo\nthr");
    let (_, offsets, cursor) = place.read(None);
    assert_eq!(offsets, [0, 4]);
    let mut file = fs::OpenOptions::new().append(true).open(place.path()).expect("it is there");
    file.write_all(b"ee\nfour\n").expect("the folder is ours");
    let (found, offsets, cursor) = place.read(Some(&cursor));
    assert_eq!((found, offsets), (CursorMatch::GoesOn, vec![8, 14]));
    assert_eq!(place.read(Some(&cursor)).1, Vec::<u64>::new());
    let found = place.file().stamp().expect("it is there");
    assert!(!cursor.is_at_rest(found), "nobody said that this was all");
    assert!(cursor.with_reach(CursorReach::End).is_at_rest(found));
}

#[test]
fn a_file_that_is_shorter_or_changed_is_read_anew() {
    let long = b"0123456789\n".repeat(2000);
    for (content, found) in [
        (long[..9000].to_vec(), CursorMatch::Anew),
        ([b"x".as_slice(), &long[1..]].concat(), CursorMatch::Anew),
        ([&long[..long.len() - 3], b"xx\n"].concat(), CursorMatch::Anew),
        ([long.as_slice(), b"more\n"].concat(), CursorMatch::GoesOn),
    ] {
        let place = Place::new();
        place.write(&long);
        let cursor = place.read(None).2;
        place.write(&content);
        assert_eq!(place.read(Some(&cursor)).0, found);
    }
}

#[test]
fn a_file_that_was_moved_restored_or_compressed_is_read_on() {
    let place = Place::new();
    let content = b"0123456789\n".repeat(2000);
    place.write(&content);
    let cursor = place.read(None).2;
    fs::remove_file(place.path()).expect("it is there");
    let grown = [content.as_slice(), b"more\n"].concat();
    place.write(&grown);
    let (found, offsets, _) = place.read(Some(&cursor));
    assert_eq!((found, offsets.len()), (CursorMatch::GoesOn, 1), "another inode");
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    place.write(&ruzstd::encoding::compress_to_vec(grown.as_slice(), level));
    let (found, offsets, cursor) = place.read(Some(&cursor));
    assert_eq!((found, offsets), (CursorMatch::GoesOn, vec![22_000]));
    place.write(&grown);
    assert_eq!(place.read(Some(&cursor)).0, CursorMatch::GoesOn, "and unpacked again");
}

#[test]
fn a_cursor_is_its_owners_alone_wherever_its_id_would_lead() {
    let place = Place::new();
    place.write(b"one\n");
    let cursor = place.read(None).2.with_state(Value::Int(1));
    let long = "x".repeat(5000);
    for native in ["../../etc/passwd", "", "\0", &long, "a/b"] {
        let conversation = ConversationId { source: Source::Codex, native: native.to_owned() };
        let owner = CursorOwner { conversation: &conversation, subagent: None };
        cursor.save(place.folder.path(), owner).expect("the folder is ours");
        assert_eq!(TranscriptCursor::load(place.folder.path(), owner), Some(cursor.clone()));
        let child = CursorOwner { subagent: Some("s"), ..owner };
        assert_eq!(TranscriptCursor::load(place.folder.path(), child), None);
        fs::write(owner.path(place.folder.path()), b"damaged").expect("the folder is ours");
        assert_eq!(TranscriptCursor::load(place.folder.path(), owner), None);
    }
    let above = fs::read_dir(place.folder.path()).expect("it is there").count();
    assert_eq!(above, 2, "the transcript, and one folder of cursors");
}

#[test]
fn a_cursor_that_is_made_midway_moves_no_reader() {
    let place = Place::new();
    // Longer than what is read at a time.
    let lines: Vec<String> = (0..20_000).map(|number| format!("line {number}\n")).collect();
    place.write(lines.concat().as_bytes());
    let file = place.file();
    let open = open_at(&file, None, &KEY).expect("it can be read");
    let mut reader = TranscriptReader::new(open.input, open.place);
    let mut n_lines = 0;
    while let Some(line) = reader.next_line().expect("it can be read") {
        let TranscriptLine::Whole { bytes, .. } = line else { panic!("{line:?}") };
        assert_eq!(bytes, lines[n_lines].as_bytes());
        n_lines += 1;
        if n_lines % 7_000 == 0 {
            TranscriptCursor::of(&file, reader.place(), &KEY).expect("readable");
        }
    }
    assert_eq!((n_lines, reader.place().offset), (20_000, lines.concat().len() as u64));
}
