//! Who rings never waits and leaves nothing behind; who listens hears everything, or that it missed something.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn place() -> (tempfile::TempDir, Layout) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let layout = Layout::new(folder.path());
    (folder, layout)
}

fn stream(name: &str) -> GroundChange {
    GroundChange::Stream(Stream::parse(name).expect("a stream"))
}

#[test]
fn what_is_rung_is_heard_once() {
    let (_folder, layout) = place();
    let mut bell = Bell::hang_up(&layout).expect("writable");
    assert_eq!(bell.take(), BTreeSet::new());
    let rung = [
        stream("alice"),
        stream("_space"),
        GroundChange::Session("0123abcd".to_owned()),
        GroundChange::Refs,
    ];
    rung.iter().for_each(|changed| ring(&layout, changed));
    assert_eq!(bell.take(), BTreeSet::from(rung));
    assert_eq!(bell.take(), BTreeSet::new());
}

#[test]
fn nobody_needs_to_listen() {
    let (folder, layout) = place();
    ring(&layout, &stream("alice"));
    assert_eq!(std::fs::read_dir(folder.path()).expect("readable").count(), 0);
    drop(Bell::hang_up(&layout).expect("writable"));
    // The pipe of a dead process is there, and nobody reads it.
    ring(&layout, &stream("alice"));
    let mut bell = Bell::hang_up(&layout).expect("it takes the place of the dead one");
    assert_eq!(bell.take(), BTreeSet::new());
}

#[test]
fn a_file_in_the_place_of_the_bell_is_left_alone() {
    let (_folder, layout) = place();
    std::fs::create_dir_all(layout.resident()).expect("writable");
    std::fs::write(layout.bell(), "mine").expect("writable");
    ring(&layout, &stream("alice"));
    assert_eq!(std::fs::read_to_string(layout.bell()).expect("readable"), "mine");
}

#[test]
fn a_full_pipe_says_that_anything_may_have_changed() {
    let (_folder, layout) = place();
    let mut bell = Bell::hang_up(&layout).expect("writable");
    // A listener that hangs: the pipe holds some ten thousand of these, and nobody waits for room.
    for _ in 0..20_000 {
        ring(&layout, &stream("alice"));
    }
    assert_eq!(bell.take(), BTreeSet::from([stream("alice"), GroundChange::Anything]));
    ring(&layout, &stream("bob"));
    assert_eq!(bell.take(), BTreeSet::from([stream("bob")]), "there is room again");
}

#[test]
fn a_line_that_says_nothing_known_asks_for_a_look_at_everything() {
    for line in ["", "x", "a Not A Name", "s ../../etc", "s", "a", "q alice", "\u{fffd}"] {
        assert_eq!(changed_by(line), GroundChange::Anything, "{line:?}");
    }
    for changed in [stream("alice"), GroundChange::Session("00ff".to_owned()), GroundChange::Refs] {
        let line = line_of(&changed);
        assert!(line.len() <= LINE_BYTES_MAX);
        assert_eq!(changed_by(line.trim_end()), changed);
    }
    assert_eq!(line_of(&GroundChange::Session("0".repeat(200))), "*\n");
}

#[test]
fn the_bell_is_its_users_alone() {
    let (_folder, layout) = place();
    let _bell = Bell::hang_up(&layout).expect("writable");
    let mode = |path: &std::path::Path| {
        std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777
    };
    assert_eq!((mode(&layout.resident()), mode(&layout.bell())), (0o700, 0o600));
}
