//! What readers find while packs come, become one and go.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use agentic_model::Oid;

use super::*;
use crate::pack_file::BEGUN_AGE;
use crate::run_git;
use agentic_store::journal::{GitKind, GitObject};

/// How many packs are made while others read.
const ROUNDS: usize = 1500;
/// How many threads read meanwhile.
const READERS: usize = 3;
/// How many objects a reader reads before it opens the repository anew.
const READS_EACH: usize = 2_000;

/// What was written so far, and whether there will be more.
#[derive(Default)]
struct Shelf {
    written: Mutex<Vec<Oid>>,
    is_over: AtomicBool,
}

impl Shelf {
    fn put(&self, oid: Oid) {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).push(oid);
    }

    /// Takes one that was written, each time another.
    fn take(&self, turn: &mut usize) -> Option<Oid> {
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        *turn =
            turn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Every second one is among the newest.
        let reach = if *turn & (1 << 40) == 0 { written.len().min(8) } else { written.len() };
        let back = (*turn >> 33).checked_rem(reach)?;
        written.get(written.len() - 1 - back).copied()
    }
}

fn repository() -> (tempfile::TempDir, Repository) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    run_git(folder.path(), &["init", "--quiet"]).expect("git works");
    let repository = Repository::open(folder.path()).expect("just made");
    (folder, repository)
}

/// Writes a pack of a few objects and tells of one of them.
fn write_pack(repository: &Repository, shelf: &Shelf, round: usize) {
    let blob = |part: usize| {
        let bytes = format!("{part} of {round}\n").into_bytes();
        GitObject { kind: GitKind::Blob, bytes }
    };
    let objects: Vec<GitObject> = (0..3).map(blob).collect();
    repository.pack_folder().write(&objects, Persistence::Lazy).expect("the disk has room");
    objects.iter().for_each(|object| shelf.put(repository.name_object(object)));
}

/// Reads what was written until there will be no more; returns what was missed. Some of it is read
/// by views beside the repository, which list packs for themselves and for it.
fn read_all_along(folder: &Path, shelf: &Shelf, mut turn: usize) -> Vec<String> {
    let mut missed = Vec::new();
    while !shelf.is_over.load(Ordering::Acquire) {
        let repository = Repository::open(folder).expect("it is there");
        for _ in 0..READS_EACH {
            let Some(oid) = shelf.take(&mut turn) else { continue };
            let outcome = match turn >> 32 & 7 {
                0 => repository.read_blob(oid).map(drop),
                1 => repository.verify_object(oid).map(drop),
                _ => repository.scratch().find(oid).map(drop),
            };
            missed.extend(outcome.err().map(|error| format!("{error:?}")));
        }
    }
    missed
}

/// Runs a writer beside readers and returns what they missed.
fn missed_beside(write: impl FnOnce(&Repository, &Shelf)) -> Vec<String> {
    let (folder, repository) = repository();
    let shelf = Shelf::default();
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS)
            .map(|number| {
                scope.spawn({
                    let (folder, shelf) = (folder.path(), &shelf);
                    move || read_all_along(folder, shelf, number)
                })
            })
            .collect();
        write(&repository, &shelf);
        shelf.is_over.store(true, Ordering::Release);
        readers.into_iter().flat_map(|reader| reader.join().expect("no panic")).collect()
    })
}

#[test]
fn nothing_is_missed_while_packs_become_one() {
    let missed = missed_beside(|repository, shelf| {
        for round in 0..ROUNDS {
            write_pack(repository, shelf, round);
            assert!(repository.has_room_for_packs().expect("readable"));
        }
    });
    assert_eq!(missed, Vec::<String>::new());
}

#[test]
fn nothing_is_missed_while_git_collects() {
    let missed = missed_beside(|repository, shelf| {
        for round in 0..ROUNDS / 10 {
            write_pack(repository, shelf, round);
            if round % 5 == 4 {
                let program = repository.git(&["repack", "-a", "-d", "-k", "-q"]);
                program.and_then(|program| program.checked(&["repack"])).expect("git works");
            }
        }
    });
    assert_eq!(missed, Vec::<String>::new());
}

