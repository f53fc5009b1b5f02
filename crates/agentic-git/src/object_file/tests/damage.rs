//! Packs that lie: each is a clean error, whoever reads.

use gix::hash::Hasher;
use gix::odb::pack::data::header;
use gix::zlib::Compression;

use super::*;
use crate::loose::Compressor;
use crate::pack_offset::tests::index_of;

/// How long a chain of differences is that nobody would make.
const CHAIN: usize = 5000;
/// The text of the object that differences are made of here.
const BASE: &[u8] = b"what others differ from";

/// An entry of a pack, as its maker wants it.
struct Entry {
    id: ObjectId,
    header: Header,
    /// How long it says that it is.
    size: u64,
    stream: Vec<u8>,
}

fn id(number: usize) -> ObjectId {
    let mut bytes = [0x5a; 20];
    bytes[..8].copy_from_slice(&(number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
    ObjectId::from_bytes_or_panic(&bytes)
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut stream = Vec::new();
    let made = Compressor::new(Compression::BEST_SPEED).deflate(&[bytes], 0, &mut stream);
    made.expect("there is memory");
    stream
}

fn whole(number: usize, bytes: &[u8]) -> Entry {
    let (size, stream) = (bytes.len() as u64, compressed(bytes));
    Entry { id: id(number), header: Header::Blob, size, stream }
}

/// A difference that leaves its base as it is.
fn difference(number: usize, header: Header) -> Entry {
    let n = BASE.len() as u8;
    let instructions = [n, n, 0x90, n];
    let (size, stream) = (instructions.len() as u64, compressed(&instructions));
    Entry { id: id(number), header, size, stream }
}

fn by_id(base: usize) -> Header {
    Header::RefDelta { base_id: id(base) }
}

/// Makes a pack and its index in the repository. Returns its path.
fn place(repository: &Repository, entries: &[Entry]) -> PathBuf {
    let mut pack = header::encode(data::Version::V2, entries.len() as u32).to_vec();
    let mut offsets = Vec::new();
    for entry in entries {
        offsets.push((entry.id, pack.len() as u64));
        entry.header.write_to(entry.size, &mut pack).expect("there is memory");
        pack.extend_from_slice(&entry.stream);
    }
    let mut hasher: Hasher = gix::hash::hasher(Kind::Sha1);
    hasher.update(&pack);
    let checksum = hasher.try_finalize().expect("hashable");
    pack.extend_from_slice(checksum.as_slice());
    offsets.sort();
    let folder = repository.pack_folder().placed;
    let path = folder.join(format!("pack-{checksum}.pack"));
    fs::create_dir_all(&folder).expect("writable");
    fs::write(&path, &pack).expect("writable");
    fs::write(path.with_extension("idx"), index_of(&offsets, checksum.as_slice()))
        .expect("writable");
    path
}

fn ofs(base_distance: u64) -> Header {
    Header::OfsDelta { base_distance }
}

#[test]
fn a_pack_that_lies_is_a_clean_error() {
    let entry = |header, size, bytes: &[u8]| {
        vec![whole(1, BASE), Entry { id: id(0), header, size, stream: compressed(bytes) }]
    };
    let broken = |stream: &[u8]| {
        let (header, stream) = (Header::Blob, stream.to_vec());
        vec![whole(1, BASE), Entry { id: id(0), header, size: 5, stream }]
    };
    let far = |size: u64| (size, b"short".as_slice());
    let cases = [
        ("two that differ from each other", vec![difference(0, by_id(1)), difference(1, by_id(0))]),
        ("one that differs from itself", vec![difference(0, by_id(0))]),
        ("a base that is nowhere", vec![difference(0, by_id(7))]),
        ("a base before the pack", vec![difference(0, ofs(1 << 40))]),
        ("a base within the head of the pack", vec![difference(0, ofs(8))]),
        ("a base that is itself", vec![difference(0, ofs(0))]),
        ("more bytes than there can be", entry(Header::Blob, far(1 << 60).0, far(0).1)),
        ("more bytes than there is memory", entry(Header::Blob, far(16 << 30).0, far(0).1)),
        ("more bytes than there are", entry(Header::Blob, 6, b"short")),
        ("fewer bytes than there are", entry(Header::Blob, 4, b"short")),
        ("a base of another length", entry(by_id(1), 4, &[9, 9, 0x90, 9])),
        (
            "a result longer than any",
            entry(
                by_id(1),
                12,
                &[23, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x90, 23],
            ),
        ),
        ("a copy beyond the base", entry(by_id(1), 5, &[23, 23, 0x91, 200, 23])),
        ("an instruction that is none", entry(by_id(1), 3, &[23, 23, 0])),
        ("no instructions", entry(by_id(1), 0, &[])),
        ("no stream", broken(&[])),
        ("a stream of nothing", broken(&[0; 40])),
        ("a stream that ends early", broken(&compressed(b"short")[..7])),
    ];
    for (what, entries) in cases {
        let (_folder, repository) = repository(&[]);
        place(&repository, &entries);
        let mut files = files_of(&repository);
        assert!(files.has(&id(0)), "{what}: the index names it");
        assert_eq!(files.read(&id(0), &mut Vec::new()), None, "{what}");
        assert_eq!(files.read_begin(&id(0)), None, "{what}");
        let oid = Oid::parse(&id(0).to_string()).expect("an id");
        assert!(repository.read_blob(oid).is_err(), "{what}");
        assert!(repository.verify_object(oid).is_err(), "{what}");
        assert!(repository.tree_of(oid).is_err(), "{what}");
        if entries.iter().any(|entry| entry.id == id(1) && entry.header == Header::Blob) {
            let other = Oid::parse(&id(1).to_string()).expect("an id");
            assert_eq!(repository.read_blob(other).expect("nothing is wrong with it"), BASE);
        }
    }
}

#[test]
fn a_long_chain_of_differences_is_followed_to_its_end() {
    let (_folder, repository) = repository(&[]);
    let mut entries = vec![whole(0, BASE)];
    let mut distance = 0;
    for number in 1..=CHAIN {
        let before = entries.last().expect("there is one");
        distance = (before.header.size(before.size) + before.stream.len()) as u64;
        let header = if number % 2 == 0 { by_id(number - 1) } else { ofs(distance) };
        entries.push(difference(number, header));
    }
    assert!(distance > 0);
    place(&repository, &entries);
    let mut bytes = Vec::new();
    let kind = files_of(&repository).read(&id(CHAIN), &mut bytes);
    assert_eq!((kind, bytes.as_slice()), (Some(gix::objs::Kind::Blob), BASE));
}

#[test]
fn a_base_in_another_pack_or_beside_it_is_found_by_gix() {
    let (folder, repository) = repository(&[]);
    let base = repository.name_object(&GitObject { kind: GitKind::Blob, bytes: BASE.to_vec() });
    let header = Header::RefDelta { base_id: to_id(base) };
    place(&repository, &[difference(0, header)]);
    let oid = Oid::parse(&id(0).to_string()).expect("an id");
    assert!(repository.read_blob(oid).is_err(), "its base is nowhere");
    for is_packed in [true, false] {
        let text = String::from_utf8(BASE.to_vec()).expect("it is text");
        if is_packed {
            remove_pack(&write_pack(&repository, std::slice::from_ref(&text)));
            write_pack(&repository, &[text, "another".to_owned()]);
        } else {
            let folder = repository.pack_folder().placed;
            indices(&folder).for_each(|index| remove_pack(&index));
            place(&repository, &[difference(0, header), whole(9, b"no base")]);
            repository.write_loose(&[blob(&text)]).expect("the disk has room");
        }
        assert_eq!(files_of(&repository).read(&id(0), &mut Vec::new()), None);
        let repository = Repository::open(folder.path()).expect("it is there");
        assert_eq!(repository.read_blob(oid).expect("its base is there"), BASE);
    }
}

#[test]
fn damage_in_one_pack_does_not_hide_what_another_has() {
    let (_folder, repository) = repository(&[]);
    let [both, one] = ["in both", "in one"].map(str::to_owned);
    write_pack(&repository, &[both.clone(), one]);
    let pack = write_pack(&repository, &[both.clone(), "a third".to_owned()]);
    let sound = (fs::read(&pack), fs::read(pack.with_extension("idx")));
    let (Ok(whole_pack), Ok(whole_index)) = sound else { panic!("both were written") };
    for extension in ["pack", "idx"] {
        let path = pack.with_extension(extension);
        let whole = if extension == "pack" { &whole_pack } else { &whole_index };
        fs::remove_file(&path).expect("writable");
        for length in (0..whole.len()).rev().step_by(3) {
            fs::write(&path, &whole[..length]).expect("writable");
            let mut files = files_of(&repository);
            assert!(is_read(&mut files, &name(&repository, &both)), "{extension} {length}");
            files.read(&name(&repository, "a third"), &mut Vec::new());
        }
        fs::write(&path, whole).expect("writable");
    }
    // An index beside a pack that is another.
    fs::remove_file(&pack).expect("writable");
    fs::copy(write_pack(&repository, &["a fourth".to_owned()]), &pack).expect("writable");
    let mut files = files_of(&repository);
    assert!(is_read(&mut files, &name(&repository, &both)));
    assert!(!files.has(&name(&repository, "a third")));
}
