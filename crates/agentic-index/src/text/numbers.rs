//! The texts of one block that have a term, as they stand in a row and as they are compared.
//!
//! A text is named by its place in the block, of 16 bits. One alone is written as it is. Several are
//! written as their distances by the code of Rice, whose parameter follows from how many there are; where
//! so many have the term that a bit for each text takes less, that is written.

use super::BLOCK;
use crate::error::{IndexError, Result};
use crate::value::{push_number, take_number};

/// How long a bit for each text is, in bytes.
const BITMAP_BYTES: usize = BLOCK as usize / 8;
/// How many words of 64 bits that is.
const BITMAP_WORDS: usize = BLOCK as usize / 64;

/// Some texts of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockNumbers {
    /// Their places, ascending.
    Few(Vec<u16>),
    /// A bit for each place.
    Many(Box<[u64; BITMAP_WORDS]>),
}

/// Texts of a block as they stand in a row.
#[derive(Debug, Clone, Copy)]
pub struct WrittenNumbers<'r> {
    /// How many there are.
    pub n: usize,
    bytes: &'r [u8],
}

/// Writes places, ascending.
pub fn write_numbers(places: &[u16], bytes: &mut Vec<u8>) {
    push_number(bytes, places.len() as u64);
    if let [only] = places {
        bytes.extend(only.to_be_bytes());
        return;
    }
    let mut written = BitWriter::default();
    let (low, mut next) = (low_bits(places.len()), 0_u32);
    for place in places {
        let gap = u32::from(*place) - next;
        written.ones(gap >> low);
        written.bits(gap & ((1 << low) - 1), low);
        next = u32::from(*place) + 1;
    }
    let mut coded = written.end();
    if coded.len() >= BITMAP_BYTES {
        coded = vec![0; BITMAP_BYTES];
        places.iter().for_each(|place| coded[usize::from(*place) / 8] |= 1 << (place % 8));
    }
    push_number(bytes, coded.len() as u64);
    bytes.extend(coded);
}

/// Takes written places from the front of bytes.
pub fn take_numbers<'r>(rest: &mut &'r [u8]) -> Result<WrittenNumbers<'r>> {
    let n = usize::try_from(take_number(rest)?).unwrap_or(usize::MAX);
    let length = match n {
        1 => 2,
        _ => usize::try_from(take_number(rest)?).unwrap_or(usize::MAX),
    };
    let apart = rest.split_at_checked(length).filter(|_| (1..=BLOCK as usize).contains(&n));
    let (bytes, behind) = apart.ok_or_else(damaged)?;
    *rest = behind;
    Ok(WrittenNumbers { n, bytes })
}

impl WrittenNumbers<'_> {
    /// Reads them.
    pub fn read(self) -> Result<BlockNumbers> {
        if let (1, [high, low]) = (self.n, self.bytes) {
            return Ok(BlockNumbers::Few(vec![u16::from_be_bytes([*high, *low])]));
        }
        if self.bytes.len() == BITMAP_BYTES {
            let mut words = Box::new([0; BITMAP_WORDS]);
            for (word, bytes) in words.iter_mut().zip(self.bytes.as_chunks::<8>().0) {
                *word = u64::from_le_bytes(*bytes);
            }
            let found = BlockNumbers::Many(words);
            return if found.n() == self.n { Ok(found) } else { Err(damaged()) };
        }
        let mut bits = BitReader { bytes: self.bytes, at: 0 };
        let (low, mut next, mut places) = (low_bits(self.n), 0_u32, Vec::with_capacity(self.n));
        for _ in 0..self.n {
            let gap = (bits.ones()? << low) | bits.bits(low)?;
            let place = u16::try_from(next + gap).map_err(|_| damaged())?;
            places.push(place);
            next = u32::from(place) + 1;
        }
        Ok(BlockNumbers::Few(places))
    }
}

