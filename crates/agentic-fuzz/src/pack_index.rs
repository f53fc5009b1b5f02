//! Where a pack has an object.
//!
//! - Of any bytes that open as an index: what is found stands in the table of ids, and it is the
//!   offset that a plain reading of the format gives.
//! - Of an index that was made as git's document has it: every id is found, no other is, and gix says
//!   the same.

use std::collections::BTreeMap;
use std::path::Path;

use agentic_git::PackOffsets;
use gix::ObjectId;
use gix::hash::Kind;
use gix::odb::pack;

use crate::folder::folder_in_memory;
use crate::{take_byte, take_number};

const HEAD: [u8; 8] = [0xff, b't', b'O', b'c', 0, 0, 0, 2];
const IDS_AT: usize = 8 + 4 * 256;

/// Checks one input: how to read it, then the index.
pub fn check(mut data: &[u8]) {
    let choice = take_byte(&mut data);
    let kind = if choice & 2 == 0 { Kind::Sha1 } else { Kind::Sha256 };
    match choice & 1 {
        0 => check_any(data, kind),
        _ => check_made(data, kind),
    }
}

/// Puts an index where it can be opened.
fn with_file(bytes: &[u8], use_it: impl FnOnce(&Path)) {
    // process: a target is one function that is called very often, and a folder is made once.
    thread_local! {
        static FOLDER: tempfile::TempDir = folder_in_memory();
    }
    FOLDER.with(|folder| {
        let path = folder.path().join("pack-0000000000000000000000000000000000000000.idx");
        std::fs::write(&path, bytes).expect("writable");
        use_it(&path);
    });
}

/// The bytes are all that comes behind the head; four of them stand for the counts, which else the
/// fuzzer would hardly ever get in order.
fn check_any(mut data: &[u8], kind: Kind) {
    let mut counts = [0_u32; 256];
    if take_byte(&mut data).is_multiple_of(4) {
        counts.iter_mut().for_each(|count| *count = take_number(&mut data) as u32);
    } else {
        let (step, at) = (take_byte(&mut data), usize::from(take_byte(&mut data)));
        let n = u32::from(take_byte(&mut data));
        counts.iter_mut().skip(at).step_by(usize::from(step).max(1)).for_each(|count| *count = n);
        (1..256).for_each(|n| counts[n] = counts[n].max(counts[n - 1]));
    }
    let mut bytes = HEAD.to_vec();
    counts.iter().for_each(|count| bytes.extend(count.to_be_bytes()));
    bytes.extend(data);
    let id_bytes = kind.len_in_bytes();
    with_file(&bytes, |path| {
        let Ok(offsets) = PackOffsets::open(path, kind) else { return };
        let n_ids = counts[255] as usize;
        let ids: Vec<&[u8]> = bytes[IDS_AT..].chunks_exact(id_bytes).take(n_ids).collect();
        for id in ids.iter().copied().chain([&[0; 32][..id_bytes], &[0xff; 32][..id_bytes]]) {
            let Ok(Some(found)) = offsets.find(gix::oid::from_bytes_unchecked(id)) else {
                continue;
            };
            let places = ids.iter().enumerate().filter(|(_, other)| **other == id);
            let said: Vec<u64> =
                places.filter_map(|(at, _)| plain(&bytes, id_bytes, n_ids, at)).collect();
            assert!(said.contains(&found), "{found} is not among {said:?}");
        }
        let _ = offsets.pack_checksum();
    });
}

/// Reads the offset of the id at a place, as the format has it.
fn plain(bytes: &[u8], id_bytes: usize, n_ids: usize, at: usize) -> Option<u64> {
    let short_at = IDS_AT + n_ids * (id_bytes + 4);
    let short = bytes.get(short_at + 4 * at..)?.first_chunk::<4>()?;
    let short = u32::from_be_bytes(*short);
    if short >> 31 == 0 {
        return Some(u64::from(short));
    }
    let long_at = short_at + 4 * n_ids + 8 * (short & !(1 << 31)) as usize;
    Some(u64::from_be_bytes(*bytes.get(long_at..)?.first_chunk::<8>()?))
}

/// The bytes say how ids crowd, and where their objects are.
fn check_made(mut data: &[u8], kind: Kind) {
    let (n_blank, fill) = (usize::from(take_byte(&mut data)), take_byte(&mut data));
    let mut places: BTreeMap<ObjectId, u64> = BTreeMap::new();
    let repeat = 1 + usize::from(take_byte(&mut data) % 64);
    while !data.is_empty() {
        let begin = [take_byte(&mut data), take_byte(&mut data), take_byte(&mut data)];
        let offset = u64::from(take_byte(&mut data)) << (take_byte(&mut data) % 56);
        for n in 0..repeat {
            let mut id = vec![fill; kind.len_in_bytes()];
            let at = n_blank % (id.len() - 4);
            id[at..at + 3].copy_from_slice(&begin);
            id[at + 3] = id[at + 3].wrapping_add(n as u8);
            places.insert(ObjectId::from_bytes_or_panic(&id), offset + n as u64);
        }
    }
    let bytes = made(&places, kind);
    with_file(&bytes, |path| {
        let offsets = PackOffsets::open(path, kind).expect("a sound index opens");
        let theirs = pack::index::File::at(path, kind).expect("gix opens it too");
        assert_eq!(theirs.num_objects() as usize, places.len());
        for (id, offset) in &places {
            assert_eq!(offsets.find(id).expect("a sound index"), Some(*offset), "{id}");
            let at = theirs.lookup(id).expect("gix finds it");
            assert_eq!(theirs.pack_offset_at_index(at), *offset, "{id} by gix");
            let mut other = *id;
            if let Some(byte) = other.as_mut_slice().last_mut() {
                *byte ^= 0x55;
            }
            assert_eq!(offsets.find(&other).expect("sound"), places.get(&other).copied());
        }
    });
}

fn made(places: &BTreeMap<ObjectId, u64>, kind: Kind) -> Vec<u8> {
    let mut bytes = HEAD.to_vec();
    for first in 0..=u8::MAX {
        let n = places.keys().filter(|id| id.first_byte() <= first).count();
        bytes.extend((n as u32).to_be_bytes());
    }
    places.keys().for_each(|id| bytes.extend(id.as_slice()));
    places.iter().for_each(|_| bytes.extend([0; 4]));
    let mut long = Vec::new();
    for offset in places.values() {
        let short = match u32::try_from(*offset).ok().filter(|offset| offset >> 31 == 0) {
            Some(short) => short,
            None => {
                long.extend(offset.to_be_bytes());
                (1 << 31) + (long.len() / 8 - 1) as u32
            }
        };
        bytes.extend(short.to_be_bytes());
    }
    bytes.extend(long);
    bytes.extend(vec![7; 2 * kind.len_in_bytes()]);
    bytes
}
