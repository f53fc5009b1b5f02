//! Facts of one evaluation: read when a goal asks for them, and only as far as it needs them.
//!
//! A goal knows by then which values its bound variables have. Few values go to the source with the
//! request; many do not. What was read stands here for the goals that follow, as far as it covers
//! what they ask for. Each goal sees rows of one read, so that no fact is counted twice.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::explain::{ExplainedRead, restrictions};
use crate::fact::{FactBinding, FactPredicate, FactRange, FactRequest, FactSink, FactSource};
use crate::limit::{QueryBudget, QueryError, QueryLimitKind};
use crate::plan::{JoinStep, PlanCell};
use crate::pool::ValuePool;
use crate::range::BodyRanges;
use crate::rule::{
    PredicateOrigin, RuleAtom, RuleGoal, RuleGoalKind, RuleSet, RuleTerm, RuleVariable,
};
use crate::table::FactTable;
use crate::value::{QueryType, QueryValue};

use super::step::RowBatch;

/// More values than these are not handed to a source.
const VALUES_MAX: usize = 1_000;
/// In more rows than these is not looked for few values.
const ROWS_LOOKED_MAX: usize = 200_000;
/// How often a predicate is read in part, before it is read for all goals at once.
const NARROW_READS_MAX: usize = 4;
/// How many rows a predicate is taken to have that nobody knows anything of, and how many of them
/// have one value in a column.
const UNREAD_ROWS: f64 = 100_000.0;
const UNREAD_ROWS_PER_VALUES: f64 = 100.0;

/// Whether a goal may have the source look for the values that it is bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FactReading {
    /// It may: the goal is done once.
    Narrow,
    /// It may not: the goal is done again in each round, with other values.
    Wide,
}

/// Values and whole tables that are kept from one query to the next.
#[derive(Default)]
pub(crate) struct BaseTables {
    pub pool: ValuePool,
    pub kept: BTreeMap<usize, Rc<FactTable>>,
}

/// What was read, and what may be.
pub(crate) struct FactTables<'a> {
    source: &'a dyn FactSource,
    kept: &'a BTreeMap<usize, Rc<FactTable>>,
    budget: &'a QueryBudget<'a>,
    /// What all goals of the program need together.
    needs: BTreeMap<usize, FactRequest>,
    read: BTreeMap<usize, Vec<(FactRequest, Rc<FactTable>)>>,
    pub explained: Vec<ExplainedRead>,
    pub notes: Vec<String>,
    pub n_facts: usize,
}

/// The arguments of a goal that asks for facts, and the ranges of its columns.
type AskedFact = (Vec<RuleTerm>, Vec<FactRange>);

/// Lists what the goals of a program need together.
pub(crate) fn requests(set: &RuleSet) -> Vec<FactRequest> {
    let mut asked: BTreeMap<usize, Vec<AskedFact>> = BTreeMap::new();
    for rule in &set.rules {
        each_fact(set, &rule.body, &rule.variables, &mut |atom, ranges| {
            asked.entry(atom.predicate).or_default().push((atom.terms.clone(), ranges));
        });
    }
    let requests = asked.into_iter().map(|(predicate, atoms)| {
        let width = set.predicates[predicate].kinds.len();
        let is_used =
            |c: &usize| atoms.iter().any(|(terms, _)| !matches!(terms[*c], RuleTerm::Blank));
        let columns = (0..width).filter(is_used).collect();
        let bound = (0..width).filter_map(|column| binding(column, &atoms)).collect();
        let ranges = (0..width).filter_map(|column| widest(column, &atoms)).collect();
        FactRequest { predicate, columns, bound, ranges }
    });
    requests.collect()
}

/// Visits all goals that ask for facts, with what their body says of the columns.
fn each_fact(
    set: &RuleSet,
    body: &[RuleGoal],
    variables: &[RuleVariable],
    visit: &mut dyn FnMut(&RuleAtom, Vec<FactRange>),
) {
    let ranges = BodyRanges::new(body, variables);
    let is_fact = |atom: &RuleAtom| set.predicates[atom.predicate].origin == PredicateOrigin::Fact;
    for goal in body {
        match &goal.kind {
            RuleGoalKind::Positive(atom) if is_fact(atom) => visit(atom, ranges.of_atom(atom)),
            RuleGoalKind::Negative(atom) if is_fact(atom) => visit(atom, Vec::new()),
            RuleGoalKind::Aggregate(inner) => each_fact(set, &inner.body, variables, visit),
            RuleGoalKind::Positive(_)
            | RuleGoalKind::Negative(_)
            | RuleGoalKind::Compare(..)
            | RuleGoalKind::Test(_) => {}
        }
    }
}