impl BlockNumbers {
    /// Makes a list of places that ascend.
    pub fn of(places: Vec<u16>) -> BlockNumbers {
        if places.len() < BITMAP_WORDS * 4 {
            return BlockNumbers::Few(places);
        }
        let mut words = Box::new([0; BITMAP_WORDS]);
        for place in places {
            words[usize::from(place) / 64] |= 1 << (place % 64);
        }
        BlockNumbers::Many(words)
    }

    /// Counts them.
    pub fn n(&self) -> usize {
        match self {
            BlockNumbers::Few(places) => places.len(),
            BlockNumbers::Many(words) => words.iter().map(|word| word.count_ones() as usize).sum(),
        }
    }

    /// Says whether a place is among them.
    pub fn has(&self, place: u16) -> bool {
        match self {
            BlockNumbers::Few(places) => places.binary_search(&place).is_ok(),
            BlockNumbers::Many(words) => words[usize::from(place) / 64] & (1 << (place % 64)) != 0,
        }
    }

    /// Returns their places, ascending.
    pub fn places(&self) -> Vec<u16> {
        match self {
            BlockNumbers::Few(places) => places.clone(),
            BlockNumbers::Many(words) => {
                let mut places = Vec::with_capacity(self.n());
                for (number, word) in words.iter().enumerate() {
                    let mut left = *word;
                    while left != 0 {
                        places.push((number * 64) as u16 + left.trailing_zeros() as u16);
                        left &= left - 1;
                    }
                }
                places
            }
        }
    }

    /// Returns those that are in the others too.
    pub fn in_both(self, other: &BlockNumbers) -> BlockNumbers {
        match (self, other) {
            (BlockNumbers::Many(mut words), BlockNumbers::Many(others)) => {
                words.iter_mut().zip(others.iter()).for_each(|(word, other)| *word &= other);
                BlockNumbers::Many(words)
            }
            (BlockNumbers::Few(places), BlockNumbers::Many(_)) => {
                let both = places.into_iter().filter(|place| other.has(*place));
                BlockNumbers::Few(both.collect())
            }
            (BlockNumbers::Many(words), BlockNumbers::Few(_)) => {
                other.clone().in_both(&BlockNumbers::Many(words))
            }
            (BlockNumbers::Few(one), BlockNumbers::Few(other)) => {
                BlockNumbers::Few(in_both_lists(&one, other))
            }
        }
    }
}

fn in_both_lists(one: &[u16], other: &[u16]) -> Vec<u16> {
    let (few, many) = if one.len() < other.len() { (one, other) } else { (other, one) };
    if few.len() * 16 < many.len() {
        return few.iter().copied().filter(|it| many.binary_search(it).is_ok()).collect();
    }
    let mut found = Vec::with_capacity(few.len());
    let mut rest = many.iter().copied().peekable();
    for place in few {
        while rest.next_if(|it| it < place).is_some() {}
        found.extend(rest.next_if_eq(place));
    }
    found
}

/// Returns how many low bits of a distance are written as they are, where so many texts have the term.
fn low_bits(n: usize) -> u32 {
    // Distances are about the mean in the middle of which 0.7 are shorter.
    let mean = BLOCK as usize * 7 / 10 / n.max(1);
    mean.max(1).ilog2()
}

fn damaged() -> IndexError {
    IndexError::damaged("the texts of a term")
}

/// Writes bits, the first as the highest of a byte.
#[derive(Default)]
struct BitWriter {
    bytes: Vec<u8>,
    last: u64,
    n_bits: u32,
}

impl BitWriter {
    /// Writes so many ones, and the zero that ends them.
    fn ones(&mut self, mut n: u32) {
        while n >= 32 {
            self.bits(u32::MAX, 32);
            n -= 32;
        }
        self.bits(((1_u64 << n) - 1) as u32, n);
        self.bits(0, 1);
    }

    fn bits(&mut self, value: u32, n: u32) {
        self.last = (self.last << n) | u64::from(value);
        self.n_bits += n;
        while self.n_bits >= 8 {
            self.n_bits -= 8;
            self.bytes.push((self.last >> self.n_bits) as u8);
        }
    }

