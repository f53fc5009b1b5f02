//! Rows that are longer than datafrog's: what has no room in one is a tuple that has a number.

use std::collections::HashMap;

/// How many words of a long row stand in it; the last word of the short row is the tuple's number.
pub(crate) const DIRECT_WORDS: usize = 17;

/// The ends of long rows.
#[derive(Default)]
pub(crate) struct TuplePool {
    numbers: HashMap<Box<[u32]>, u32>,
    tuples: Vec<Box<[u32]>>,
}

impl TuplePool {
    /// Makes a short row of a long one, whose columns are taken in an order.
    pub fn shorten(&mut self, row: &[u32], order: &[usize], out: &mut Vec<u32>) {
        out.extend(order[..DIRECT_WORDS].iter().map(|column| row[*column]));
        let end: Box<[u32]> = order[DIRECT_WORDS..].iter().map(|column| row[*column]).collect();
        let number = match self.numbers.get(&end) {
            Some(number) => *number,
            None => {
                let number = self.tuples.len() as u32;
                self.tuples.push(end.clone());
                self.numbers.insert(end, number);
                number
            }
        };
        out.push(number);
    }

    /// Returns the words behind those that stand in a row.
    pub fn end(&self, number: u32) -> &[u32] {
        &self.tuples[number as usize]
    }

    /// Makes long rows of short ones, with their columns in their places.
    pub fn lengthen(&self, short: &[u32], order: &[usize], out: &mut Vec<u32>) {
        for row in short.chunks_exact(DIRECT_WORDS + 1) {
            let start = out.len();
            out.resize(start + order.len(), 0);
            let words = row[..DIRECT_WORDS].iter().chain(self.end(row[DIRECT_WORDS]));
            for (column, word) in order.iter().zip(words) {
                out[start + column] = *word;
            }
        }
    }
}
