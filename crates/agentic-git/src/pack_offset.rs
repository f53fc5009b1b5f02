//! Where a pack has an object, found without reading all of the pack's index.
//!
//! gix reads the offset of every object when it opens an index, which takes the longer the more
//! objects there are. Who wants a few of them needs less: the table that tells how many ids begin
//! with which byte, and the ids around the place where the wanted one stands if they are spread
//! evenly, as hashes are. Only indices of version 2 are read so. Whatever is strange about one is
//! an error, and its objects are left to gix.

use std::cell::Cell;
use std::cmp::Ordering;
use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use gix::hash::{Kind, oid};

use super::pack_file::{INDEX_HEAD, LARGE_OFFSET};

/// Smaller indices are read whole, and need no open file.
const WHOLE_BYTES_MAX: u64 = 64 << 10;
/// Larger indices never are, however much is looked for in them.
const SETTLED_BYTES_MAX: u64 = 16 << 20;
/// How many ids are read at a time.
const WINDOW_IDS: u64 = 128;
/// How many counts an index begins with: one for every first byte of an id.
const N_COUNTS: usize = 256;
/// Where the ids begin.
const IDS_AT: u64 = (INDEX_HEAD.len() + 4 * N_COUNTS) as u64;

/// An opened index, of which as much is read as it takes to find an object.
pub struct PackOffsets {
    bytes: Bytes,
    /// How long the index is.
    length: u64,
    kind: Kind,
    /// How much of it was read, counted again what was read again.
    n_read: Cell<u64>,
    /// How many ids begin with this byte or a lower one.
    n_until: [u32; N_COUNTS],
}

/// Where the bytes of an index come from. A file that is open stays as it is when it is removed.
enum Bytes {
    Whole(Vec<u8>),
    File(File),
}

impl PackOffsets {
    /// Opens an index.
    ///
    /// # Errors
    /// Fails when it cannot be read, has another version, or is shorter than it says.
    pub fn open(path: &Path, kind: Kind) -> io::Result<PackOffsets> {
        let mut file = File::open(path)?;
        let mut length = file.metadata()?.len();
        let bytes = if length > WHOLE_BYTES_MAX {
            Bytes::File(file)
        } else {
            let mut whole = Vec::new();
            file.by_ref().take(WHOLE_BYTES_MAX).read_to_end(&mut whole)?;
            length = whole.len() as u64;
            Bytes::Whole(whole)
        };
        let head: [u8; IDS_AT as usize] = bytes.read(0)?;
        let counts = head.strip_prefix(&INDEX_HEAD).ok_or_else(damaged)?;
        let mut n_until = [0; N_COUNTS];
        for (n, count) in n_until.iter_mut().zip(counts.as_chunks::<4>().0) {
            *n = u32::from_be_bytes(*count);
        }
        let n_read = Cell::new(0);
        let offsets = PackOffsets { bytes, length, kind, n_read, n_until };
        match n_until.is_sorted() && offsets.long_offsets_at() <= offsets.checksums_at() {
            true => Ok(offsets),
            false => Err(damaged()),
        }
    }

    /// Tells whether finding something takes no call of the system.
    pub fn is_in_memory(&self) -> bool {
        matches!(self.bytes, Bytes::Whole(_))
    }

    /// Tells whether it is so large that not many should be open at once.
    pub fn is_large(&self) -> bool {
        self.length > WHOLE_BYTES_MAX
    }

    /// Reads the index whole once as much was read of it in pieces: whoever has looked for so many
    /// objects looks for more.
    pub fn settle(&mut self) {
        if let Bytes::File(file) = &self.bytes
            && self.n_read.get() > self.length
            && self.length <= SETTLED_BYTES_MAX
        {
            let mut whole = vec![0; self.length as usize];
            // What cannot be read whole is read in pieces.
            if file.read_exact_at(&mut whole, 0).is_ok() {
                self.bytes = Bytes::Whole(whole);
            }
        }
    }

    /// Finds where an object begins in the pack; nothing if the pack does not have it.
    ///
    /// # Errors
    /// Fails when the index cannot be read, or names an offset that it does not hold.
    pub fn find(&self, id: &oid) -> io::Result<Option<u64>> {
        let Some(place) = self.place_of(id)? else { return Ok(None) };
        let short_at = self.short_offsets_at() + 4 * place;
        let short = u64::from(u32::from_be_bytes(self.bytes.read(short_at)?));
        if short < LARGE_OFFSET {
            return Ok(Some(short));
        }
        let long_at = self.long_offsets_at() + 8 * (short - LARGE_OFFSET);
        match long_at + 8 <= self.checksums_at() {
            true => Ok(Some(u64::from_be_bytes(self.bytes.read(long_at)?))),
            false => Err(damaged()),
        }
    }

