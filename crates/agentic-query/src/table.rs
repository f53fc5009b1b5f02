//! Tables of facts: columns of numbers, with sorted permutations of the rows as indices.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

/// Fewer rows than this are sorted by comparing.
const RADIX_ROWS_MIN: usize = 512;
/// How many bits one pass of sorting looks at, and how many passes a number takes.
const DIGIT_BITS: u32 = 11;
const DIGITS: u32 = 3;
/// How many rows are looked at to guess how many values a column has.
const SAMPLE_ROWS: usize = 512;

/// Rows of one predicate. Two rows may be equal: facts are counted by rows.
#[derive(Default)]
pub(crate) struct FactTable {
    columns: Vec<Vec<u32>>,
    n_rows: usize,
    indices: RefCell<BTreeMap<Vec<usize>, Rc<Vec<u32>>>>,
    distinct: RefCell<BTreeMap<usize, f64>>,
}

impl FactTable {
    /// Takes columns of one length each.
    pub fn new(columns: Vec<Vec<u32>>, n_rows: usize) -> FactTable {
        FactTable { columns, n_rows, ..FactTable::default() }
    }

    /// Makes a table of the distinct rows of a flat list.
    pub fn distinct(rows: &[u32], width: usize, n_rows: usize) -> FactTable {
        if width == 0 {
            return FactTable::new(Vec::new(), n_rows.min(1));
        }
        let split = |c: usize| rows.iter().skip(c).step_by(width).copied().collect::<Vec<_>>();
        let columns: Vec<Vec<u32>> = (0..width).map(split).collect();
        let slices: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
        let mut order = sorted_permutation(&slices, n_rows);
        order.dedup_by(|a, b| columns.iter().all(|c| c[*a as usize] == c[*b as usize]));
        let pick = |c: &Vec<u32>| order.iter().map(|row| c[*row as usize]).collect();
        FactTable::new(columns.iter().map(pick).collect(), order.len())
    }

    /// Makes one table of the rows of several, each row once.
    pub fn union(tables: &[&Rc<FactTable>]) -> Rc<FactTable> {
        let mut with_rows = tables.iter().filter(|table| table.len() > 0);
        let (Some(first), second) = (with_rows.next(), with_rows.next()) else {
            return tables.first().map_or_else(Rc::default, |table| Rc::clone(table));
        };
        if second.is_none() {
            return Rc::clone(first);
        }
        let (width, n_rows) = (first.width(), tables.iter().map(|table| table.len()).sum());
        let mut rows = Vec::with_capacity(n_rows * width);
        for table in tables {
            for row in 0..table.len() as u32 {
                rows.extend((0..width).map(|column| table.cell(row, column)));
            }
        }
        Rc::new(FactTable::distinct(&rows, width, n_rows))
    }

    /// Counts the rows.
    pub fn len(&self) -> usize {
        self.n_rows
    }

    /// Counts the columns.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// Returns a column; one that was not read is empty.
    pub fn column(&self, column: usize) -> &[u32] {
        &self.columns[column]
    }

    /// Returns the value of a row.
    pub fn cell(&self, row: u32, column: usize) -> u32 {
        self.columns[column][row as usize]
    }

    /// Returns the rows sorted by some columns; they are sorted when this is first asked for.
    pub fn index(&self, key: &[usize]) -> Rc<Vec<u32>> {
        if let Some(index) = self.indices.borrow().get(key) {
            return Rc::clone(index);
        }
        let columns: Vec<&[u32]> = key.iter().map(|c| self.column(*c)).collect();
        let index = Rc::new(sorted_permutation(&columns, self.n_rows));
        self.indices.borrow_mut().insert(key.to_vec(), Rc::clone(&index));
        index
    }

    /// Estimates how many rows have one value in each of these columns.
    pub fn estimate(&self, columns: &[usize]) -> f64 {
        let n_rows = self.n_rows as f64;
        let distinct = |column: &usize| {
            let known = self.distinct.borrow().get(column).copied();
            known.unwrap_or_else(|| {
                let n = sample_distinct(self.column(*column));
                self.distinct.borrow_mut().insert(*column, n);
                n
            })
        };
        columns.iter().fold(n_rows, |rows, column| rows / distinct(column).max(1.0))
    }

    /// Counts the memory that columns and indices take.
    pub fn bytes(&self) -> usize {
        let columns: usize = self.columns.iter().map(|column| column.len() * 4).sum();
        columns + self.indices.borrow().len() * self.n_rows * 4
    }

