//! Reasons of generated programs, rebuilt and checked node by node.

use std::collections::BTreeMap;

use agentic_query::{
    ConstantPushing, QueryReasons, QueryValue, ReasonCell, ReasonGround, ReasonNode, ReasonRule,
};
use proptest::prelude::*;

use crate::generated::{Choices, NAMES, VARIABLES, facts_of, program, rule_text, shuffled};
use crate::naive::{
    Binding, NaiveGoal, NaiveRows, NaiveRule, NaiveTerm, evaluate, matches, unify, value,
};
use crate::why::ask_why;

/// How high each row is, at least.
type RowHeights = BTreeMap<(usize, [i64; 2]), usize>;

/// What reasons are checked against.
struct ReasonChecker<'a> {
    rows: &'a NaiveRows,
    rules: &'a [NaiveRule],
    heights: &'a RowHeights,
    reasons: &'a QueryReasons,
    program: &'a str,
}

/// Counts heights in rounds: positive goals see rows of lower rounds, others see all.
fn heights(rules: &[NaiveRule], rows: &NaiveRows) -> RowHeights {
    let mut heights = RowHeights::new();
    for predicate in [0, 1] {
        heights.extend(rows[predicate].iter().map(|row| ((predicate, *row), 0)));
    }
    for height in 1.. {
        let found: Vec<_> =
            rules.iter().flat_map(|rule| derived(rule, rows, &heights, height)).collect();
        let n_before = heights.len();
        for row in found {
            heights.entry(row).or_insert(height);
        }
        if heights.len() == n_before {
            break;
        }
    }
    heights
}

/// Lists the rows that a rule gives from rows that are lower.
fn derived(
    rule: &NaiveRule,
    rows: &NaiveRows,
    heights: &RowHeights,
    height: usize,
) -> Vec<(usize, [i64; 2])> {
    let lower = |predicate: usize| {
        let known = rows[predicate].iter().copied();
        let is_lower =
            |row: &[i64; 2]| heights.get(&(predicate, *row)).is_some_and(|held| *held < height);
        known.filter(is_lower).collect::<Vec<_>>()
    };
    let low: NaiveRows = (0..6).map(lower).collect();
    let is_positive = |goal: &NaiveGoal| matches!(goal, NaiveGoal::Positive(..));
    let (positive, others): (Vec<_>, Vec<_>) = rule.body.iter().cloned().partition(is_positive);
    let mut found = Vec::new();
    matches(&positive, [None; 6], &low, &mut |binding| {
        let mut counts: Vec<NaiveGoal> = others.clone();
        counts.sort_by_key(|goal| !matches!(goal, NaiveGoal::Count(..)));
        matches(&counts, *binding, rows, &mut |binding| {
            let cell = |term| value(term, binding).expect("heads are bound");
            found.push((rule.head, rule.args.map(cell)));
        });
    });
    found
}

fn row(cells: &[ReasonCell]) -> [i64; 2] {
    let cell = |cell: &ReasonCell| match cell.value {
        Some(QueryValue::Int(number)) => number,
        _ => panic!("a cell without a number: {cell:?}"),
    };
    [cell(&cells[0]), cell(&cells[1])]
}

