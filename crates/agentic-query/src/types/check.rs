//! Checks operations against the types that were found.

use super::{arithmetic_kind, is_comparable};
use crate::ast::AggregateKind;
use crate::code::{self, QueryFindings, QueryPlace};
use crate::rule::{CheckedRule, RuleAggregate, RuleGoal, RuleGoalKind, RuleTerm, RuleVariable};
use crate::value::QueryType;

/// Checks all operations of a rule.
pub(crate) fn check_rule(rule: &CheckedRule, findings: &mut QueryFindings) {
    check_body(&rule.body, &rule.variables, findings);
}

fn check_body(body: &[RuleGoal], variables: &[RuleVariable], findings: &mut QueryFindings) {
    for goal in body {
        let mut checker = OperationChecker { variables, place: goal.place, findings };
        match &goal.kind {
            RuleGoalKind::Compare(_, left, right) => {
                let kinds = (checker.term(left), checker.term(right));
                if let (Some(left), Some(right)) = kinds
                    && !is_comparable(left, right)
                {
                    let said = format!("{} is compared with {}", left.name(), right.name());
                    let hint = "compare values of one type; `text(…)` makes a text of anything";
                    findings.error(code::TYPES_DISAGREE, goal.place, said, hint);
                }
            }
            RuleGoalKind::Test(test) => {
                test.terms.iter().for_each(|term| checker.expect(term, QueryType::Text));
            }
            RuleGoalKind::Aggregate(aggregate) => {
                checker.aggregate(aggregate);
                check_body(&aggregate.body, variables, findings);
            }
            RuleGoalKind::Positive(_) | RuleGoalKind::Negative(_) => {}
        }
    }
}

struct OperationChecker<'a> {
    variables: &'a [RuleVariable],
    place: QueryPlace,
    findings: &'a mut QueryFindings,
}

impl OperationChecker<'_> {
    fn complain(&mut self, said: String, hint: &str) {
        self.findings.error(code::BAD_OPERATION, self.place, said, hint);
    }

    fn expect(&mut self, term: &RuleTerm, wanted: QueryType) {
        if let Some(found) = self.term(term)
            && found != wanted
        {
            let said = format!("{} is wanted here, not {}", wanted.name(), found.name());
            self.complain(said, "`text(…)` makes a text of anything");
        }
    }

    fn aggregate(&mut self, aggregate: &RuleAggregate) {
        let Some(kind) = aggregate.term.as_ref().and_then(|term| self.term(term)) else { return };
        let has_sum = kind.is_number() || kind == QueryType::Duration;
        if matches!(aggregate.kind, AggregateKind::Sum | AggregateKind::Average) && !has_sum {
            let said = format!("`{}` of {}", aggregate.kind.name(), kind.name());
            self.complain(said, "numbers and durations are summed");
        }
    }

    /// Returns the type of a term, or nothing if it has any or was complained about.
    fn term(&mut self, term: &RuleTerm) -> Option<QueryType> {
        match term {
            RuleTerm::Blank | RuleTerm::Id(..) => None,
            RuleTerm::Constant(_, kind) => *kind,
            RuleTerm::Variable(number) => self.variables[*number].kind,
            RuleTerm::Negate(inner) => {
                let kind = self.term(inner)?;
                let is_right = kind.is_number() || kind == QueryType::Duration;
                if !is_right {
                    let said = format!("there is no `-` of {}", kind.name());
                    self.complain(said, "numbers and durations have one");
                }
                is_right.then_some(kind)
            }
            RuleTerm::Binary(operator, left, right) => {
                let (left, right) = (self.term(left), self.term(right));
                let (left, right) = (left?, right?);
                let kind = arithmetic_kind(*operator, left, right);
                if kind.is_none() {
                    let (left, right) = (left.name(), right.name());
                    let said = format!("there is no {left} {} {right}", operator.sign());
                    self.complain(said, "numbers, instants and durations are computed with");
                }
                kind
            }
            RuleTerm::Call(function, args) => {
                for arg in args {
                    match function.argument() {
                        Some(wanted) => self.expect(arg, wanted),
                        None => drop(self.term(arg)),
                    }
                }
                Some(function.result())
            }
        }
    }
}
