//! Plans: the goals of a rule in the order in which they are done, and what each step does.

use crate::ast::{AggregateKind, TermComparison};
use crate::code::QueryPlace;
use crate::pool::ValuePool;
use crate::rule::{
    CheckedRule, EmptyGroups, RuleAggregate, RuleAtom, RuleGoal, RuleGoalKind, RuleTerm, TestGoal,
};
use crate::safety::{bind_goal, bound_by_equation, is_ready};

/// Where a word of a row comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlanCell {
    Slot(usize),
    Constant(u32),
}

/// Which rows of a predicate a join sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JoinSource {
    /// All of them, which are known.
    Complete,
    /// Those that the last round added.
    Recent,
    /// Those that are known so far.
    Grown,
}

/// A look into a predicate.
#[derive(Debug, Clone)]
pub(crate) struct JoinStep {
    pub predicate: usize,
    pub source: JoinSource,
    pub columns: Vec<usize>,
    pub cells: Vec<PlanCell>,
    /// Columns whose values go into slots.
    pub outputs: Vec<(usize, usize)>,
    /// Columns that have one value, since one variable stands in both.
    pub same: Vec<(usize, usize)>,
}

/// An aggregate.
#[derive(Debug, Clone)]
pub(crate) struct AggregateStep {
    pub kind: AggregateKind,
    pub term: Option<RuleTerm>,
    /// Variables that are bound outside and used inside.
    pub seeds: Vec<usize>,
    pub groups: Vec<usize>,
    pub target: usize,
    pub empty: EmptyGroups,
    pub steps: Vec<PlanStep>,
}

/// What a step does.
#[derive(Debug, Clone)]
pub(crate) enum PlanStepKind {
    Join(JoinStep),
    Absent(JoinStep),
    Compare(TermComparison, RuleTerm, RuleTerm),
    Bind(usize, RuleTerm),
    Test(TestGoal),
    Aggregate(AggregateStep),
}

/// A step and the goal that it comes from.
#[derive(Debug, Clone)]
pub(crate) struct PlanStep {
    pub kind: PlanStepKind,
    pub place: QueryPlace,
}

/// A rule as steps.
#[derive(Debug, Clone)]
pub(crate) struct RulePlan {
    pub rule: usize,
    /// Words of a row: one for each variable, and one that aggregates use.
    pub stride: usize,
    pub steps: Vec<PlanStep>,
    pub head: Vec<PlanCell>,
}

/// What a plan is made with.
pub(crate) struct RulePlanner<'a> {
    pub pool: &'a mut ValuePool,
    /// Estimates how many rows have one value in each of these columns.
    pub estimate: &'a dyn Fn(usize, &[usize]) -> f64,
    /// Says whether a predicate still grows.
    pub grows: &'a dyn Fn(usize) -> bool,
    n_hidden: usize,
}

