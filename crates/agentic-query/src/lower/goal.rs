//! Goals, atoms and terms with names looked up.

use std::rc::Rc;

use agentic_diag::nearest;
use regex::{Regex, RegexBuilder};

use super::{Lowering, test_of};
use crate::ast::{
    AggregateText, AtomText, GoalKind, GoalText, LiteralText, TermComparison, TermKind, TermText,
};
use crate::code::{self, QueryPlace};
use crate::fact::FactColumn;
use crate::function::{QueryFunction, TextTest};
use crate::lower::scope::ClauseScope;
use crate::rule::{
    EmptyGroups, PredicateOrigin, RuleAggregate, RuleAtom, RuleGoal, RuleGoalKind, RuleTerm,
    TestGoal, TestSign,
};
use crate::value::{QueryType, QueryValue};

/// How many regular expressions a text may have: to compile one that is hostile takes a while.
const EXPRESSIONS_MAX: usize = 64;
/// The most memory that a compiled expression takes.
const EXPRESSION_BYTES_MAX: usize = 1 << 20;

impl Lowering<'_> {
    /// Adds the goals of a body.
    pub fn goals(&mut self, body: &[GoalText], scope: &mut ClauseScope, into: &mut Vec<RuleGoal>) {
        for goal in body {
            let place = self.place(goal.span);
            let kind = match &goal.kind {
                found if test_of(found).is_some() => self.test(found, place, scope),
                GoalKind::Positive(atom) => {
                    self.atom(atom, scope, into).map(RuleGoalKind::Positive)
                }
                GoalKind::Negative(atom) => {
                    self.atom(atom, scope, into).map(RuleGoalKind::Negative)
                }
                GoalKind::Compare(comparison, left, right) => {
                    let left = self.term(left, scope);
                    let right = self.term(right, scope);
                    Some(RuleGoalKind::Compare(*comparison, left, right))
                }
                GoalKind::Aggregate(aggregate) => {
                    Some(RuleGoalKind::Aggregate(self.aggregate(aggregate, scope)))
                }
            };
            match (kind, &goal.kind) {
                (Some(kind), _) => into.push(RuleGoal { kind, place }),
                (None, GoalKind::Positive(atom) | GoalKind::Negative(atom)) => {
                    scope.lose(atom, place.file);
                }
                (None, GoalKind::Compare(..) | GoalKind::Aggregate(_)) => {}
            }
        }
    }

    fn aggregate(&mut self, text: &AggregateText, scope: &mut ClauseScope) -> RuleAggregate {
        let place = self.place(text.target.span);
        let target = scope.declare(&text.target.name, place);
        scope.used(target);
        scope.open();
        scope.declare_body(&text.body, place.file);
        let mut body = Vec::new();
        self.goals(&text.body, scope, &mut body);
        let term = text.term.as_ref().map(|term| self.term(term, scope));
        scope.close();
        RuleAggregate {
            target,
            kind: text.kind,
            term,
            body,
            groups: Vec::new(),
            empty: EmptyGroups::Counted,
            needs: Vec::new(),
        }
    }

    fn test(
        &mut self,
        goal: &GoalKind,
        place: QueryPlace,
        scope: &mut ClauseScope,
    ) -> Option<RuleGoalKind> {
        let test = test_of(goal)?;
        let (atom, sign) = match goal {
            GoalKind::Positive(atom) => (atom, TestSign::Holds),
            GoalKind::Negative(atom) => (atom, TestSign::Fails),
            GoalKind::Compare(..) | GoalKind::Aggregate(_) => return None,
        };
        if atom.args.len() != 2 || atom.args.iter().any(|arg| arg.name.is_some()) {
            let said = format!("`{}` takes two arguments, by place", test.name());
            let hint = format!("write `{}(Text, \"…\")`", test.name());
            self.findings.error(code::WRONG_ARITY, place, said, hint);
            return None;
        }
        let terms: Vec<RuleTerm> = atom.args.iter().map(|a| self.term(&a.term, scope)).collect();
        let expression = match test {
            TextTest::Matches => Some(self.expression(&terms[1], place)?),
            TextTest::Contains
            | TextTest::StartsWith
            | TextTest::EndsWith
            | TextTest::PathUnder => None,
        };
        Some(RuleGoalKind::Test(TestGoal { sign, test, terms, expression }))
    }

    fn expression(&mut self, term: &RuleTerm, place: QueryPlace) -> Option<Rc<Regex>> {
        let text = match term {
            RuleTerm::Constant(QueryValue::Text(text), _) => Some(text),
            // What is unknown is a finding already.
            RuleTerm::Constant(QueryValue::Null, None) if self.findings.has_errors() => {
                return None;
            }
            RuleTerm::Constant(..) | RuleTerm::Blank | RuleTerm::Variable(_) | RuleTerm::Id(..) => {
                None
            }
            RuleTerm::Negate(_) | RuleTerm::Binary(..) | RuleTerm::Call(..) => None,
        };
        let Some(text) = text else {
            let hint = "write the expression as a text, or as a parameter";
            let said = "`matches` takes a literal";
            self.findings.error(code::BAD_LITERAL, place, said, hint);
            return None;
        };
        if let Some(known) = self.expressions.get(&**text) {
            return known.clone();
        }
        if self.expressions.len() >= EXPRESSIONS_MAX {
            let said = format!("there are more than {EXPRESSIONS_MAX} regular expressions");
            let hint = "write one with `|` for what several look for";
            self.findings.error(code::TOO_LARGE, place, said, hint);
            return None;
        }
        let built = RegexBuilder::new(text).size_limit(EXPRESSION_BYTES_MAX).build();
        let built = built.map(Rc::new).ok();
        self.expressions.insert(text.to_string(), built.clone());
        if built.is_none() {
            let said = "this is no regular expression, or one that is too large";
            let hint = "there are no look-around and no references back; repeat less";
            self.findings.error(code::BAD_LITERAL, place, said, hint);
        }
        built
    }

    fn atom(
        &mut self,
        atom: &AtomText,
        scope: &mut ClauseScope,
        into: &mut Vec<RuleGoal>,
    ) -> Option<RuleAtom> {
        let place = self.place(atom.name.span);
        let name = &atom.name.name;
        let Some(predicate) = self.names.get(name.as_str()).copied() else {
            if self.may_lack_rules || self.lost_heads.contains(name) {
                return None;
            }
            let mut known: Vec<&str> = self.names.keys().map(|name| &**name).collect();
            for test in TextTest::names() {
                known.push(test);
            }
            let hint = nearest(name, known.into_iter())
                .map_or("see `--schema`".to_owned(), |near| format!("did you mean `{near}`?"));
            let said = format!("there is no predicate `{name}`");
            self.findings.error(code::UNKNOWN_PREDICATE, place, said, hint);
            return None;
        };
        let n_columns = self.set.predicates[predicate].kinds.len();
        let n_named = atom.args.iter().filter(|arg| arg.name.is_some()).count();
        let mut terms = vec![RuleTerm::Blank; n_columns];
        // Of a fact all columns may be left out; those of rules have no names to leave out.
        let is_fact = self.set.predicates[predicate].origin == PredicateOrigin::Fact;
        if n_named == 0 && !(is_fact && atom.args.is_empty()) {
            if atom.args.len() != n_columns {
                if self.lost_heads.contains(name) {
                    return None;
                }
                let n_args = atom.args.len();
                let said = format!("`{name}` has {n_columns} columns, not {n_args}");
                let columns = column_names(&self.set.predicates[predicate].columns).join(", ");
                let hint = if columns.is_empty() {
                    "write `_` for what does not matter".to_owned()
                } else {
                    format!("its columns are {columns}; by name the others may be left out")
                };
                self.findings.error(code::WRONG_ARITY, self.place(atom.span), said, hint);
                return None;
            }
            for (at, arg) in atom.args.iter().enumerate() {
                terms[at] = self.simple_term(&arg.term, scope, into);
            }
            return Some(RuleAtom { predicate, terms });
        }
        if n_named < atom.args.len() {
            let said = "arguments stand by place or by name, never mixed";
            let hint = "give each argument the name of its column";
            self.findings.error(code::MIXED_ARGUMENTS, self.place(atom.span), said, hint);
            return None;
        }
        self.named_terms(atom, predicate, terms, scope, into)
    }

    fn named_terms(
        &mut self,
        atom: &AtomText,
        predicate: usize,
        mut terms: Vec<RuleTerm>,
        scope: &mut ClauseScope,
        into: &mut Vec<RuleGoal>,
    ) -> Option<RuleAtom> {
        let columns = column_names(&self.set.predicates[predicate].columns);
        let mut given = vec![false; terms.len()];
        let mut is_right = true;
        for arg in &atom.args {
            let Some(name) = &arg.name else { continue };
            let place = self.place(name.span);
            let Some(column) = columns.iter().position(|column| *column == name.name) else {
                let near = nearest(&name.name, columns.iter().copied());
                let hint = match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if columns.is_empty() => "columns of rules stand by place".to_owned(),
                    None => format!("its columns are {}", columns.join(", ")),
                };
                let said = format!("`{}` has no column `{}`", atom.name.name, name.name);
                self.findings.error(code::UNKNOWN_COLUMN, place, said, hint);
                is_right = false;
                continue;
            };
            if std::mem::replace(&mut given[column], true) {
                let said = format!("`{}` is given twice", name.name);
                self.findings.error(code::MIXED_ARGUMENTS, place, said, "take one of them out");
                is_right = false;
            }
            terms[column] = self.simple_term(&arg.term, scope, into);
        }
        is_right.then_some(RuleAtom { predicate, terms })
    }

    /// Looks up an argument; what is computed becomes a variable and a goal of its own.
    pub fn simple_term(
        &mut self,
        text: &TermText,
        scope: &mut ClauseScope,
        into: &mut Vec<RuleGoal>,
    ) -> RuleTerm {
        let term = self.term(text, scope);
        match term {
            RuleTerm::Blank | RuleTerm::Constant(..) | RuleTerm::Variable(_) | RuleTerm::Id(..) => {
                term
            }
            RuleTerm::Negate(_) | RuleTerm::Binary(..) | RuleTerm::Call(..) => {
                let place = self.place(text.span);
                let number = scope.fresh("_", place);
                let variable = RuleTerm::Variable(number);
                let kind = RuleGoalKind::Compare(TermComparison::Equal, variable.clone(), term);
                into.push(RuleGoal { kind, place });
                variable
            }
        }
    }

    fn term(&mut self, text: &TermText, scope: &mut ClauseScope) -> RuleTerm {
        match &text.kind {
            TermKind::Blank => RuleTerm::Blank,
            TermKind::Variable(name) => {
                let number = scope.declare(name, self.place(text.span));
                scope.used(number);
                RuleTerm::Variable(number)
            }
            TermKind::Literal(literal) => self.literal(literal),
            TermKind::Param(name) => self.param_term(name, self.place(text.span)),
            TermKind::Negate(inner) => RuleTerm::Negate(Box::new(self.term(inner, scope))),
            TermKind::Binary(operator, left, right) => {
                let left = self.term(left, scope);
                let right = self.term(right, scope);
                RuleTerm::Binary(*operator, Box::new(left), Box::new(right))
            }
            TermKind::Call(name, args) => {
                let place = self.place(name.span);
                let args: Vec<RuleTerm> = args.iter().map(|arg| self.term(arg, scope)).collect();
                let Some(function) = QueryFunction::parse(&name.name) else {
                    let near = nearest(&name.name, QueryFunction::names());
                    let all = QueryFunction::names().collect::<Vec<_>>().join(" ");
                    let hint = near.map_or(format!("there are {all}"), |near| {
                        format!("did you mean `{near}`?")
                    });
                    let said = format!("there is no function `{}`", name.name);
                    self.findings.error(code::UNKNOWN_FUNCTION, place, said, hint);
                    return RuleTerm::Constant(QueryValue::Null, None);
                };
                self.call(function, args, place)
            }
        }
    }

    fn call(
        &mut self,
        function: QueryFunction,
        args: Vec<RuleTerm>,
        place: QueryPlace,
    ) -> RuleTerm {
        if args.len() != function.arity() {
            let said = format!("`{}` takes {} arguments", function.name(), function.arity());
            self.findings.error(code::WRONG_ARITY, place, said, "give as many");
            return RuleTerm::Constant(QueryValue::Null, None);
        }
        if function == QueryFunction::Json {
            let is_pointer = matches!(&args[1], RuleTerm::Constant(QueryValue::Text(pointer), _)
                if pointer.is_empty() || pointer.starts_with('/'));
            if !is_pointer {
                let said = "the second argument of `json` is a JSON pointer";
                self.findings.error(code::BAD_LITERAL, place, said, "write `\"/name/0\"`");
            }
        }
        RuleTerm::Call(function, args)
    }

    fn literal(&mut self, literal: &LiteralText) -> RuleTerm {
        match literal {
            LiteralText::Value(kind, value) => RuleTerm::Constant(value.clone(), Some(*kind)),
            LiteralText::Null => RuleTerm::Constant(QueryValue::Null, None),
            LiteralText::Now => {
                let now = QueryValue::Int(self.input.now);
                RuleTerm::Constant(now, Some(QueryType::Instant))
            }
            LiteralText::Id(text) => {
                self.ids.push(None);
                RuleTerm::Id(self.ids.len() - 1, text.clone())
            }
        }
    }

    fn param_term(&mut self, name: &str, place: QueryPlace) -> RuleTerm {
        if let Some((kind, value)) = self.params.get(&(place.file, name.to_owned())).cloned() {
            return match (&value, kind.is_id()) {
                (QueryValue::Text(text), true) => {
                    self.ids.push(Some((kind, place)));
                    RuleTerm::Id(self.ids.len() - 1, text.to_string())
                }
                _ => RuleTerm::Constant(value, Some(kind)),
            };
        }
        if self.lost_params.contains(&(place.file, name.to_owned())) {
            return RuleTerm::Constant(QueryValue::Null, None);
        }
        let declared = self.params.keys().filter(|(file, _)| *file == place.file);
        let near = nearest(name, declared.map(|(_, name)| name.as_str()));
        let hint = near.map_or("declare it: `param $name: text.`".to_owned(), |near| {
            format!("did you mean `${near}`?")
        });
        let said = format!("no parameter `${name}` is declared");
        self.findings.error(code::UNKNOWN_PARAMETER, place, said, hint);
        RuleTerm::Constant(QueryValue::Null, None)
    }
}

fn column_names(columns: &[FactColumn]) -> Vec<&'static str> {
    columns.iter().map(|column| column.name).collect()
}
