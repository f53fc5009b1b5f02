//! Aggregates: matches are found for all rows at once, grouped, and joined back.

use crate::ast::AggregateKind;
use crate::code::QueryPlace;
use crate::limit::QueryStop;
use crate::plan::{AggregateStep, JoinSource, JoinStep, PlanStepKind};
use crate::pool::NULL;
use crate::rule::EmptyGroups;
use crate::table::sorted_permutation;
use crate::value::{QueryType, QueryValue};

use super::fold::combine;
use super::step::{RowBatch, StepRunner, StepStop, read};
use super::term::TermReader;

/// The groups that have matches, by the seed that they belong to.
struct AggregateGroups {
    /// Where the groups of each seed begin, and where the last one's end.
    starts: Vec<usize>,
    /// The words of the group's variables, as many for each group.
    values: Vec<u32>,
    results: Vec<u32>,
}

impl AggregateGroups {
    /// Makes room for the groups of some seeds, of which the first comes next.
    fn new(n_seeds: usize) -> AggregateGroups {
        let starts = Vec::with_capacity(n_seeds + 1);
        AggregateGroups { starts, values: Vec::new(), results: Vec::new() }
    }

    /// Goes on to a seed; those before it that have no groups yet have none.
    fn begin(&mut self, seed: usize) {
        while self.starts.len() <= seed {
            self.starts.push(self.results.len());
        }
    }

    fn of(&self, seed: u32) -> std::ops::Range<usize> {
        self.starts[seed as usize]..self.starts[seed as usize + 1]
    }
}

impl StepRunner<'_, '_> {
    /// Does an aggregate.
    pub fn aggregate(
        &mut self,
        step: &AggregateStep,
        batch: RowBatch,
        place: QueryPlace,
    ) -> Result<RowBatch, StepStop> {
        let (seeds, seed_of) = seeds(step, &batch);
        let n_seeds = seeds.len();
        let here = |stop| (stop, place);
        let groups = match counted_join(step) {
            Some(join) => self.count_groups(step, join, &seeds).map_err(here)?,
            None => {
                let matches = self.run(&step.steps, seeds)?;
                self.groups(step, &matches, n_seeds).map_err(here)?
            }
        };
        let empty = self.empty_value(step).map(|value| self.pool.intern_value(&value));
        let n_made = seed_of.iter().map(|seed| groups.of(*seed).len().max(1)).sum();
        self.budget.make(n_made, batch.stride, self.held()).map_err(here)?;
        let mut words = Vec::with_capacity(n_made * batch.stride);
        let width = step.groups.len();
        for (row, seed) in batch.rows().zip(&seed_of) {
            let found = groups.of(*seed);
            let start = words.len();
            if found.is_empty()
                && let Some(empty) = empty
            {
                words.extend_from_slice(row);
                words[start + step.target] = empty;
            }
            for group in found {
                let start = words.len();
                words.extend_from_slice(row);
                let values = &groups.values[group * width..(group + 1) * width];
                for (slot, value) in step.groups.iter().zip(values) {
                    words[start + slot] = *value;
                }
                words[start + step.target] = groups.results[group];
            }
        }
        Ok(RowBatch { stride: batch.stride, words })
    }

    /// Returns what the aggregate of nothing is, if it is anything.
    fn empty_value(&self, step: &AggregateStep) -> Option<QueryValue> {
        match (step.empty, step.kind) {
            (EmptyGroups::Absent, _) => None,
            (EmptyGroups::Counted, AggregateKind::Count | AggregateKind::CountDistinct) => {
                Some(QueryValue::Int(0))
            }
            (EmptyGroups::Counted, AggregateKind::Sum) => Some(self.zero(step)),
            (EmptyGroups::Counted, AggregateKind::List) => Some(QueryValue::text("[]")),
            (
                EmptyGroups::Counted,
                AggregateKind::Min | AggregateKind::Max | AggregateKind::Average,
            ) => None,
        }
    }

    /// Counts the rows of one goal by an index, without making them.
    fn count_groups(
        &mut self,
        step: &AggregateStep,
        join: &JoinStep,
        seeds: &RowBatch,
    ) -> Result<AggregateGroups, QueryStop> {
        let table = self.table(join, seeds)?;
        let group_columns: Vec<usize> =
            step.groups.iter().map(|slot| output(join, *slot)).collect();
        let columns: Vec<usize> = join.columns.iter().chain(&group_columns).copied().collect();
        let mut groups = AggregateGroups::new(seeds.len());
        let is_indexed = table.len() > 0 && !columns.is_empty();
        let index = is_indexed.then(|| table.index(&columns));
        let mut key = vec![0; join.cells.len()];
        for (seed, row) in seeds.rows().enumerate() {
            groups.begin(seed);
            join.cells.iter().zip(&mut key).for_each(|(cell, word)| *word = read(*cell, row));
            let found = match &index {
                Some(index) if !key.is_empty() => table.find(&join.columns, index, &key, 0),
                Some(_) | None => 0..table.len(),
            };
            self.budget.work(found.len())?;
            let Some(index) = &index else {
                self.count_group(&mut groups, found.len());
                continue;
            };
            let is_one = |a: &u32, b: &u32| {
                group_columns.iter().all(|c| table.cell(*a, *c) == table.cell(*b, *c))
            };
            for rows in index[found].chunk_by(is_one) {
                groups.values.extend(group_columns.iter().map(|c| table.cell(rows[0], *c)));
                self.count_group(&mut groups, rows.len());
            }
        }
        groups.begin(seeds.len());
        Ok(groups)
    }

