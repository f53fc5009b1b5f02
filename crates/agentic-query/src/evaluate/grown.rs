//! Predicates that grow while they are computed: rows in datafrog's variables, in one order of
//! columns for each key that joins look them up by.

use std::cell::RefCell;

use datafrog::{Iteration, Relation, Variable};

use crate::table::gallop;

use super::tuple::{DIRECT_WORDS, TuplePool};

/// More rows than these are sorted digit by digit.
const RADIX_ROWS_MIN: usize = 2_048;
/// How many bits one pass of sorting looks at, and how many passes are less work than comparing.
const DIGIT_BITS: u32 = 11;
const DIGITS_MAX: usize = 8;

/// A row: its first two columns, and the others.
type GrownRow<const W: usize> = (u64, [u32; W]);

/// Reads the columns of a row.
type RowCells<'a> = dyn Fn(usize) -> u32 + 'a;
/// Looks at rows.
type RowVisitor<'a> = dyn FnMut(&RowCells<'_>) + 'a;

/// Rows in one order of columns.
trait GrownRows {
    fn insert(&self, rows: &[u32], n_rows: usize, order: &[usize]);
    fn n_recent(&self) -> usize;
    /// Appends the rows of the last round, in the order of the columns of the predicate.
    fn recent(&self, order: &[usize], out: &mut Vec<u32>);
    /// Visits the rows that begin with a key.
    fn find(&self, key: &[u32], visit: &mut RowVisitor<'_>);
    fn complete(self: Box<Self>, order: &[usize]) -> Vec<u32>;
}

/// A predicate that grows.
pub(crate) struct GrownPredicate {
    width: usize,
    arrangements: Vec<RowArrangement>,
}

/// The rows of a predicate in one order of its columns.
struct RowArrangement {
    order: Vec<usize>,
    rows: Box<dyn GrownRows>,
    /// The ends of rows that are too long.
    tuples: Option<RefCell<TuplePool>>,
}

/// The order in which short rows of long ones stand: as they are.
const SHORT_ORDER: [usize; DIRECT_WORDS + 1] =
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17];

impl GrownPredicate {
    /// Makes an empty predicate whose rows are sorted by some columns first.
    pub fn new(iteration: &mut Iteration, width: usize, first: &[usize]) -> GrownPredicate {
        let mut grown = GrownPredicate { width, arrangements: Vec::new() };
        grown.arrange(iteration, first);
        grown
    }

    /// Makes sure that rows can be found by these columns; before any row is inserted.
    pub fn arrange(&mut self, iteration: &mut Iteration, key: &[usize]) {
        if self.arrangement(key).is_some() {
            return;
        }
        let others = (0..self.width).filter(|column| !key.contains(column));
        let order: Vec<usize> = key.iter().copied().chain(others).collect();
        let rows: Box<dyn GrownRows> = match self.width.saturating_sub(2) {
            0..=2 => Box::new(iteration.variable::<GrownRow<2>>("rows")),
            3..=4 => Box::new(iteration.variable::<GrownRow<4>>("rows")),
            5..=8 => Box::new(iteration.variable::<GrownRow<8>>("rows")),
            _ => Box::new(iteration.variable::<GrownRow<16>>("rows")),
        };
        let tuples = (self.width > SHORT_ORDER.len()).then(RefCell::default);
        self.arrangements.push(RowArrangement { order, rows, tuples });
    }

    fn arrangement(&self, key: &[usize]) -> Option<&RowArrangement> {
        // In an order that has the same columns at its start, in whatever order, a key is found too.
        self.arrangements.iter().find(|RowArrangement { order, .. }| {
            order.len() >= key.len() && order[..key.len()].iter().all(|c| key.contains(c))
        })
    }

    /// Adds rows; those that are known already are left out when the next round begins.
    pub fn insert(&self, rows: &[u32], n_rows: usize) {
        for arrangement in &self.arrangements {
            arrangement.insert(rows, n_rows);
        }
    }

    /// Counts the rows of the last round.
    pub fn n_recent(&self) -> usize {
        self.arrangements[0].rows.n_recent()
    }