impl ReasonChecker<'_> {
    fn predicate(&self, node: &ReasonNode) -> usize {
        NAMES.iter().position(|name| *name == node.predicate).expect("a predicate of the program")
    }

    fn node(&self, node: &ReasonNode) {
        let (predicate, row, program) = (self.predicate(node), row(&node.cells), self.program);
        assert!(self.rows[predicate].contains(&row), "{program} {node:?}");
        assert_eq!(node.height, self.heights[&(predicate, row)], "{program} {node:?}");
        let Some(found) = &node.rule else {
            assert!(predicate < 2, "{program} {node:?}");
            return;
        };
        let at = self.rules.iter().position(|rule| rule_text(rule) == found.text);
        let at = at.expect("a rule of the program");
        // No rule before it gives the row from rows as low.
        for earlier in &self.rules[..at] {
            let rows = derived(earlier, self.rows, self.heights, node.height);
            assert!(!rows.contains(&(predicate, row)), "{program} {node:?} {earlier:?}");
        }
        self.rule(&self.rules[at], found, (predicate, row));
    }

    fn rule(&self, rule: &NaiveRule, found: &ReasonRule, head: (usize, [i64; 2])) {
        let mut binding: Binding = [None; 6];
        for (name, held, _) in &found.variables {
            let QueryValue::Int(held) = held else { panic!("{held:?}") };
            let at = VARIABLES.iter().position(|variable| variable == name);
            binding[at.expect("a variable of the program")] = Some(*held);
        }
        let cell = |term| value(term, &binding).expect("heads are bound");
        assert_eq!((rule.head, rule.args.map(cell)), head, "{}", self.program);
        assert_eq!(rule.body.len(), found.goals.len(), "{}", self.program);
        for (goal, found) in rule.body.iter().zip(&found.goals) {
            self.goal(goal, &found.ground, binding);
        }
    }

    fn goal(&self, goal: &NaiveGoal, ground: &ReasonGround, binding: Binding) {
        let program = self.program;
        let count = |predicate: usize, args: [NaiveTerm; 2]| {
            self.rows[predicate].iter().filter(|row| unify(args, **row, binding).is_some()).count()
        };
        match (goal, ground) {
            (NaiveGoal::Positive(predicate, args), ReasonGround::Row(Some(node))) => {
                let node = &self.reasons.nodes[*node];
                assert_eq!(self.predicate(node), *predicate, "{program}");
                assert!(unify(*args, row(&node.cells), binding).is_some(), "{program} {node:?}");
            }
            (NaiveGoal::Negative(predicate, args), ReasonGround::Absent { .. }) => {
                assert_eq!(count(*predicate, *args), 0, "{program}");
            }
            (NaiveGoal::Less(left, right), ReasonGround::Holds) => {
                assert!(value(*left, &binding) < value(*right, &binding), "{program}");
            }
            (
                NaiveGoal::Count(target, predicate, args),
                ReasonGround::Aggregate { value, n_matches, matches, .. },
            ) => {
                let n = count(*predicate, *args);
                assert_eq!((*n_matches, matches.len()), (n, n.min(20)), "{program}");
                assert_eq!(*value, QueryValue::Int(n as i64), "{program}");
                assert_eq!(binding[*target], Some(n as i64), "{program}");
            }
            (goal, ground) => panic!("{program} {goal:?} {ground:?}"),
        }
    }
}

fn check_reasons(seed: u64) {
    let mut choices = Choices(seed);
    let (rows, strata) = program(&mut choices);
    let expected = evaluate(&strata, rows.clone());
    let heights = heights(&strata.concat(), &expected);
    for pushing in [ConstantPushing::On, ConstantPushing::Off] {
        let rules = shuffled(&strata.concat(), &mut choices);
        let text: String = rules.iter().map(|rule| format!("{}.\n", rule_text(rule))).collect();
        let facts = facts_of(&rows, &mut choices);
        let constant = choices.below(5);
        for name in &NAMES[2..] {
            for query in [format!("? why {name}(X, Y)."), format!("? why {name}({constant}, Y).")] {
                let program = format!("{text}{query}");
                let report = ask_why(&facts, &program, pushing, &[]);
                let Some(reasons) = report.reasons.first() else { continue };
                assert_eq!((reasons.n_more, reasons.rows.len()), (0, report.answers[0].n_rows));
                let checker = ReasonChecker {
                    rows: &expected,
                    rules: &rules,
                    heights: &heights,
                    reasons,
                    program: &program,
                };
                let below = reasons.nodes.iter().filter(|node| node.predicate != "?");
                below.for_each(|node| checker.node(node));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn reasons_of_generated_programs_hold_node_by_node(seed in any::<u64>()) {
        check_reasons(seed);
    }
}
