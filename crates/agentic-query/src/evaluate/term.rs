//! Terms over one row: arithmetic, functions, comparisons and tests.

use std::cmp::Ordering;

use agentic_model::Instant;

use crate::ast::{Arithmetic, TermComparison};
use crate::function::{QueryFunction, TextTest, floor_instant, number_of, pointed};
use crate::pool::{NULL, ValuePool};
use crate::rule::{RuleTerm, RuleVariable, TestGoal, TestSign};
use crate::types::arithmetic_kind;
use crate::value::{QueryType, QueryValue};

/// A value with its type; nothing where there is no row.
pub(crate) type ComputedTerm = Result<Option<(QueryValue, QueryType)>, &'static str>;

const OVERFLOW: &str = "a number overflowed";
const BY_ZERO: &str = "something was divided by zero";

/// Computes over rows of one rule.
pub(crate) struct TermReader<'a> {
    pub pool: &'a mut ValuePool,
    pub variables: &'a [RuleVariable],
}

impl TermReader<'_> {
    fn kind(&self, variable: usize) -> QueryType {
        self.variables.get(variable).and_then(|found| found.kind).unwrap_or(QueryType::Text)
    }

    /// Computes a term as a number of the pool.
    pub fn word(&mut self, term: &RuleTerm, row: &[u32]) -> Result<Option<u32>, &'static str> {
        match term {
            RuleTerm::Variable(variable) => Ok(Some(row[*variable])),
            RuleTerm::Constant(value, _) => Ok(Some(self.pool.intern_value(value))),
            RuleTerm::Blank
            | RuleTerm::Id(..)
            | RuleTerm::Negate(_)
            | RuleTerm::Binary(..)
            | RuleTerm::Call(..) => {
                let value = self.value(term, row)?;
                Ok(value.map(|(value, _)| self.pool.intern_value(&value)))
            }
        }
    }

    /// Computes a term.
    pub fn value(&mut self, term: &RuleTerm, row: &[u32]) -> ComputedTerm {
        match term {
            RuleTerm::Blank | RuleTerm::Id(..) => Ok(None),
            RuleTerm::Variable(variable) => {
                Ok(Some((self.pool.value(row[*variable]), self.kind(*variable))))
            }
            RuleTerm::Constant(value, kind) => {
                Ok(Some((value.clone(), kind.unwrap_or(QueryType::Text))))
            }
            RuleTerm::Negate(inner) => match self.value(inner, row)? {
                Some((QueryValue::Int(number), kind)) => {
                    let number = number.checked_neg().ok_or(OVERFLOW)?;
                    Ok(Some((QueryValue::Int(number), kind)))
                }
                Some((QueryValue::Float(number), kind)) => {
                    Ok(QueryValue::float(-number).map(|value| (value, kind)))
                }
                Some((QueryValue::Null | QueryValue::Bool(_) | QueryValue::Text(_), _)) | None => {
                    Ok(None)
                }
            },
            RuleTerm::Binary(operator, left, right) => {
                let left = self.value(left, row)?;
                let right = self.value(right, row)?;
                let (Some(left), Some(right)) = (left, right) else { return Ok(None) };
                compute(*operator, left, right)
            }
            RuleTerm::Call(function, args) => {
                let mut values = Vec::with_capacity(args.len());
                for arg in args {
                    match self.value(arg, row)? {
                        Some((QueryValue::Null, _)) | None => return Ok(None),
                        Some(found) => values.push(found),
                    }
                }
                Ok(call(*function, &values))
            }
        }
    }

    /// Says whether a comparison holds.
    pub fn compare(
        &mut self,
        comparison: TermComparison,
        left: &RuleTerm,
        right: &RuleTerm,
        row: &[u32],
    ) -> Result<bool, &'static str> {
        if let (Some(a), Some(b)) = (self.quick(left, row), self.quick(right, row))
            && let Some(decided) = quick_compare(comparison, a, b, self.is_one_type(left, right))
        {
            return Ok(decided);
        }
        let (left, right) = (self.value(left, row)?, self.value(right, row)?);
        let (Some((left, _)), Some((right, _))) = (left, right) else { return Ok(false) };
        Ok(holds(comparison, &left, &right))
    }

    /// Returns the number of a term that needs no computing.
    fn quick(&mut self, term: &RuleTerm, row: &[u32]) -> Option<u32> {
        match term {
            RuleTerm::Variable(variable) => Some(row[*variable]),
            RuleTerm::Constant(value, _) => Some(self.pool.intern_value(value)),
            RuleTerm::Blank
            | RuleTerm::Id(..)
            | RuleTerm::Negate(_)
            | RuleTerm::Binary(..)
            | RuleTerm::Call(..) => None,
        }
    }

    fn is_one_type(&self, left: &RuleTerm, right: &RuleTerm) -> bool {
        let kind = |term: &RuleTerm| match term {
            RuleTerm::Variable(variable) => self.variables.get(*variable).and_then(|v| v.kind),
            RuleTerm::Constant(_, kind) => *kind,
            RuleTerm::Blank
            | RuleTerm::Id(..)
            | RuleTerm::Negate(_)
            | RuleTerm::Binary(..)
            | RuleTerm::Call(..) => None,
        };
        match (kind(left), kind(right)) {
            (Some(left), Some(right)) => left == right,
            // `null`, and what an aggregate gives to be compared with its target.
            (None, _) | (_, None) => true,
        }
    }

    /// Says whether a test lets a row pass.
    pub fn test(&mut self, goal: &TestGoal, row: &[u32]) -> Result<bool, &'static str> {
        let text = self.word(&goal.terms[0], row)?;
        let other = match goal.test {
            TextTest::Matches => text,
            TextTest::Contains
            | TextTest::StartsWith
            | TextTest::EndsWith
            | TextTest::PathUnder => self.word(&goal.terms[1], row)?,
        };
        let (Some(text), Some(other)) = (text, other) else { return Ok(false) };
        let texts = (self.pool.text(text), self.pool.text(other));
        let holds = match (texts, &goal.expression) {
            ((Some(text), Some(_)), Some(expression)) => expression.is_match(text),
            ((Some(text), Some(other)), None) => goal.test.holds(text, other),
            ((None, _) | (_, None), _) => false,
        };
        Ok(holds == (goal.sign == TestSign::Holds))
    }

    /// Prints the variables of a row that have a name and, by now, a value.
    pub fn describe(&self, row: &[u32]) -> String {
        let named = self.variables.iter().enumerate();
        let named = named.filter(|(slot, v)| !v.name.starts_with('_') && row[*slot] != NULL);
        let parts = named.map(|(slot, variable)| {
            let kind = variable.kind.unwrap_or(QueryType::Text);
            format!("{} = {}", variable.name, self.pool.value(row[slot]).to_json(kind))
        });
        parts.collect::<Vec<_>>().join(", ")
    }
}