#[test]
fn who_has_seen_many_packs_come_and_go_misses_none() {
    let (folder, writer) = repository();
    let reader = Repository::open(folder.path()).expect("just made");
    let shelf = Shelf::default();
    let mut missed = Vec::new();
    for round in 0..ROUNDS {
        write_pack(&writer, &shelf, round);
        assert!(writer.has_room_for_packs().expect("readable"));
        let mut turn = round;
        for oid in (0..4).filter_map(|_| shelf.take(&mut turn)) {
            let read = match round % 3 {
                0 => reader.read_blob(oid).map(drop),
                1 => reader.verify_object(oid).map(drop),
                _ => reader.scratch().find(oid).map(drop),
            };
            missed.extend(read.err().map(|error| format!("{round}: {error:?}")));
        }
    }
    assert_eq!(missed, Vec::<String>::new());
}

/// A repository in which packs were merged a moment ago: the merged one, those that it replaces,
/// and the names of all objects.
fn just_merged() -> (tempfile::TempDir, Repository, PathBuf, Vec<PathBuf>, Shelf) {
    let (folder, repository) = repository();
    let shelf = Shelf::default();
    for round in 0..PACKS_MERGED_MIN {
        write_pack(&repository, &shelf, round);
    }
    let before = packs_in(&repository.pack_folder().placed).expect("readable");
    assert!(repository.has_room_for_packs().expect("readable"));
    let mut merged = packs_in(&repository.pack_folder().placed).expect("readable");
    merged.retain(|pack| !before.contains(pack));
    let [merged] = <[PathBuf; 1]>::try_from(merged).expect("packs become one");
    (folder, repository, merged, before, shelf)
}

fn n_there(packs: &[PathBuf]) -> usize {
    packs.iter().filter(|pack| pack.exists() && pack.with_extension("idx").exists()).count()
}

#[test]
fn packs_that_are_replaced_go_only_when_the_one_that_replaces_them_is_there() {
    let (folder, repository, merged, replaced, shelf) = just_merged();
    assert_eq!(n_there(&replaced), replaced.len(), "somebody may be on the way to them");
    assert_eq!(repository.n_replaced_packs(), replaced.len());
    // Nobody has merged for long, or just now.
    repository.sweep_replaced_packs().expect("writable");
    assert_eq!(n_there(&replaced), replaced.len());

    // A collection took the merged one away; the note says so no more.
    let note = fs::read(repository.layout().replaced_packs()).expect("readable");
    let away = folder.path().join("away");
    fs::rename(&merged, &away).expect("writable");
    repository.drop_replaced_packs().expect("writable");
    assert_eq!((n_there(&replaced), repository.n_replaced_packs()), (replaced.len(), 0));
    fs::rename(&away, &merged).expect("writable");

    // Somebody died while they went.
    fs::write(repository.layout().replaced_packs(), &note).expect("writable");
    fs::remove_file(replaced[0].with_extension("idx")).expect("writable");
    repository.drop_replaced_packs().expect("writable");
    assert_eq!((n_there(&replaced), n_there(&[merged])), (0, 1));
    let written = shelf.written.into_inner().unwrap_or_else(PoisonError::into_inner);
    for oid in written {
        repository.verify_object(oid).expect("the merged pack has all objects");
    }
    let program = repository.git(&["fsck", "--strict"]).expect("git works");
    assert!(program.success, "{}", program.stderr);
}

#[test]
fn packs_that_were_replaced_long_ago_go_without_another_merge() {
    let (_folder, repository, _, replaced, _) = just_merged();
    let note = fs::File::options().write(true).open(repository.layout().replaced_packs());
    let long_ago = SystemTime::now() - BEGUN_AGE;
    note.and_then(|file| file.set_modified(long_ago)).expect("writable");
    repository.sweep_replaced_packs().expect("writable");
    assert_eq!(n_there(&replaced), 0);
}
