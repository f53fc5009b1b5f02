//! Bodies, goals, atoms and aggregates.

use agentic_diag::Diagnostic;

use super::{GOALS_MAX, ParsedQuery, QueryParser, is_reserved};
use crate::ast::{
    AggregateKind, AggregateText, ArgText, AtomText, GoalKind, GoalText, NameText, TermComparison,
};
use crate::code;
use crate::function::is_function;
use crate::token::QueryTokenKind;

impl QueryParser {
    /// Reads goals, one at least.
    pub(super) fn body(&mut self) -> ParsedQuery<Vec<GoalText>> {
        let mut goals = vec![self.goal()?];
        while self.take_sign(",") {
            if goals.len() == GOALS_MAX {
                return self.too_many("goals in one body");
            }
            goals.push(self.goal()?);
        }
        Ok(goals)
    }

    fn goal(&mut self) -> ParsedQuery<GoalText> {
        let start = self.span();
        let kind = if self.take_sign("!") {
            GoalKind::Negative(self.atom()?)
        } else if self.is_atom() {
            GoalKind::Positive(self.atom()?)
        } else if let Some(kind) = self.aggregate_ahead() {
            GoalKind::Aggregate(self.aggregate(kind)?)
        } else {
            let left = self.term()?;
            let Some(comparison) = self.comparison() else {
                return self.expected("a comparison", "compare with `=`, `!=`, `<` or `>`");
            };
            self.at += 1;
            GoalKind::Compare(comparison, left, self.term()?)
        };
        Ok(GoalText { kind, span: self.since(start) })
    }

    fn is_atom(&self) -> bool {
        let QueryTokenKind::Word(name) = self.kind() else { return false };
        matches!(self.ahead(1), QueryTokenKind::Sign("(")) && !is_function(name)
    }

    fn comparison(&self) -> Option<TermComparison> {
        use TermComparison::{AtLeast, AtMost, Equal, Greater, Less, NotEqual};
        let QueryTokenKind::Sign(sign) = self.kind() else { return None };
        [Equal, NotEqual, Less, AtMost, Greater, AtLeast].into_iter().find(|c| c.sign() == *sign)
    }

    /// Looks for `Variable = count` and its like.
    fn aggregate_ahead(&self) -> Option<AggregateKind> {
        let is_start = matches!(self.kind(), QueryTokenKind::Variable(_))
            && matches!(self.ahead(1), QueryTokenKind::Sign("="));
        let QueryTokenKind::Word(word) = self.ahead(2) else { return None };
        AggregateKind::parse(word).filter(|_| is_start)
    }

    fn aggregate(&mut self, kind: AggregateKind) -> ParsedQuery<AggregateText> {
        let target = self.expect_variable("name the variable that takes the aggregate")?;
        self.at += 2;
        let is_distinct = kind == AggregateKind::Count && self.take_word("distinct");
        let kind = if is_distinct { AggregateKind::CountDistinct } else { kind };
        self.expect_sign("{", "write `N = count { goals }` or `S = sum { Term : goals }`")?;
        self.enter()?;
        let term = if kind == AggregateKind::Count {
            None
        } else {
            let term = self.term()?;
            let hint = format!("write `{} {{ Term : goals }}`", kind.name());
            self.expect_sign(":", &hint)?;
            Some(term)
        };
        let body = self.body()?;
        self.expect_sign("}", "close the aggregate")?;
        self.depth -= 1;
        Ok(AggregateText { target, kind, term, body })
    }

    /// Reads a predicate with its arguments.
    pub(super) fn atom(&mut self) -> ParsedQuery<AtomText> {
        let start = self.span();
        let name = self.expect_word("a rule, a fact and a goal begin with a predicate")?;
        if is_reserved(&name.name) {
            let said = format!("`{}` is reserved", name.name);
            let finding = Diagnostic::error(code::RESERVED, name.span, said);
            return Err(Box::new(finding.hint("take another name")));
        }
        self.expect_sign("(", "write the arguments in brackets behind a predicate")?;
        let mut args = Vec::new();
        while !self.is_sign(")") {
            if args.len() == GOALS_MAX {
                return self.too_many("arguments");
            }
            args.push(self.argument()?);
            if !self.take_sign(",") {
                break;
            }
        }
        self.expect_sign(")", "separate arguments by commas and close the bracket")?;
        Ok(AtomText { name, args, span: self.since(start) })
    }

    fn argument(&mut self) -> ParsedQuery<ArgText> {
        let mut found = None;
        if let (QueryTokenKind::Word(name), QueryTokenKind::Sign(":")) =
            (self.kind(), self.ahead(1))
        {
            found = Some(NameText { name: name.clone(), span: self.span() });
            self.at += 2;
        }
        Ok(ArgText { name: found, term: self.term()? })
    }
}
