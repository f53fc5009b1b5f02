//! What packs hold, and where their indices say that it stands.

use super::*;

fn folder(above: &Path) -> PackFolder {
    let (begun, placed) = (above.join("begun"), above.join("placed"));
    PackFolder { begun, placed, kind: Kind::Sha1 }
}

fn id(first: u8) -> ObjectId {
    ObjectId::from_bytes_or_panic(&[first; 20])
}

#[test]
fn an_index_tells_where_objects_stand_however_far_behind() {
    let above = tempfile::tempdir().expect("a temporary folder");
    let folder = folder(above.path());
    let mut writer = PackWriter::begin(&folder, 4).expect("writable");
    let offsets = [12, LARGE_OFFSET - 1, LARGE_OFFSET, 9 << 40];
    for (number, offset) in offsets.into_iter().enumerate() {
        let place = PackPlace { offset, crc: number as u32 };
        writer.entries.insert(id(number as u8 * 60), place);
    }
    let path = above.path().join("an.idx");
    fs::write(&path, writer.index(id(1)).expect("hashable")).expect("writable");
    let index = gix::odb::pack::index::File::at(&path, Kind::Sha1).expect("readable");
    let found: Vec<_> = index.iter().map(|entry| (entry.pack_offset, entry.crc32)).collect();
    let expected: Vec<_> =
        offsets.into_iter().zip(0..).map(|(offset, crc)| (offset, Some(crc))).collect();
    assert_eq!(found, expected);
    assert!(is_whole(&path, Kind::Sha1).expect("readable"));
}

#[test]
fn a_file_that_lost_a_part_is_not_whole() {
    let above = tempfile::tempdir().expect("a temporary folder");
    let folder = folder(above.path());
    let blob = |text: &str| GitObject { kind: GitKind::Blob, bytes: text.as_bytes().to_vec() };
    let pack = folder.write(&[blob("one"), blob("two")], Persistence::Lazy).expect("writable");
    assert!(is_unsynced(&pack.file_name().unwrap_or_default().to_string_lossy()));
    assert_eq!(fs::read_dir(&folder.begun).expect("readable").count(), 0);
    let whole = fs::read(&pack).expect("readable");
    assert!(is_whole(&pack, Kind::Sha1).expect("readable"));
    let damaged = above.path().join("damaged");
    for length in [0, 10, whole.len() - 1] {
        fs::write(&damaged, &whole[..length]).expect("writable");
        assert!(!is_whole(&damaged, Kind::Sha1).expect("readable"), "{length} bytes");
    }
    fs::write(&damaged, vec![0; whole.len()]).expect("writable");
    assert!(!is_whole(&damaged, Kind::Sha1).expect("readable"));
}