    /// Appends the rows of the last round.
    pub fn recent(&self, out: &mut Vec<u32>) {
        let RowArrangement { order, rows, tuples } = &self.arrangements[0];
        let Some(tuples) = tuples else { return rows.recent(order, out) };
        let mut short = Vec::new();
        rows.recent(&SHORT_ORDER, &mut short);
        tuples.borrow().lengthen(&short, order, out);
    }

    /// Visits the rows that have these values in these columns, and how to read their columns.
    pub fn find(&self, columns: &[usize], key: &[u32], visit: &mut RowVisitor<'_>) {
        let found = self.arrangement(columns);
        let RowArrangement { order, rows, tuples } =
            found.expect("BUG: every key of a plan was arranged");
        let place = |column: usize| order.iter().position(|c| *c == column).unwrap_or(0);
        let places: Vec<usize> = (0..self.width).map(place).collect();
        let value = |c: &usize| columns.iter().position(|k| k == c).map_or(0, |at| key[at]);
        let key: Vec<u32> = order[..columns.len()].iter().map(value).collect();
        let Some(tuples) = tuples else {
            return rows.find(&key, &mut |cell| visit(&|column| cell(places[column])));
        };
        let tuples = tuples.borrow();
        let (direct, behind) = key.split_at(key.len().min(DIRECT_WORDS));
        rows.find(direct, &mut |cell| {
            let end = tuples.end(cell(DIRECT_WORDS));
            if end.starts_with(behind) {
                visit(&|column| match places[column].checked_sub(DIRECT_WORDS) {
                    Some(at) => end[at],
                    None => cell(places[column]),
                });
            }
        });
    }

    /// Returns all rows, flat.
    pub fn complete(mut self) -> Vec<u32> {
        let RowArrangement { order, rows, tuples } = self.arrangements.swap_remove(0);
        let Some(tuples) = tuples else { return rows.complete(&order) };
        let mut out = Vec::new();
        tuples.borrow().lengthen(&rows.complete(&SHORT_ORDER), &order, &mut out);
        out
    }
}

impl RowArrangement {
    fn insert(&self, rows: &[u32], n_rows: usize) {
        let Some(tuples) = &self.tuples else {
            return self.rows.insert(rows, n_rows, &self.order);
        };
        let mut tuples = tuples.borrow_mut();
        let mut short = Vec::with_capacity(n_rows * SHORT_ORDER.len());
        for row in rows.chunks_exact(self.order.len()) {
            tuples.shorten(row, &self.order, &mut short);
        }
        self.rows.insert(&short, n_rows, &SHORT_ORDER);
    }
}

fn pack<const W: usize>(row: &[u32], order: &[usize]) -> GrownRow<W> {
    let word = |place: usize| order.get(place).map_or(0, |column| row[*column]);
    let mut rest = [0; W];
    for (place, cell) in rest.iter_mut().enumerate().take(order.len().saturating_sub(2)) {
        *cell = row[order[place + 2]];
    }
    (u64::from(word(0)) << 32 | u64::from(word(1)), rest)
}

fn cell<const W: usize>(row: &GrownRow<W>, place: usize) -> u32 {
    match place {
        0 => (row.0 >> 32) as u32,
        1 => row.0 as u32,
        _ => row.1[place - 2],
    }
}

fn unpack<const W: usize>(rows: &[GrownRow<W>], order: &[usize], out: &mut Vec<u32>) {
    let width = order.len();
    out.reserve(rows.len() * width);
    for row in rows {
        let start = out.len();
        out.resize(start + width, 0);
        for (place, column) in order.iter().enumerate() {
            out[start + column] = cell(row, place);
        }
    }
}

