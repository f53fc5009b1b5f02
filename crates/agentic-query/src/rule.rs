//! Rules with names looked up: predicates, variables and constants are numbers and values.

use std::borrow::Cow;
use std::rc::Rc;

use regex::Regex;

use crate::ast::{AggregateKind, Arithmetic, OrderDirection, TermComparison};
use crate::code::QueryPlace;
use crate::fact::FactColumn;
use crate::function::{QueryFunction, TextTest};
use crate::value::{QueryType, QueryValue};

/// A predicate: a fact, what rules define, or the answer of a query.
#[derive(Debug, Clone)]
pub(crate) struct RulePredicate {
    pub name: Cow<'static, str>,
    /// The columns, for facts.
    pub columns: Cow<'static, [FactColumn]>,
    pub kinds: Vec<Option<QueryType>>,
    pub origin: PredicateOrigin,
    /// The number of the predicate in the program as it is written, of which this may be a copy.
    pub source: usize,
    pub place: QueryPlace,
}

/// Where a predicate comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PredicateOrigin {
    Fact,
    Rules,
    Query,
    /// The values that goals bind a copy of a predicate to.
    Guard,
}

/// A term.
#[derive(Debug, Clone)]
pub(crate) enum RuleTerm {
    Blank,
    Constant(QueryValue, Option<QueryType>),
    Variable(usize),
    /// An id that waits for its type: the number of its node, and its text.
    Id(usize, String),
    Negate(Box<RuleTerm>),
    Binary(Arithmetic, Box<RuleTerm>, Box<RuleTerm>),
    Call(QueryFunction, Vec<RuleTerm>),
}

/// A predicate with arguments: blanks, constants and variables only.
#[derive(Debug, Clone)]
pub(crate) struct RuleAtom {
    pub predicate: usize,
    pub terms: Vec<RuleTerm>,
}

/// A goal and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct RuleGoal {
    pub kind: RuleGoalKind,
    pub place: QueryPlace,
}

/// What a goal asks.
#[derive(Debug, Clone)]
pub(crate) enum RuleGoalKind {
    Positive(RuleAtom),
    Negative(RuleAtom),
    Compare(TermComparison, RuleTerm, RuleTerm),
    Test(TestGoal),
    Aggregate(RuleAggregate),
}

/// A test of texts.
#[derive(Debug, Clone)]
pub(crate) struct TestGoal {
    pub sign: TestSign,
    pub test: TextTest,
    pub terms: Vec<RuleTerm>,
    pub expression: Option<Rc<Regex>>,
}

/// Whether a test has to hold or must not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TestSign {
    Holds,
    Fails,
}

/// An aggregate.
#[derive(Debug, Clone)]
pub(crate) struct RuleAggregate {
    pub target: usize,
    pub kind: AggregateKind,
    pub term: Option<RuleTerm>,
    pub body: Vec<RuleGoal>,
    /// Variables of the head that only aggregates bind: groups without a match do not exist.
    pub groups: Vec<usize>,
    /// Whether there are such variables, even if a constant stands for them by now.
    pub empty: EmptyGroups,
    /// Variables inside the braces that goals outside have to bind first.
    pub needs: Vec<usize>,
}

/// What an aggregate gives where nothing matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EmptyGroups {
    /// No row.
    Absent,
    /// What the aggregate of nothing is.
    Counted,
}

/// A variable of a rule.
#[derive(Debug, Clone)]
pub(crate) struct RuleVariable {
    pub name: String,
    pub kind: Option<QueryType>,
    pub place: QueryPlace,
    pub n_uses: usize,
    /// Whether a goal that might have bound it is a finding itself.
    pub is_lost: bool,
}

/// A rule.
#[derive(Debug, Clone)]
pub(crate) struct CheckedRule {
    pub head: RuleAtom,
    pub body: Vec<RuleGoal>,
    pub variables: Vec<RuleVariable>,
    pub place: QueryPlace,
    /// The rule as it is written.
    pub text: String,
}

