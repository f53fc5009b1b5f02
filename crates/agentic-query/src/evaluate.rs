//! Evaluation: predicates are computed, those that others need first; facts are read on the way.

mod aggregate;
mod derive;
mod facts;
mod grown;
mod reason;
mod recursion;
mod step;
mod term;

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::code::QueryPlace;
use crate::explain::{ExplainedRule, ExplainedStep, ExplainedStratum, QueryExplanation};
use crate::fact::FactSource;
use crate::limit::{QueryBudget, QueryError, QueryStop};
use crate::plan::{PlanCell, PlanCursor, PlanStep, PlanStepKind, RulePlanner, stride_of};
use crate::pool::ValuePool;
use crate::rule::{CheckedRule, PredicateOrigin, RuleGoal, RulePredicate, RuleSet};
use crate::strata::components;
use crate::table::FactTable;

pub(crate) use self::derive::{DerivationSearch, with_open_cells};
pub(crate) use self::facts::{BaseTables, FactReading, FactTables, requests};
pub(crate) use self::grown::GROWN_COLUMNS_MAX;
use self::grown::GrownPredicate;
pub(crate) use self::reason::reasons;
pub(crate) use self::step::{RowBatch, StepRunner, StepStop};

/// Computes all predicates of a program.
pub(crate) struct Evaluation<'a> {
    pub set: &'a RuleSet,
    pub pool: &'a mut ValuePool,
    pub budget: &'a QueryBudget<'a>,
    pub facts: FactTables<'a>,
    pub ground: KnownRows,
    strata: Vec<ExplainedStratum>,
}

/// The rows that are known or growing.
#[derive(Default)]
pub(crate) struct KnownRows {
    /// The rows of each predicate that rules define; facts are read by goals.
    pub tables: Vec<Rc<FactTable>>,
    pub grown: BTreeMap<usize, GrownPredicate>,
    pub bytes: usize,
    pub grown_bytes: usize,
}

