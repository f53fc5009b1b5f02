//! Recursion that is asked from its far end: `under(A, C) :- below(A, B), under(B, C)` asked with a
//! constant in `A`. With bindings alone it derives a row for each pair on the way, a square of the
//! way's length.
//!
//! Where each recursive rule hands its free columns through as they are, the way does not matter: it
//! is enough to know which values the asked columns can reach, and what the other rules have of those.
//! The rows are those of the asked constant alone, so this is left out where reasons are wanted.

use crate::rule::{
    CheckedRule, RuleAggregate, RuleAtom, RuleGoal, RuleGoalKind, RulePredicate, RuleTerm,
    each_atom,
};
use crate::safety::bound_by_equation;

use super::{CallColumn, PredicateCopy, Specialiser, guard_goal};

/// A recursive rule in two: the goal that asks the same predicate, and all others.
struct LinearRule<'r> {
    rule: &'r CheckedRule,
    again: &'r RuleAtom,
    others: Vec<RuleGoal>,
}

impl Specialiser<'_> {
    /// Copies the rules of a predicate that is asked with constants alone so that they only derive
    /// what these reach; says whether that can be done.
    pub fn copy_linear(&mut self, copy: &PredicateCopy, rules: &[usize]) -> bool {
        let set = self.set;
        let is_asked = copy.call.iter().any(|column| matches!(column, CallColumn::Constant(_)));
        let is_free = copy.call.contains(&CallColumn::Free);
        if !is_asked || !is_free || copy.guard.is_some() || !self.recursive[copy.predicate] {
            return false;
        }
        let (mut linear, mut others) = (Vec::new(), Vec::new());
        for rule in rules.iter().map(|number| &set.rules[*number]) {
            if !self.is_alone(copy.predicate, rule) || binds_asked_by_aggregates(rule, &copy.call) {
                return false;
            }
            match parts_of(rule, copy.predicate) {
                Some(parts) if hands_through(&parts, &copy.call) => linear.push(parts),
                Some(_) => return false,
                None => others.push(rule),
            }
        }
        // What is handed through by a single way round is copied well as it is.
        let moves = |parts: &LinearRule<'_>| !keeps_asked(parts, &copy.call);
        if !linear.iter().any(moves) {
            return false;
        }
        let asked: Vec<CallColumn> = copy.call.iter().map(as_bound).collect();
        let reached = self.reached_by(copy, &asked);
        for parts in linear {
            let guard = guard_goal(reached, &parts.rule.head, &asked, parts.rule);
            let head = asked_terms(parts.again, &asked, reached);
            self.copy_guarded(parts.rule, head, parts.others, guard);
        }
        for rule in others {
            let guard = guard_goal(reached, &rule.head, &asked, rule);
            let mut head = RuleAtom { predicate: copy.number, ..rule.head.clone() };
            for (term, (column, kind)) in head.terms.iter_mut().zip(self.constants(copy)) {
                if let CallColumn::Constant(value) = column {
                    *term = RuleTerm::Constant(value, kind);
                }
            }
            self.copy_guarded(rule, head, rule.body.clone(), guard);
        }
        true
    }

    /// Says whether a rule depends on itself through no other predicate.
    fn is_alone(&self, predicate: usize, rule: &CheckedRule) -> bool {
        let mut is_alone = true;
        each_atom(&rule.body, &mut |atom, _, _| {
            let is_same = self.components[atom.predicate] == self.components[predicate];
            is_alone &= atom.predicate == predicate || !is_same;
        });
        is_alone
    }

    fn constants(
        &self,
        copy: &PredicateCopy,
    ) -> Vec<(CallColumn, Option<crate::value::QueryType>)> {
        let kinds = &self.set.predicates[copy.predicate].kinds;
        copy.call.iter().cloned().zip(kinds.iter().copied()).collect()
    }

    /// Makes the predicate of what the asked constants reach, which begins with themselves.
    fn reached_by(&mut self, copy: &PredicateCopy, asked: &[CallColumn]) -> usize {
        let reached = self.guard(copy.number, asked);
        let name = format!("what {} reaches", self.out.predicates[copy.number].name);
        self.out.predicates[reached] =
            RulePredicate { name: name.into(), ..self.out.predicates[reached].clone() };
        let terms = self.constants(copy).into_iter().filter_map(|(column, kind)| match column {
            CallColumn::Constant(value) => Some(RuleTerm::Constant(value, kind)),
            CallColumn::Free | CallColumn::Bound => None,
        });
        let head = RuleAtom { predicate: reached, terms: terms.collect() };
        let (place, text) = (
            self.out.predicates[copy.number].place,
            self.out.predicates[copy.number].name.to_string(),
        );
        let (body, variables) = (Vec::new(), Vec::new());
        self.out.rules.push(CheckedRule { head, body, variables, place, text });
        reached
    }

    fn copy_guarded(
        &mut self,
        rule: &CheckedRule,
        head: RuleAtom,
        mut body: Vec<RuleGoal>,
        guard: RuleGoal,
    ) {
        self.body(&mut body, rule, &vec![None; rule.variables.len()]);
        self.pass_bindings(CheckedRule { head, body, ..rule.clone() }, Some(guard));
    }
}