fn quick_compare(comparison: TermComparison, a: u32, b: u32, is_one_type: bool) -> Option<bool> {
    match comparison {
        TermComparison::Equal if is_one_type => Some(a == b),
        TermComparison::NotEqual if is_one_type => Some(a != b),
        TermComparison::Equal
        | TermComparison::NotEqual
        | TermComparison::Less
        | TermComparison::AtMost
        | TermComparison::Greater
        | TermComparison::AtLeast => {
            if a == NULL || b == NULL {
                return Some(
                    comparison == TermComparison::NotEqual && a != b
                        || comparison == TermComparison::Equal && a == b,
                );
            }
            // Whole numbers that are their own number are in order.
            let is_whole = ValuePool::whole(a).is_some() && ValuePool::whole(b).is_some();
            is_whole.then(|| is_ordered(comparison, a.cmp(&b)))
        }
    }
}

fn is_ordered(comparison: TermComparison, ordering: Ordering) -> bool {
    match comparison {
        TermComparison::Equal => ordering.is_eq(),
        TermComparison::NotEqual => ordering.is_ne(),
        TermComparison::Less => ordering.is_lt(),
        TermComparison::AtMost => ordering.is_le(),
        TermComparison::Greater => ordering.is_gt(),
        TermComparison::AtLeast => ordering.is_ge(),
    }
}

