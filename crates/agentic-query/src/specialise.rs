//! Pushes constants and bindings into rules: a goal asks a copy of the rules that has them, too.
//!
//! `under(A, "release")` becomes a copy of `under` whose second column is that text, in its own
//! recursive goals as well, so that what nobody asked about is never derived. Where goals before it
//! bind a variable, `under(A, B)` becomes a copy that only derives rows for the values that `A` can
//! have: those stand in a predicate of their own, its guard, which begins each rule of the copy.

mod linear;
mod passing;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::ast::TermComparison;
use crate::rule::{
    CheckedRule, PredicateOrigin, RuleAtom, RuleGoal, RuleGoalKind, RulePredicate, RuleSet,
    RuleTerm,
};
use crate::strata::is_stratified;
use crate::value::{QueryType, QueryValue};

/// How often is begun anew without the predicates that are needed whole, before less is pushed.
const ATTEMPTS_MAX: usize = 8;
/// How many copies there may be, for each predicate on average and beside that.
const COPIES_PER_PREDICATE: usize = 4;
const COPIES_BESIDE: usize = 64;

/// Whether constants and bindings are pushed; without it answers are the same, and slower.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ConstantPushing {
    /// Copies of rules have the constants that goals ask for, and derive for what binds them.
    #[default]
    On,
    /// Rules stay as they are written.
    Off,
}

/// Which rows of recursive rules are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecursiveRows {
    /// Those that are asked for.
    Asked,
    /// Those on the way to them, too, for the reasons of an answer.
    OnTheWay,
}

/// What a goal knows of a column when it asks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum CallColumn {
    /// Nothing.
    Free,
    /// Its value.
    Constant(QueryValue),
    /// That goals before it bind it.
    Bound,
}

/// What is pushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PushedParts {
    /// Bindings through negations, too.
    AllBindings,
    ConstantsAndBindings,
    Constants,
    Nothing,
}

impl PushedParts {
    /// Says whether goals are asked with what those before them bind.
    fn has_bindings(self) -> bool {
        match self {
            PushedParts::AllBindings | PushedParts::ConstantsAndBindings => true,
            PushedParts::Constants | PushedParts::Nothing => false,
        }
    }
}

/// A copy of a predicate.
struct PredicateCopy {
    predicate: usize,
    call: Vec<CallColumn>,
    number: usize,
    /// The predicate of the values that its bound columns can have.
    guard: Option<usize>,
}

/// Why a program cannot be copied like this.
enum CopyObstacle {
    /// These predicates are needed whole as well as in part.
    NeededWhole(BTreeSet<usize>),
    TooMany,
}

/// What is being copied.
struct Specialiser<'a> {
    set: &'a RuleSet,
    pushed: PushedParts,
    whole: BTreeSet<usize>,
    estimate: &'a dyn Fn(usize, &[usize]) -> f64,
    /// The predicates that depend on themselves.
    recursive: &'a [bool],
    /// What predicates have in common that depend on each other.
    components: &'a [usize],
    rows: RecursiveRows,
    out: RuleSet,
    numbers: BTreeMap<(usize, Vec<CallColumn>), (usize, Option<usize>)>,
    open: Vec<PredicateCopy>,
}