    /// Reads the checksum of the pack that the index was made for.
    ///
    /// # Errors
    /// Fails when the index cannot be read.
    pub fn pack_checksum(&self) -> io::Result<Vec<u8>> {
        let mut checksum = vec![0; self.kind.len_in_bytes()];
        self.bytes.read_into(self.checksums_at(), &mut checksum)?;
        Ok(checksum)
    }

    /// Finds how many ids stand before this one. Every second guess is the middle of what is left,
    /// so that ids which are not spread evenly take twice as long as halving would, and no longer.
    fn place_of(&self, id: &oid) -> io::Result<Option<u64>> {
        let id_bytes = id.as_bytes().len();
        let mut range = Range::of(&self.n_until, id.first_byte());
        let mut buffer = Vec::new();
        let mut is_even = true;
        while range.low < range.high {
            let guess =
                if is_even { range.expected(prefix(id.as_bytes())) } else { range.middle() };
            is_even = !is_even;
            let begin = guess.saturating_sub(WINDOW_IDS / 2);
            let begin = begin.min(range.high.saturating_sub(WINDOW_IDS)).max(range.low);
            let n_ids = (range.high - begin).min(WINDOW_IDS);
            let at = IDS_AT + begin * id_bytes as u64;
            let n_bytes = n_ids * id_bytes as u64;
            self.n_read.set(self.n_read.get().saturating_add(n_bytes));
            let ids = self.bytes.slice(at, n_bytes as usize, &mut buffer)?;
            match search(ids, id.as_bytes()) {
                Ok(place) => return Ok(Some(begin + place as u64)),
                Err(0) => (range.high, range.above) = (begin, prefix(ids)),
                Err(n_before) if n_before as u64 == n_ids => {
                    let last = &ids[ids.len() - id_bytes..];
                    (range.low, range.below) = (begin + n_ids, prefix(last));
                }
                Err(_) => return Ok(None),
            }
        }
        Ok(None)
    }

    fn n_objects(&self) -> u64 {
        u64::from(self.n_until[N_COUNTS - 1])
    }

    /// Where the offsets begin, behind the ids and a checksum of each object.
    fn short_offsets_at(&self) -> u64 {
        IDS_AT + self.n_objects() * (self.kind.len_in_bytes() as u64 + 4)
    }

    /// Where those offsets begin that do not fit into 31 bits.
    fn long_offsets_at(&self) -> u64 {
        self.short_offsets_at() + 4 * self.n_objects()
    }

    /// Where the checksums of the pack and of the index begin.
    fn checksums_at(&self) -> u64 {
        self.length.saturating_sub(2 * self.kind.len_in_bytes() as u64)
    }
}

impl Bytes {
    fn read<const N: usize>(&self, at: u64) -> io::Result<[u8; N]> {
        let mut out = [0; N];
        self.read_into(at, &mut out)?;
        Ok(out)
    }

    fn read_into(&self, at: u64, out: &mut [u8]) -> io::Result<()> {
        match self {
            Bytes::File(file) => file.read_exact_at(out, at),
            Bytes::Whole(bytes) => {
                out.copy_from_slice(part(bytes, at, out.len())?);
                Ok(())
            }
        }
    }

    /// Returns bytes that are in memory as they are, and others in the buffer.
    fn slice<'a>(
        &'a self,
        at: u64,
        length: usize,
        buffer: &'a mut Vec<u8>,
    ) -> io::Result<&'a [u8]> {
        match self {
            Bytes::File(file) => {
                buffer.resize(length, 0);
                file.read_exact_at(buffer, at)?;
                Ok(buffer)
            }
            Bytes::Whole(bytes) => part(bytes, at, length),
        }
    }
}

fn part(bytes: &[u8], at: u64, length: usize) -> io::Result<&[u8]> {
    let rest = usize::try_from(at).ok().and_then(|at| bytes.get(at..));
    rest.and_then(|rest| rest.get(..length)).ok_or_else(damaged)
}

/// The places at which an id may stand, and between which ids they are.
struct Range {
    low: u64,
    high: u64,
    below: u64,
    above: u64,
}

impl Range {
    fn of(n_until: &[u32; N_COUNTS], first: u8) -> Range {
        let below = usize::from(first).checked_sub(1);
        let begin = u64::from(first) << (u64::BITS - u8::BITS);
        Range {
            low: below.map_or(0, |below| u64::from(n_until[below])),
            high: u64::from(n_until[usize::from(first)]),
            below: begin,
            above: begin | u64::MAX >> u8::BITS,
        }
    }