    /// Finds the rows of a key, in an index of its columns, from a place on.
    pub fn find(&self, columns: &[usize], index: &[u32], key: &[u32], from: usize) -> Range<usize> {
        if let ([column], [wanted]) = (columns, key) {
            let held = self.column(*column);
            let start = gallop(from, index.len(), |at| held[index[at] as usize] < *wanted);
            let end = gallop(start, index.len(), |at| held[index[at] as usize] <= *wanted);
            return start..end;
        }
        let compare = |at: usize| {
            let row = index[at];
            columns.iter().map(|c| self.cell(row, *c)).cmp(key.iter().copied())
        };
        let start = gallop(from, index.len(), |at| compare(at).is_lt());
        let end = gallop(start, index.len(), |at| compare(at).is_le());
        start..end
    }
}

/// Estimates how many values a column has, from some of its rows.
fn sample_distinct(column: &[u32]) -> f64 {
    let step = (column.len() / SAMPLE_ROWS).max(1);
    let mut sample: Vec<u32> = column.iter().step_by(step).copied().collect();
    let n_sampled = sample.len();
    sample.sort_unstable();
    sample.dedup();
    // Where nearly all differ in a sample, nearly all differ.
    let is_scattered = sample.len() * 10 > n_sampled * 9;
    if is_scattered { column.len() as f64 } else { sample.len() as f64 }
}

/// Finds the first place from `low` on where `is_less` does not hold, in steps that double.
pub(crate) fn gallop(low: usize, high: usize, is_less: impl Fn(usize) -> bool) -> usize {
    if low >= high || !is_less(low) {
        return low;
    }
    let (mut low, mut step) = (low, 1);
    while low + step < high && is_less(low + step) {
        low += step;
        step <<= 1;
    }
    let (mut from, mut to) = (low + 1, (low + step).min(high));
    while from < to {
        let middle = from.midpoint(to);
        if is_less(middle) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    from
}

/// Returns the numbers of the rows in the order of their columns; equal rows keep their order.
pub(crate) fn sorted_permutation(columns: &[&[u32]], n_rows: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n_rows as u32).collect();
    if n_rows < RADIX_ROWS_MIN {
        order.sort_by(|a, b| {
            let left = columns.iter().map(|column| column[*a as usize]);
            left.cmp(columns.iter().map(|column| column[*b as usize]))
        });
        return order;
    }
    let mut other = vec![0; n_rows];
    for column in columns.iter().rev() {
        for digit in 0..DIGITS {
            if sort_by_digit(column, digit * DIGIT_BITS, &order, &mut other) {
                std::mem::swap(&mut order, &mut other);
            }
        }
    }
    order
}

/// One pass of sorting, from the lowest digit up; says whether there was anything to sort.
fn sort_by_digit(column: &[u32], shift: u32, order: &[u32], into: &mut [u32]) -> bool {
    let mask = (1_u32 << DIGIT_BITS) - 1;
    let mut starts = vec![0_u32; 1 << DIGIT_BITS];
    for value in column {
        starts[((value >> shift) & mask) as usize] += 1;
    }
    if starts.iter().any(|n| *n as usize == column.len()) {
        return false;
    }
    let mut next = 0;
    for start in &mut starts {
        next += std::mem::replace(start, next);
    }
    for row in order {
        let place = &mut starts[((column[*row as usize] >> shift) & mask) as usize];
        into[*place as usize] = *row;
        *place += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_of_sorting_agree_and_keys_are_found() {
        for n_rows in [0, 1, 100, 5_000] {
            let scatter = |row: u32, salt: u32| {
                let mixed = row.wrapping_add(salt).wrapping_mul(2_654_435_761);
                if row.is_multiple_of(3) { mixed } else { mixed % 50 }
            };
            let column = |salt| (0..n_rows).map(|row| scatter(row, salt)).collect::<Vec<u32>>();
            let table = FactTable::new(vec![column(1), column(7)], n_rows as usize);
            let index = table.index(&[1, 0]);
            let key = |row: u32| (table.cell(row, 1), table.cell(row, 0), row);
            assert!(index.windows(2).all(|pair| key(pair[0]) < key(pair[1])));
            for row in 0..n_rows {
                let (first, second, _) = key(row);
                let found = table.find(&[1, 0], &index, &[first, second], 0);
                assert!(index[found].contains(&row));
            }
            assert!(table.find(&[1, 0], &index, &[51, 51], 0).is_empty());
        }
    }
}