impl<'a> RulePlanner<'a> {
    pub fn new(
        pool: &'a mut ValuePool,
        estimate: &'a dyn Fn(usize, &[usize]) -> f64,
        grows: &'a dyn Fn(usize) -> bool,
    ) -> RulePlanner<'a> {
        RulePlanner { pool, estimate, grows, n_hidden: 0 }
    }

    /// Plans a rule; `recent` is the goal that only sees what the last round added.
    pub fn plan(&mut self, number: usize, rule: &CheckedRule, recent: Option<usize>) -> RulePlan {
        self.n_hidden = rule.variables.len();
        let mut bound = vec![false; rule.variables.len()];
        let steps = self.body(&rule.body, &mut bound, recent);
        let head = rule.head.terms.iter().map(|term| self.cell(term)).collect();
        RulePlan { rule: number, stride: self.n_hidden + 1, steps, head }
    }

    fn cell(&mut self, term: &RuleTerm) -> PlanCell {
        match term {
            RuleTerm::Variable(variable) => PlanCell::Slot(*variable),
            RuleTerm::Constant(value, _) => PlanCell::Constant(self.pool.intern_value(value)),
            RuleTerm::Blank
            | RuleTerm::Id(..)
            | RuleTerm::Negate(_)
            | RuleTerm::Binary(..)
            | RuleTerm::Call(..) => {
                unreachable!("BUG: arguments are variables and constants after names are looked up")
            }
        }
    }

    /// Orders goals: filters as early as they can be done, what may fail as late as it may be, and
    /// of the others first what gives the fewest rows.
    fn body(
        &mut self,
        body: &[RuleGoal],
        bound: &mut [bool],
        recent: Option<usize>,
    ) -> Vec<PlanStep> {
        let mut waiting: Vec<(usize, &RuleGoal)> = body.iter().enumerate().collect();
        let mut steps = Vec::new();
        if let Some(first) = recent {
            let at = waiting.iter().position(|(number, _)| *number == first).unwrap_or(0);
            let (_, goal) = waiting.remove(at);
            self.step(goal, bound, JoinSource::Recent, &mut steps);
        }
        while !waiting.is_empty() {
            let at = self.next_goal(&waiting, bound);
            let (_, goal) = waiting.remove(at);
            self.step(goal, bound, JoinSource::Grown, &mut steps);
        }
        steps
    }

    fn next_goal(&self, waiting: &[(usize, &RuleGoal)], bound: &[bool]) -> usize {
        let ready = |goal: &RuleGoal| is_ready(goal, bound);
        let find = |fits: &dyn Fn(&RuleGoal) -> bool| {
            waiting.iter().position(|(_, goal)| fits(goal) && ready(goal))
        };
        let filter = find(&|goal| is_filter(goal) && !may_fail(goal));
        let needed = || find(&|goal| is_filter(goal) && binds_for_others(goal, waiting, bound));
        let best = || {
            let atoms = waiting.iter().enumerate().filter_map(|(at, (_, goal))| match &goal.kind {
                RuleGoalKind::Positive(atom) => Some((self.cost(atom, bound), at)),
                RuleGoalKind::Negative(_)
                | RuleGoalKind::Compare(..)
                | RuleGoalKind::Test(_)
                | RuleGoalKind::Aggregate(_) => None,
            });
            atoms.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).map(|(_, at)| at)
        };
        let aggregate = || find(&|goal| matches!(goal.kind, RuleGoalKind::Aggregate(_)));
        let rest = || find(&|_| true);
        let found = filter.or_else(needed).or_else(best).or_else(aggregate).or_else(rest);
        found.expect("BUG: goals that never become ready are findings")
    }

    fn cost(&self, atom: &RuleAtom, bound: &[bool]) -> f64 {
        let is_key = |term: &RuleTerm| match term {
            RuleTerm::Variable(variable) => bound[*variable],
            RuleTerm::Constant(..) => true,
            RuleTerm::Blank
            | RuleTerm::Id(..)
            | RuleTerm::Negate(_)
            | RuleTerm::Binary(..)
            | RuleTerm::Call(..) => false,
        };
        let keys: Vec<usize> =
            (0..atom.terms.len()).filter(|column| is_key(&atom.terms[*column])).collect();
        (self.estimate)(atom.predicate, &keys)
    }

    fn step(
        &mut self,
        goal: &RuleGoal,
        bound: &mut [bool],
        source: JoinSource,
        steps: &mut Vec<PlanStep>,
    ) {
        let place = goal.place;
        let kind = match &goal.kind {
            RuleGoalKind::Positive(atom) => PlanStepKind::Join(self.join(atom, bound, source)),
            RuleGoalKind::Negative(atom) => {
                PlanStepKind::Absent(self.join(atom, bound, JoinSource::Complete))
            }
            RuleGoalKind::Compare(comparison, left, right) => {
                match (bound_by_equation(goal, bound), left, right) {
                    (Some(v), RuleTerm::Variable(variable), other) if *variable == v => {
                        PlanStepKind::Bind(v, other.clone())
                    }
                    (Some(v), other, _) => PlanStepKind::Bind(v, other.clone()),
                    (None, ..) => PlanStepKind::Compare(*comparison, left.clone(), right.clone()),
                }
            }
            RuleGoalKind::Test(test) => PlanStepKind::Test(test.clone()),
            RuleGoalKind::Aggregate(aggregate) => {
                self.aggregate(aggregate, bound, place, steps);
                bind_goal(goal, bound);
                return;
            }
        };
        bind_goal(goal, bound);
        steps.push(PlanStep { kind, place });
    }

    fn join(&mut self, atom: &RuleAtom, bound: &[bool], source: JoinSource) -> JoinStep {
        let grows = source != JoinSource::Complete && (self.grows)(atom.predicate);
        let source = if grows { source } else { JoinSource::Complete };
        let mut step = JoinStep {
            predicate: atom.predicate,
            source,
            columns: Vec::new(),
            cells: Vec::new(),
            outputs: Vec::new(),
            same: Vec::new(),
        };
        for (column, term) in atom.terms.iter().enumerate() {
            match term {
                RuleTerm::Blank => {}
                RuleTerm::Variable(variable) if !bound[*variable] => {
                    match step.outputs.iter().find(|(_, slot)| slot == variable) {
                        Some((first, _)) => step.same.push((*first, column)),
                        None => step.outputs.push((column, *variable)),
                    }
                }
                RuleTerm::Variable(_)
                | RuleTerm::Constant(..)
                | RuleTerm::Id(..)
                | RuleTerm::Negate(_)
                | RuleTerm::Binary(..)
                | RuleTerm::Call(..) => {
                    step.columns.push(column);
                    step.cells.push(self.cell(term));
                }
            }
        }
        step
    }

    fn aggregate(
        &mut self,
        aggregate: &RuleAggregate,
        bound: &[bool],
        place: QueryPlace,
        steps: &mut Vec<PlanStep>,
    ) {
        let mut seeds = Vec::new();
        aggregate.each_inner_variable(&mut |variable| {
            if bound.get(variable) == Some(&true) && !seeds.contains(&variable) {
                seeds.push(variable);
            }
        });
        let mut inner = vec![false; bound.len()];
        seeds.iter().for_each(|variable| inner[*variable] = true);
        let inner_steps = self.body(&aggregate.body, &mut inner, None);
        let groups = aggregate.groups.iter().copied().filter(|v| !bound[*v]).collect();
        // A target that has a value already is compared with what the aggregate gives.
        let is_taken = bound[aggregate.target];
        let target = if is_taken { self.n_hidden } else { aggregate.target };
        let kind = PlanStepKind::Aggregate(AggregateStep {
            kind: aggregate.kind,
            term: aggregate.term.clone(),
            seeds,
            groups,
            target,
            empty: aggregate.empty,
            steps: inner_steps,
        });
        steps.push(PlanStep { kind, place });
        if is_taken {
            self.n_hidden += 1;
            let terms = (RuleTerm::Variable(aggregate.target), RuleTerm::Variable(target));
            let kind = PlanStepKind::Compare(TermComparison::Equal, terms.0, terms.1);
            steps.push(PlanStep { kind, place });
        }
    }
}

