//! Reasons as they are shown: from a row down, each row once, until there are enough.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use crate::answer::AnswerSet;
use crate::fact::{FactBinding, FactRequest};
use crate::limit::QueryError;
use crate::plan::stride_of;
use crate::pool::ValuePool;
use crate::reason::{
    QueryReasons, REASON_MATCHES_MAX, REASON_NODES_MAX, ReasonCell, ReasonGoal, ReasonGround,
    ReasonNode, ReasonRule,
};
use crate::rule::{CheckedRule, RuleAggregate, RuleAtom, RuleGoal, RuleGoalKind};
use crate::value::QueryValue;

use super::derive::{DerivationSearch, ReasonRow, filled};
use super::goal_text;
use super::step::RowBatch;

/// What is known of a fact, and its node.
type FactNode = (ReasonRow, usize);

/// Makes the reasons of one query.
struct ReasonBuilder<'s, 'a> {
    search: &'s mut DerivationSearch<'a>,
    nodes: Vec<ReasonNode>,
    /// The node of each row that was met; none for those that have no room.
    known: HashMap<ReasonRow, Option<usize>>,
    open: VecDeque<ReasonRow>,
    /// Facts whose other columns are still to be read.
    facts: Vec<FactNode>,
    n_more: usize,
}

/// Says why rows of an answer are there.
pub(crate) fn reasons(
    search: &mut DerivationSearch<'_>,
    query: usize,
    answer: &AnswerSet,
    wanted: &[usize],
) -> Result<QueryReasons, QueryError> {
    let predicate = search.evaluation.set.queries[query].predicate;
    let mut builder = ReasonBuilder {
        search,
        nodes: Vec::new(),
        known: HashMap::new(),
        open: VecDeque::new(),
        facts: Vec::new(),
        n_more: 0,
    };
    let mut rows = Vec::new();
    for row in wanted {
        let Some(values) = answer.rows.get(*row) else { continue };
        let pool = &mut *builder.search.evaluation.pool;
        let cells = values.iter().map(|value| Some(pool.intern_value(value))).collect();
        rows.push((*row, builder.meet(ReasonRow { predicate, cells, nth: 0 })));
    }
    builder.build()?;
    builder.read_facts()?;
    Ok(QueryReasons { query, rows, nodes: builder.nodes, n_more: builder.n_more })
}

impl ReasonBuilder<'_, '_> {
    /// Returns the node of a row, a new one if there is room.
    fn meet(&mut self, row: ReasonRow) -> Option<usize> {
        if let Some(known) = self.known.get(&row) {
            return *known;
        }
        let node = (self.nodes.len() < REASON_NODES_MAX).then_some(self.nodes.len());
        self.known.insert(row.clone(), node);
        match node {
            Some(number) => {
                self.nodes.push(self.node(&row));
                if !self.search.is_derived(&row) {
                    self.facts.push((row.clone(), number));
                }
            }
            None => self.n_more += 1,
        }
        if self.search.is_derived(&row) {
            self.open.push_back(row);
        }
        node
    }

    fn node(&self, row: &ReasonRow) -> ReasonNode {
        let predicate = &self.search.evaluation.set.predicates[row.predicate];
        let cells = self.cells(row);
        ReasonNode { predicate: predicate.name.to_string(), cells, height: 0, rule: None }
    }

    fn cells(&self, row: &ReasonRow) -> Vec<ReasonCell> {
        let evaluation = &self.search.evaluation;
        let predicate = &evaluation.set.predicates[row.predicate];
        let cell = |(column, cell): (usize, &Option<u32>)| ReasonCell {
            column: predicate.columns.get(column).map(|column| column.name.to_owned()),
            value: cell.map(|word| evaluation.pool.value(word)),
            kind: predicate.kinds[column].unwrap_or_default(),
        };
        row.cells.iter().enumerate().map(cell).collect()
    }

    /// Goes down from the rows that were met; those that aggregates matched are explored when all
    /// others are done.
    fn build(&mut self) -> Result<(), QueryError> {
        while !self.open.is_empty() {
            let has_node = |row: &&ReasonRow| has_room(&self.known, row);
            let unknown = self.open.iter().filter(|row| !self.search.is_known(row));
            let unknown: BTreeSet<ReasonRow> = unknown.filter(has_node).cloned().collect();
            if !unknown.is_empty() {
                self.search.explore(&unknown)?;
            }
            // What has no room and nobody knows the ways to is counted as one.
            for row in std::mem::take(&mut self.open) {
                if self.search.is_known(&row) {
                    self.expand(&row)?;
                } else if has_room(&self.known, &row) {
                    self.open.push_back(row);
                }
            }
        }
        Ok(())
    }

