//! Aggregates: matches are found for all rows at once, grouped, and joined back.

use agentic_model::{Value, json};

use crate::ast::AggregateKind;
use crate::code::QueryPlace;
use crate::limit::QueryStop;
use crate::plan::AggregateStep;
use crate::pool::NULL;
use crate::rule::EmptyGroups;
use crate::table::sorted_permutation;
use crate::value::{QueryType, QueryValue};

use super::step::{RowBatch, StepRunner, StepStop};
use super::term::TermReader;

/// The longest text that `list` makes.
const LIST_BYTES_MAX: usize = 16 << 20;
const OVERFLOW: &str = "a number overflowed";

/// The groups that have matches, of each seed in turn. There may be as many of them as matches, so that
/// they stand in one piece.
#[derive(Default)]
struct AggregateGroups {
    /// Where the groups of each seed end.
    ends: Vec<usize>,
    /// The variables of each group, and what the aggregate gives.
    words: Vec<u32>,
}

impl AggregateGroups {
    /// Lists the words of the groups of a seed.
    fn of(&self, seed: usize) -> &[u32] {
        let start = seed.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.words[start..self.ends[seed]]
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
        let matches = self.run(&step.steps, seeds)?;
        let here = |stop| (stop, place);
        let groups = self.groups(step, &matches, n_seeds).map_err(here)?;
        drop(matches);
        let empty = match (step.empty, step.kind) {
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
        };
        let empty = empty.map(|value| self.pool.intern_value(&value));
        let width = step.groups.len() + 1;
        let n_made =
            seed_of.iter().map(|seed| (groups.of(*seed as usize).len() / width).max(1)).sum();
        self.budget.make(n_made, batch.stride, self.held()).map_err(here)?;
        let mut words = Vec::with_capacity(n_made * batch.stride);
        for (row, seed) in batch.rows().zip(&seed_of) {
            let found = groups.of(*seed as usize);
            let start = words.len();
            if found.is_empty()
                && let Some(empty) = empty
            {
                words.extend_from_slice(row);
                words[start + step.target] = empty;
            }
            for group in found.chunks_exact(width) {
                let start = words.len();
                words.extend_from_slice(row);
                let slots = step.groups.iter().chain([&step.target]);
                slots.zip(group).for_each(|(slot, value)| words[start + slot] = *value);
            }
        }
        Ok(RowBatch { stride: batch.stride, words })
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

    /// Groups matches by the row that they belong to and by the group's variables.
    fn groups(
        &mut self,
        step: &AggregateStep,
        matches: &RowBatch,
        n_seeds: usize,
    ) -> Result<AggregateGroups, QueryStop> {
        let mut groups = AggregateGroups::default();
        let number = matches.stride - 1;
        let key: Vec<usize> = std::iter::once(number).chain(step.groups.iter().copied()).collect();
        let columns: Vec<Vec<u32>> = key.iter().map(|slot| matches.slot(*slot)).collect();
        let slices: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
        let order = sorted_permutation(&slices, matches.len());
        let is_one = |a: u32, b: u32| columns.iter().all(|c| c[a as usize] == c[b as usize]);
        for rows in order.chunk_by(|a, b| is_one(*a, *b)) {
            let Some(result) = self.fold(step, matches, rows)? else { continue };
            let first = rows[0] as usize;
            // The seeds ascend.
            groups.ends.resize(columns[0][first] as usize, groups.words.len());
            groups.words.extend(columns[1..].iter().map(|column| column[first]));
            groups.words.push(result);
        }
        groups.ends.resize(n_seeds, groups.words.len());
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

fn combine(
    kind: AggregateKind,
    mut values: Vec<QueryValue>,
    term: QueryType,
) -> Result<Option<QueryValue>, &'static str> {
    match kind {
        AggregateKind::Count => Ok(Some(QueryValue::Int(values.len() as i64))),
        AggregateKind::CountDistinct => {
            values.sort_unstable();
            values.dedup();
            Ok(Some(QueryValue::Int(values.len() as i64)))
        }
        AggregateKind::Min => Ok(values.into_iter().min()),
        AggregateKind::Max => Ok(values.into_iter().max()),
        AggregateKind::Sum | AggregateKind::Average if values.is_empty() => Ok(None),
        AggregateKind::Sum => sum(&mut values).map(Some),
        AggregateKind::Average => average(&mut values, term),
        AggregateKind::List => list(values, term).map(Some),
    }
}

/// Adds numbers: whole ones exactly, floats ascending and with compensation.
fn sum(values: &mut [QueryValue]) -> Result<QueryValue, &'static str> {
    if matches!(values.first(), Some(QueryValue::Float(_))) {
        return QueryValue::float(sum_floats(values)).ok_or(OVERFLOW);
    }
    i64::try_from(sum_whole(values)).map(QueryValue::Int).map_err(|_| OVERFLOW)
}

fn sum_whole(values: &[QueryValue]) -> i128 {
    let whole = |value: &QueryValue| match value {
        QueryValue::Int(number) => i128::from(*number),
        QueryValue::Null | QueryValue::Bool(_) | QueryValue::Float(_) | QueryValue::Text(_) => 0,
    };
    values.iter().map(whole).sum()
}

fn sum_floats(values: &mut [QueryValue]) -> f64 {
    values.sort_unstable();
    let (mut total, mut lost) = (0.0_f64, 0.0_f64);
    for value in values {
        let QueryValue::Float(number) = value else { continue };
        // Neumaier's compensation: whichever is smaller has lost its low digits.
        let next = total + *number;
        lost += if total.abs() >= number.abs() {
            (total - next) + *number
        } else {
            (*number - next) + total
        };
        total = next;
    }
    if lost.is_finite() { total + lost } else { total }
}

fn average(values: &mut [QueryValue], term: QueryType) -> Result<Option<QueryValue>, &'static str> {
    let n = values.len();
    let found = if term == QueryType::Float {
        QueryValue::float(sum_floats(values) / n as f64)
    } else if term == QueryType::Duration {
        let millis = sum_whole(values) / n as i128;
        i64::try_from(millis).ok().map(QueryValue::Int)
    } else {
        QueryValue::float(divide_whole(sum_whole(values), n as i128))
    };
    found.map(Some).ok_or(OVERFLOW)
}