/// Copies the rules that the queries reach, with constants and bindings pushed into them. The
/// estimate says how many rows of a fact have one value in each of some columns.
pub(crate) fn specialise(
    set: &RuleSet,
    pushing: ConstantPushing,
    rows: RecursiveRows,
    estimate: &dyn Fn(usize, &[usize]) -> f64,
) -> RuleSet {
    let mut by_head = vec![Vec::new(); set.predicates.len()];
    for (number, rule) in set.rules.iter().enumerate() {
        by_head[rule.head.predicate].push(number);
    }
    let recursive = crate::strata::recursive(set);
    let components = crate::strata::component_numbers(set);
    let begin = |pushed, whole| Specialiser {
        set,
        pushed,
        whole,
        estimate,
        recursive: &recursive,
        components: &components,
        rows,
        out: RuleSet::default(),
        numbers: BTreeMap::new(),
        open: Vec::new(),
    };
    let parts = match pushing {
        ConstantPushing::On => {
            &[PushedParts::AllBindings, PushedParts::ConstantsAndBindings, PushedParts::Constants][..]
        }
        ConstantPushing::Off => &[],
    };
    for pushed in parts {
        let mut whole = BTreeSet::new();
        for _ in 0..ATTEMPTS_MAX {
            match begin(*pushed, whole.clone()).copy_all(&by_head) {
                // A guard may lead around a negation; then nothing is passed to it.
                Ok(done) if is_stratified(&done) => return done,
                Ok(_) | Err(CopyObstacle::TooMany) => break,
                Err(CopyObstacle::NeededWhole(found)) => whole.extend(found),
            }
        }
    }
    let all = (0..set.predicates.len()).collect();
    begin(PushedParts::Nothing, all).copy_all(&by_head).unwrap_or_default()
}

impl Specialiser<'_> {
    /// Copies what the queries reach.
    fn copy_all(mut self, by_head: &[Vec<usize>]) -> Result<RuleSet, CopyObstacle> {
        let set = self.set;
        let is_fact = |found: &&RulePredicate| found.origin == PredicateOrigin::Fact;
        self.out.predicates.extend(set.predicates.iter().take_while(is_fact).cloned());
        for query in &set.queries {
            let mut query = query.clone();
            let width = set.predicates[query.predicate].kinds.len();
            (query.predicate, _) = self.copy_of(query.predicate, vec![CallColumn::Free; width]);
            self.out.queries.push(query);
        }
        let most = set.predicates.len() * COPIES_PER_PREDICATE + COPIES_BESIDE;
        while let Some(copy) = self.open.pop() {
            if self.out.predicates.len() > most && self.pushed != PushedParts::Nothing {
                return Err(CopyObstacle::TooMany);
            }
            let may_be_linear = self.pushed.has_bindings() && self.rows == RecursiveRows::Asked;
            if may_be_linear && self.copy_linear(&copy, &by_head[copy.predicate]) {
                continue;
            }
            for rule in &by_head[copy.predicate] {
                self.copy_rule(&set.rules[*rule], &copy);
            }
        }
        let mut whole = BTreeSet::new();
        for (predicate, call) in self.numbers.keys() {
            let is_whole = call.iter().all(|column| *column == CallColumn::Free);
            let from = (*predicate, Vec::new());
            let n_copies = self.numbers.range(from..(*predicate + 1, Vec::new())).count();
            if is_whole && n_copies > 1 {
                whole.insert(*predicate);
            }
        }
        if whole.is_empty() { Ok(self.out) } else { Err(CopyObstacle::NeededWhole(whole)) }
    }

    /// Returns the copy that a call asks, and its guard if the call binds columns.
    fn copy_of(&mut self, predicate: usize, call: Vec<CallColumn>) -> (usize, Option<usize>) {
        let found = &self.set.predicates[predicate];
        if found.origin == PredicateOrigin::Fact {
            return (predicate, None);
        }
        let is_whole = self.whole.contains(&predicate);
        let call = if is_whole { vec![CallColumn::Free; call.len()] } else { call };
        if let Some(known) = self.numbers.get(&(predicate, call.clone())) {
            return *known;
        }
        let number = self.out.predicates.len();
        let copy = RulePredicate { name: Cow::Owned(call_text(found, &call)), ..found.clone() };
        self.out.predicates.push(copy);
        let guard = call.contains(&CallColumn::Bound).then(|| self.guard(number, &call));
        self.numbers.insert((predicate, call.clone()), (number, guard));
        self.open.push(PredicateCopy { predicate, call, number, guard });
        (number, guard)
    }

    /// Makes the predicate of the values that the bound columns of a copy can have.
    fn guard(&mut self, copy: usize, call: &[CallColumn]) -> usize {
        let copy = &self.out.predicates[copy];
        let kinds = copy.kinds.iter().zip(call);
        let kinds = kinds.filter(|(_, column)| **column == CallColumn::Bound);
        let guard = RulePredicate {
            name: Cow::Owned(format!("what binds {}", copy.name)),
            columns: Cow::Borrowed(&[]),
            kinds: kinds.map(|(kind, _)| *kind).collect(),
            origin: PredicateOrigin::Guard,
            source: usize::MAX,
            place: copy.place,
        };
        self.out.predicates.push(guard);
        self.out.predicates.len() - 1
    }

    fn copy_rule(&mut self, rule: &CheckedRule, copy: &PredicateCopy) {
        let mut constants = vec![None; rule.variables.len()];
        let mut body = rule.body.clone();
        let mut head = rule.head.clone();
        // `X = "a"` says of X all that there is to say.
        if self.pushed != PushedParts::Nothing {
            body.retain(|goal| !take_equation(goal, rule, &mut constants));
        }
        for (term, wanted) in head.terms.iter().zip(&copy.call) {
            let CallColumn::Constant(wanted) = wanted else { continue };
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
        head.predicate = copy.number;
        self.body(&mut body, rule, &constants);
        let guard = copy.guard.map(|guard| guard_goal(guard, &head, &copy.call, rule));
        let copied = CheckedRule { head, body, ..rule.clone() };
        self.pass_bindings(copied, guard);
    }

    fn body(
        &mut self,
        body: &mut [RuleGoal],
        rule: &CheckedRule,
        constants: &[Option<QueryValue>],
    ) {
        for goal in body {
            match &mut goal.kind {
                // Which copies these ask is decided when it is known what binds them.
                RuleGoalKind::Positive(atom) | RuleGoalKind::Negative(atom) => {
                    atom.terms.iter_mut().for_each(|term| replace(term, rule, constants));
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
                    for goal in &mut aggregate.body {
                        if let RuleGoalKind::Positive(atom) | RuleGoalKind::Negative(atom) =
                            &mut goal.kind
                        {
                            self.ask_constants(atom);
                        }
                    }
                }
            }
        }
    }

    /// Has a goal that needs all rows ask the copy that has its constants.
    fn ask_constants(&mut self, atom: &mut RuleAtom) {
        let call = atom.terms.iter().map(|term| call_column(term, &[])).collect();
        (atom.predicate, _) = self.copy_of(atom.predicate, call);
    }
}

