//! Evaluation: facts are read, then predicates are computed, those that others need first.

mod aggregate;
mod grown;
mod load;
mod step;
mod term;

use std::collections::BTreeMap;
use std::rc::Rc;

use datafrog::Iteration;

use crate::code::QueryPlace;
use crate::fact::FactSource;
use crate::limit::{QueryBudget, QueryError, QueryStop};
use crate::plan::{JoinSource, PlanCell, PlanStepKind, RulePlan, RulePlanner};
use crate::pool::ValuePool;
use crate::rule::{PredicateOrigin, RuleGoalKind, RuleSet};
use crate::strata::components;
use crate::table::FactTable;

pub(crate) use self::grown::GROWN_COLUMNS_MAX;
use self::grown::GrownPredicate;
pub(crate) use self::load::{BaseTables, read_whole, requests};
use self::step::{RowBatch, RowGround, StepRunner, StepStop};

/// How many rows a predicate is taken to have while it grows.
const GROWING_ROWS: f64 = 1_000.0;

/// Computes all predicates of a program.
pub(crate) struct Evaluation<'a> {
    pub set: &'a RuleSet,
    pub pool: &'a mut ValuePool,
    pub budget: &'a QueryBudget<'a>,
    ground: KnownRows,
    pub notes: Vec<String>,
    pub n_facts: usize,
}

/// The rows that are known or growing.
#[derive(Default)]
struct KnownRows {
    tables: Vec<Rc<FactTable>>,
    grown: BTreeMap<usize, GrownPredicate>,
    bytes: usize,
    grown_bytes: usize,
}

impl RowGround for KnownRows {
    fn table(&self, predicate: usize) -> &FactTable {
        &self.tables[predicate]
    }

    fn grown(&self, predicate: usize) -> &GrownPredicate {
        &self.grown[&predicate]
    }

    fn held(&self) -> usize {
        self.bytes + self.grown_bytes
    }
}