/// Sorts many rows digit by digit, which datafrog would do by comparing: it finds them in order.
fn sort_rows<const W: usize>(rows: &mut Vec<GrownRow<W>>) {
    if rows.len() < RADIX_ROWS_MIN || rows.is_sorted() {
        return;
    }
    let digits = digits_that_differ(rows);
    if digits.len() > DIGITS_MAX {
        return;
    }
    let mut other = vec![(0, [0; W]); rows.len()];
    for (place, shift) in digits {
        let digit =
            |row: &GrownRow<W>| (cell(row, place) >> shift) as usize & ((1 << DIGIT_BITS) - 1);
        let mut starts = vec![0_usize; 1 << DIGIT_BITS];
        rows.iter().for_each(|row| starts[digit(row)] += 1);
        let mut next = 0;
        for start in &mut starts {
            next += std::mem::replace(start, next);
        }
        for row in rows.iter() {
            let at = &mut starts[digit(row)];
            other[*at] = *row;
            *at += 1;
        }
        std::mem::swap(rows, &mut other);
    }
}

/// Lists the digits in which rows differ, the least one first: the place of the word, and how far
/// the digit stands in it.
fn digits_that_differ<const W: usize>(rows: &[GrownRow<W>]) -> Vec<(usize, u32)> {
    let mut differ = [0_u32; 2 + 16];
    for row in rows {
        for (place, bits) in differ.iter_mut().enumerate().take(W + 2) {
            *bits |= cell(row, place) ^ cell(&rows[0], place);
        }
    }
    let shifts = || (0..u32::BITS).step_by(DIGIT_BITS as usize);
    let digits = (0..W + 2).rev().flat_map(|place| shifts().map(move |shift| (place, shift)));
    let mask = (1_u32 << DIGIT_BITS) - 1;
    digits.filter(|(place, shift)| differ[*place] >> shift & mask != 0).collect()
}

impl<const W: usize> GrownRows for Variable<GrownRow<W>> {
    fn insert(&self, rows: &[u32], n_rows: usize, order: &[usize]) {
        let packed: Vec<GrownRow<W>> = if order.is_empty() {
            vec![(0, [0; W]); n_rows.min(1)]
        } else {
            let mut packed = rows.chunks_exact(order.len()).map(|row| pack(row, order)).collect();
            sort_rows(&mut packed);
            packed
        };
        Variable::insert(self, Relation::from_vec(packed));
    }

    fn n_recent(&self) -> usize {
        self.recent.borrow().len()
    }

    fn recent(&self, order: &[usize], out: &mut Vec<u32>) {
        unpack(&self.recent.borrow(), order, out);
    }

    fn find(&self, key: &[u32], visit: &mut RowVisitor<'_>) {
        let low = key.first().map_or(0, |first| u64::from(*first) << 32);
        let (low, high) = match key {
            [] => (0, u64::MAX),
            [_] => (low, low | u64::from(u32::MAX)),
            [_, second, ..] => (low | u64::from(*second), low | u64::from(*second)),
        };
        let mut look = |rows: &[GrownRow<W>]| {
            let start = rows.partition_point(|row| row.0 < low);
            let end = gallop(start, rows.len(), |at| rows[at].0 <= high);
            for row in &rows[start..end] {
                let fits = key.iter().enumerate().skip(2).all(|(at, word)| cell(row, at) == *word);
                if fits {
                    visit(&|place| cell(row, place));
                }
            }
        };
        self.stable.borrow().iter().for_each(|relation| look(relation));
        look(&self.recent.borrow());
    }

    fn complete(self: Box<Self>, order: &[usize]) -> Vec<u32> {
        let rows = Variable::complete(*self);
        let mut out = Vec::new();
        unpack(&rows, order, &mut out);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_alike_digit_by_digit() {
        for width in [1, 2, 3, 4] {
            let scatter = |n: u64, place: u64| {
                let mixed = (n * 4 + place).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
                if place < width { mixed as u32 % 70_000 } else { 0 }
            };
            let row = |n: u64| {
                (
                    u64::from(scatter(n, 0)) << 32 | u64::from(scatter(n, 1)),
                    [scatter(n, 2), scatter(n, 3)],
                )
            };
            let mut rows: Vec<GrownRow<2>> = (0..5_000).map(row).collect();
            let mut expected = rows.clone();
            expected.sort_unstable();
            sort_rows(&mut rows);
            assert_eq!(rows, expected);
        }
    }
}
