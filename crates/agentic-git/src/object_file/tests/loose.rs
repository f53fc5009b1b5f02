//! Loose objects: what is read of one is what gix reads of it, whole or damaged.

use super::*;

/// Writes an object as git writes loose ones. Returns its name.
fn write_loose(folder: &Path, bytes: &[u8]) -> ObjectId {
    let arguments = ["hash-object", "-w", "--stdin"];
    let program = run_git_with_input(folder, &arguments, bytes);
    let said = program.and_then(|program| program.checked(&arguments)).expect("git works");
    said.trim().parse().expect("an id")
}

/// Bytes that hardly become shorter, so that damage anywhere matters.
fn noise(length: usize) -> Vec<u8> {
    let next = |state: &u32| Some(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    std::iter::successors(Some(7), next).map(|state| (state >> 24) as u8).take(length).collect()
}

/// Reads an object both ways, and returns it if there is one.
fn read_both(files: &mut ObjectFiles, id: &oid, what: &str) -> Option<Vec<u8>> {
    let (mut ours, mut of_gix) = (Vec::new(), Vec::new());
    let kind = files.read(id, &mut ours);
    let found = files.loose[0].try_find(id, &mut of_gix).ok().flatten().map(|found| found.kind);
    assert_eq!(kind, found, "{what}");
    let kind = kind?;
    assert_eq!((ours.len(), &ours), (of_gix.len(), &of_gix), "{what}: {kind}");
    Some(ours)
}

#[test]
fn loose_objects_of_any_length_are_read() {
    let (folder, repository) = repository(&[]);
    let mut files = files_of(&repository);
    let around = |length: usize| length.saturating_sub(10)..length + 3;
    let lengths = (0..3).chain(around(BEGIN_BYTES)).chain([5_000, 100_000, 3 << 20]);
    for length in lengths {
        for bytes in [noise(length), vec![b'x'; length]] {
            let id = write_loose(folder.path(), &bytes);
            assert_eq!(read_both(&mut files, &id, &length.to_string()), Some(bytes));
        }
    }
}

#[test]
fn a_damaged_loose_object_is_read_as_far_as_gix_reads_it() {
    let (folder, repository) = repository(&[]);
    let mut files = files_of(&repository);
    for bytes in [noise(60), noise(300), b"some text, some text, some text. ".repeat(20)] {
        let id = write_loose(folder.path(), &bytes);
        let path = loose_path(files.loose[0].path(), &id);
        let whole = fs::read(&path).expect("readable");
        let mut put = |content: &[u8], what: &str| {
            fs::remove_file(&path).expect("writable");
            fs::write(&path, content).expect("writable");
            read_both(&mut files, &id, what)
        };
        for length in 0..whole.len() {
            put(&whole[..length], &format!("{length} bytes of {}", whole.len()));
        }
        for at in 0..whole.len() {
            for flipped in [0x01, 0x80, 0xff] {
                let mut damaged = whole.clone();
                damaged[at] ^= flipped;
                put(&damaged, &format!("byte {at} of {}", whole.len()));
            }
        }
        assert_eq!(put(&[&whole, b"more".as_slice()].concat(), "with more behind"), Some(bytes));
        assert!(put(&whole, "whole again").is_some());
    }
}