impl<'a> Evaluation<'a> {
    /// Reads the facts that a program asks for.
    pub fn start(
        set: &'a RuleSet,
        base: &'a mut BaseTables,
        facts: &dyn FactSource,
        budget: &'a QueryBudget<'a>,
    ) -> Result<Evaluation<'a>, QueryError> {
        let loaded = load::load(set, base, facts, budget)?;
        let BaseTables { pool, .. } = base;
        let mut ground = KnownRows { tables: loaded.tables, ..KnownRows::default() };
        ground.bytes =
            pool.bytes() + ground.tables.iter().map(|table| table.bytes()).sum::<usize>();
        let (notes, n_facts) = (loaded.notes, loaded.n_facts);
        Ok(Evaluation { set, pool, budget, ground, notes, n_facts })
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
            let rules: Vec<usize> = members.iter().flat_map(|m| rules_of[*m].clone()).collect();
            let is_recursive =
                rules.iter().any(|rule| !self.recursive_goals(*rule, &members).is_empty());
            if is_recursive {
                self.run_recursive(&members, &rules)?;
            } else {
                self.run_once(members[0], &rules)?;
            }
        }
        Ok(())
    }

    /// Returns the rows of a predicate.
    pub fn table(&self, predicate: usize) -> &Rc<FactTable> {
        &self.ground.tables[predicate]
    }

    /// Lists the goals of a rule that ask for what is still growing.
    fn recursive_goals(&self, rule: usize, members: &[usize]) -> Vec<usize> {
        let goals = self.set.rules[rule].body.iter().enumerate();
        let recursive = goals.filter(|(_, goal)| match &goal.kind {
            RuleGoalKind::Positive(atom) => members.contains(&atom.predicate),
            RuleGoalKind::Negative(_)
            | RuleGoalKind::Compare(..)
            | RuleGoalKind::Test(_)
            | RuleGoalKind::Aggregate(_) => false,
        });
        recursive.map(|(number, _)| number).collect()
    }

    fn plan(&mut self, rule: usize, recent: Option<usize>, members: &[usize]) -> RulePlan {
        let tables = &self.ground.tables;
        let estimate = |predicate: usize, columns: &[usize]| {
            if members.contains(&predicate) {
                return GROWING_ROWS / (1.0 + columns.len() as f64);
            }
            tables[predicate].estimate(columns)
        };
        let grows = |predicate: usize| recent.is_some() && members.contains(&predicate);
        let mut planner = RulePlanner::new(self.pool, &estimate, &grows);
        planner.plan(rule, &self.set.rules[rule], recent)
    }

    /// Does a plan and returns the rows of its head, flat, and their number.
    fn run_plan(&mut self, plan: &RulePlan) -> Result<(Vec<u32>, usize), QueryError> {
        let rule = &self.set.rules[plan.rule];
        let mut runner = StepRunner {
            ground: &self.ground,
            pool: self.pool,
            budget: self.budget,
            variables: &rule.variables,
        };
        let batch = runner.run(&plan.steps, RowBatch::start(plan.stride));
        let batch = batch.map_err(|stop| self.error(plan.rule, stop))?;
        let mut rows = Vec::with_capacity(batch.len() * plan.head.len());
        for row in batch.rows() {
            rows.extend(plan.head.iter().map(|cell| match cell {
                PlanCell::Slot(slot) => row[*slot],
                PlanCell::Constant(word) => *word,
            }));
        }
        Ok((rows, batch.len()))
    }

    fn run_once(&mut self, predicate: usize, rules: &[usize]) -> Result<(), QueryError> {
        let width = self.set.predicates[predicate].kinds.len();
        let (mut rows, mut n_rows) = (Vec::new(), 0);
        for rule in rules {
            let plan = self.plan(*rule, None, &[]);
            let (found, n_found) = self.run_plan(&plan)?;
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

    fn finish(&mut self, predicate: usize, table: FactTable) {
        self.ground.bytes += table.bytes();
        self.ground.tables[predicate] = Rc::new(table);
    }

    fn run_recursive(&mut self, members: &[usize], rules: &[usize]) -> Result<(), QueryError> {
        let (mut first, mut later) = (Vec::new(), Vec::new());
        for rule in rules {
            let goals = self.recursive_goals(*rule, members);
            if goals.is_empty() {
                first.push(self.plan(*rule, None, members));
            }
            for goal in goals {
                later.push(self.plan(*rule, Some(goal), members));
            }
        }
        let mut iteration = Iteration::new();
        self.arrange(&mut iteration, members, &later);
        for plan in &first {
            self.add(plan)?;
        }
        while iteration.changed() {
            for plan in &later {
                if self.has_recent(plan) {
                    self.add(plan)?;
                }
            }
        }
        for member in members {
            let Some(grown) = self.ground.grown.remove(member) else { continue };
            let width = self.set.predicates[*member].kinds.len();
            let rows = grown.complete();
            let unit = usize::from(self.has_unit(*member));
            let n_rows = rows.len().checked_div(width).unwrap_or(unit);
            let columns = (0..width).map(|c| rows.iter().skip(c).step_by(width).copied().collect());
            self.finish(*member, FactTable::new(columns.collect(), n_rows));
        }
        self.ground.grown_bytes = 0;
        Ok(())
    }

    /// Says whether a predicate without columns has its row: some rule found it.
    fn has_unit(&self, predicate: usize) -> bool {
        self.ground.tables[predicate].len() > 0
    }

    /// Makes the growing predicates, in the orders that the joins look rows up by.
    fn arrange(&mut self, iteration: &mut Iteration, members: &[usize], plans: &[RulePlan]) {
        for member in members {
            let width = self.set.predicates[*member].kinds.len();
            let key = plans.iter().find_map(|plan| leading_columns(plan, *member));
            let grown = GrownPredicate::new(iteration, width, &key.unwrap_or_default());
            self.ground.grown.insert(*member, grown);
        }
        for plan in plans {
            for step in &plan.steps {
                if let PlanStepKind::Join(join) = &step.kind
                    && join.source == JoinSource::Grown
                    && let Some(grown) = self.ground.grown.get_mut(&join.predicate)
                {
                    grown.arrange(iteration, &join.columns);
                }
            }
        }
    }

    fn has_recent(&self, plan: &RulePlan) -> bool {
        match plan.steps.first().map(|step| &step.kind) {
            Some(PlanStepKind::Join(join)) => self.ground.grown(join.predicate).n_recent() > 0,
            _ => false,
        }
    }

    fn add(&mut self, plan: &RulePlan) -> Result<(), QueryError> {
        let (rows, n_rows) = self.run_plan(plan)?;
        let predicate = self.set.rules[plan.rule].head.predicate;
        let width = plan.head.len();
        self.ground.grown_bytes += n_rows * (width + 2) * 4;
        if width == 0 && n_rows > 0 {
            self.ground.tables[predicate] = Rc::new(FactTable::new(Vec::new(), 1));
        }
        if n_rows > 0 {
            self.ground.grown[&predicate].insert(&rows, n_rows);
        }
        Ok(())
    }

    fn error(&self, rule: usize, (stop, place): StepStop) -> QueryError {
        let rule = &self.set.rules[rule];
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
        }
    }
}

/// Cuts a goal out of the text of its rule.
fn goal_text(text: &str, rule: QueryPlace, goal: QueryPlace) -> String {
    let start = goal.span.start.wrapping_sub(rule.span.start);
    let end = goal.span.end.wrapping_sub(rule.span.start);
    text.get(start..end).unwrap_or(text).to_owned()
}

/// Returns the columns of a growing predicate that the step behind it looks rows up by, so that the
/// rows of a round come in the order of that index.
fn leading_columns(plan: &RulePlan, predicate: usize) -> Option<Vec<usize>> {
    let [first, second, ..] = plan.steps.as_slice() else { return None };
    let PlanStepKind::Join(first) = &first.kind else { return None };
    let (PlanStepKind::Join(second) | PlanStepKind::Absent(second)) = &second.kind else {
        return None;
    };
    if first.predicate != predicate {
        return None;
    }
    let column = |cell: &PlanCell| match cell {
        PlanCell::Slot(slot) => {
            first.outputs.iter().find(|(_, output)| output == slot).map(|(column, _)| *column)
        }
        PlanCell::Constant(_) => None,
    };
    let mut columns = Vec::new();
    for column in second.cells.iter().filter_map(column) {
        // One variable may stand in several columns of the step behind it.
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    Some(columns)
}