/// How the rows of a query are shown.
#[derive(Debug, Clone)]
pub(crate) struct CheckedQuery {
    pub predicate: usize,
    pub columns: Vec<String>,
    pub order: Vec<(usize, OrderDirection)>,
    pub limit: Option<u64>,
    pub offset: u64,
    pub is_why: bool,
}

/// All of a program.
#[derive(Debug, Clone, Default)]
pub(crate) struct RuleSet {
    pub predicates: Vec<RulePredicate>,
    pub rules: Vec<CheckedRule>,
    pub queries: Vec<CheckedQuery>,
}

impl RuleTerm {
    /// Visits the variables.
    pub fn each_variable(&self, visit: &mut impl FnMut(usize)) {
        match self {
            RuleTerm::Blank | RuleTerm::Constant(..) | RuleTerm::Id(..) => {}
            RuleTerm::Variable(variable) => visit(*variable),
            RuleTerm::Negate(inner) => inner.each_variable(visit),
            RuleTerm::Binary(_, left, right) => {
                left.each_variable(visit);
                right.each_variable(visit);
            }
            RuleTerm::Call(_, args) => args.iter().for_each(|arg| arg.each_variable(visit)),
        }
    }

    /// Says whether all variables are among these.
    pub fn is_bound(&self, bound: &[bool]) -> bool {
        let mut all = !matches!(self, RuleTerm::Blank);
        self.each_variable(&mut |variable| all &= bound[variable]);
        all
    }

    /// Says whether computing it may end the query.
    pub fn may_fail(&self) -> bool {
        match self {
            RuleTerm::Negate(_) | RuleTerm::Binary(..) => true,
            RuleTerm::Call(_, args) => args.iter().any(RuleTerm::may_fail),
            RuleTerm::Blank | RuleTerm::Constant(..) | RuleTerm::Variable(_) | RuleTerm::Id(..) => {
                false
            }
        }
    }
}

impl RuleGoal {
    /// Visits the variables, those inside aggregates too.
    pub fn each_variable(&self, visit: &mut impl FnMut(usize)) {
        match &self.kind {
            RuleGoalKind::Positive(atom) | RuleGoalKind::Negative(atom) => {
                atom.terms.iter().for_each(|term| term.each_variable(visit));
            }
            RuleGoalKind::Compare(_, left, right) => {
                left.each_variable(visit);
                right.each_variable(visit);
            }
            RuleGoalKind::Test(test) => {
                test.terms.iter().for_each(|term| term.each_variable(visit));
            }
            RuleGoalKind::Aggregate(aggregate) => {
                visit(aggregate.target);
                aggregate.each_inner_variable(&mut *visit);
            }
        }
    }
}

impl RuleAggregate {
    /// Visits the variables inside the braces.
    pub fn each_inner_variable(&self, mut visit: &mut dyn FnMut(usize)) {
        if let Some(term) = &self.term {
            term.each_variable(&mut visit);
        }
        self.body.iter().for_each(|goal| goal.each_variable(&mut |variable| visit(variable)));
    }
}

/// Visits all atoms of a body, those inside aggregates too, and says how each is asked.
pub(crate) fn each_atom(body: &[RuleGoal], visit: &mut dyn FnMut(&RuleAtom, AtomUse, QueryPlace)) {
    for goal in body {
        match &goal.kind {
            RuleGoalKind::Positive(atom) => visit(atom, AtomUse::Positive, goal.place),
            RuleGoalKind::Negative(atom) => visit(atom, AtomUse::Complete, goal.place),
            RuleGoalKind::Aggregate(aggregate) => {
                each_atom(&aggregate.body, &mut |atom, _, place| {
                    visit(atom, AtomUse::Complete, place);
                });
            }
            RuleGoalKind::Compare(..) | RuleGoalKind::Test(_) => {}
        }
    }
}

/// Whether a goal may see a predicate while it grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtomUse {
    Positive,
    /// All rows have to be known: negation and aggregates.
    Complete,
}
