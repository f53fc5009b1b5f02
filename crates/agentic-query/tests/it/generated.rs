//! Generated programs: the engine agrees with the naive evaluator, in whatever order facts, goals and
//! rules stand, with and without pushing.

use std::collections::BTreeSet;

use agentic_query::{ConstantPushing, QueryLimits, QueryType, QueryValue};
use proptest::prelude::*;

use crate::memory::{MemoryFacts, ask, int};
use crate::naive::{NaiveGoal, NaiveRows, NaiveRule, NaiveTerm, evaluate, sorted};

/// Predicates 0 and 1 are facts, 2 and 3 one stratum, 4 and 5 the next.
pub const NAMES: [&str; 6] = ["e", "f", "p", "q", "r", "s"];
pub const VARIABLES: [&str; 6] = ["A", "B", "C", "D", "L", "N"];
const LOCAL: usize = 4;
const COUNTED: usize = 5;

/// A small source of choices, so that a program is one number.
pub struct Choices(pub u64);

impl Choices {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n as u64) as usize
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            list.swap(at, self.below(at + 1));
        }
    }

    fn term(&mut self, bound: &[usize]) -> NaiveTerm {
        match self.below(4) {
            0 => NaiveTerm::Constant(self.below(4) as i64),
            1 => NaiveTerm::Blank,
            _ => NaiveTerm::Variable(bound[self.below(bound.len())]),
        }
    }

    fn rule(&mut self, head: usize) -> NaiveRule {
        let stratum_end = if head < 4 { 4 } else { 6 };
        let mut body = Vec::new();
        let mut bound = Vec::new();
        for _ in 0..1 + self.below(3) {
            let args = [self.term(&[0, 1, 2, 3]), self.term(&[0, 1, 2, 3])];
            bound.extend(args.iter().filter_map(|term| match term {
                NaiveTerm::Variable(variable) => Some(*variable),
                NaiveTerm::Constant(_) | NaiveTerm::Blank => None,
            }));
            body.push(NaiveGoal::Positive(self.below(stratum_end), args));
        }
        if bound.is_empty() {
            body.push(NaiveGoal::Positive(0, [NaiveTerm::Variable(0), NaiveTerm::Blank]));
            bound.push(0);
        }
        let below = stratum_end - 2;
        match self.below(6) {
            0 => body.push(NaiveGoal::Negative(
                self.below(below),
                [self.term(&bound), self.term(&bound)],
            )),
            1 => {
                let bound_term = |n: usize| NaiveTerm::Variable(bound[n % bound.len()]);
                body.push(NaiveGoal::Less(bound_term(self.below(9)), bound_term(self.below(9))));
            }
            2 => {
                let inner: Vec<usize> = bound.iter().copied().chain([LOCAL]).collect();
                let args = [self.term(&inner), self.term(&inner)];
                body.push(NaiveGoal::Count(COUNTED, self.below(below), args));
                bound.push(COUNTED);
            }
            _ => {}
        }
        let args = [0, 1].map(|_| match self.below(6) {
            0 => NaiveTerm::Constant(self.below(4) as i64),
            _ => NaiveTerm::Variable(bound[self.below(bound.len())]),
        });
        NaiveRule { head, args, body }
    }
}

fn term_text(term: NaiveTerm) -> String {
    match term {
        NaiveTerm::Variable(variable) => VARIABLES[variable].to_owned(),
        NaiveTerm::Constant(value) => value.to_string(),
        NaiveTerm::Blank => "_".to_owned(),
    }
}

fn atom_text(predicate: usize, args: [NaiveTerm; 2]) -> String {
    format!("{}({}, {})", NAMES[predicate], term_text(args[0]), term_text(args[1]))
}

fn goal_text(goal: &NaiveGoal) -> String {
    match goal {
        NaiveGoal::Positive(predicate, args) => atom_text(*predicate, *args),
        NaiveGoal::Negative(predicate, args) => format!("!{}", atom_text(*predicate, *args)),
        NaiveGoal::Less(left, right) => format!("{} < {}", term_text(*left), term_text(*right)),
        NaiveGoal::Count(target, predicate, args) => {
            format!("{} = count {{ {} }}", VARIABLES[*target], atom_text(*predicate, *args))
        }
    }
}

/// Prints a rule without its full stop.
pub fn rule_text(rule: &NaiveRule) -> String {
    let goals: Vec<String> = rule.body.iter().map(goal_text).collect();
    format!("{} :- {}", atom_text(rule.head, rule.args), goals.join(", "))
}

/// Puts rules, and the goals of each, in another order.
pub fn shuffled(rules: &[NaiveRule], choices: &mut Choices) -> Vec<NaiveRule> {
    let mut rules = rules.to_vec();
    rules.iter_mut().for_each(|rule| choices.shuffle(&mut rule.body));
    choices.shuffle(&mut rules);
    rules
}

