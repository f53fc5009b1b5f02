//! Pushes constants into rules: a goal with a constant asks a copy of the rules that has it, too.
//!
//! `under(A, "release")` becomes a copy of `under` whose second column is that text, in its own
//! recursive goals as well, so that what nobody asked about is never derived.

use std::collections::{BTreeMap, BTreeSet};

use crate::ast::TermComparison;
use crate::rule::{
    CheckedRule, PredicateOrigin, RuleAtom, RuleGoal, RuleGoalKind, RuleSet, RuleTerm,
};
use crate::value::QueryValue;

/// How often is begun anew without the predicates that are needed whole, before nothing is pushed.
const ATTEMPTS_MAX: usize = 5;
/// How many copies there may be, for each predicate on average and beside that.
const COPIES_PER_PREDICATE: usize = 4;
const COPIES_BESIDE: usize = 64;

/// Whether constants are pushed; without it answers are the same, and slower.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ConstantPushing {
    /// Copies of rules have the constants that goals ask for.
    #[default]
    On,
    /// Rules stay as they are written.
    Off,
}

/// The constants that a copy of a predicate has.
type ConstantPattern = Vec<Option<QueryValue>>;

/// What is being copied.
struct Specialiser<'a> {
    set: &'a RuleSet,
    whole: &'a BTreeSet<usize>,
    out: RuleSet,
    numbers: BTreeMap<(usize, ConstantPattern), usize>,
    open: Vec<(usize, ConstantPattern, usize)>,
}

/// Copies the rules that the queries reach, with constants pushed into them.
pub(crate) fn specialise(set: &RuleSet, pushing: ConstantPushing) -> RuleSet {
    let mut by_head = vec![Vec::new(); set.predicates.len()];
    for (number, rule) in set.rules.iter().enumerate() {
        by_head[rule.head.predicate].push(number);
    }
    let all: BTreeSet<usize> = (0..set.predicates.len()).collect();
    let mut whole = if pushing == ConstantPushing::Off { all.clone() } else { BTreeSet::new() };
    for _ in 0..ATTEMPTS_MAX {
        match attempt(set, &by_head, &whole) {
            Ok(done) => return done,
            Err(found) => whole.extend(found),
        }
    }
    attempt(set, &by_head, &all).unwrap_or_default()
}

/// Copies once; gives the predicates that turned out to be needed whole as well as in part.
fn attempt(
    set: &RuleSet,
    by_head: &[Vec<usize>],
    whole: &BTreeSet<usize>,
) -> Result<RuleSet, BTreeSet<usize>> {
    let facts = set.predicates.iter().take_while(|p| p.origin == PredicateOrigin::Fact).cloned();
    let out = RuleSet { predicates: facts.collect(), ..RuleSet::default() };
    let mut copies = Specialiser { set, whole, out, numbers: BTreeMap::new(), open: Vec::new() };
    for query in &set.queries {
        let mut query = query.clone();
        let width = set.predicates[query.predicate].kinds.len();
        query.predicate = copies.copy_of(query.predicate, vec![None; width]);
        copies.out.queries.push(query);
    }
    let most = set.predicates.len() * COPIES_PER_PREDICATE + COPIES_BESIDE;
    while let Some((predicate, pattern, number)) = copies.open.pop() {
        if copies.out.predicates.len() > most {
            return Err((0..set.predicates.len()).collect());
        }
        for rule in &by_head[predicate] {
            copies.copy_rule(&set.rules[*rule], &pattern, number);
        }
    }
    let mut needed_whole = BTreeSet::new();
    for (predicate, pattern) in copies.numbers.keys() {
        let is_whole = pattern.iter().all(Option::is_none);
        let n_copies = copies.numbers.range((*predicate, Vec::new())..(*predicate + 1, Vec::new()));
        if is_whole && n_copies.count() > 1 {
            needed_whole.insert(*predicate);
        }
    }
    if needed_whole.is_empty() { Ok(copies.out) } else { Err(needed_whole) }
}

