//! Steps over batches of rows: joins that are counted before they are made, and filters.

use std::rc::Rc;

use crate::limit::{QueryBudget, QueryStop};
use crate::plan::{JoinSource, JoinStep, PlanCell, PlanStep, PlanStepKind};
use crate::pool::ValuePool;
use crate::rule::{RuleTerm, RuleVariable};
use crate::table::{FactTable, sorted_permutation};

use super::KnownRows;
use super::facts::{FactReading, FactTables};
use super::term::TermReader;

/// More rows than this are looked up in the order of their keys.
const SORTED_ROWS_MIN: usize = 4_096;

/// Rows of one rule: a word for each variable.
#[derive(Debug, Default)]
pub(crate) struct RowBatch {
    pub stride: usize,
    pub words: Vec<u32>,
}

/// Does the steps of one rule.
pub(crate) struct StepRunner<'r, 'a> {
    pub ground: &'r KnownRows,
    pub facts: &'r mut FactTables<'a>,
    pub reading: FactReading,
    pub pool: &'r mut ValuePool,
    pub budget: &'a QueryBudget<'a>,
    pub variables: &'r [RuleVariable],
}

/// A stop and the step that it happened at.
pub(crate) type StepStop = (QueryStop, crate::code::QueryPlace);

impl RowBatch {
    /// Makes the batch that plans begin with: one row without values.
    pub fn start(stride: usize) -> RowBatch {
        RowBatch { stride, words: vec![0; stride] }
    }

    /// Counts the rows.
    pub fn len(&self) -> usize {
        self.words.len() / self.stride
    }

    /// Visits the rows.
    pub fn rows(&self) -> impl Iterator<Item = &[u32]> {
        self.words.chunks_exact(self.stride)
    }

    /// Returns one row.
    pub fn row(&self, row: usize) -> &[u32] {
        &self.words[row * self.stride..(row + 1) * self.stride]
    }

    /// Returns the words of one slot.
    pub fn slot(&self, slot: usize) -> Vec<u32> {
        self.words.iter().skip(slot).step_by(self.stride).copied().collect()
    }
}

impl StepRunner<'_, '_> {
    /// Does all steps.
    pub fn run(&mut self, steps: &[PlanStep], mut batch: RowBatch) -> Result<RowBatch, StepStop> {
        for step in steps {
            if batch.words.is_empty() {
                break;
            }
            batch = self.step(step, batch).map_err(|(stop, place)| {
                (stop, if place == Default::default() { step.place } else { place })
            })?;
        }
        Ok(batch)
    }