impl<'a> Evaluation<'a> {
    /// Prepares a program; nothing is read before a goal asks for it.
    pub fn new(
        set: &'a RuleSet,
        base: &'a mut BaseTables,
        facts: &'a dyn FactSource,
        budget: &'a QueryBudget<'a>,
    ) -> Evaluation<'a> {
        let BaseTables { pool, kept } = base;
        let nothing = Rc::new(FactTable::default());
        let tables = vec![nothing; set.predicates.len()];
        let bytes = kept.values().map(|table| table.bytes()).sum();
        let ground = KnownRows { tables, bytes, ..KnownRows::default() };
        let facts = FactTables::new(set, facts, kept, budget);
        Evaluation { set, pool, budget, facts, ground, strata: Vec::new() }
    }

    /// Computes everything; afterwards each predicate has its table.
    pub fn run(&mut self) -> Result<(), QueryError> {
        let mut rules_of = vec![Vec::new(); self.set.predicates.len()];
        for (number, rule) in self.set.rules.iter().enumerate() {
            rules_of[rule.head.predicate].push(number);
        }
        for members in components(self.set) {
            if self.set.predicates[members[0]].origin == PredicateOrigin::Fact {
                continue;
            }
            let began = self.elapsed_ms();
            self.strata.push(ExplainedStratum { n_rounds: 1, ..ExplainedStratum::default() });
            let rules: Vec<usize> = members.iter().flat_map(|m| rules_of[*m].clone()).collect();
            let is_recursive =
                rules.iter().any(|rule| !self.recursive_goals(*rule, &members).is_empty());
            if is_recursive {
                self.run_recursive(&members, &rules)?;
            } else {
                self.run_once(members[0], &rules)?;
            }
            self.finish_stratum(&members, began);
        }
        Ok(())
    }

    /// Turns to the rules as they are written, with the rows that copies of them found.
    pub fn into_written(self, written: &'a RuleSet) -> Evaluation<'a> {
        let Evaluation { set, pool, budget, mut facts, ground, .. } = self;
        facts.needed_by(written);
        let mut copies: BTreeMap<usize, Vec<&Rc<FactTable>>> = BTreeMap::new();
        for (copy, table) in set.predicates.iter().zip(&ground.tables) {
            copies.entry(copy.source).or_default().push(table);
        }
        let mut bytes = 0;
        let table = |predicate: &RulePredicate| {
            let found = copies.get(&predicate.source).map_or(&[][..], Vec::as_slice);
            let table = FactTable::union(found);
            bytes += table.bytes();
            table
        };
        let tables = written.predicates.iter().map(table).collect();
        let ground = KnownRows { tables, bytes, ..KnownRows::default() };
        Evaluation { set: written, pool, budget, facts, ground, strata: Vec::new() }
    }

    /// Returns the rows of a predicate.
    pub fn table(&self, predicate: usize) -> &Rc<FactTable> {
        &self.ground.tables[predicate]
    }

    /// Tells what was done.
    pub fn explanation(&mut self) -> QueryExplanation {
        QueryExplanation {
            strata: std::mem::take(&mut self.strata),
            reads: std::mem::take(&mut self.facts.explained),
            caches: Vec::new(),
            n_rows: self.budget.n_rows() as u64,
            elapsed_ms: self.elapsed_ms(),
        }
    }

    fn elapsed_ms(&self) -> u64 {
        (self.budget.watch.elapsed_ms)()
    }

    fn finish_stratum(&mut self, members: &[usize], began: u64) {
        let elapsed_ms = self.elapsed_ms().saturating_sub(began);
        let rows = |member: &usize| {
            (self.set.predicates[*member].name.to_string(), self.ground.tables[*member].len())
        };
        let predicates = members.iter().map(rows).collect();
        if let Some(stratum) = self.strata.last_mut() {
            (stratum.predicates, stratum.elapsed_ms) = (predicates, elapsed_ms);
        }
    }

    fn explain(&mut self, rule: ExplainedRule) {
        if let Some(stratum) = self.strata.last_mut() {
            stratum.rules.push(rule);
        }
    }

    /// Returns what does the steps of a rule.
    fn runner<'r>(&'r mut self, rule: &'r CheckedRule, reading: FactReading) -> StepRunner<'r, 'a> {
        StepRunner {
            ground: &self.ground,
            facts: &mut self.facts,
            reading,
            pool: self.pool,
            budget: self.budget,
            variables: &rule.variables,
        }
    }

    fn run_once(&mut self, predicate: usize, rules: &[usize]) -> Result<(), QueryError> {
        let width = self.set.predicates[predicate].kinds.len();
        let (mut rows, mut n_rows) = (Vec::new(), 0);
        for rule in rules {
            let (found, n_found) = self.run_rule(*rule)?;
            n_rows += n_found;
            if rows.is_empty() {
                rows = found;
            } else {
                rows.extend(found);
            }
        }
        self.finish(predicate, FactTable::distinct(&rows, width, n_rows));
        Ok(())
    }

    /// Does a rule that is done once, and returns the rows of its head, flat, and their number.
    fn run_rule(&mut self, number: usize) -> Result<(Vec<u32>, usize), QueryError> {
        let set = self.set;
        let rule = &set.rules[number];
        let mut explained = ExplainedRule { rule: rule.text.clone(), ..ExplainedRule::default() };
        let start = (RowBatch::start(stride_of(rule)), vec![false; rule.variables.len()]);
        let done = self.run_goals(rule, &rule.body, start, &mut explained.steps);
        let batch = done.map_err(|stop| self.error(rule, stop))?;
        let head = self.planner(rule, &|_, _| 0.0, &|_| false).head(rule);
        explained.n_rows = batch.len();
        self.explain(explained);
        Ok((project(&head, &batch), batch.len()))
    }

    /// Does goals of a rule, each planned when the rows of those before it are known.
    pub fn run_goals(
        &mut self,
        rule: &CheckedRule,
        body: &[RuleGoal],
        (mut batch, bound): (RowBatch, Vec<bool>),
        explained: &mut Vec<ExplainedStep>,
    ) -> Result<RowBatch, StepStop> {
        let mut cursor = PlanCursor::new(body, &rule.variables, bound);
        while !cursor.is_done() && !batch.words.is_empty() {
            let mut steps = Vec::new();
            let (tables, facts) = (&self.ground.tables, &self.facts);
            let estimate = |predicate: usize, columns: &[usize]| {
                if facts.is_fact(predicate) {
                    return facts.estimate(predicate, columns);
                }
                tables[predicate].estimate(columns)
            };
            let (estimate, pool) = (&estimate, &mut *self.pool);
            let variables = rule.variables.as_slice();
            RulePlanner { pool, variables, estimate, grows: &|_| false }
                .next(&mut cursor, &mut steps);
            for step in &steps {
                let n_in = batch.len();
                let one = std::slice::from_ref(step);
                batch = self.runner(rule, FactReading::Narrow).run(one, batch)?;
                let told = self.explained_step(rule, step, n_in, batch.len());
                explained.push(told);
            }
        }
        if !cursor.is_done() {
            batch.words.clear();
        }
        Ok(batch)
    }

    fn planner<'r>(
        &'r mut self,
        rule: &'r CheckedRule,
        estimate: &'r dyn Fn(usize, &[usize]) -> f64,
        grows: &'r dyn Fn(usize) -> bool,
    ) -> RulePlanner<'r> {
        RulePlanner { pool: self.pool, variables: &rule.variables, estimate, grows }
    }

    fn explained_step(
        &self,
        rule: &CheckedRule,
        step: &PlanStep,
        n_in: usize,
        n_out: usize,
    ) -> ExplainedStep {
        let mut goal = goal_text(&rule.text, rule.place, step.place);
        let mut bound_by = Vec::new();
        if let PlanStepKind::Join(join) | PlanStepKind::Absent(join) = &step.kind {
            let predicate = &self.set.predicates[join.predicate];
            if predicate.origin == PredicateOrigin::Guard {
                goal = predicate.name.to_string();
            }
            for (column, cell) in join.columns.iter().zip(&join.cells) {
                let name = predicate.columns.get(*column).map(|column| column.name.to_owned());
                let by = match cell {
                    PlanCell::Slot(slot) => {
                        rule.variables.get(*slot).map_or(String::new(), |v| v.name.clone())
                    }
                    PlanCell::Constant(word) => {
                        let kind = predicate.kinds[*column].unwrap_or_default();
                        self.pool.value(*word).to_json(kind)
                    }
                };
                bound_by.push((name.unwrap_or_else(|| (column + 1).to_string()), by));
            }
        }
        ExplainedStep { goal, bound_by, n_in, n_out }
    }

    fn finish(&mut self, predicate: usize, table: FactTable) {
        self.ground.bytes += table.bytes();
        self.ground.tables[predicate] = Rc::new(table);
    }

    /// Makes an error of a stop, with the rule and the goal that it happened at.
    pub fn error(&self, rule: &CheckedRule, (stop, place): StepStop) -> QueryError {
        let goal = goal_text(&rule.text, rule.place, place);
        match stop {
            QueryStop::Limit(kind) => {
                let most = self.budget.most(kind);
                QueryError::Limit { kind, most, rule: rule.text.clone(), goal }
            }
            QueryStop::Arithmetic { what, row } => {
                QueryError::Arithmetic { what, rule: rule.text.clone(), goal, row }
            }
            QueryStop::Cancelled => QueryError::Cancelled,
            QueryStop::Read(error) => *error,
        }
    }
}

/// Makes the rows of a head, flat.
fn project(head: &[PlanCell], batch: &RowBatch) -> Vec<u32> {
    let mut rows = Vec::with_capacity(batch.len() * head.len());
    for row in batch.rows() {
        rows.extend(head.iter().map(|cell| match cell {
            PlanCell::Slot(slot) => row[*slot],
            PlanCell::Constant(word) => *word,
        }));
    }
    rows
}

/// Cuts a goal out of the text of its rule.
pub(crate) fn goal_text(text: &str, rule: QueryPlace, goal: QueryPlace) -> String {
    let start = goal.span.start.wrapping_sub(rule.span.start);
    let end = goal.span.end.wrapping_sub(rule.span.start);
    text.get(start..end).unwrap_or(text).to_owned()
}