/// Returns the values of a column, if all goals have a constant there.
fn binding(column: usize, atoms: &[AskedFact]) -> Option<FactBinding> {
    let mut values = BTreeSet::<QueryValue>::new();
    for (terms, _) in atoms {
        let RuleTerm::Constant(value, _) = &terms[column] else { return None };
        values.insert(value.clone());
    }
    Some(FactBinding { column, values: values.into_iter().collect() })
}

/// Returns the range of a column that holds for all goals.
fn widest(column: usize, atoms: &[AskedFact]) -> Option<FactRange> {
    let mut all: Option<FactRange> = None;
    for (_, ranges) in atoms {
        let found = ranges.iter().find(|range| range.column == column)?;
        let held = all.unwrap_or(*found);
        let least = held.least.zip(found.least).map(|(a, b)| a.min(b));
        let most = held.most.zip(found.most).map(|(a, b)| a.max(b));
        all = Some(FactRange { column, least, most });
    }
    all.filter(|range| range.least.is_some() || range.most.is_some())
}

impl<'a> FactTables<'a> {
    /// Makes room for what the goals of a program will ask for.
    pub fn new(
        set: &RuleSet,
        source: &'a dyn FactSource,
        kept: &'a BTreeMap<usize, Rc<FactTable>>,
        budget: &'a QueryBudget<'a>,
    ) -> FactTables<'a> {
        let mut tables = FactTables {
            source,
            kept,
            budget,
            needs: BTreeMap::new(),
            read: BTreeMap::new(),
            explained: Vec::new(),
            notes: Vec::new(),
            n_facts: 0,
        };
        tables.needed_by(set);
        tables
    }

    /// Takes another program as the one that asks; what was read stays.
    pub fn needed_by(&mut self, set: &RuleSet) {
        let needs = requests(set).into_iter();
        self.needs = needs.map(|request| (request.predicate, request)).collect();
    }

    /// Says whether this is a predicate of the source.
    pub fn is_fact(&self, predicate: usize) -> bool {
        predicate < self.source.predicates().len()
    }

    /// Describes a predicate of the source.
    pub fn described(&self, predicate: usize) -> &'a FactPredicate {
        &self.source.predicates()[predicate]
    }

    /// Counts the memory that was read.
    pub fn bytes(&self) -> usize {
        self.read.values().flatten().map(|(_, table)| table.bytes()).sum()
    }

    /// Estimates how many rows of a predicate have one value in each of these columns.
    pub fn estimate(&self, predicate: usize, columns: &[usize]) -> f64 {
        let known = self.kept.get(&predicate).or_else(|| self.whole(predicate));
        if let Some(table) = known {
            return table.estimate(columns);
        }
        let need = self.needs.get(&predicate).cloned();
        let need = need.unwrap_or_else(|| self.everything(predicate));
        let told = self.source.estimate(&need).map_or(UNREAD_ROWS, |n| n as f64);
        columns.iter().fold(told, |rows, _| rows / UNREAD_ROWS_PER_VALUES.min(rows.max(1.0)))
    }

    /// Returns the rows that a goal needs, for the rows that it is done with.
    pub fn table(
        &mut self,
        join: &JoinStep,
        batch: &RowBatch,
        reading: FactReading,
        pool: &mut ValuePool,
    ) -> Result<Rc<FactTable>, QueryError> {
        if let Some(kept) = self.kept.get(&join.predicate) {
            return Ok(Rc::clone(kept));
        }
        let need = self.needs.get(&join.predicate).cloned();
        let need = need.unwrap_or_else(|| self.everything(join.predicate));
        if self.whole(join.predicate).is_none() {
            let narrow = self.narrow(&need, join, batch, reading, pool);
            let read = self.read.entry(join.predicate).or_default();
            if let Some((_, table)) = read.iter().find(|(request, _)| request.covers(&narrow)) {
                return Ok(Rc::clone(table));
            }
            let is_narrower = narrow.bound.iter().any(|b| need.values(b.column).is_none())
                || narrow.ranges.iter().any(|r| need.range(r.column).is_none());
            if is_narrower && read.len() < NARROW_READS_MAX {
                return self.read(narrow, pool);
            }
        }
        match self.whole(join.predicate) {
            Some(table) => Ok(Rc::clone(table)),
            None => self.read(need, pool),
        }
    }

    fn whole(&self, predicate: usize) -> Option<&Rc<FactTable>> {
        let (need, read) = (self.needs.get(&predicate)?, self.read.get(&predicate)?);
        read.iter().find(|(request, _)| request.covers(need)).map(|(_, table)| table)
    }

    fn everything(&self, predicate: usize) -> FactRequest {
        let columns = (0..self.described(predicate).columns.len()).collect();
        FactRequest { predicate, columns, ..FactRequest::default() }
    }

    /// Restricts a request to the values that a goal is bound to.
    fn narrow(
        &self,
        need: &FactRequest,
        join: &JoinStep,
        batch: &RowBatch,
        reading: FactReading,
        pool: &ValuePool,
    ) -> FactRequest {
        let mut bound = Vec::new();
        for (column, cell) in join.columns.iter().zip(&join.cells) {
            let words = match (cell, reading) {
                (PlanCell::Constant(word), _) => Some(vec![*word]),
                (PlanCell::Slot(slot), FactReading::Narrow) => few_values(batch, *slot),
                (PlanCell::Slot(_), FactReading::Wide) => None,
            };
            let Some(words) = words else { continue };
            let mut values: Vec<QueryValue> = words.iter().map(|word| pool.value(*word)).collect();
            values.sort_unstable();
            bound.push(FactBinding { column: *column, values });
        }
        bound.sort_by_key(|binding| binding.column);
        let ranges = join.ranges.clone();
        FactRequest { predicate: need.predicate, columns: need.columns.clone(), bound, ranges }
    }

    fn read(
        &mut self,
        request: FactRequest,
        pool: &mut ValuePool,
    ) -> Result<Rc<FactTable>, QueryError> {
        let predicate = request.predicate;
        let table = Rc::new(self.read_table(&request, pool)?);
        self.read.entry(predicate).or_default().push((request, Rc::clone(&table)));
        Ok(table)
    }

    /// Returns all rows that fit a request, unless a whole table is kept.
    pub fn read_all(
        &mut self,
        request: &FactRequest,
        pool: &mut ValuePool,
    ) -> Result<Rc<FactTable>, QueryError> {
        match self.kept.get(&request.predicate) {
            Some(kept) => Ok(Rc::clone(kept)),
            None => self.read(request.clone(), pool),
        }
    }

    /// Has the source hand over rows, as many as the limits allow.
    pub fn read_table(
        &mut self,
        request: &FactRequest,
        pool: &mut ValuePool,
    ) -> Result<FactTable, QueryError> {
        let described = self.described(request.predicate);
        let kinds: Vec<QueryType> =
            request.columns.iter().map(|column| described.columns[*column].kind).collect();
        let rows_max = self.budget.limits.facts_max.saturating_sub(self.n_facts);
        let began = (self.budget.watch.elapsed_ms)();
        let mut sink = FactSink::new(pool, self.budget.watch, kinds, rows_max);
        self.source
            .read(request, &mut sink)
            .map_err(|source| QueryError::Facts { predicate: described.name.to_owned(), source })?;
        let FactSink { columns: read, n_rows, notes, .. } = sink;
        self.explain(request, n_rows, began);
        for note in notes {
            // What is read twice is damaged twice.
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        self.n_facts += n_rows;
        let mut columns = vec![Vec::new(); described.columns.len()];
        for (column, values) in request.columns.iter().zip(read) {
            columns[*column] = values;
        }
        let table = FactTable::new(columns, n_rows);
        let is_over = n_rows > rows_max;
        self.check_limits(described.name, is_over, pool.bytes() + table.bytes())?;
        Ok(table)
    }

    /// Ends the query when what was read is too much, or came too late.
    fn check_limits(
        &self,
        name: &str,
        has_too_many_rows: bool,
        bytes: usize,
    ) -> Result<(), QueryError> {
        let kind = if self.budget.watch.is_cancelled() {
            return Err(QueryError::Cancelled);
        } else if has_too_many_rows {
            QueryLimitKind::Facts
        } else if self.budget.watch.is_over() {
            QueryLimitKind::Time
        } else if self.bytes() + bytes > self.budget.limits.bytes_max {
            QueryLimitKind::Memory
        } else {
            return Ok(());
        };
        let most = self.budget.most(kind);
        Err(QueryError::Limit { kind, most, rule: name.to_owned(), goal: name.to_owned() })
    }

    fn explain(&mut self, request: &FactRequest, n_rows: usize, began: u64) {
        let described = self.described(request.predicate);
        let columns = &described.columns;
        self.explained.push(ExplainedRead {
            predicate: described.name.to_owned(),
            columns: request.columns.iter().map(|c| columns[*c].name.to_owned()).collect(),
            restrictions: restrictions(request, columns),
            request: request.clone(),
            n_rows,
            elapsed_ms: (self.budget.watch.elapsed_ms)().saturating_sub(began),
        });
    }
}

/// Returns the values of a slot, if there are few.
fn few_values(batch: &RowBatch, slot: usize) -> Option<Vec<u32>> {
    if batch.len() > ROWS_LOOKED_MAX {
        return None;
    }
    let mut values = BTreeSet::new();
    for row in batch.rows() {
        if values.insert(row[slot]) && values.len() > VALUES_MAX {
            return None;
        }
    }
    Some(values.into_iter().collect())
}