fn program_text(rules: &[NaiveRule], choices: &mut Choices) -> String {
    let rules = shuffled(rules, choices);
    rules.iter().map(|rule| format!("{}.\n", rule_text(rule))).collect()
}

/// Makes facts and two strata of rules.
pub fn program(choices: &mut Choices) -> (NaiveRows, [Vec<NaiveRule>; 2]) {
    let mut rows: NaiveRows = vec![Vec::new(); 6];
    for predicate in [0, 1] {
        for _ in 0..choices.below(9) {
            rows[predicate].push([choices.below(5) as i64, choices.below(5) as i64]);
        }
    }
    let mut strata = [Vec::new(), Vec::new()];
    for (stratum, heads) in [[2, 3], [4, 5]].into_iter().enumerate() {
        // Each predicate has a rule, and some have more.
        for head in heads.into_iter().chain([heads[choices.below(2)], heads[choices.below(2)]]) {
            strata[stratum].push(choices.rule(head));
        }
    }
    (rows, strata)
}

pub fn facts_of(rows: &NaiveRows, choices: &mut Choices) -> MemoryFacts {
    let mut facts = MemoryFacts::default();
    for predicate in [0, 1] {
        let mut rows: Vec<Vec<QueryValue>> =
            rows[predicate].iter().map(|row| row.map(int).to_vec()).collect();
        choices.shuffle(&mut rows);
        facts.add(NAMES[predicate], &[("a", QueryType::Int), ("b", QueryType::Int)], rows);
    }
    facts
}

fn check_program(seed: u64) {
    let mut choices = Choices(seed);
    let (rows, strata) = program(&mut choices);
    let expected = evaluate(&strata, rows.clone());
    let rules = strata.concat();
    let constant = choices.below(5) as i64;
    for pushing in [ConstantPushing::On, ConstantPushing::Off, ConstantPushing::On] {
        let program = program_text(&rules, &mut choices);
        let facts = facts_of(&rows, &mut choices);
        for predicate in 2..6 {
            let name = NAMES[predicate];
            let all = sorted(&expected[predicate]);
            let text = format!(
                "{program}? {name}(X, Y). ? {name}({constant}, Y). ? {name}(X, {constant})."
            );
            let one = format!("{program}? {name}({constant}, X).");
            let joined = format!("{program}? {name}(X, Y), e({constant}, X).");
            let negated =
                format!("{program}? e({constant}, X), !{name}(X, X), !{name}(X, _Y), e(_Y, _).");
            for (at, text) in [&text, &one, &joined, &negated].into_iter().enumerate() {
                let report = ask(&facts, text, pushing, QueryLimits::default());
                let report = report.unwrap_or_else(|error| panic!("{text}\n{error}"));
                let found = |n: usize| report.answers[n].rows.clone();
                let column = |fixed: usize, free: usize| -> Vec<Vec<QueryValue>> {
                    let fitting = all.iter().filter(|row| row[fixed] == constant);
                    let values: BTreeSet<i64> = fitting.map(|row| row[free]).collect();
                    values.into_iter().map(|value| vec![int(value)]).collect()
                };
                if at == 1 {
                    assert_eq!(found(0), column(0, 1), "{seed} {text}");
                    continue;
                }
                if at == 3 {
                    let row = |x: i64, y: i64| expected[predicate].contains(&[x, y]);
                    let ys = expected[0].iter().map(|other| other[0]);
                    let left =
                        expected[0].iter().filter(|it| it[0] == constant && !row(it[1], it[1]));
                    let left = left.map(|it| it[1]).filter(|x| ys.clone().any(|y| !row(*x, y)));
                    let left: BTreeSet<i64> = left.collect();
                    let left: Vec<_> = left.into_iter().map(|x| vec![int(x)]).collect();
                    assert_eq!(found(0), left, "{seed} {text}");
                    continue;
                }
                if at == 2 {
                    let bound: BTreeSet<i64> = expected[0]
                        .iter()
                        .filter(|row| row[0] == constant)
                        .map(|row| row[1])
                        .collect();
                    let joined = all.iter().filter(|row| bound.contains(&row[0]));
                    let joined: Vec<Vec<QueryValue>> =
                        joined.map(|row| row.map(int).to_vec()).collect();
                    assert_eq!(found(0), joined, "{seed} {text}");
                    continue;
                }
                let pairs: Vec<Vec<QueryValue>> =
                    all.iter().map(|row| row.map(int).to_vec()).collect();
                assert_eq!(found(0), pairs, "{seed} {text} {:?}", facts.rows);
                assert_eq!(found(1), column(0, 1), "{seed} {text}");
                assert_eq!(found(2), column(1, 0), "{seed} {text}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn generated_programs_agree_with_the_naive_evaluator(seed in any::<u64>()) {
        check_program(seed);
    }
}