/// Divides whole numbers with one rounding as far as the quotient is exact in its whole part.
fn divide_whole(sum: i128, n: i128) -> f64 {
    (sum / n) as f64 + (sum % n) as f64 / n as f64
}

fn list(mut values: Vec<QueryValue>, term: QueryType) -> Result<QueryValue, &'static str> {
    values.sort_unstable();
    let mut text = String::from("[");
    for (n, value) in values.iter().enumerate() {
        if n > 0 {
            text.push(',');
        }
        text.push_str(&value.to_json(term));
        if text.len() > LIST_BYTES_MAX {
            return Err("a list is longer than 16 MiB");
        }
    }
    text.push(']');
    // Printed once more as a whole, so that it is canonical whatever prints single values.
    let canonical = json::from_text(&text).unwrap_or(Value::Null);
    Ok(QueryValue::text(&json::to_text(&canonical)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_exact_and_their_order_does_not_matter() {
        let float = |number| QueryValue::Float(number);
        let mut values = vec![float(1e16), float(1.0), float(-1e16), float(1.0)];
        assert_eq!(sum(&mut values), Ok(float(2.0)));
        let whole = |number| QueryValue::Int(number);
        assert_eq!(sum(&mut [whole(i64::MAX), whole(1), whole(-2)]), Ok(whole(i64::MAX - 1)));
        assert_eq!(sum(&mut [whole(i64::MAX), whole(1)]), Err(OVERFLOW));
        assert_eq!(divide_whole(7, 2), 3.5);
        let listed = list(vec![whole(3), whole(-1), whole(3)], QueryType::Int);
        assert_eq!(listed, Ok(QueryValue::text("[-1,3,3]")));
    }
}