    fn end(mut self) -> Vec<u8> {
        if self.n_bits > 0 {
            self.bytes.push((self.last << (8 - self.n_bits)) as u8);
        }
        self.bytes
    }
}

struct BitReader<'r> {
    bytes: &'r [u8],
    /// The number of the next bit.
    at: usize,
}

impl BitReader<'_> {
    /// Counts ones up to the next zero.
    fn ones(&mut self) -> Result<u32> {
        let mut n = 0;
        loop {
            let byte = *self.bytes.get(self.at / 8).ok_or_else(damaged)?;
            let left = 8 - (self.at % 8) as u32;
            let found = (byte << (8 - left)).leading_ones().min(left);
            n += found;
            self.at += found as usize;
            if found < left {
                self.at += 1;
                // No distance is longer than a block.
                return if n < BLOCK { Ok(n) } else { Err(damaged()) };
            }
        }
    }

    /// Reads a number of so many bits, 16 at most.
    fn bits(&mut self, n: u32) -> Result<u32> {
        let first = self.at / 8;
        let mut window = 0_u32;
        for byte in first..first + 3 {
            window = (window << 8) | u32::from(self.bytes.get(byte).copied().unwrap_or(0));
        }
        let behind = (self.at % 8) as u32 + n;
        self.at += n as usize;
        match self.at > self.bytes.len() * 8 {
            true => Err(damaged()),
            false => Ok((window >> (24 - behind)) & ((1 << n) - 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{BlockNumbers, take_numbers, write_numbers};

    fn written(places: &[u16]) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_numbers(places, &mut bytes);
        bytes
    }

    fn check(places: &[u16]) {
        let bytes = written(places);
        let mut rest = bytes.as_slice();
        let taken = take_numbers(&mut rest).expect("whole");
        assert!(rest.is_empty());
        assert_eq!(taken.n, places.len());
        assert_eq!(taken.read().expect("whole").places(), places);
    }

    #[test]
    fn places_at_the_edges_are_read_as_they_were_written() {
        let every = |step: usize| (0..=u16::MAX).step_by(step).collect::<Vec<u16>>();
        for places in [vec![0], vec![u16::MAX], vec![0, u16::MAX], every(1), every(2), every(7)] {
            check(&places);
        }
        assert_eq!(written(&[7]).len(), 3);
        assert!(written(&every(2)).len() < 8_200, "a bit for each");
        assert!(written(&every(256)).len() < 340, "less than eleven bits for each");
    }

    #[test]
    fn damaged_places_are_refused_or_others_and_no_panic() {
        let bytes = written(&(0..500_u16).map(|it| it * 100).collect::<Vec<u16>>());
        for length in 0..bytes.len() {
            let taken = take_numbers(&mut &bytes[..length]);
            assert!(taken.is_err(), "{length} bytes");
        }
        for at in 0..bytes.len() * 8 {
            let mut other = bytes.clone();
            other[at / 8] ^= 1 << (at % 8);
            let _ = take_numbers(&mut other.as_slice()).and_then(|taken| taken.read());
        }
    }

    proptest! {
        #[test]
        fn places_are_read_as_they_were_written(
            places in prop::collection::btree_set(any::<u16>(), 1..3_000),
            others in prop::collection::btree_set(any::<u16>(), 1..9_000),
        ) {
            let list: Vec<u16> = places.iter().copied().collect();
            check(&list);
            let both: Vec<u16> = places.intersection(&others).copied().collect();
            let others = BlockNumbers::of(others.into_iter().collect());
            prop_assert_eq!(BlockNumbers::of(list.clone()).in_both(&others).places(), both.clone());
            prop_assert_eq!(others.in_both(&BlockNumbers::of(list)).places(), both);
        }

        #[test]
        fn any_bytes_are_places_or_damage(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            if let Ok(taken) = take_numbers(&mut bytes.as_slice()) {
                let _ = taken.read();
            }
        }
    }
}
