//! Facts are read as far as a query needs them.

use agentic_query::{ConstantPushing, QueryLimits, QueryReport, QueryType};

use crate::memory::{MemoryFacts, ask, house, int, shown};

fn report(facts: &MemoryFacts, program: &str) -> QueryReport {
    let report = ask(facts, program, ConstantPushing::On, QueryLimits::default());
    report.unwrap_or_else(|error| panic!("{program}\n{error}"))
}

/// Checks the answer, and what was read for it: predicate, restrictions and number of rows.
fn check(program: &str, rows: &str, reads: &[&str]) {
    let report = report(&house(), program);
    let read: Vec<String> = report
        .explanation
        .reads
        .iter()
        .map(|read| format!("{} {} {}", read.predicate, read.restrictions.join(", "), read.n_rows))
        .collect();
    assert_eq!(shown(&report.answers[0]), rows, "{program}");
    assert_eq!(read, reads, "{program}");
}

#[test]
fn goals_pass_the_values_that_they_found_on_to_the_source() {
    check(
        "? commit(agent: A, n: N), sub_agent_of(A, b).",
        "d 3",
        &[r#"sub_agent_of parent = "b" 2"#, r#"commit agent in "c" "d" 1"#],
    );
    check(
        "? sub_agent_of(A, b), N = count { commit(agent: A) }.",
        "c 0; d 1",
        &[r#"sub_agent_of parent = "b" 2"#, r#"commit agent in "c" "d" 1"#],
    );
    check(
        "? sub_agent_of(A, b), !commit(agent: A).",
        "c",
        &[r#"sub_agent_of parent = "b" 2"#, r#"commit agent in "c" "d" 1"#],
    );
    // Without rows, nothing is asked.
    check("? commit(agent: A), sub_agent_of(A, zz).", "", &[r#"sub_agent_of parent = "zz" 0"#]);
    // What covers a goal is read once.
    check(
        "? (M) sub_agent_of(A, b), commit(agent: A, n: N), commit(agent: A, n: N, kind: M).",
        "session-merge",
        &[r#"sub_agent_of parent = "b" 2"#, r#"commit agent in "c" "d" 1"#],
    );
    check(
        "? commit(agent: a, n: N), commit(agent: B, n: M), M < N.",
        "",
        &[r#"commit agent = "a" 1"#, "commit  4"],
    );
}

#[test]
fn comparisons_with_constants_bound_what_is_read() {
    let ago = |from: &str, n: usize| format!("commit at {from} {n}");
    check(
        "? (N) commit(n: N, at: At), At > now - 2h.",
        "2; 3",
        &[&ago(r#">= "2026-05-31T10:00:00.001Z""#, 2)],
    );
    let old = &ago(r#"<= "2026-05-31T09:59:59.999Z""#, 2);
    check("? (N) commit(n: N, at: At), Age = now - At, Age > 2h.", "0; 1", &[old]);
    check("? (N) commit(n: N, at: At), now - At > 2h.", "0; 1", &[old]);
    check("? commit(n: N), N >= 1, 3 > N.", "1; 2", &["commit n >= 1, n <= 2 2"]);
    check("? (N) commit(n: N), M = N + 1, M = 3.", "2", &["commit n >= 2, n <= 2 1"]);
    // Floats lie between whole numbers, and what one goal leaves out another may need.
    check("? (A) usage(agent: A, cost: C), C < 0.5.", "a", &["usage  4"]);
    check("? (A) usage(agent: A, cost: C), C < 1.", "a", &["usage  4"]);
    let all = "p(N) :- commit(n: N), N > 2. p(N) :- commit(n: N), N < 1. ? p(N).";
    check(all, "0; 3", &["commit n >= 3 1", "commit n <= 0 1"]);
}

#[test]
fn many_values_are_not_handed_over() {
    let mut facts = MemoryFacts::default();
    let columns = [("a", QueryType::Int), ("b", QueryType::Int)];
    facts.add("e", &columns, (0..3_000).map(|n| vec![int(n), int(n)]).collect());
    facts.add("f", &columns, (0..3_000).map(|n| vec![int(n), int(n)]).collect());
    let found = report(&facts, "? e(A, B), f(B, C), A < 2000.");
    assert_eq!(found.answers[0].n_rows, 2_000);
    assert!(found.explanation.reads.iter().any(|read| read.n_rows == 3_000));
    // A goal of a recursive rule is done in each round, and reads once.
    let far = "r(B) :- e(7, B). r(B) :- r(A), f(A, B). ? r(B).";
    let found = report(&facts, far);
    let read: Vec<_> = found.explanation.reads.iter().map(|read| read.restrictions.len()).collect();
    assert_eq!((found.answers[0].n_rows, read), (1, vec![1, 0]));
}

#[test]
fn an_explanation_says_what_was_done() {
    let under =
        "under(A, B) :- sub_agent_of(A, B).\nunder(A, C) :- sub_agent_of(A, B), under(B, C).";
    let report = report(&house(), &format!("{under}\n? under(A, a), commit(agent: A, n: N)."));
    let lines = report.explanation.lines().join("\n");
    let expected = r#"1. under(_, "a"): 3 rows, 3 rounds, 0 ms
   under(A, B) :- sub_agent_of(A, B)
     sub_agent_of(A, B) [parent by "a"]: 1 → 1 rows
   under(A, C) :- sub_agent_of(A, B), under(B, C)
     under(B, C) [2 by "a"]: 2 → 3 rows
     sub_agent_of(A, B) [parent by B]: 3 → 2 rows
2. ?: 3 rows, 0 ms
   ? under(A, a), commit(agent: A, n: N)
     under(A, a) [2 by "a"]: 1 → 3 rows
     commit(agent: A, n: N) [agent by A]: 3 → 3 rows
facts: 9 rows read
   sub_agent_of(agent, parent) where parent = "a": 1 rows, 0 ms
   sub_agent_of(agent, parent): 5 rows, 0 ms
   commit(agent, n) where agent in "b" "c" "d": 3 rows, 0 ms
12 rows made, 0 ms"#;
    assert_eq!(lines, expected);
}