/// Says what a goal knows of a column, when some variables are bound.
fn call_column(term: &RuleTerm, bound: &[bool]) -> CallColumn {
    match term {
        RuleTerm::Constant(value, _) => CallColumn::Constant(value.clone()),
        RuleTerm::Variable(variable) if bound.get(*variable) == Some(&true) => CallColumn::Bound,
        RuleTerm::Variable(_)
        | RuleTerm::Blank
        | RuleTerm::Id(..)
        | RuleTerm::Negate(_)
        | RuleTerm::Binary(..)
        | RuleTerm::Call(..) => CallColumn::Free,
    }
}

/// Prints a copy as it is asked for.
fn call_text(predicate: &RulePredicate, call: &[CallColumn]) -> String {
    if call.iter().all(|column| *column == CallColumn::Free) {
        return predicate.name.to_string();
    }
    let column = |(column, kind): (&CallColumn, &Option<QueryType>)| match column {
        CallColumn::Free => "_".to_owned(),
        CallColumn::Constant(value) => value.to_json(kind.unwrap_or_default()),
        CallColumn::Bound => "bound".to_owned(),
    };
    let columns: Vec<String> = call.iter().zip(&predicate.kinds).map(column).collect();
    format!("{}({})", predicate.name, columns.join(", "))
}

/// Returns the goal that a rule of a guarded copy begins with.
fn guard_goal(guard: usize, head: &RuleAtom, call: &[CallColumn], rule: &CheckedRule) -> RuleGoal {
    let terms = head.terms.iter().zip(call);
    let terms = terms.filter(|(_, column)| **column == CallColumn::Bound);
    let terms = terms.map(|(term, _)| term.clone()).collect();
    let kind = RuleGoalKind::Positive(RuleAtom { predicate: guard, terms });
    RuleGoal { kind, place: rule.place }
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
