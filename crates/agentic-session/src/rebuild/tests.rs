//! What commits are made again from.

use std::path::Path;

use super::{quoted, signature};
use crate::tests::at;

#[test]
fn a_committer_is_read_from_the_header_of_a_commit() {
    for (text, name, email, millis, offset) in [
        ("Ada <ada@example.com> 5 +0000", "Ada", "ada@example.com", 5000, 0),
        ("Ada B. <a@b> 1700000000 +0530", "Ada B.", "a@b", 1_700_000_000_000, 330),
        ("Ada <a@b> 1 -0130", "Ada", "a@b", 1000, -90),
        ("Ada <> 0 -1200", "Ada", "", 0, -720),
    ] {
        let read = signature(text).expect(text);
        assert_eq!((read.at, read.offset_minutes), (at(millis), offset), "{text}");
        assert_eq!(read.person, agentic_model::Person::new(name, email), "{text}");
    }
}

#[test]
fn what_is_no_committer_is_none() {
    for text in [
        "",
        "Ada",
        "Ada <a@b>",
        "Ada <a@b> 5",
        "Ada <a@b> five +0000",
        "Ada <a@b> 5 zone",
        "Ada <a@b> 9223372036854775807 +0000",
        "<a@b> 5 +0000",
    ] {
        assert!(signature(text).is_none(), "{text:?}");
    }
}

#[test]
fn a_folder_is_one_word_for_the_shell_whatever_it_is_called() {
    for (path, word) in
        [("/a b", "'/a b'"), ("/it's", "'/it'\\''s'"), ("/$(touch x);`y`", "'/$(touch x);`y`'")]
    {
        assert_eq!(quoted(Path::new(path)), word);
    }
}