/// Splits a rule that asks its own predicate; nothing if it does not. One that asks it several times
/// keeps the others among the other goals.
fn parts_of(rule: &CheckedRule, predicate: usize) -> Option<LinearRule<'_>> {
    let again = |goal: &RuleGoal| matches!(&goal.kind, RuleGoalKind::Positive(atom) if atom.predicate == predicate);
    let at = rule.body.iter().position(again)?;
    let RuleGoalKind::Positive(atom) = &rule.body[at].kind else { return None };
    let mut others = rule.body.clone();
    others.remove(at);
    Some(LinearRule { rule, again: atom, others })
}

/// Says whether a rule asks itself once, with its free columns as they are, and whether all else that
/// it says follows from the asked columns.
fn hands_through(parts: &LinearRule<'_>, call: &[CallColumn]) -> bool {
    let LinearRule { rule, again, others } = parts;
    let mut is_fit = true;
    each_atom(others, &mut |atom, _, _| is_fit &= atom.predicate != again.predicate);
    let mut n_uses = vec![0_usize; rule.variables.len()];
    let mut bound = vec![false; rule.variables.len()];
    let mut count = |variable: usize| n_uses[variable] += 1;
    others.iter().for_each(|goal| goal.each_variable(&mut count));
    again.terms.iter().for_each(|term| term.each_variable(&mut count));
    for ((own, other), column) in rule.head.terms.iter().zip(&again.terms).zip(call) {
        match (column, own, other) {
            (CallColumn::Free, RuleTerm::Variable(own), RuleTerm::Variable(other)) => {
                is_fit &= own == other && n_uses[*own] == 1;
            }
            (CallColumn::Free, _, _) => is_fit = false,
            (CallColumn::Constant(_) | CallColumn::Bound, own, _) => {
                own.each_variable(&mut |variable| bound[variable] = true);
            }
        }
    }
    for (own, column) in rule.head.terms.iter().zip(call) {
        // A column that is handed through and asked for, too, would be two things at once.
        let is_free = *column == CallColumn::Free;
        own.each_variable(&mut |variable| is_fit &= !(is_free && bound[variable]));
    }
    is_fit && !others.iter().any(may_fail) && is_bound_by(others, again, call, bound)
}

/// Says whether goals bind what they ask for, and the columns that are asked again.
fn is_bound_by(
    goals: &[RuleGoal],
    again: &RuleAtom,
    call: &[CallColumn],
    mut bound: Vec<bool>,
) -> bool {
    for goal in goals {
        if let RuleGoalKind::Positive(atom) = &goal.kind {
            atom.terms.iter().for_each(|term| term.each_variable(&mut |v| bound[v] = true));
        }
    }
    while let Some(variable) = goals.iter().find_map(|goal| bound_by_equation(goal, &bound)) {
        bound[variable] = true;
    }
    let mut is_bound = true;
    goals.iter().for_each(|goal| goal.each_variable(&mut |v| is_bound &= bound[v]));
    let asked = again.terms.iter().zip(call).filter(|(_, column)| **column != CallColumn::Free);
    asked.fold(is_bound, |all, (term, _)| all && term.is_bound(&bound))
}

/// Says whether a goal may end the query, or is more than a match, a comparison or a test.
fn may_fail(goal: &RuleGoal) -> bool {
    match &goal.kind {
        RuleGoalKind::Positive(_) | RuleGoalKind::Negative(_) => false,
        RuleGoalKind::Compare(_, left, right) => left.may_fail() || right.may_fail(),
        RuleGoalKind::Test(test) => test.terms.iter().any(RuleTerm::may_fail),
        RuleGoalKind::Aggregate(_) => true,
    }
}

/// Says whether a rule asks itself with the very columns that it was asked with.
fn keeps_asked(parts: &LinearRule<'_>, call: &[CallColumn]) -> bool {
    let terms = parts.rule.head.terms.iter().zip(&parts.again.terms).zip(call);
    terms.fold(true, |all, ((own, other), column)| {
        let is_same = matches!((own, other),
            (RuleTerm::Variable(own), RuleTerm::Variable(other)) if own == other);
        all && (*column == CallColumn::Free || is_same)
    })
}

/// Says whether an aggregate of a rule gives a column its value that is asked for.
fn binds_asked_by_aggregates(rule: &CheckedRule, call: &[CallColumn]) -> bool {
    let mut asked = vec![false; rule.variables.len()];
    for (term, column) in rule.head.terms.iter().zip(call) {
        if *column != CallColumn::Free {
            term.each_variable(&mut |variable| asked[variable] = true);
        }
    }
    let is_of = |aggregate: &RuleAggregate| {
        asked[aggregate.target] || aggregate.groups.iter().any(|variable| asked[*variable])
    };
    rule.body
        .iter()
        .any(|goal| matches!(&goal.kind, RuleGoalKind::Aggregate(aggregate) if is_of(aggregate)))
}

fn as_bound(column: &CallColumn) -> CallColumn {
    match column {
        CallColumn::Free => CallColumn::Free,
        CallColumn::Constant(_) | CallColumn::Bound => CallColumn::Bound,
    }
}

/// Returns the head of the rule that says what is asked again.
fn asked_terms(again: &RuleAtom, asked: &[CallColumn], predicate: usize) -> RuleAtom {
    let terms = again.terms.iter().zip(asked);
    let terms = terms.filter(|(_, column)| **column == CallColumn::Bound);
    RuleAtom { predicate, terms: terms.map(|(term, _)| term.clone()).collect() }
}