impl Specialiser<'_> {
    fn copy_of(&mut self, predicate: usize, pattern: ConstantPattern) -> usize {
        let found = &self.set.predicates[predicate];
        if found.origin == PredicateOrigin::Fact {
            return predicate;
        }
        let is_whole = self.whole.contains(&predicate);
        let pattern = if is_whole { vec![None; pattern.len()] } else { pattern };
        if let Some(number) = self.numbers.get(&(predicate, pattern.clone())) {
            return *number;
        }
        let number = self.out.predicates.len();
        self.out.predicates.push(found.clone());
        self.numbers.insert((predicate, pattern.clone()), number);
        self.open.push((predicate, pattern, number));
        number
    }

    fn copy_rule(&mut self, rule: &CheckedRule, pattern: &ConstantPattern, number: usize) {
        let mut constants = vec![None; rule.variables.len()];
        let mut body = rule.body.clone();
        let mut head = rule.head.clone();
        // `X = "a"` says of X all that there is to say.
        if self.whole.len() < self.set.predicates.len() {
            body.retain(|goal| !take_equation(goal, rule, &mut constants));
        }
        for (term, wanted) in head.terms.iter().zip(pattern) {
            let Some(wanted) = wanted else { continue };
            match term {
                RuleTerm::Constant(value, _) if value != wanted => return,
                RuleTerm::Variable(variable) if is_target(&rule.body, *variable) => {
                    let constant =
                        RuleTerm::Constant(wanted.clone(), rule.variables[*variable].kind);
                    let kind = RuleGoalKind::Compare(TermComparison::Equal, term.clone(), constant);
                    body.push(RuleGoal { kind, place: rule.place });
                }
                RuleTerm::Variable(variable) => match &constants[*variable] {
                    Some(known) if known != wanted => return,
                    _ => constants[*variable] = Some(wanted.clone()),
                },
                RuleTerm::Constant(..)
                | RuleTerm::Blank
                | RuleTerm::Id(..)
                | RuleTerm::Negate(_)
                | RuleTerm::Binary(..)
                | RuleTerm::Call(..) => {}
            }
        }
        let place = |term: &mut RuleTerm| replace(term, rule, &constants);
        head.terms.iter_mut().for_each(place);
        head.predicate = number;
        self.body(&mut body, rule, &constants);
        self.out.rules.push(CheckedRule { head, body, ..rule.clone() });
    }

    fn body(
        &mut self,
        body: &mut [RuleGoal],
        rule: &CheckedRule,
        constants: &[Option<QueryValue>],
    ) {
        for goal in body {
            match &mut goal.kind {
                RuleGoalKind::Positive(atom) | RuleGoalKind::Negative(atom) => {
                    self.atom(atom, rule, constants);
                }
                RuleGoalKind::Compare(_, left, right) => {
                    replace(left, rule, constants);
                    replace(right, rule, constants);
                }
                RuleGoalKind::Test(test) => {
                    test.terms.iter_mut().for_each(|term| replace(term, rule, constants));
                }
                RuleGoalKind::Aggregate(aggregate) => {
                    aggregate.groups.retain(|variable| constants[*variable].is_none());
                    aggregate.needs.retain(|variable| constants[*variable].is_none());
                    aggregate.term.iter_mut().for_each(|term| replace(term, rule, constants));
                    self.body(&mut aggregate.body, rule, constants);
                }
            }
        }
    }

    fn atom(&mut self, atom: &mut RuleAtom, rule: &CheckedRule, constants: &[Option<QueryValue>]) {
        atom.terms.iter_mut().for_each(|term| replace(term, rule, constants));
        let constant = |term: &RuleTerm| match term {
            RuleTerm::Constant(value, _) => Some(value.clone()),
            RuleTerm::Blank
            | RuleTerm::Variable(_)
            | RuleTerm::Id(..)
            | RuleTerm::Negate(_)
            | RuleTerm::Binary(..)
            | RuleTerm::Call(..) => None,
        };
        atom.predicate = self.copy_of(atom.predicate, atom.terms.iter().map(constant).collect());
    }
}

/// Notes the constant of an equation; says whether the goal is done with by that.
fn take_equation(
    goal: &RuleGoal,
    rule: &CheckedRule,
    constants: &mut [Option<QueryValue>],
) -> bool {
    let RuleGoalKind::Compare(TermComparison::Equal, left, right) = &goal.kind else {
        return false;
    };
    let (variable, value, kind) = match (left, right) {
        (RuleTerm::Variable(variable), RuleTerm::Constant(value, kind))
        | (RuleTerm::Constant(value, kind), RuleTerm::Variable(variable)) => {
            (*variable, value, *kind)
        }
        _ => return false,
    };
    let has_type = kind.is_none() || rule.variables[variable].kind == kind;
    if !has_type || constants[variable].is_some() || is_target(&rule.body, variable) {
        return false;
    }
    constants[variable] = Some(value.clone());
    true
}

/// Says whether an aggregate gives a variable its value, at any depth.
fn is_target(body: &[RuleGoal], variable: usize) -> bool {
    body.iter().any(|goal| match &goal.kind {
        RuleGoalKind::Aggregate(aggregate) => {
            aggregate.target == variable || is_target(&aggregate.body, variable)
        }
        RuleGoalKind::Positive(_)
        | RuleGoalKind::Negative(_)
        | RuleGoalKind::Compare(..)
        | RuleGoalKind::Test(_) => false,
    })
}

fn replace(term: &mut RuleTerm, rule: &CheckedRule, constants: &[Option<QueryValue>]) {
    match term {
        RuleTerm::Variable(variable) => {
            if let Some(value) = &constants[*variable] {
                *term = RuleTerm::Constant(value.clone(), rule.variables[*variable].kind);
            }
        }
        RuleTerm::Negate(inner) => replace(inner, rule, constants),
        RuleTerm::Binary(_, left, right) => {
            replace(left, rule, constants);
            replace(right, rule, constants);
        }
        RuleTerm::Call(_, args) => args.iter_mut().for_each(|arg| replace(arg, rule, constants)),
        RuleTerm::Blank | RuleTerm::Constant(..) | RuleTerm::Id(..) => {}
    }
}