    /// Tells where an id stands that begins so, if ids are spread evenly.
    fn expected(&self, prefix: u64) -> u64 {
        let width = u128::from(self.above.saturating_sub(self.below)).max(1);
        let part = u128::from(prefix.saturating_sub(self.below)) * u128::from(self.high - self.low);
        self.low + (part / width) as u64
    }

    fn middle(&self) -> u64 {
        u64::midpoint(self.low, self.high)
    }
}

/// Reads how an id begins.
fn prefix(id: &[u8]) -> u64 {
    id.first_chunk().map_or(0, |begin| u64::from_be_bytes(*begin))
}

/// Finds an id among sorted ones: its place, or how many are before it.
fn search(ids: &[u8], id: &[u8]) -> Result<usize, usize> {
    let (mut low, mut high) = (0, ids.len() / id.len());
    while low < high {
        let middle = usize::midpoint(low, high);
        let begin = middle * id.len();
        match ids[begin..begin + id.len()].cmp(id) {
            Ordering::Less => low = middle + 1,
            Ordering::Equal => return Ok(middle),
            Ordering::Greater => high = middle,
        }
    }
    Err(low)
}

fn damaged() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "it is no whole index of version 2")
}

#[cfg(test)]
pub(super) mod tests {
    use gix::hash::ObjectId;

    use super::*;

    /// Makes an index as git's document has it, with empty checksums of objects.
    pub fn index_of(offsets: &[(ObjectId, u64)], pack_checksum: &[u8]) -> Vec<u8> {
        let mut index = INDEX_HEAD.to_vec();
        let n_until = |first: usize| {
            offsets.iter().filter(|(id, _)| usize::from(id.first_byte()) <= first).count() as u32
        };
        (0..N_COUNTS).for_each(|first| index.extend(n_until(first).to_be_bytes()));
        offsets.iter().for_each(|(id, _)| index.extend_from_slice(id.as_slice()));
        offsets.iter().for_each(|_| index.extend([0; 4]));
        let mut long = Vec::new();
        for (_, offset) in offsets {
            let short = match u32::try_from(*offset).ok().filter(|_| *offset < LARGE_OFFSET) {
                Some(short) => short,
                None => {
                    long.extend(offset.to_be_bytes());
                    (LARGE_OFFSET + long.len() as u64 / 8 - 1) as u32
                }
            };
            index.extend(short.to_be_bytes());
        }
        index.extend(long);
        index.extend_from_slice(pack_checksum);
        index.extend(pack_checksum.iter().map(|_| 0));
        index
    }

    /// Makes ids that are spread evenly, each once.
    fn even(n: u32, kind: Kind) -> Vec<ObjectId> {
        let blob = gix::objs::Kind::Blob;
        let id = |n: u32| gix::objs::compute_hash(kind, blob, &n.to_be_bytes()).expect("hashable");
        let mut ids: Vec<ObjectId> = (0..n).map(id).collect();
        ids.sort();
        ids
    }

    /// Makes ids that differ at their end alone.
    fn crowded(n: u32) -> Vec<ObjectId> {
        let id = |n: u32| {
            let mut bytes = [0x7f; 20];
            bytes[16..].copy_from_slice(&n.to_be_bytes());
            ObjectId::from_bytes_or_panic(&bytes)
        };
        (0..n).map(|n| id(2 * n + 1)).collect()
    }

