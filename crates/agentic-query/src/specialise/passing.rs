//! Passing bindings: which goals of a rule are asked with what those before them bind.
//!
//! Only what is restricted is passed on: what a constant, a guard, or a goal joined with these binds.
//! A variable that may be anything restricts nobody, and a guard of it would be work for nothing.

use crate::rule::{CheckedRule, PredicateOrigin, RuleAtom, RuleGoal, RuleGoalKind, RuleTerm};

use super::{CallColumn, PushedParts, Specialiser, call_column};

/// A fact of which more rows than these have a constant restricts nothing.
const SELECTIVE_ROWS_MAX: f64 = 20_000.0;

/// How good a goal is to begin with, or to go on with: less is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PassingRank {
    FactOfConstants,
    RulesOfConstants,
    FactOfBound,
    RulesOfBound,
}

/// What is known while the goals of one rule are gone through.
struct PassedBindings {
    bound: Vec<bool>,
    /// The goals that bind, as guards have them.
    taken: Vec<RuleGoal>,
}

impl Specialiser<'_> {
    /// Adds a rule whose positive goals ask the copies that fit what binds them.
    pub fn pass_bindings(&mut self, mut rule: CheckedRule, guard: Option<RuleGoal>) {
        let mut passed =
            PassedBindings { bound: vec![false; rule.variables.len()], taken: Vec::new() };
        if let Some(guard) = &guard {
            guard.each_variable(&mut |variable| passed.bound[variable] = true);
            passed.taken.push(guard.clone());
        }
        let is_positive = |goal: &RuleGoal| matches!(goal.kind, RuleGoalKind::Positive(_));
        let mut waiting: Vec<usize> =
            (0..rule.body.len()).filter(|at| is_positive(&rule.body[*at])).collect();
        let mut body = std::mem::take(&mut rule.body);
        while let Some(at) = self.next_passing(&body, &waiting, &passed.bound) {
            let goal = waiting.remove(at);
            self.pass_to(&rule, &mut body, goal, &mut passed);
        }
        for goal in waiting {
            self.ask_free(&mut body[goal]);
        }
        for goal in 0..body.len() {
            self.pass_to_negation(&rule, &mut body, goal, &passed);
        }
        rule.body = guard.into_iter().chain(body).collect();
        self.out.rules.push(rule);
    }

    /// Finds the goal that is restricted most.
    fn next_passing(&self, body: &[RuleGoal], waiting: &[usize], bound: &[bool]) -> Option<usize> {
        let ranked = waiting.iter().enumerate().filter_map(|(at, goal)| {
            let RuleGoalKind::Positive(atom) = &body[*goal].kind else { return None };
            let rank = self.rank(atom, bound)?;
            let is_free = |term: &&RuleTerm| call_column(term, bound) == CallColumn::Free;
            Some((rank, atom.terms.iter().filter(is_free).count(), at))
        });
        ranked.min().map(|(_, _, at)| at)
    }

    fn rank(&self, atom: &RuleAtom, bound: &[bool]) -> Option<PassingRank> {
        let is_fact = self.set.predicates[atom.predicate].origin == PredicateOrigin::Fact;
        let of = |wanted: fn(&CallColumn) -> bool| -> Vec<usize> {
            let columns = 0..atom.terms.len();
            columns.filter(|c| wanted(&call_column(&atom.terms[*c], bound))).collect()
        };
        let constants = of(|column| matches!(column, CallColumn::Constant(_)));
        let has_constant = !constants.is_empty();
        let has_bound = !of(|column| matches!(column, CallColumn::Bound)).is_empty();
        if is_fact {
            let is_selective =
                has_constant && (self.estimate)(atom.predicate, &constants) <= SELECTIVE_ROWS_MAX;
            return match (is_selective, has_bound) {
                (true, _) => Some(PassingRank::FactOfConstants),
                (false, true) => Some(PassingRank::FactOfBound),
                (false, false) => None,
            };
        }
        match (has_constant, has_bound) {
            (true, _) => Some(PassingRank::RulesOfConstants),
            (false, true) => Some(PassingRank::RulesOfBound),
            (false, false) => None,
        }
    }

    /// Has a goal ask the copy that fits, and tells that copy's guard what binds it.
    fn pass_to(
        &mut self,
        rule: &CheckedRule,
        body: &mut [RuleGoal],
        goal: usize,
        passed: &mut PassedBindings,
    ) {
        let place = body[goal].place;
        let RuleGoalKind::Positive(atom) = &mut body[goal].kind else { return };
        let call = self.call(atom, &passed.bound);
        let (number, guard) = self.copy_of(atom.predicate, call.clone());
        atom.predicate = number;
        let atom = atom.clone();
        if let Some(guard) = guard {
            self.tell_guard(rule, body, guard_atom(guard, &atom, &call), passed);
        }
        atom.terms.iter().for_each(|term| term.each_variable(&mut |v| passed.bound[v] = true));
        passed.taken.push(RuleGoal { kind: RuleGoalKind::Positive(atom), place });
    }

    /// Has a negation ask the copy that derives what its positive goals bind: the other rows are none
    /// that it looks at.
    fn pass_to_negation(
        &mut self,
        rule: &CheckedRule,
        body: &mut [RuleGoal],
        goal: usize,
        passed: &PassedBindings,
    ) {
        let head = self.out.predicates[rule.head.predicate].source;
        // In a recursion the guard would need rows that only come behind the negation.
        let may_pass = self.pushed == PushedParts::AllBindings
            && self.recursive.get(head).is_some_and(|is_recursive| !is_recursive);
        let RuleGoalKind::Negative(atom) = &mut body[goal].kind else { return };
        if !may_pass {
            return self.ask_constants(atom);
        }
        let call = self.call(atom, &passed.bound);
        let (number, guard) = self.copy_of(atom.predicate, call.clone());
        atom.predicate = number;
        if let Some(guard) = guard {
            let head = guard_atom(guard, atom, &call);
            self.tell_guard(rule, body, head, passed);
        }
    }

    fn call(&self, atom: &RuleAtom, bound: &[bool]) -> Vec<CallColumn> {
        let mut call: Vec<CallColumn> =
            atom.terms.iter().map(|term| call_column(term, bound)).collect();
        let has_constant = call.iter().any(|column| matches!(column, CallColumn::Constant(_)));
        // A recursion that begins with a constant finds its way by itself.
        let is_led = has_constant && self.recursive[atom.predicate];
        if is_led || !self.pushed.has_bindings() {
            for column in call.iter_mut().filter(|column| **column == CallColumn::Bound) {
                *column = CallColumn::Free;
            }
        }
        call
    }

    /// Adds the rule of a guard: the goals that bind, and the comparisons that cannot fail.
    fn tell_guard(
        &mut self,
        rule: &CheckedRule,
        body: &[RuleGoal],
        head: RuleAtom,
        passed: &PassedBindings,
    ) {
        let says_nothing = |goal: &RuleGoal| {
            matches!(&goal.kind, RuleGoalKind::Positive(atom)
                if atom.predicate == head.predicate && is_same(&atom.terms, &head.terms))
        };
        if passed.taken.iter().any(says_nothing) {
            return;
        }
        let is_sure = |goal: &&RuleGoal| match &goal.kind {
            RuleGoalKind::Compare(_, left, right) => {
                let is_bound = left.is_bound(&passed.bound) && right.is_bound(&passed.bound);
                is_bound && !left.may_fail() && !right.may_fail()
            }
            RuleGoalKind::Test(test) => {
                let is_bound = |term: &RuleTerm| term.is_bound(&passed.bound) && !term.may_fail();
                test.terms.iter().all(is_bound)
            }
            RuleGoalKind::Positive(_) | RuleGoalKind::Negative(_) | RuleGoalKind::Aggregate(_) => {
                false
            }
        };
        let sure = body.iter().filter(is_sure).cloned();
        let body = passed.taken.iter().cloned().chain(sure).collect();
        self.out.rules.push(CheckedRule { head, body, ..rule.clone() });
    }

    fn ask_free(&mut self, goal: &mut RuleGoal) {
        if let RuleGoalKind::Positive(atom) = &mut goal.kind {
            let call = vec![CallColumn::Free; atom.terms.len()];
            (atom.predicate, _) = self.copy_of(atom.predicate, call);
        }
    }
}

/// Returns the atom that tells a guard what binds a goal.
fn guard_atom(guard: usize, atom: &RuleAtom, call: &[CallColumn]) -> RuleAtom {
    let terms = atom.terms.iter().zip(call);
    let terms = terms.filter(|(_, column)| **column == CallColumn::Bound);
    RuleAtom { predicate: guard, terms: terms.map(|(term, _)| term.clone()).collect() }
}

fn is_same(left: &[RuleTerm], right: &[RuleTerm]) -> bool {
    left.iter().zip(right).all(|pair| match pair {
        (RuleTerm::Variable(a), RuleTerm::Variable(b)) => a == b,
        _ => false,
    })
}