/// Compares two values: whole numbers widen, and `null` equals itself alone.
fn holds(comparison: TermComparison, left: &QueryValue, right: &QueryValue) -> bool {
    let is_null = matches!(left, QueryValue::Null) || matches!(right, QueryValue::Null);
    let ordering = match (left, right) {
        (QueryValue::Int(a), QueryValue::Float(b)) => (*a as f64).total_cmp(b),
        (QueryValue::Float(a), QueryValue::Int(b)) => a.total_cmp(&(*b as f64)),
        (a, b) => a.cmp(b),
    };
    let is_order = !matches!(comparison, TermComparison::Equal | TermComparison::NotEqual);
    !(is_null && is_order) && is_ordered(comparison, ordering)
}

fn compute(
    operator: Arithmetic,
    (left, left_kind): (QueryValue, QueryType),
    (right, right_kind): (QueryValue, QueryType),
) -> ComputedTerm {
    let Some(kind) = arithmetic_kind(operator, left_kind, right_kind) else { return Ok(None) };
    let value = match (&left, &right) {
        (QueryValue::Int(a), QueryValue::Int(b)) if kind != QueryType::Float => {
            let whole = compute_whole(operator, *a, *b)?;
            // An instant that no calendar has would be shown as another.
            if kind == QueryType::Instant && Instant::from_millis(whole).millis() != whole {
                return Err(OVERFLOW);
            }
            QueryValue::Int(whole)
        }
        _ => {
            let (Some(a), Some(b)) = (as_float(&left), as_float(&right)) else { return Ok(None) };
            QueryValue::float(compute_float(operator, a, b)?).ok_or(OVERFLOW)?
        }
    };
    Ok(Some((value, kind)))
}

fn as_float(value: &QueryValue) -> Option<f64> {
    match value {
        QueryValue::Int(number) => Some(*number as f64),
        QueryValue::Float(number) => Some(*number),
        QueryValue::Null | QueryValue::Bool(_) | QueryValue::Text(_) => None,
    }
}

fn compute_whole(operator: Arithmetic, a: i64, b: i64) -> Result<i64, &'static str> {
    let is_division = matches!(operator, Arithmetic::Divide | Arithmetic::Modulo);
    if is_division && b == 0 {
        return Err(BY_ZERO);
    }
    let found = match operator {
        Arithmetic::Add => a.checked_add(b),
        Arithmetic::Subtract => a.checked_sub(b),
        Arithmetic::Multiply => a.checked_mul(b),
        Arithmetic::Divide => a.checked_div(b),
        // The remainder of the least number by -1 is 0, though the quotient has no room.
        Arithmetic::Modulo => Some(a.wrapping_rem(b)),
    };
    found.ok_or(OVERFLOW)
}

fn compute_float(operator: Arithmetic, a: f64, b: f64) -> Result<f64, &'static str> {
    match operator {
        Arithmetic::Add => Ok(a + b),
        Arithmetic::Subtract => Ok(a - b),
        Arithmetic::Multiply => Ok(a * b),
        Arithmetic::Divide | Arithmetic::Modulo if b == 0.0 => Err(BY_ZERO),
        Arithmetic::Divide => Ok(a / b),
        Arithmetic::Modulo => Ok(a % b),
    }
}

fn call(
    function: QueryFunction,
    args: &[(QueryValue, QueryType)],
) -> Option<(QueryValue, QueryType)> {
    let (first, kind) = args.first()?;
    let value = match (function, first) {
        (QueryFunction::Text, QueryValue::Text(_)) => first.clone(),
        (QueryFunction::Text, _) => {
            let text = first.to_json(*kind);
            // An instant is printed in quotation marks there.
            QueryValue::text(text.trim_matches('"'))
        }
        (QueryFunction::Lower, QueryValue::Text(text)) => QueryValue::text(&text.to_lowercase()),
        (QueryFunction::Len, QueryValue::Text(text)) => {
            QueryValue::Int(i64::try_from(text.chars().count()).ok()?)
        }
        (QueryFunction::Number, QueryValue::Text(text)) => QueryValue::float(number_of(text)?)?,
        (QueryFunction::Json, QueryValue::Text(text)) => match args.get(1) {
            Some((QueryValue::Text(pointer), _)) => QueryValue::text(&pointed(text, pointer)?),
            _ => return None,
        },
        (QueryFunction::Day | QueryFunction::Week | QueryFunction::Hour, QueryValue::Int(at)) => {
            QueryValue::Int(floor_instant(function, *at)?)
        }
        _ => return None,
    };
    Some((value, function.result()))
}