    fn count_group(&mut self, groups: &mut AggregateGroups, n_rows: usize) {
        if n_rows > 0 {
            groups.results.push(self.pool.intern_value(&QueryValue::Int(n_rows as i64)));
        }
    }

    fn term_kind(&self, step: &AggregateStep) -> QueryType {
        let target = self.variables.get(step.target).and_then(|variable| variable.kind);
        target.unwrap_or(QueryType::Int)
    }

    fn zero(&self, step: &AggregateStep) -> QueryValue {
        match self.term_kind(step) {
            QueryType::Float => QueryValue::Float(0.0),
            QueryType::Int
            | QueryType::Duration
            | QueryType::Text
            | QueryType::Bool
            | QueryType::Instant
            | QueryType::Commit
            | QueryType::Cid
            | QueryType::Session
            | QueryType::Request => QueryValue::Int(0),
        }
    }

    /// Groups matches by the seed that they belong to and by the group's variables.
    fn groups(
        &mut self,
        step: &AggregateStep,
        matches: &RowBatch,
        n_seeds: usize,
    ) -> Result<AggregateGroups, QueryStop> {
        let mut groups = AggregateGroups::new(n_seeds);
        let number = matches.stride - 1;
        let key: Vec<usize> = std::iter::once(number).chain(step.groups.iter().copied()).collect();
        let columns: Vec<Vec<u32>> = key.iter().map(|slot| matches.slot(*slot)).collect();
        let slices: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
        let order = sorted_permutation(&slices, matches.len());
        let is_one = |a: u32, b: u32| columns.iter().all(|c| c[a as usize] == c[b as usize]);
        for rows in order.chunk_by(|a, b| is_one(*a, *b)) {
            let first = matches.row(rows[0] as usize);
            if let Some(result) = self.fold(step, matches, rows)? {
                groups.begin(first[number] as usize);
                groups.values.extend(step.groups.iter().map(|slot| first[*slot]));
                groups.results.push(result);
            }
        }
        groups.begin(n_seeds);
        Ok(groups)
    }

    /// Makes one value of the matches of a group.
    fn fold(
        &mut self,
        step: &AggregateStep,
        matches: &RowBatch,
        rows: &[u32],
    ) -> Result<Option<u32>, QueryStop> {
        let Some(term) = &step.term else {
            return Ok(Some(self.pool.intern_value(&QueryValue::Int(rows.len() as i64))));
        };
        let mut values = Vec::with_capacity(rows.len());
        let mut kind = QueryType::Int;
        for row in rows {
            let row = matches.row(*row as usize);
            let mut reader = TermReader { pool: self.pool, variables: self.variables };
            match reader.value(term, row) {
                Ok(Some((QueryValue::Null, _)) | None) => {}
                Ok(Some((value, found))) => {
                    kind = found;
                    values.push(value);
                }
                Err(what) => {
                    let row = reader.describe(row);
                    return Err(QueryStop::Arithmetic { what, row });
                }
            }
        }
        let first = matches.row(rows[0] as usize);
        let found = combine(step.kind, values, kind);
        let found = found.map_err(|what| {
            let reader = TermReader { pool: self.pool, variables: self.variables };
            QueryStop::Arithmetic { what, row: reader.describe(first) }
        })?;
        Ok(match found {
            Some(value) => Some(self.pool.intern_value(&value)),
            None if step.kind == AggregateKind::Sum => {
                let zero = self.zero(step);
                Some(self.pool.intern_value(&zero))
            }
            None => None,
        }
        .filter(|word| *word != NULL))
    }
}

/// Returns the only goal of an aggregate that counts rows which are known: an index has them.
fn counted_join(step: &AggregateStep) -> Option<&JoinStep> {
    let [only] = step.steps.as_slice() else { return None };
    let PlanStepKind::Join(join) = &only.kind else { return None };
    let is_count = step.kind == AggregateKind::Count && step.term.is_none();
    let is_known = join.source == JoinSource::Complete && join.same.is_empty();
    let has_groups =
        step.groups.iter().all(|group| join.outputs.iter().any(|(_, slot)| slot == group));
    (is_count && is_known && has_groups).then_some(join)
}

fn output(join: &JoinStep, slot: usize) -> usize {
    let found = join.outputs.iter().find(|(_, output)| *output == slot);
    found.map_or(0, |(column, _)| *column)
}

/// Returns one row for each combination of what is bound outside, with its number in the last slot,
/// and which of them each row of the batch belongs to.
fn seeds(step: &AggregateStep, batch: &RowBatch) -> (RowBatch, Vec<u32>) {
    let number = batch.stride - 1;
    let columns: Vec<Vec<u32>> = step.seeds.iter().map(|slot| batch.slot(*slot)).collect();
    let slices: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
    let order = sorted_permutation(&slices, batch.len());
    let is_one = |a: u32, b: u32| columns.iter().all(|c| c[a as usize] == c[b as usize]);
    let mut seed_of = vec![0; batch.len()];
    let mut words = Vec::new();
    for (seed, rows) in order.chunk_by(|a, b| is_one(*a, *b)).enumerate() {
        let start = words.len();
        words.resize(start + batch.stride, 0);
        let first = batch.row(rows[0] as usize);
        step.seeds.iter().for_each(|slot| words[start + slot] = first[*slot]);
        words[start + number] = seed as u32;
        rows.iter().for_each(|row| seed_of[*row as usize] = seed as u32);
    }
    (RowBatch { stride: batch.stride, words }, seed_of)
}
