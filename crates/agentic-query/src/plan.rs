//! Plans: the goals of a rule in the order in which they are done, and what each step does.

use crate::ast::{AggregateKind, TermComparison};
use crate::code::QueryPlace;
use crate::fact::FactRange;
use crate::pool::ValuePool;
use crate::range::BodyRanges;
use crate::rule::{
    CheckedRule, EmptyGroups, RuleAggregate, RuleAtom, RuleGoal, RuleGoalKind, RuleTerm,
    RuleVariable, TestGoal,
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
    /// What the other goals say of the numbers in columns; facts may be read by it.
    pub ranges: Vec<FactRange>,
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
    /// The variables of the rule.
    pub variables: &'a [RuleVariable],
    /// Estimates how many rows have one value in each of these columns.
    pub estimate: &'a dyn Fn(usize, &[usize]) -> f64,
    /// Says whether a predicate still grows.
    pub grows: &'a dyn Fn(usize) -> bool,
}

/// The goals of a body that wait to be done, and what those before them bind.
pub(crate) struct PlanCursor<'a> {
    waiting: Vec<(usize, &'a RuleGoal)>,
    bound: Vec<bool>,
    ranges: BodyRanges<'a>,
    /// How many slots there are, with those that stand for no variable.
    n_slots: usize,
}

impl<'a> PlanCursor<'a> {
    /// Begins with a body, of whose variables some are bound.
    pub fn new(
        body: &'a [RuleGoal],
        variables: &'a [RuleVariable],
        bound: Vec<bool>,
    ) -> PlanCursor<'a> {
        PlanCursor {
            waiting: body.iter().enumerate().collect(),
            bound,
            ranges: BodyRanges::new(body, variables),
            n_slots: variables.len(),
        }
    }

    /// Begins with all of a rule, and nothing bound.
    pub fn of_rule(rule: &'a CheckedRule) -> PlanCursor<'a> {
        PlanCursor::new(&rule.body, &rule.variables, vec![false; rule.variables.len()])
    }

    /// Says whether no goal waits.
    pub fn is_done(&self) -> bool {
        self.waiting.is_empty()
    }
}

/// Counts the words of a row of a rule: one for each variable, one for each aggregate whose target
/// may be bound already, and one that aggregates use.
pub(crate) fn stride_of(rule: &CheckedRule) -> usize {
    rule.variables.len() + n_aggregates(&rule.body) + 1
}

fn n_aggregates(body: &[RuleGoal]) -> usize {
    let count = |goal: &RuleGoal| match &goal.kind {
        RuleGoalKind::Aggregate(aggregate) => 1 + n_aggregates(&aggregate.body),
        RuleGoalKind::Positive(_)
        | RuleGoalKind::Negative(_)
        | RuleGoalKind::Compare(..)
        | RuleGoalKind::Test(_) => 0,
    };
    body.iter().map(count).sum()
}

impl RulePlanner<'_> {
    /// Plans a whole rule that is done in each round; `recent` is the goal that only sees what the
    /// last one added.
    pub fn plan(&mut self, number: usize, rule: &CheckedRule, recent: usize) -> RulePlan {
        let mut cursor = PlanCursor::of_rule(rule);
        let mut steps = Vec::new();
        let at = cursor.waiting.iter().position(|(number, _)| *number == recent).unwrap_or(0);
        self.take(&mut cursor, at, JoinSource::Recent, &mut steps);
        while !cursor.is_done() {
            self.next(&mut cursor, &mut steps);
        }
        RulePlan { rule: number, stride: stride_of(rule), steps, head: self.head(rule) }
    }

    /// Returns where the words of a head come from.
    pub fn head(&mut self, rule: &CheckedRule) -> Vec<PlanCell> {
        rule.head.terms.iter().map(|term| self.cell(term)).collect()
    }

    /// Plans the goal that is done next: filters as early as they can be done, what may fail as late
    /// as it may be, and of the others first what gives the fewest rows.
    pub fn next(&mut self, cursor: &mut PlanCursor<'_>, steps: &mut Vec<PlanStep>) {
        let at = self.next_goal(&cursor.waiting, &cursor.bound);
        self.take(cursor, at, JoinSource::Grown, steps);
    }

    fn take(
        &mut self,
        cursor: &mut PlanCursor<'_>,
        at: usize,
        source: JoinSource,
        steps: &mut Vec<PlanStep>,
    ) {
        let (_, goal) = cursor.waiting.remove(at);
        self.step(goal, cursor, source, steps);
        bind_goal(goal, &mut cursor.bound);
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
        cursor: &mut PlanCursor<'_>,
        source: JoinSource,
        steps: &mut Vec<PlanStep>,
    ) {
        let place = goal.place;
        let bound = cursor.bound.as_slice();
        let kind = match &goal.kind {
            RuleGoalKind::Positive(atom) => {
                let mut join = self.join(atom, bound, source);
                join.ranges = cursor.ranges.of_atom(atom);
                PlanStepKind::Join(join)
            }
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
                self.aggregate(aggregate, cursor, place, steps);
                return;
            }
        };
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
            ranges: Vec::new(),
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
        cursor: &mut PlanCursor<'_>,
        place: QueryPlace,
        steps: &mut Vec<PlanStep>,
    ) {
        let bound = &cursor.bound;
        let mut seeds = Vec::new();
        aggregate.each_inner_variable(&mut |variable| {
            if bound.get(variable) == Some(&true) && !seeds.contains(&variable) {
                seeds.push(variable);
            }
        });
        let mut inner = vec![false; bound.len()];
        seeds.iter().for_each(|variable| inner[*variable] = true);
        let mut within = PlanCursor::new(&aggregate.body, self.variables, inner);
        within.n_slots = cursor.n_slots;
        let mut inner_steps = Vec::new();
        while !within.is_done() {
            self.next(&mut within, &mut inner_steps);
        }
        let groups = aggregate.groups.iter().copied().filter(|v| !bound[*v]).collect();
        // A target that has a value already is compared with what the aggregate gives.
        let is_taken = bound[aggregate.target];
        let target = if is_taken { within.n_slots } else { aggregate.target };
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
        cursor.n_slots = within.n_slots + usize::from(is_taken);
        if is_taken {
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
