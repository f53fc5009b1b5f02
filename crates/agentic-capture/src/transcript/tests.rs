use std::os::unix::fs::FileExt as _;

use super::*;
use crate::plain_text::{PlainText, is_compressed};

fn told(line: &TranscriptLine<'_>) -> String {
    match line {
        TranscriptLine::Whole { offset, bytes } => {
            format!("{offset}:{}", String::from_utf8_lossy(bytes).trim_end())
        }
        TranscriptLine::TooLong { offset, length } => format!("{offset} too long {length}"),
        TranscriptLine::Stepped => "stepped".to_owned(),
    }
}

/// Reads everything, in pieces that end anywhere; between them the place is kept.
fn read_in_pieces(content: &[u8], ends: &[usize]) -> (Vec<String>, TranscriptPlace) {
    let mut place = TranscriptPlace::default();
    let mut lines = Vec::new();
    for end in ends.iter().copied().chain([content.len()]) {
        let at = usize::try_from(place.offset).expect("tests are short");
        let mut reader = TranscriptReader::new(&content[at..end.max(at)], place);
        while let Some(line) = reader.next_line().expect("memory can be read") {
            if line != TranscriptLine::Stepped {
                lines.push(told(&line));
            }
        }
        place = reader.place();
    }
    (lines, place)
}

#[test]
fn a_line_without_its_break_waits() {
    let (lines, place) = read_in_pieces(b"one\n\ntwo\r\nthr", &[]);
    assert_eq!(lines, ["0:one", "4:", "5:two"]);
    assert_eq!(place, TranscriptPlace { offset: 10, too_long_from: None });
    assert_eq!(read_in_pieces(b"one\ntwo\n", &[0, 2, 4, 5]).0, ["0:one", "4:two"]);
}

#[test]
fn a_line_that_is_too_long_is_stepped_over_wherever_reading_stops() {
    let mut content = b"one\n".to_vec();
    content.resize(4 + LINE_BYTES_MAX + 10, 0);
    content.extend_from_slice(b"\ntwo\n");
    let length = LINE_BYTES_MAX + 10;
    let wanted =
        ["0:one".to_owned(), format!("4 too long {length}"), format!("{}:two", length + 5)];
    for ends in [vec![], vec![100], vec![LINE_BYTES_MAX + 8, LINE_BYTES_MAX + 12]] {
        assert_eq!(read_in_pieces(&content, &ends).0, wanted, "{ends:?}");
    }
    let (lines, place) = read_in_pieces(&content[..LINE_BYTES_MAX + 8], &[]);
    assert_eq!(lines, ["0:one"]);
    assert_eq!(place.too_long_from, Some(4), "it is not read again from its beginning");
}

#[test]
fn nobody_steps_far_in_one_go_and_reading_goes_on_from_there() {
    // A file with nothing in it takes no room.
    let length: u64 = 200 << 20;
    let file = tempfile::tempfile().expect("a temporary file");
    file.set_len(length).expect("there is room");
    file.write_all_at(b"\ntwo\n", length).expect("there is room");
    let (mut place, mut lines, mut n_goes) = (TranscriptPlace::default(), Vec::new(), 0);
    while place.offset < length + 5 {
        let copy = file.try_clone().expect("few files are open");
        let input = PlacedFile::at(copy, place.offset);
        let mut reader = TranscriptReader::new(input, place);
        let line = reader.next_line().expect("it can be read").expect("it goes on");
        if line != TranscriptLine::Stepped {
            lines.push(told(&line));
        }
        let most = LINE_BYTES_MAX + STEP_BYTES + READ_BYTES;
        assert!(reader.place().offset - place.offset <= most as u64 + 1);
        place = reader.place();
        n_goes += 1;
    }
    assert_eq!(lines, [format!("0 too long {length}"), format!("{}:two", length + 1)]);
    assert!(n_goes > 10, "{n_goes}");
}

#[test]
fn a_line_of_the_greatest_length_is_read() {
    let mut content = vec![b'x'; LINE_BYTES_MAX];
    content.push(b'\n');
    let mut reader = TranscriptReader::new(content.as_slice(), TranscriptPlace::default());
    let line = reader.next_line().expect("memory can be read");
    assert!(matches!(line, Some(TranscriptLine::Whole { offset: 0, bytes }) if bytes == content));
}

#[test]
fn compressed_text_has_the_lines_and_places_of_the_plain_one() {
    let content = b"one\ntwo\n".repeat(1000);
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    let packed = ruzstd::encoding::compress_to_vec(content.as_slice(), level);
    assert!(is_compressed(&packed) && !is_compressed(&content));
    let input = PlainText::unpacked(packed.as_slice()).expect("it was just packed");
    let mut reader = TranscriptReader::new(input, TranscriptPlace::default());
    let mut lines = Vec::new();
    while let Some(line) = reader.next_line().expect("it was just packed") {
        lines.push(told(&line));
    }
    assert_eq!(lines, read_in_pieces(&content, &[]).0);
    let damaged = PlainText::unpacked(&packed[..20]).map(|input| {
        TranscriptReader::new(input, TranscriptPlace::default()).next_line().map(|_| ())
    });
    assert!(damaged.is_err() || damaged.is_ok_and(|read| read.is_err()));
}