    fn step(&mut self, step: &PlanStep, batch: RowBatch) -> Result<RowBatch, StepStop> {
        let here = |stop| (stop, step.place);
        self.budget.work(batch.len()).map_err(here)?;
        match &step.kind {
            PlanStepKind::Join(join) => match join.source {
                JoinSource::Complete => self.join_table(join, &batch).map_err(here),
                JoinSource::Recent => self.join_recent(join, &batch).map_err(here),
                JoinSource::Grown => self.join_grown(join, &batch).map_err(here),
            },
            PlanStepKind::Absent(join) => self.absent(join, batch).map_err(here),
            PlanStepKind::Compare(comparison, left, right) => {
                let keep = |reader: &mut TermReader<'_>, row: &mut [u32]| {
                    reader.compare(*comparison, left, right, row)
                };
                self.retain(batch, keep).map_err(here)
            }
            PlanStepKind::Test(goal) => self
                .retain(batch, |reader: &mut TermReader<'_>, row: &mut [u32]| {
                    reader.test(goal, row)
                })
                .map_err(here),
            PlanStepKind::Bind(slot, term) => self.bind(*slot, term, batch).map_err(here),
            PlanStepKind::Aggregate(aggregate) => self.aggregate(aggregate, batch, step.place),
        }
    }

    fn bind(
        &mut self,
        slot: usize,
        term: &RuleTerm,
        batch: RowBatch,
    ) -> Result<RowBatch, QueryStop> {
        self.retain(batch, |reader: &mut TermReader<'_>, row: &mut [u32]| {
            let word = reader.word(term, row)?;
            row[slot] = word.unwrap_or(row[slot]);
            Ok(word.is_some())
        })
    }

    /// Keeps the rows that pass.
    fn retain(
        &mut self,
        mut batch: RowBatch,
        mut keep: impl FnMut(&mut TermReader<'_>, &mut [u32]) -> Result<bool, &'static str>,
    ) -> Result<RowBatch, QueryStop> {
        let stride = batch.stride;
        let mut reader = TermReader { pool: self.pool, variables: self.variables };
        let mut n_kept = 0;
        for at in 0..batch.len() {
            let row = &mut batch.words[at * stride..(at + 1) * stride];
            let is_kept = match keep(&mut reader, row) {
                Ok(is_kept) => is_kept,
                Err(what) => {
                    let row = reader.describe(row);
                    return Err(QueryStop::Arithmetic { what, row });
                }
            };
            if is_kept {
                batch.words.copy_within(at * stride..(at + 1) * stride, n_kept * stride);
                n_kept += 1;
            }
        }
        batch.words.truncate(n_kept * stride);
        Ok(batch)
    }

    /// Returns the rows of a predicate that is known; facts may have to be read first.
    fn table(&mut self, join: &JoinStep, batch: &RowBatch) -> Result<Rc<FactTable>, QueryStop> {
        if self.facts.is_fact(join.predicate) {
            let read = self.facts.table(join, batch, self.reading, self.pool);
            return read.map_err(|error| QueryStop::Read(Box::new(error)));
        }
        Ok(Rc::clone(&self.ground.tables[join.predicate]))
    }

    /// Counts the memory that is held beside the batch.
    pub fn held(&self) -> usize {
        self.ground.bytes + self.ground.grown_bytes + self.facts.bytes() + self.pool.bytes()
    }

    fn join_table(&mut self, join: &JoinStep, batch: &RowBatch) -> Result<RowBatch, QueryStop> {
        let table = self.table(join, batch)?;
        if table.len() == 0 {
            return Ok(RowBatch { stride: batch.stride, words: Vec::new() });
        }
        let index = if join.columns.is_empty() { None } else { Some(table.index(&join.columns)) };
        let order = lookup_order(join, batch);
        let mut ranges = Vec::with_capacity(batch.len());
        let (mut total, mut at, mut last) = (0_usize, 0, Vec::new());
        let mut key = vec![0; join.cells.len()];
        for n in 0..batch.len() {
            let row = batch.row(order.as_ref().map_or(n, |order| order[n] as usize));
            let Some(index) = &index else {
                ranges.push(0..table.len());
                total = total.saturating_add(table.len());
                continue;
            };
            join.cells.iter().zip(&mut key).for_each(|(cell, word)| *word = read(*cell, row));
            if key < last {
                at = 0;
            }
            if key != last || n == 0 {
                let found = table.find(&join.columns, index, &key, at);
                at = found.start;
                last.clone_from(&key);
                ranges.push(found);
            } else {
                ranges.push(ranges[n - 1].clone());
            }
            total = total.saturating_add(ranges[n].len());
        }
        self.budget.make(total, batch.stride, self.held())?;
        let mut words = Vec::with_capacity(total * batch.stride);
        for (n, range) in ranges.into_iter().enumerate() {
            let row = batch.row(order.as_ref().map_or(n, |order| order[n] as usize));
            for at in range {
                let found = index.as_ref().map_or(at as u32, |index| index[at]);
                let is_same =
                    |(a, b): &(usize, usize)| table.cell(found, *a) == table.cell(found, *b);
                if join.same.iter().all(is_same) {
                    let start = words.len();
                    words.extend_from_slice(row);
                    for (column, slot) in &join.outputs {
                        words[start + slot] = table.cell(found, *column);
                    }
                }
            }
        }
        Ok(RowBatch { stride: batch.stride, words })
    }

    /// The rows of the last round, which a plan begins with.
    fn join_recent(&mut self, join: &JoinStep, batch: &RowBatch) -> Result<RowBatch, QueryStop> {
        let grown = &self.ground.grown[&join.predicate];
        let n_rows = grown.n_recent();
        self.budget.make(n_rows, batch.stride, self.held())?;
        let mut recent = Vec::new();
        grown.recent(&mut recent);
        let width = recent.len().checked_div(n_rows).unwrap_or(0);
        let mut words = Vec::with_capacity(n_rows * batch.stride);
        let first = batch.row(0);
        for n in 0..n_rows {
            let found = &recent[n * width..(n + 1) * width];
            let key = join.columns.iter().zip(&join.cells);
            let fits = key.clone().all(|(column, cell)| found[*column] == read(*cell, first))
                && join.same.iter().all(|(a, b)| found[*a] == found[*b]);
            if fits {
                let start = words.len();
                words.extend_from_slice(first);
                for (column, slot) in &join.outputs {
                    words[start + slot] = found[*column];
                }
            }
        }
        Ok(RowBatch { stride: batch.stride, words })
    }

    fn join_grown(&mut self, join: &JoinStep, batch: &RowBatch) -> Result<RowBatch, QueryStop> {
        let grown = &self.ground.grown[&join.predicate];
        let mut key = vec![0; join.cells.len()];
        let mut total = 0_usize;
        for row in batch.rows() {
            join.cells.iter().zip(&mut key).for_each(|(cell, word)| *word = read(*cell, row));
            grown.find(&join.columns, &key, &mut |_| total += 1);
            if total > self.budget.limits.rows_max {
                break;
            }
        }
        self.budget.make(total, batch.stride, self.held())?;
        let mut words = Vec::with_capacity(total * batch.stride);
        for row in batch.rows() {
            join.cells.iter().zip(&mut key).for_each(|(cell, word)| *word = read(*cell, row));
            grown.find(&join.columns, &key, &mut |cell| {
                if join.same.iter().all(|(a, b)| cell(*a) == cell(*b)) {
                    let start = words.len();
                    words.extend_from_slice(row);
                    for (column, slot) in &join.outputs {
                        words[start + slot] = cell(*column);
                    }
                }
            });
        }
        Ok(RowBatch { stride: batch.stride, words })
    }

    fn absent(&mut self, join: &JoinStep, mut batch: RowBatch) -> Result<RowBatch, QueryStop> {
        let table = self.table(join, &batch)?;
        if table.len() == 0 {
            return Ok(batch);
        }
        if join.columns.is_empty() {
            batch.words.clear();
            return Ok(batch);
        }
        let index = table.index(&join.columns);
        let order = lookup_order(join, &batch);
        let mut words = Vec::new();
        let mut key = vec![0; join.cells.len()];
        let (mut at, mut last) = (0, Vec::new());
        for n in 0..batch.len() {
            let row = batch.row(order.as_ref().map_or(n, |order| order[n] as usize));
            join.cells.iter().zip(&mut key).for_each(|(cell, word)| *word = read(*cell, row));
            if key < last {
                at = 0;
            }
            let found = table.find(&join.columns, &index, &key, at);
            at = found.start;
            last.clone_from(&key);
            if found.is_empty() {
                words.extend_from_slice(row);
            }
        }
        Ok(RowBatch { stride: batch.stride, words })
    }
}

fn read(cell: PlanCell, row: &[u32]) -> u32 {
    match cell {
        PlanCell::Slot(slot) => row[slot],
        PlanCell::Constant(word) => word,
    }
}

/// Returns the order in which many rows are looked up, so that looks walk through an index.
fn lookup_order(join: &JoinStep, batch: &RowBatch) -> Option<Vec<u32>> {
    if batch.len() < SORTED_ROWS_MIN {
        return None;
    }
    let slots = join.cells.iter().filter_map(|cell| match cell {
        PlanCell::Slot(slot) => Some(batch.slot(*slot)),
        PlanCell::Constant(_) => None,
    });
    let columns: Vec<Vec<u32>> = slots.collect();
    let is_sorted = columns.first().is_none_or(|column| column.is_sorted());
    if is_sorted && columns.len() <= 1 {
        return None;
    }
    let slices: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
    Some(sorted_permutation(&slices, batch.len()))
}