    /// Shows why a row is there.
    fn expand(&mut self, row: &ReasonRow) -> Result<(), QueryError> {
        let found = self.search.lowest(row);
        let (number, slots) = found.expect("BUG: every row that was found has a derivation");
        let set = self.search.evaluation.set;
        let rule = &set.rules[number];
        let Some(node) = self.known.get(row).copied().flatten() else {
            // There is no room; what it stands on is counted, too.
            for goal in &rule.body {
                if let RuleGoalKind::Positive(atom) = &goal.kind {
                    let needed = filled(atom, &slots, self.search.evaluation.pool);
                    self.meet(needed);
                }
            }
            return Ok(());
        };
        let goals = self.goals(rule, &rule.body, &slots, 0)?;
        let variables = rule.variables.iter().zip(&slots).zip(bound_outside(rule));
        let shown = variables
            .filter(|((variable, _), is_bound)| *is_bound && !variable.name.starts_with('_'));
        let pool = &*self.search.evaluation.pool;
        let variable = |((variable, word), _): ((&crate::rule::RuleVariable, &u32), bool)| {
            (variable.name.clone(), pool.value(*word), variable.kind.unwrap_or_default())
        };
        let variables = shown.map(variable).collect();
        self.nodes[node].height = self.search.height(row);
        self.nodes[node].rule = Some(ReasonRule { text: rule.text.clone(), variables, goals });
        Ok(())
    }

    /// Says why goals hold; `nth` tells apart what differs only in columns that they leave open.
    fn goals(
        &mut self,
        rule: &CheckedRule,
        body: &[RuleGoal],
        slots: &[u32],
        nth: usize,
    ) -> Result<Vec<ReasonGoal>, QueryError> {
        let mut goals = Vec::with_capacity(body.len());
        for goal in body {
            let text = goal_text(&rule.text, rule.place, goal.place);
            let ground = match &goal.kind {
                RuleGoalKind::Positive(atom) => {
                    let mut row = filled(atom, slots, self.search.evaluation.pool);
                    let is_open = row.cells.iter().any(Option::is_none);
                    row.nth = if is_open { nth } else { 0 };
                    ReasonGround::Row(self.meet(row))
                }
                RuleGoalKind::Negative(atom) => self.absent(atom, slots),
                RuleGoalKind::Compare(..) | RuleGoalKind::Test(_) => ReasonGround::Holds,
                RuleGoalKind::Aggregate(aggregate) => self.aggregate(rule, aggregate, slots)?,
            };
            goals.push(ReasonGoal { text, ground });
        }
        Ok(goals)
    }

    fn absent(&mut self, atom: &RuleAtom, slots: &[u32]) -> ReasonGround {
        let row = filled(atom, slots, self.search.evaluation.pool);
        let predicate = self.search.evaluation.set.predicates[row.predicate].name.to_string();
        ReasonGround::Absent { predicate, cells: self.cells(&row) }
    }

    fn aggregate(
        &mut self,
        rule: &CheckedRule,
        aggregate: &RuleAggregate,
        slots: &[u32],
    ) -> Result<ReasonGround, QueryError> {
        let mut bound = vec![false; rule.variables.len()];
        aggregate.needs.iter().chain(&aggregate.groups).for_each(|v| bound[*v] = true);
        let stride = stride_of(rule);
        let mut words = vec![0; stride];
        words[..slots.len()].copy_from_slice(slots);
        let start = (RowBatch { stride, words }, bound);
        let evaluation = &mut self.search.evaluation;
        let done = evaluation.run_goals(rule, &aggregate.body, start, &mut Vec::new());
        let batch = done.map_err(|stop| evaluation.error(rule, stop))?;
        let first = first_rows(&batch, rule.variables.len(), evaluation.pool);
        let mut matches = Vec::new();
        for (number, found) in first.iter().enumerate() {
            let nth = first[..number].iter().filter(|other| *other == found).count();
            matches.push(self.goals(rule, &aggregate.body, found, nth)?);
        }
        Ok(ReasonGround::Aggregate {
            name: aggregate.kind.name(),
            value: self.search.evaluation.pool.value(slots[aggregate.target]),
            kind: rule.variables[aggregate.target].kind.unwrap_or_default(),
            n_matches: batch.len(),
            matches,
        })
    }

