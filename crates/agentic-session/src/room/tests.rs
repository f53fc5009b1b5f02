//! Room for programs that have not begun.

use agentic_replay::{Path, Performance};

use agentic_store::journal::LogFile;

use super::{PROGRAMS_MAX, ProgramRoom};
use crate::tests::{performance, temporary_folder};

fn path(text: &str) -> Path {
    Path::parse(text).expect("a valid path")
}

fn n_files(folder: &std::path::Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| entry.path().is_file()).count()
}

/// Opens a log beside the files of programs.
fn log(folder: &std::path::Path) -> LogFile {
    LogFile::open(&folder.join("agentic/log")).expect("writable").0
}

/// Makes the n-th of several effects.
fn effect(number: usize) -> Performance {
    performance(&number.to_string(), "exec", "null")
}

#[test]
fn a_program_has_one_file_until_it_is_given_back() {
    let folder = temporary_folder();
    let processes = folder.path().join("process");
    let (mut room, mut log) = (ProgramRoom::default(), log(&folder.path().join("session")));
    for _ in 0..2 {
        room.make(&effect(0), &processes, &mut log).expect("there is room");
        assert_eq!(n_files(&processes), 1);
    }
    let file = room.of(&path("0")).expect("it was made");
    assert!(file.exists() && room.has(&file));
    assert_eq!(room.of(&path("1")), None);
    room.give_back(&path("0"));
    assert!(!room.has(&file));
    assert_eq!((n_files(&processes), room.of(&path("0"))), (0, None));
    room.give_back(&path("0"));
}

#[test]
fn room_is_made_for_so_many_programs_and_no_more() {
    let folder = temporary_folder();
    let (mut room, mut log) = (ProgramRoom::default(), log(&folder.path().join("session")));
    for number in 0..PROGRAMS_MAX + 3 {
        room.make(&effect(number), folder.path(), &mut log).expect("there is room");
    }
    assert_eq!(n_files(folder.path()), PROGRAMS_MAX);
    assert_eq!(room.of(&path(&PROGRAMS_MAX.to_string())), None, "it gets its own when it begins");
    room.give_back(&path("0"));
    room.make(&effect(PROGRAMS_MAX), folder.path(), &mut log).expect("there is room");
    assert!(room.of(&path(&PROGRAMS_MAX.to_string())).is_some());
    room.clear();
    assert_eq!(n_files(folder.path()), 0);
}

#[test]
fn a_file_of_an_earlier_driver_is_taken_over() {
    let folder = temporary_folder();
    let left = folder.path().join("left");
    std::fs::write(&left, b"").expect("writable");
    let (mut room, mut log) = (ProgramRoom::default(), log(&folder.path().join("session")));
    room.take_over(&path("0"), left.clone(), &mut log).expect("there is room");
    room.make(&effect(0), folder.path(), &mut log).expect("there is room");
    assert_eq!((room.of(&path("0")), n_files(folder.path())), (Some(left), 1));
}

#[test]
fn where_no_file_can_be_made_nothing_is_recorded() {
    let folder = temporary_folder();
    let in_the_way = folder.path().join("process");
    std::fs::write(&in_the_way, b"a file").expect("writable");
    let (mut room, mut log) = (ProgramRoom::default(), log(&folder.path().join("session")));
    assert!(room.make(&effect(0), &in_the_way, &mut log).is_err());
    assert_eq!(room.of(&path("0")), None);
}
