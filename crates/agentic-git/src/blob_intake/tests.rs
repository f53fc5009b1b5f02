//! What is taken in comes out of git again, however little room there is in memory.

use std::path::PathBuf;

use super::*;
use crate::{Repository, run_git};

/// How much room the intake of these tests has in memory, in bytes.
const ROOM: u64 = 1000;

struct Place {
    folder: tempfile::TempDir,
    repository: Repository,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().expect("a temporary folder");
        run_git(folder.path(), &["init", "--quiet"]).expect("git works");
        let repository = Repository::open(folder.path()).expect("just made");
        Place { folder, repository }
    }

    fn file(&self, content: &[u8]) -> (PathBuf, File) {
        let path = self.folder.path().join("file");
        std::fs::write(&path, content).expect("writable");
        let file = File::open(&path).expect("readable");
        (path, file)
    }

    fn git(&self, arguments: &[&str]) -> String {
        let done = run_git(self.folder.path(), arguments).expect("git works");
        assert!(done.success, "{arguments:?}: {}", done.stderr);
        done.stdout
    }

    fn n_begun(&self) -> usize {
        let begun = self.repository.layout().begun_packs();
        std::fs::read_dir(begun).map_or(0, Iterator::count)
    }
}

/// Bytes that do not compress well, others for each seed.
fn noise(seed: u64, n_bytes: usize) -> Vec<u8> {
    let mut state = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as u8
    };
    (0..n_bytes).map(|_| next()).collect()
}

fn nothing_before() -> Result<Option<Oid>> {
    Ok(None)
}

#[test]
fn what_has_no_room_in_memory_is_packed_as_git_names_it() {
    let contents =
        [0, 1, 999, 1001, 64 << 10, (64 << 10) + 1, 300_000].map(|n| noise(n, n as usize));
    for n_blobs in 1..=contents.len() {
        let place = Place::new();
        let scratch = place.repository.scratch();
        let mut intake = scratch.blob_intake_within(ROOM);
        let mut names = Vec::new();
        for content in &contents[contents.len() - n_blobs..] {
            let (path, mut file) = place.file(content);
            let name = intake.write_file(&mut file, &path, &mut nothing_before).expect("readable");
            names.push((name.expect("nobody writes to it"), content.len()));
            // The same again is there once.
            assert_eq!(intake.write(content).expect("room"), names.last().expect("pushed").0);
        }
        let packed = intake.finish().expect("room").expect("one is too large");
        let in_pack = packed.names().clone();
        place.repository.place_blobs(packed).expect("writable");
        assert_eq!(place.n_begun(), 0);
        for (name, size) in names {
            if in_pack.contains(&name) {
                let said = place.git(&["cat-file", "-s", &name.to_string()]);
                assert_eq!(said.trim(), size.to_string());
            } else {
                assert!(size <= ROOM as usize, "{size}");
            }
        }
        place.git(&["fsck", "--strict", "--full"]);
        place.git(&["gc", "--quiet"]);
    }
}

#[test]
fn what_fits_into_memory_makes_no_pack() {
    let place = Place::new();
    let scratch = place.repository.scratch();
    let mut intake = scratch.blob_intake_within(ROOM);
    let (path, mut file) = place.file(&noise(1, 900));
    intake.write_file(&mut file, &path, &mut nothing_before).expect("readable").expect("stable");
    intake.write(&noise(2, 100)).expect("room");
    assert!(intake.finish().expect("room").is_none());
    assert_eq!(place.n_begun(), 0);
}

#[test]
fn a_file_that_was_only_touched_is_not_copied() {
    let place = Place::new();
    let (path, mut file) = place.file(&noise(1, 5000));
    let before = place.git(&["hash-object", "-w", "file"]);
    let before = Oid::parse(before.trim()).expect("an id");
    let scratch = place.repository.scratch();
    let mut intake = scratch.blob_intake_within(ROOM);
    let mut known = || Ok(Some(before));
    let name = intake.write_file(&mut file, &path, &mut known).expect("readable");
    assert_eq!(name, Some(before));
    assert!(intake.finish().expect("room").is_none());
    // Another content of the same length is.
    let (path, mut file) = place.file(&noise(2, 5000));
    let mut intake = scratch.blob_intake_within(ROOM);
    let name = intake.write_file(&mut file, &path, &mut known).expect("readable");
    let packed = intake.finish().expect("room").expect("it is too large");
    assert_eq!(packed.names().iter().copied().collect::<Vec<_>>(), [name.expect("stable")]);
}

#[test]
fn a_file_that_grows_or_shrinks_meanwhile_is_told() {
    for n_bytes in [1500, 2500, 90_000] {
        let place = Place::new();
        let scratch = place.repository.scratch();
        let (path, mut file) = place.file(&noise(1, 2000));
        let mut intake = scratch.blob_intake_within(ROOM);
        // Somebody writes between the look at the length and the first part.
        let mut write = || {
            let changed = std::fs::write(&path, noise(1, n_bytes));
            changed.map(|()| None).map_err(Error::io("write", &path))
        };
        let name = intake.write_file(&mut file, &path, &mut write).expect("readable");
        assert_eq!(name, None, "{n_bytes} bytes");
    }
}

#[test]
fn a_program_may_write_more_than_fits_into_memory() {
    for n_bytes in [10, 1000, 1001, 200_000] {
        let place = Place::new();
        let content = noise(7, n_bytes);
        let (path, _) = place.file(&content);
        let scratch = place.repository.scratch();
        let mut intake = scratch.blob_intake_within(ROOM);
        let name = intake.write_output(&mut content.as_slice(), &path).expect("room");
        assert_eq!(name.to_string(), place.git(&["hash-object", "file"]).trim());
        let packed = intake.finish().expect("room");
        assert_eq!(packed.is_some(), n_bytes > ROOM as usize);
        drop(packed);
        assert_eq!(place.n_begun(), 0);
    }
}
