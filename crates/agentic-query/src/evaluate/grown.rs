//! Predicates that grow while they are computed: rows in datafrog's variables, in one order of
//! columns for each key that joins look them up by.

use datafrog::{Iteration, Relation, Variable};

use crate::table::gallop;

/// The most columns of a recursive predicate: two in the key, sixteen behind it.
pub(crate) const GROWN_COLUMNS_MAX: usize = 18;

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
    arrangements: Vec<(Vec<usize>, Box<dyn GrownRows>)>,
}

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
        self.arrangements.push((order, rows));
    }

    fn arrangement(&self, key: &[usize]) -> Option<&(Vec<usize>, Box<dyn GrownRows>)> {
        // In an order that has the same columns at its start, in whatever order, a key is found too.
        self.arrangements.iter().find(|(order, _)| {
            order.len() >= key.len() && order[..key.len()].iter().all(|c| key.contains(c))
        })
    }

    /// Adds rows; those that are known already are left out when the next round begins.
    pub fn insert(&self, rows: &[u32], n_rows: usize) {
        for (order, arrangement) in &self.arrangements {
            arrangement.insert(rows, n_rows, order);
        }
    }

    /// Counts the rows of the last round.
    pub fn n_recent(&self) -> usize {
        self.arrangements[0].1.n_recent()
    }

    /// Appends the rows of the last round.
    pub fn recent(&self, out: &mut Vec<u32>) {
        let (order, rows) = &self.arrangements[0];
        rows.recent(order, out);
    }

    /// Visits the rows that have these values in these columns, and how to read their columns.
    pub fn find(&self, columns: &[usize], key: &[u32], visit: &mut RowVisitor<'_>) {
        let found = self.arrangement(columns);
        let (order, rows) = found.expect("BUG: every key of a plan was arranged");
        let place = |column: usize| order.iter().position(|c| *c == column).unwrap_or(0);
        let places: Vec<usize> = (0..self.width).map(place).collect();
        let value = |c: &usize| columns.iter().position(|k| k == c).map_or(0, |at| key[at]);
        let key: Vec<u32> = order[..columns.len()].iter().map(value).collect();
        rows.find(&key, &mut |cell| visit(&|column| cell(places[column])));
    }

    /// Returns all rows, flat.
    pub fn complete(mut self) -> Vec<u32> {
        let (order, rows) = self.arrangements.swap_remove(0);
        rows.complete(&order)
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

impl<const W: usize> GrownRows for Variable<GrownRow<W>> {
    fn insert(&self, rows: &[u32], n_rows: usize, order: &[usize]) {
        let packed: Vec<GrownRow<W>> = if order.is_empty() {
            vec![(0, [0; W]); n_rows.min(1)]
        } else {
            rows.chunks_exact(order.len()).map(|row| pack(row, order)).collect()
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
