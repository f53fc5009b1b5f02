//! Hostile queries end with an error that names the rule and the goal.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use agentic_diag::SourceText;
use agentic_query::{
    ConstantPushing, FactBase, QueryError, QueryInput, QueryLimitKind, QueryLimits, QueryRun,
    QueryType, QueryWatch, compile,
};

use crate::memory::{MemoryFacts, NOW, ask, int};

fn numbers(n: i64) -> MemoryFacts {
    let mut facts = MemoryFacts::default();
    facts.add("n", &[("n", QueryType::Int)], (0..n).map(|n| vec![int(n)]).collect());
    facts.add(
        "next",
        &[("a", QueryType::Int), ("b", QueryType::Int)],
        (0..n).map(|n| vec![int(n), int(n + 1)]).collect(),
    );
    facts
}

fn check(program: &str, limits: QueryLimits, wanted: QueryLimitKind, at: &str) {
    let error = ask(&numbers(10_000), program, ConstantPushing::On, limits);
    let Err(QueryError::Limit { kind, goal, .. }) = error else { panic!("{program}: {error:?}") };
    assert_eq!((kind, goal.as_str()), (wanted, at), "{program}");
}

#[test]
fn rows_are_counted_before_they_are_made() {
    let limits = QueryLimits::default();
    // 10^12 rows.
    check("? n(A), n(B), n(C).", limits, QueryLimitKind::Rows, "n(B)");
    check("? N = count { n(A), n(B), n(C) }.", limits, QueryLimitKind::Rows, "n(B)");
    let limits = QueryLimits { rows_max: 100_000, ..limits };
    check(
        "up(X) :- n(X). up(Y) :- up(X), Y = X + 1. ? up(X).",
        limits,
        QueryLimitKind::Rows,
        "up(X)",
    );
    let far = "far(A, B) :- next(A, B). far(A, C) :- next(A, B), far(B, C). ? far(A, B).";
    check(far, limits, QueryLimitKind::Rows, "next(A, B)");
    let limits = QueryLimits { facts_max: 5_000, ..QueryLimits::default() };
    check("? n(X).", limits, QueryLimitKind::Facts, "n");
    let limits = QueryLimits { bytes_max: 100_000, ..QueryLimits::default() };
    check("? next(X, Y), next(Y, Z).", limits, QueryLimitKind::Memory, "next(X, Y)");
}

#[test]
fn a_clock_and_a_flag_end_a_query() {
    let facts = numbers(100);
    let source = SourceText::new("q", "up(X) :- n(X). up(Y) :- up(X), Y = X + 1. ? up(X).");
    let (files, params) = (BTreeMap::new(), BTreeMap::new());
    let input = QueryInput { source: &source, files: &files, params: &params, now: NOW };
    let compiled = compile(&input, &facts).expect("it compiles");
    let cancel = AtomicBool::new(false);
    let looks = std::cell::Cell::new(0);
    let elapsed_ms = || {
        looks.set(looks.get() + 1);
        looks.get()
    };
    let watch = || QueryWatch { cancel: &cancel, elapsed_ms: &elapsed_ms, time_ms_max: 5 };
    let limits = QueryLimits { rows_max: usize::MAX, ..QueryLimits::default() };
    let ask = || {
        let run = QueryRun { facts: &facts, limits, watch: watch(), pushing: ConstantPushing::On };
        compiled.answer(&mut FactBase::default(), &run)
    };
    let late = ask();
    assert!(matches!(late, Err(QueryError::Limit { kind: QueryLimitKind::Time, .. })), "{late:?}");
    cancel.store(true, Ordering::Relaxed);
    assert_eq!(ask(), Err(QueryError::Cancelled));
}

#[test]
fn programs_as_large_as_they_may_be_compile_quickly() {
    let facts = numbers(10);
    let chain: String = (1..9_990).map(|n| format!("p{}(X) :- p{n}(X).\n", n + 1)).collect();
    let program = format!("{chain}p1(X) :- n(X). ? p9990(X).");
    let report = ask(&facts, &program, ConstantPushing::On, QueryLimits::default());
    assert_eq!(report.map(|report| report.answers[0].n_rows), Ok(10));
    let goals = vec!["n(X)"; 250].join(", ");
    let report = ask(&facts, &format!("? {goals}."), ConstantPushing::On, QueryLimits::default());
    assert_eq!(report.map(|report| report.answers[0].n_rows), Ok(10));
    let columns = ["n(_)"; 5].join(", ");
    let report = ask(
        &facts,
        &format!("? N = count {{ {columns} }}."),
        ConstantPushing::On,
        QueryLimits::default(),
    );
    assert_eq!(report.map(|report| report.answers[0].rows.clone()), Ok(vec![vec![int(100_000)]]));
}
