//! Why a row is an answer.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use agentic_diag::SourceText;
use agentic_query::{
    ConstantPushing, FactBase, QueryInput, QueryLimits, QueryReport, QueryRun, QueryType,
    QueryWatch, REASON_NODES_MAX, ReasonGround, WhyRow, compile,
};

use crate::memory::{MemoryFacts, NOW, house, int};

/// Asks a program, and why rows of its first query are there.
pub fn ask_why(
    facts: &MemoryFacts,
    program: &str,
    pushing: ConstantPushing,
    rows: &[usize],
) -> QueryReport {
    let source = SourceText::new("q", program);
    let (files, params) = (BTreeMap::new(), BTreeMap::new());
    let input = QueryInput { source: &source, files: &files, params: &params, now: NOW };
    let compiled = compile(&input, facts).unwrap_or_else(|all| panic!("{program}\n{all:#?}"));
    let (cancel, elapsed_ms) = (AtomicBool::new(false), || 0);
    let watch = QueryWatch { cancel: &cancel, elapsed_ms: &elapsed_ms, time_ms_max: 1 };
    let run = QueryRun { facts, limits: QueryLimits::default(), watch, pushing };
    let wanted: Vec<WhyRow> = rows.iter().map(|row| WhyRow { query: 0, row: *row }).collect();
    let report = compiled.answer_why(&mut FactBase::default(), &run, &wanted);
    report.unwrap_or_else(|error| panic!("{program}\n{error}"))
}

fn check(program: &str, row: usize, expected: &str) {
    for pushing in [ConstantPushing::On, ConstantPushing::Off] {
        let report = ask_why(&house(), program, pushing, &[row]);
        let lines = report.reasons[0].lines().join("\n");
        assert_eq!(lines, expected, "{program} {pushing:?}");
    }
}

const UNDER: &str = "under(A, B) :- sub_agent_of(A, B).
under(A, C) :- sub_agent_of(A, B), under(B, C). ";

#[test]
fn a_reason_goes_down_to_the_facts() {
    check(
        &format!("{UNDER} ? under(A, a)."),
        1,
        r#"?("c")
  by ? under(A, a)
  under("c", "a")
    by under(A, C) :- sub_agent_of(A, B), under(B, C)
    sub_agent_of(agent: "c", parent: "b")
    under("b", "a")
      by under(A, B) :- sub_agent_of(A, B)
      sub_agent_of(agent: "b", parent: "a")"#,
    );
}

#[test]
fn a_reason_of_a_cycle_ends_and_takes_the_lowest_way() {
    check(
        &format!("{UNDER} ? under(x, B)."),
        0,
        r#"?("x")
  by ? under(x, B)
  under("x", "x")
    by under(A, C) :- sub_agent_of(A, B), under(B, C)
    sub_agent_of(agent: "x", parent: "y")
    under("y", "x")
      by under(A, B) :- sub_agent_of(A, B)
      sub_agent_of(agent: "y", parent: "x")"#,
    );
}

#[test]
fn negations_comparisons_and_aggregates_say_what_they_found() {
    check(
        "? commit(agent: A, n: N), N > 1, !usage(agent: A), M = sum { T : usage(agent: b, tokens: T) }.",
        0,
        r#"?("d", 3, 7)
  by ? commit(agent: A, n: N), N > 1, !usage(agent: A), M = sum { T : usage(agent: b, tokens: T) }
  commit(id: "c4", agent: "d", kind: "session-merge", n: 3, at: "2026-05-31T12:00:00.000Z")
  N > 1
  no row matches usage(agent: "d")
  sum is 7 of 1 matches: M = sum { T : usage(agent: b, tokens: T) }
    match 1
      usage(agent: "b", tokens: 7, cost: null, took: null)"#,
    );
    check(
        &format!("{UNDER} ? sub_agent_of(A, b), N = count {{ under(A, _) }}."),
        0,
        r#"?("c", 2)
  by ? sub_agent_of(A, b), N = count { under(A, _) }
  sub_agent_of(agent: "c", parent: "b")
  count is 2 of 2 matches: N = count { under(A, _) }
    match 1
      under("c", "a")
        by under(A, C) :- sub_agent_of(A, B), under(B, C)
        sub_agent_of(agent: "c", parent: "b")
        under("b", "a")
          by under(A, B) :- sub_agent_of(A, B)
          sub_agent_of(agent: "b", parent: "a")
    match 2
      under("c", "b")
        by under(A, B) :- sub_agent_of(A, B)
        sub_agent_of(agent: "c", parent: "b")"#,
    );
}

#[test]
fn a_query_may_ask_why_itself_and_shared_parts_stand_once() {
    let program = format!("{UNDER} ? why under(A, a), under(B, a), A != B limit 2.");
    let report = ask_why(&house(), &program, ConstantPushing::On, &[]);
    let lines = report.reasons[0].lines().join("\n");
    assert_eq!(report.reasons[0].rows.len(), 2);
    assert_eq!(lines.matches("under(\"b\", \"a\")\n").count(), 1, "{lines}");
    assert!(lines.contains("under(\"b\", \"a\"), as above"), "{lines}");
}

#[test]
fn a_long_reason_is_cut_and_the_rest_is_counted() {
    let mut facts = MemoryFacts::default();
    let columns = [("a", QueryType::Int), ("b", QueryType::Int)];
    facts.add("next", &columns, (0..3_000).map(|n| vec![int(n), int(n + 1)]).collect());
    facts.add("n", &columns[..1], (0..50).map(|n| vec![int(n)]).collect());
    let far = "far(B) :- next(0, B). far(C) :- far(B), next(B, C). ? far(3000).  ? far(X).";
    let report = ask_why(&facts, far, ConstantPushing::On, &[0]);
    let reasons = &report.reasons[0];
    // One row of the query, 3,000 derived ones and as many facts.
    assert_eq!((reasons.nodes.len(), reasons.n_more), (REASON_NODES_MAX, 6_001 - REASON_NODES_MAX));
    assert_eq!(reasons.nodes[0].height, 3_001);
    assert!(reasons.lines().last().is_some_and(|line| line == "and 5001 more"));
    let report = ask_why(&facts, "? N = count { n(_) }.", ConstantPushing::On, &[0]);
    let rule = report.reasons[0].nodes[0].rule.as_ref().expect("a rule gives it");
    let ReasonGround::Aggregate { n_matches, matches, .. } = &rule.goals[0].ground else {
        panic!("{rule:?}")
    };
    assert_eq!((*n_matches, matches.len()), (50, 20));
}