fn is_filter(goal: &RuleGoal) -> bool {
    match &goal.kind {
        RuleGoalKind::Negative(_) | RuleGoalKind::Compare(..) | RuleGoalKind::Test(_) => true,
        RuleGoalKind::Positive(_) | RuleGoalKind::Aggregate(_) => false,
    }
}

fn may_fail(goal: &RuleGoal) -> bool {
    match &goal.kind {
        RuleGoalKind::Compare(_, left, right) => left.may_fail() || right.may_fail(),
        RuleGoalKind::Test(test) => test.terms.iter().any(RuleTerm::may_fail),
        RuleGoalKind::Positive(_) | RuleGoalKind::Negative(_) | RuleGoalKind::Aggregate(_) => false,
    }
}

/// Says whether a goal binds what another goal looks rows up by, so that it must not wait.
fn binds_for_others(goal: &RuleGoal, waiting: &[(usize, &RuleGoal)], bound: &[bool]) -> bool {
    let Some(variable) = bound_by_equation(goal, bound) else { return false };
    waiting.iter().any(|(_, other)| {
        let mut uses = false;
        let looks = matches!(other.kind, RuleGoalKind::Positive(_) | RuleGoalKind::Aggregate(_));
        other.each_variable(&mut |found| uses |= looks && found == variable);
        uses
    })
}
