//! An evaluator that cannot be wrong: it tries all values, until nothing is added.

use std::collections::BTreeSet;

/// An argument: a variable, a constant or a blank.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NaiveTerm {
    Variable(usize),
    Constant(i64),
    Blank,
}

/// A goal about predicates of two columns.
#[derive(Debug, Clone)]
pub enum NaiveGoal {
    Positive(usize, [NaiveTerm; 2]),
    Negative(usize, [NaiveTerm; 2]),
    Less(NaiveTerm, NaiveTerm),
    /// A variable that counts matches.
    Count(usize, usize, [NaiveTerm; 2]),
}

#[derive(Debug, Clone)]
pub struct NaiveRule {
    pub head: usize,
    pub args: [NaiveTerm; 2],
    pub body: Vec<NaiveGoal>,
}

pub type NaiveRows = Vec<Vec<[i64; 2]>>;
pub type Binding = [Option<i64>; 6];

/// Computes all predicates; rules of one stratum follow those of the strata below.
pub fn evaluate(strata: &[Vec<NaiveRule>], facts: NaiveRows) -> NaiveRows {
    let mut rows = facts;
    for rules in strata {
        loop {
            let mut found = Vec::new();
            for rule in rules {
                matches(&rule.body, [None; 6], &rows, &mut |binding| {
                    let value = |term| value(term, binding).expect("heads are bound");
                    found.push((rule.head, rule.args.map(value)));
                });
            }
            let n_before: usize = rows.iter().map(Vec::len).sum();
            for (head, row) in found {
                if !rows[head].contains(&row) {
                    rows[head].push(row);
                }
            }
            if rows.iter().map(Vec::len).sum::<usize>() == n_before {
                break;
            }
        }
    }
    rows
}

pub fn value(term: NaiveTerm, binding: &Binding) -> Option<i64> {
    match term {
        NaiveTerm::Variable(variable) => binding[variable],
        NaiveTerm::Constant(value) => Some(value),
        NaiveTerm::Blank => None,
    }
}

/// Binds the arguments of a goal to a row, if they fit.
pub fn unify(args: [NaiveTerm; 2], row: [i64; 2], mut binding: Binding) -> Option<Binding> {
    for (term, cell) in args.into_iter().zip(row) {
        match (term, value(term, &binding)) {
            (_, Some(known)) if known != cell => return None,
            (NaiveTerm::Variable(variable), None) => binding[variable] = Some(cell),
            _ => {}
        }
    }
    Some(binding)
}

pub fn matches(
    body: &[NaiveGoal],
    binding: Binding,
    rows: &NaiveRows,
    visit: &mut dyn FnMut(&Binding),
) {
    let Some((goal, rest)) = body.split_first() else { return visit(&binding) };
    let fitting = |predicate: usize, args| {
        rows[predicate].iter().filter_map(move |row| unify(args, *row, binding))
    };
    match goal {
        NaiveGoal::Positive(predicate, args) => {
            fitting(*predicate, *args).for_each(|found| matches(rest, found, rows, visit));
        }
        NaiveGoal::Negative(predicate, args) => {
            if fitting(*predicate, *args).next().is_none() {
                matches(rest, binding, rows, visit);
            }
        }
        NaiveGoal::Less(left, right) => {
            if value(*left, &binding) < value(*right, &binding) {
                matches(rest, binding, rows, visit);
            }
        }
        NaiveGoal::Count(target, predicate, args) => {
            let mut binding = binding;
            binding[*target] = Some(fitting(*predicate, *args).count() as i64);
            matches(rest, binding, rows, visit);
        }
    }
}

/// Returns the rows as a sorted set.
pub fn sorted(rows: &[[i64; 2]]) -> BTreeSet<[i64; 2]> {
    rows.iter().copied().collect()
}
