//! Ranges: what comparisons with constants say about the numbers of a column.
//!
//! `At > now - 2h` bounds `At`, and so does `Age = now - At, Age > 2h`. Sources leave out what lies
//! outside; the comparisons themselves stay, so that a range never decides anything.

use crate::ast::{Arithmetic, TermComparison};
use crate::fact::FactRange;
use crate::rule::{RuleAtom, RuleGoal, RuleGoalKind, RuleTerm, RuleVariable};
use crate::value::QueryValue;

/// How often equations are followed: `Age = now - At` needs one time, and few are chained.
const ROUNDS_MAX: usize = 3;

/// Between which numbers a variable is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct NumberInterval {
    least: Option<i64>,
    most: Option<i64>,
}

/// A term that is a number, or a variable with a sign and a number added.
#[derive(Debug, Clone, Copy)]
enum LinearTerm {
    Constant(i64),
    Plus(usize, i64),
    Minus(usize, i64),
}

/// What is known of the variables of one body.
pub(crate) struct BodyRanges<'a> {
    intervals: Vec<NumberInterval>,
    variables: &'a [RuleVariable],
}

impl BodyRanges<'_> {
    /// Reads the comparisons of a body.
    pub fn new<'a>(body: &[RuleGoal], variables: &'a [RuleVariable]) -> BodyRanges<'a> {
        let intervals = vec![NumberInterval::default(); variables.len()];
        let mut ranges = BodyRanges { intervals, variables };
        for _ in 0..ROUNDS_MAX {
            let before = ranges.intervals.clone();
            body.iter().for_each(|goal| ranges.take(goal));
            if ranges.intervals == before {
                break;
            }
        }
        ranges
    }

    /// Lists the ranges of the columns of an atom.
    pub fn of_atom(&self, atom: &RuleAtom) -> Vec<FactRange> {
        let range = |(column, term): (usize, &RuleTerm)| {
            let RuleTerm::Variable(variable) = term else { return None };
            let NumberInterval { least, most } = *self.intervals.get(*variable)?;
            (least.is_some() || most.is_some()).then_some(FactRange { column, least, most })
        };
        atom.terms.iter().enumerate().filter_map(range).collect()
    }

    fn take(&mut self, goal: &RuleGoal) {
        let RuleGoalKind::Compare(comparison, left, right) = &goal.kind else { return };
        let (Some(left), Some(right)) = (self.linear(left), self.linear(right)) else { return };
        match comparison {
            TermComparison::Equal => {
                self.at_most(left, right);
                self.at_most(right, left);
            }
            TermComparison::Less => self.below(left, right),
            TermComparison::AtMost => self.at_most(left, right),
            TermComparison::Greater => self.below(right, left),
            TermComparison::AtLeast => self.at_most(right, left),
            TermComparison::NotEqual => {}
        }
    }

    fn below(&mut self, left: LinearTerm, right: LinearTerm) {
        if let Some(left) = left.plus(1) {
            self.at_most(left, right);
        }
    }

    /// Takes in that one term is not more than another.
    fn at_most(&mut self, left: LinearTerm, right: LinearTerm) {
        if let Some(most) = self.most(right) {
            self.bound_most(left, most);
        }
        if let Some(least) = self.least(left) {
            self.bound_least(right, least);
        }
    }

    fn most(&self, term: LinearTerm) -> Option<i64> {
        match term {
            LinearTerm::Constant(number) => Some(number),
            LinearTerm::Plus(variable, added) => self.intervals[variable].most?.checked_add(added),
            LinearTerm::Minus(variable, added) => {
                added.checked_sub(self.intervals[variable].least?)
            }
        }
    }

    fn least(&self, term: LinearTerm) -> Option<i64> {
        match term {
            LinearTerm::Constant(number) => Some(number),
            LinearTerm::Plus(variable, added) => self.intervals[variable].least?.checked_add(added),
            LinearTerm::Minus(variable, added) => added.checked_sub(self.intervals[variable].most?),
        }
    }

    fn bound_most(&mut self, term: LinearTerm, most: i64) {
        match term {
            LinearTerm::Constant(_) => {}
            LinearTerm::Plus(variable, added) => self.lower(variable, most.checked_sub(added)),
            LinearTerm::Minus(variable, added) => self.raise(variable, added.checked_sub(most)),
        }
    }

    fn bound_least(&mut self, term: LinearTerm, least: i64) {
        match term {
            LinearTerm::Constant(_) => {}
            LinearTerm::Plus(variable, added) => self.raise(variable, least.checked_sub(added)),
            LinearTerm::Minus(variable, added) => self.lower(variable, added.checked_sub(least)),
        }
    }

    fn lower(&mut self, variable: usize, most: Option<i64>) {
        let held = &mut self.intervals[variable].most;
        *held = [*held, most].into_iter().flatten().min();
    }

    fn raise(&mut self, variable: usize, least: Option<i64>) {
        let held = &mut self.intervals[variable].least;
        *held = [*held, least].into_iter().flatten().max();
    }

    /// Reads a term of whole numbers, instants and durations; products of them wait for the rows.
    fn linear(&self, term: &RuleTerm) -> Option<LinearTerm> {
        match term {
            RuleTerm::Constant(QueryValue::Int(number), _) => Some(LinearTerm::Constant(*number)),
            // Between two whole numbers there are floats.
            RuleTerm::Variable(variable) => {
                let kind = self.variables.get(*variable)?.kind;
                let is_whole = kind.is_some_and(|kind| kind.fits(&QueryValue::Int(0)));
                is_whole.then_some(LinearTerm::Plus(*variable, 0))
            }
            RuleTerm::Negate(inner) => self.linear(inner)?.negated(),
            RuleTerm::Binary(Arithmetic::Add, left, right) => {
                sum(self.linear(left)?, self.linear(right)?)
            }
            RuleTerm::Binary(Arithmetic::Subtract, left, right) => {
                sum(self.linear(left)?, self.linear(right)?.negated()?)
            }
            RuleTerm::Binary(
                Arithmetic::Multiply | Arithmetic::Divide | Arithmetic::Modulo,
                _,
                _,
            )
            | RuleTerm::Blank
            | RuleTerm::Constant(..)
            | RuleTerm::Id(..)
            | RuleTerm::Call(..) => None,
        }
    }
}

impl LinearTerm {
    fn plus(self, number: i64) -> Option<LinearTerm> {
        Some(match self {
            LinearTerm::Constant(held) => LinearTerm::Constant(held.checked_add(number)?),
            LinearTerm::Plus(variable, held) => {
                LinearTerm::Plus(variable, held.checked_add(number)?)
            }
            LinearTerm::Minus(variable, held) => {
                LinearTerm::Minus(variable, held.checked_add(number)?)
            }
        })
    }

    fn negated(self) -> Option<LinearTerm> {
        Some(match self {
            LinearTerm::Constant(held) => LinearTerm::Constant(held.checked_neg()?),
            LinearTerm::Plus(variable, held) => LinearTerm::Minus(variable, held.checked_neg()?),
            LinearTerm::Minus(variable, held) => LinearTerm::Plus(variable, held.checked_neg()?),
        })
    }
}

fn sum(left: LinearTerm, right: LinearTerm) -> Option<LinearTerm> {
    match (left, right) {
        (LinearTerm::Constant(number), other) | (other, LinearTerm::Constant(number)) => {
            other.plus(number)
        }
        (
            LinearTerm::Plus(..) | LinearTerm::Minus(..),
            LinearTerm::Plus(..) | LinearTerm::Minus(..),
        ) => None,
    }
}
