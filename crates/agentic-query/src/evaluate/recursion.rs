//! Recursive predicates: computed in rounds, each of which begins with what the last one added.

use std::rc::Rc;

use datafrog::Iteration;

use crate::explain::{ExplainedRule, ExplainedStep};
use crate::limit::QueryError;
use crate::plan::{JoinSource, PlanCell, PlanStepKind, RulePlan};
use crate::rule::RuleGoalKind;
use crate::table::FactTable;

use super::facts::FactReading;
use super::grown::GrownPredicate;
use super::step::RowBatch;
use super::{Evaluation, project};

/// How many rows a predicate is taken to have while it grows.
const GROWING_ROWS: f64 = 1_000.0;

/// A plan that is done in each round, and what it did so far.
struct RoundPlan {
    plan: RulePlan,
    explained: ExplainedRule,
}

impl Evaluation<'_> {
    /// Lists the goals of a rule that ask for what is still growing.
    pub fn recursive_goals(&self, rule: usize, members: &[usize]) -> Vec<usize> {
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

    /// Computes predicates that depend on each other.
    pub fn run_recursive(&mut self, members: &[usize], rules: &[usize]) -> Result<(), QueryError> {
        // Rules that ask for nothing that grows come first: where they find nothing, there is no
        // recursion, and nothing is read for it.
        let mut first = Vec::new();
        for rule in rules {
            if !self.recursive_goals(*rule, members).is_empty() {
                continue;
            }
            let (rows, n_rows) = self.run_rule(*rule)?;
            if n_rows > 0 {
                first.push((self.set.rules[*rule].head.predicate, rows, n_rows));
            }
        }
        let mut iteration = Iteration::new();
        let mut later = Vec::new();
        if !first.is_empty() {
            for rule in rules {
                for goal in self.recursive_goals(*rule, members) {
                    later.push(self.round_plan(*rule, goal, members));
                }
            }
        }
        self.arrange(&mut iteration, members, &later);
        for (predicate, rows, n_rows) in first {
            self.insert(predicate, &rows, n_rows);
        }
        let mut n_rounds = 1;
        while iteration.changed() {
            n_rounds += 1;
            for plan in &mut later {
                if self.has_recent(&plan.plan) {
                    self.run_round(plan)?;
                }
            }
        }
        if let Some(stratum) = self.strata.last_mut() {
            stratum.n_rounds = n_rounds;
            stratum.rules.extend(later.into_iter().map(|plan| plan.explained));
        }
        self.finish_recursive(members);
        Ok(())
    }

    fn round_plan(&mut self, rule: usize, recent: usize, members: &[usize]) -> RoundPlan {
        let set = self.set;
        let (tables, facts) = (&self.ground.tables, &self.facts);
        let estimate = |predicate: usize, columns: &[usize]| {
            if members.contains(&predicate) {
                return GROWING_ROWS / (1.0 + columns.len() as f64);
            }
            if facts.is_fact(predicate) {
                return facts.estimate(predicate, columns);
            }
            tables[predicate].estimate(columns)
        };
        let found = &set.rules[rule];
        let mut planner = crate::plan::RulePlanner {
            pool: self.pool,
            variables: &found.variables,
            estimate: &estimate,
            grows: &|predicate| members.contains(&predicate),
        };
        let plan = planner.plan(rule, found, recent);
        let steps: Vec<ExplainedStep> =
            plan.steps.iter().map(|step| self.explained_step(found, step, 0, 0)).collect();
        let explained = ExplainedRule { rule: found.text.clone(), steps, n_rows: 0 };
        RoundPlan { plan, explained }
    }

    /// Does a plan for the rows that the last round added.
    fn run_round(&mut self, round: &mut RoundPlan) -> Result<(), QueryError> {
        let set = self.set;
        let rule = &set.rules[round.plan.rule];
        let mut batch = RowBatch::start(round.plan.stride);
        for (step, told) in round.plan.steps.iter().zip(&mut round.explained.steps) {
            told.n_in += batch.len();
            let one = std::slice::from_ref(step);
            let done = self.runner(rule, FactReading::Wide).run(one, batch);
            batch = done.map_err(|stop| self.error(rule, stop))?;
            told.n_out += batch.len();
            if batch.words.is_empty() {
                return Ok(());
            }
        }
        round.explained.n_rows += batch.len();
        let rows = project(&round.plan.head, &batch);
        self.insert(rule.head.predicate, &rows, batch.len());
        Ok(())
    }

    fn finish_recursive(&mut self, members: &[usize]) {
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
    }

    /// Says whether a predicate without columns has its row: some rule found it.
    fn has_unit(&self, predicate: usize) -> bool {
        self.ground.tables[predicate].len() > 0
    }

    /// Makes the growing predicates, in the orders that the joins look rows up by.
    fn arrange(&mut self, iteration: &mut Iteration, members: &[usize], plans: &[RoundPlan]) {
        for member in members {
            let width = self.set.predicates[*member].kinds.len();
            let key = plans.iter().find_map(|round| leading_columns(&round.plan, *member));
            let grown = GrownPredicate::new(iteration, width, &key.unwrap_or_default());
            self.ground.grown.insert(*member, grown);
        }
        for step in plans.iter().flat_map(|round| &round.plan.steps) {
            if let PlanStepKind::Join(join) = &step.kind
                && join.source == JoinSource::Grown
                && let Some(grown) = self.ground.grown.get_mut(&join.predicate)
            {
                grown.arrange(iteration, &join.columns);
            }
        }
    }

    fn has_recent(&self, plan: &RulePlan) -> bool {
        match plan.steps.first().map(|step| &step.kind) {
            Some(PlanStepKind::Join(join)) => self.ground.grown[&join.predicate].n_recent() > 0,
            _ => false,
        }
    }

    fn insert(&mut self, predicate: usize, rows: &[u32], n_rows: usize) {
        let width = self.set.predicates[predicate].kinds.len();
        self.ground.grown_bytes += n_rows * (width + 2) * 4;
        if width == 0 && n_rows > 0 {
            self.ground.tables[predicate] = Rc::new(FactTable::new(Vec::new(), 1));
        }
        if n_rows > 0 {
            self.ground.grown[&predicate].insert(rows, n_rows);
        }
    }
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