    /// Reads the columns of facts that goals left open, for they name what the facts are about. Of
    /// several rows that fit the least is shown, and in each further match of an aggregate the next.
    fn read_facts(&mut self) -> Result<(), QueryError> {
        let mut groups: BTreeMap<(usize, Vec<usize>), Vec<FactNode>> = BTreeMap::new();
        for (row, node) in std::mem::take(&mut self.facts) {
            let known = (0..row.cells.len()).filter(|column| row.cells[*column].is_some());
            let known: Vec<usize> = known.collect();
            if known.len() < row.cells.len() {
                groups.entry((row.predicate, known)).or_default().push((row, node));
            }
        }
        for ((predicate, known), rows) in groups {
            self.read_rest(predicate, &known, rows)?;
        }
        Ok(())
    }

    fn read_rest(
        &mut self,
        predicate: usize,
        known: &[usize],
        rows: Vec<FactNode>,
    ) -> Result<(), QueryError> {
        let evaluation = &mut self.search.evaluation;
        let bound = known.iter().map(|column| binding(*column, &rows, evaluation.pool));
        let width = evaluation.set.predicates[predicate].kinds.len();
        let columns = (0..width).collect();
        let request =
            FactRequest { predicate, columns, bound: bound.collect(), ranges: Vec::new() };
        let table = evaluation.facts.read_all(&request, evaluation.pool)?;
        let index = table.index(known);
        let mut least: HashMap<Vec<u32>, Vec<Vec<QueryValue>>> = HashMap::new();
        for (row, node) in rows {
            let key: Vec<u32> = row.cells.iter().filter_map(|cell| *cell).collect();
            let least = least.entry(key).or_insert_with_key(|key| {
                let found = if known.is_empty() {
                    0..table.len()
                } else {
                    table.find(known, &index, key, 0)
                };
                let values = |at: usize| -> Vec<QueryValue> {
                    (0..width).map(|c| evaluation.pool.value(table.cell(index[at], c))).collect()
                };
                let mut all: Vec<Vec<QueryValue>> = found.map(values).collect();
                all.sort_unstable();
                all.truncate(REASON_MATCHES_MAX);
                all
            });
            if least.is_empty() {
                continue;
            }
            let nth = row.nth % least.len();
            for (cell, value) in self.nodes[node].cells.iter_mut().zip(&least[nth]) {
                cell.value = Some(value.clone());
            }
        }
        Ok(())
    }
}

fn has_room(known: &HashMap<ReasonRow, Option<usize>>, row: &ReasonRow) -> bool {
    known.get(row).is_some_and(Option::is_some)
}

/// Says of each variable whether goals outside of braces bind it.
fn bound_outside(rule: &CheckedRule) -> Vec<bool> {
    let mut bound = vec![false; rule.variables.len()];
    let mut mark = |variable: usize| bound[variable] = true;
    for goal in &rule.body {
        match &goal.kind {
            RuleGoalKind::Aggregate(aggregate) => {
                mark(aggregate.target);
                aggregate.groups.iter().for_each(|group| mark(*group));
            }
            RuleGoalKind::Positive(_)
            | RuleGoalKind::Negative(_)
            | RuleGoalKind::Compare(..)
            | RuleGoalKind::Test(_) => goal.each_variable(&mut mark),
        }
    }
    bound
}

fn binding(column: usize, rows: &[FactNode], pool: &ValuePool) -> FactBinding {
    let words = rows.iter().filter_map(|(row, _)| row.cells[column]);
    let values: BTreeSet<QueryValue> = words.map(|word| pool.value(word)).collect();
    FactBinding { column, values: values.into_iter().collect() }
}

/// Returns the least rows of a batch, as many as are shown.
fn first_rows(batch: &RowBatch, n_variables: usize, pool: &ValuePool) -> Vec<Vec<u32>> {
    let mut rows: Vec<&[u32]> = batch.rows().map(|row| &row[..n_variables]).collect();
    let values =
        |row: &&[u32]| -> Vec<QueryValue> { row.iter().map(|word| pool.value(*word)).collect() };
    rows.sort_by_cached_key(values);
    rows.into_iter().take(REASON_MATCHES_MAX).map(<[u32]>::to_vec).collect()
}
