//! Which of the files that are gone are among those that are new: as git guesses it, by content.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher as _};

use agentic_model::Oid;

use super::Repository;
use super::file_pair::{FilePair, FileSide, FileSort};

/// How many pairs are compared.
const PAIRS_MAX: usize = 16_384;
/// The longest file that is compared, in bytes.
const FILE_BYTES_MAX: u64 = 512 << 10;
/// How much is read of all of them, in bytes.
const BYTES_MAX: u64 = 16 << 20;
/// How much of the longer file must be in the other, in percent.
const ALIKE_MIN: u64 = 50;
/// The longest piece of a line that is compared as one, in bytes.
const PIECE_BYTES_MAX: usize = 64;

/// The pieces of a file: what each hashes to, in order, and how many bytes hash to it.
struct FilePieces {
    n_bytes: u64,
    pieces: Vec<(u64, u64)>,
}

/// Pairs what is gone with what is new. What has no other half stays alone.
pub(super) fn pair(
    repository: &Repository,
    gone: Vec<FileSide>,
    come: Vec<FileSide>,
) -> Vec<FilePair> {
    let mut gone: Vec<Option<FileSide>> = gone.into_iter().map(Some).collect();
    let mut come: Vec<Option<FileSide>> = come.into_iter().map(Some).collect();
    let mut pairs = exact(&mut gone, &mut come);
    pairs.extend(alike(repository, &mut gone, &mut come));
    pairs.extend(gone.into_iter().flatten().map(FilePair::Deleted));
    pairs.extend(come.into_iter().flatten().map(FilePair::Added));
    pairs
}

/// Pairs what has the very same content; of several, that of the same name.
fn exact(gone: &mut [Option<FileSide>], come: &mut [Option<FileSide>]) -> Vec<FilePair> {
    let mut places: BTreeMap<Oid, Vec<usize>> = BTreeMap::new();
    for (place, side) in gone.iter().enumerate() {
        let side = side.as_ref().filter(|side| side.sort != FileSort::Submodule);
        if let Some(side) = side {
            places.entry(side.oid).or_default().push(place);
        }
    }
    let mut pairs = Vec::new();
    for new in come {
        let Some(found) = new.as_ref().and_then(|new| places.get_mut(&new.oid)) else { continue };
        let is_link = |side: &FileSide| side.sort == FileSort::Link;
        let fits = |place: usize| match (&gone[place], &new) {
            (Some(old), Some(new)) if is_link(old) == is_link(new) => {
                Some(file_name(&old.path) == file_name(&new.path))
            }
            _ => None,
        };
        let named = found.iter().position(|place| fits(*place) == Some(true));
        let any = || found.iter().position(|place| fits(*place).is_some());
        let Some(at) = named.or_else(any) else { continue };
        let place = found.remove(at);
        let both = gone[place].take().zip(new.take());
        pairs.extend(both.map(|(old, new)| FilePair::Moved(old, new, 100)));
    }
    pairs
}

/// Pairs what has much the same content, those most alike first.
fn alike(
    repository: &Repository,
    gone: &mut [Option<FileSide>],
    come: &mut [Option<FileSide>],
) -> Vec<FilePair> {
    let is_left = |side: &&Option<FileSide>| side.is_some();
    let n_pairs = gone.iter().filter(is_left).count() * come.iter().filter(is_left).count();
    if n_pairs == 0 || n_pairs > PAIRS_MAX {
        return Vec::new();
    }
    let mut budget = BYTES_MAX;
    let old = read(repository, gone, &mut budget);
    let new = read(repository, come, &mut budget);
    let mut found = Vec::new();
    for (from, before) in &old {
        for (to, after) in &new {
            let score = score(before, after);
            if score >= ALIKE_MIN {
                let name = |sides: &[Option<FileSide>], place: usize| {
                    sides[place].as_ref().map(|side| file_name(&side.path).to_vec())
                };
                let is_named_alike = name(gone, *from) == name(come, *to);
                found.push((score, is_named_alike, *from, *to));
            }
        }
    }
    // Of those that are as much alike the one with the same name, then the first.
    found.sort_by(|left, right| {
        (right.0, right.1).cmp(&(left.0, left.1)).then((left.2, left.3).cmp(&(right.2, right.3)))
    });
    let mut pairs = Vec::new();
    for (score, _, from, to) in found {
        if gone[from].is_some() && come[to].is_some() {
            let percent = u8::try_from(score).expect("a share of a hundred");
            let both = gone[from].take().zip(come[to].take());
            pairs.extend(both.map(|(old, new)| FilePair::Moved(old, new, percent)));
        }
    }
    pairs
}

/// Reads what can be compared, as far as there is room for it.
fn read(
    repository: &Repository,
    sides: &[Option<FileSide>],
    budget: &mut u64,
) -> Vec<(usize, FilePieces)> {
    let mut read = Vec::new();
    for (place, side) in sides.iter().enumerate() {
        let Some(side) = side else { continue };
        if !matches!(side.sort, FileSort::Plain | FileSort::Executable) {
            continue;
        }
        // One that cannot be read has not moved as far as anybody can tell.
        let size = repository.blob_size(side.oid).unwrap_or(u64::MAX);
        if size == 0 || size > FILE_BYTES_MAX || size > *budget {
            continue;
        }
        *budget -= size;
        if let Ok(bytes) = repository.read_blob(side.oid) {
            read.push((place, FilePieces::of(&bytes)));
        }
    }
    read
}

impl FilePieces {
    fn of(bytes: &[u8]) -> FilePieces {
        let mut pieces: Vec<(u64, u64)> = Vec::new();
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            for piece in line.chunks(PIECE_BYTES_MAX) {
                let mut hasher = DefaultHasher::new();
                hasher.write(piece);
                pieces.push((hasher.finish(), piece.len() as u64));
            }
        }
        pieces.sort_unstable();
        pieces.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                kept.1 += next.1;
            }
            is_same
        });
        FilePieces { n_bytes: bytes.len() as u64, pieces }
    }
}

/// Returns how much of the longer of two files is in the other too, in percent.
fn score(old: &FilePieces, new: &FilePieces) -> u64 {
    let (short, long) = (old.n_bytes.min(new.n_bytes), old.n_bytes.max(new.n_bytes));
    if short * 100 < long * ALIKE_MIN {
        return 0;
    }
    let (mut left, mut right, mut common) = (old.pieces.iter(), new.pieces.iter(), 0);
    let (mut one, mut other) = (left.next(), right.next());
    while let (Some(old), Some(new)) = (one, other) {
        match old.0.cmp(&new.0) {
            std::cmp::Ordering::Less => one = left.next(),
            std::cmp::Ordering::Greater => other = right.next(),
            std::cmp::Ordering::Equal => {
                common += old.1.min(new.1);
                (one, other) = (left.next(), right.next());
            }
        }
    }
    common * 100 / long
}

fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}