    fn opened(index: &[u8], kind: Kind) -> io::Result<PackOffsets> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("pack-x.idx");
        std::fs::write(&path, index).expect("writable");
        PackOffsets::open(&path, kind)
    }

    #[test]
    fn every_id_is_found_and_no_other() {
        let mut two_crowds = crowded(3000);
        two_crowds.extend(even(3000, Kind::Sha1));
        two_crowds.sort();
        let cases = [
            (Vec::new(), Kind::Sha1),
            (even(1, Kind::Sha1), Kind::Sha1),
            (even(300, Kind::Sha1), Kind::Sha1),
            (even(70_000, Kind::Sha1), Kind::Sha1),
            (even(5000, Kind::Sha256), Kind::Sha256),
            (crowded(100), Kind::Sha1),
            (crowded(20_000), Kind::Sha1),
            (two_crowds, Kind::Sha1),
        ];
        for (ids, kind) in cases {
            let far = |n: usize| n as u64 + [LARGE_OFFSET * 5, 12, 12][n % 3];
            let places: Vec<_> = ids.iter().enumerate().map(|(n, id)| (*id, far(n))).collect();
            let index = index_of(&places, &vec![7; kind.len_in_bytes()]);
            let offsets = opened(&index, kind).expect("a sound index");
            assert_eq!(offsets.is_large(), index.len() as u64 > WHOLE_BYTES_MAX);
            assert_eq!(offsets.pack_checksum().expect("readable"), vec![7; kind.len_in_bytes()]);
            let step = (ids.len() / 500).max(1);
            for (id, offset) in places.iter().step_by(step) {
                assert_eq!(offsets.find(id).expect("readable"), Some(*offset), "{id}");
                let mut other = *id;
                other.as_mut_slice().iter_mut().rev().take(1).for_each(|byte| *byte ^= 1);
                assert_eq!(offsets.find(&other).expect("readable"), None, "{other}");
            }
            for byte in [0, 0x7f, 0xff] {
                let absent = ObjectId::from_bytes_or_panic(&vec![byte; kind.len_in_bytes()]);
                assert_eq!(offsets.find(&absent).expect("readable"), None);
            }
        }
    }

    #[test]
    fn an_index_in_which_much_is_looked_for_is_read_whole() {
        let ids = even(70_000, Kind::Sha1);
        let places: Vec<_> = ids.iter().enumerate().map(|(n, id)| (*id, n as u64)).collect();
        let index = index_of(&places, &[7; 20]);
        let mut offsets = opened(&index, Kind::Sha1).expect("a sound index");
        let mut n_found = 0;
        for (id, offset) in places.iter().cycle().step_by(13).take(3_000) {
            offsets.settle();
            assert_eq!(offsets.find(id).expect("readable"), Some(*offset), "{id}");
            n_found += usize::from(!offsets.is_in_memory());
        }
        assert!(offsets.is_in_memory() && offsets.is_large());
        assert!((500..2_500).contains(&n_found), "{n_found}");
    }

    #[test]
    fn a_large_index_is_read_in_small_parts_only() {
        let ids = even(70_000, Kind::Sha1);
        let places: Vec<_> = ids.iter().zip(12..).map(|(id, offset)| (*id, offset)).collect();
        let mut index = index_of(&places, &[7; 20]);
        // What is not needed to find one of them may be anything.
        let (id, offset) = places[35_000];
        let offsets_at = index.len() - 40 - 4 * places.len();
        let ids_at = IDS_AT as usize;
        let needed = ids_at + 20 * 34_000..ids_at + 20 * 36_000;
        let own = offsets_at + 4 * 35_000..offsets_at + 4 * 35_001;
        for at in ids_at..index.len() - 40 {
            if !needed.contains(&at) && !own.contains(&at) {
                index[at] = 0xff;
            }
        }
        let found = opened(&index, Kind::Sha1).expect("its counts are sound").find(&id);
        assert_eq!(found.expect("readable"), Some(offset));
    }

    #[test]
    fn what_is_no_whole_index_of_version_2_is_an_error() {
        let ids = even(50, Kind::Sha1);
        let places: Vec<_> =
            ids.iter().zip(1..).map(|(id, n)| (*id, LARGE_OFFSET * (n % 2) + n)).collect();
        let sound = index_of(&places, &[7; 20]);
        let changed = |at: usize, byte: u8| {
            let mut index = sound.clone();
            index[at] = byte;
            index
        };
        let cases = [
            ("empty", Vec::new()),
            ("another version", changed(7, 3)),
            ("version 1", sound[8..].to_vec()),
            ("counts that become less", changed(8, 0xff)),
            ("more objects than there is room for", changed(8 + 4 * 255, 1)),
        ];
        for (what, index) in cases {
            assert!(opened(&index, Kind::Sha1).is_err(), "{what}");
        }
        // An offset that stands in a table which is shorter.
        let first = sound.len() - 40 - 8 * 25 - 4 * 50;
        let index = changed(first + 3, 200);
        let offsets = opened(&index, Kind::Sha1).expect("nothing tells yet");
        assert!(offsets.find(&ids[0]).is_err());
    }

    #[test]
    fn damage_never_leads_out_of_an_index() {
        let ids = even(40, Kind::Sha1);
        let places: Vec<_> = ids.iter().zip(12..).map(|(id, offset)| (*id, offset)).collect();
        let sound = index_of(&places, &[7; 20]);
        for length in 0..sound.len() {
            let Ok(offsets) = opened(&sound[..length], Kind::Sha1) else { continue };
            ids.iter().for_each(|id| drop(offsets.find(id)));
        }
        for at in 0..sound.len() {
            let mut damaged = sound.clone();
            damaged[at] ^= 0x81;
            let Ok(offsets) = opened(&damaged, Kind::Sha1) else { continue };
            ids.iter().for_each(|id| drop(offsets.find(id)));
        }
    }
}
