//! A case for each sentence of the language.

use agentic_query::{ConstantPushing, QueryError, QueryLimits};

use crate::memory::{ask, check, house};

const UNDER: &str = "under(A, B) :- sub_agent_of(A, B).
under(A, C) :- sub_agent_of(A, B), under(B, C). ";

#[test]
fn rules_recur_and_answers_are_sorted_sets() {
    check(&format!("{UNDER} ? under(A, a)."), "b; c; d");
    check(&format!("{UNDER} ? under(c, B)."), "a; b");
    check(&format!("{UNDER} ? under(A, B)."), "b a; c a; c b; d a; d b; x x; x y; y x; y y");
    // The same closure, with the recursive goal first, and with two of them.
    check(
        "u(A, B) :- sub_agent_of(A, B). u(A, C) :- u(A, B), sub_agent_of(B, C). ? u(A, a).",
        "b; c; d",
    );
    check(
        "u(A, B) :- sub_agent_of(A, B). u(A, C) :- u(A, B), u(B, C). ? u(A, B).",
        "b a; c a; c b; d a; d b; x x; x y; y x; y y",
    );
    check(
        "even(X) :- X = 0. even(Y) :- odd(X), Y = X + 1, Y < 7. odd(Y) :- even(X), Y = X + 1, Y < 7. ? even(X).",
        "0; 2; 4; 6",
    );
    check("p(X) :- commit(kind: K), X = 1. p(X) :- X = 1. ? p(X).", "1");
    check("a(). a() :- a(). ? a(), commit(n: N).", "0; 1; 2; 3");
}

#[test]
fn arguments_stand_by_place_or_by_name() {
    check("? commit(agent: b, n: N).", "1; 2");
    check("? commit(_, b, K, N, _).", "finding 1; work 2");
    check("? commit(kind: session-merge, agent: A).", "d");
    // Of a fact every column may be left out.
    check("? commit(), N = 1.", "1");
    check("? N = count { commit() }.", "4");
    check("? !commit(), N = 1.", "");
    check("none() :- commit(kind: nothing). ? N = 1, !none().", "1");
    check("? sub_agent_of(A, B), sub_agent_of(B, A).", "x y; y x");
    check("r(X, X) :- commit(n: X). ? r(1, Y).", "1");
    check("p(1, 1). p(1, 2). p(2, 2). ? p(X, X).", "1; 2");
    check("? commit(id: #abcd, agent: A).", "a");
    check("? commit(id: I, agent: A), I = #abcd.", "abcd! a");
    check("param $x: commit = #abcd. ? X = $x.", "abcd!");
    check("param $who: text = \"b\". ? commit(agent: $who, n: N).", "1; 2");
}

#[test]
fn instants_and_durations() {
    check(
        "? commit(n: N, at: At), Age = now - At, Age > 2h.",
        "0 2026-05-31T07:00:00.000Z 18000000; 1 2026-05-31T09:00:00.000Z 10800000",
    );
    check("? (N) commit(n: N, at: At), At >= 2026-05-31T11:00:00Z.", "2; 3");
    check("? (N) commit(n: N, at: At), At > 2026-06-01.", "");
    check(
        "? X = 1h30m / 30m, Y = 1w + 1ms, Z = 2026-05-31 + 1d - 1s, W = 2 * 1m / 3.",
        "3.0 604800001 2026-05-31T23:59:59.000Z 40000",
    );
    check(
        "? X = week(now), Y = day(now), Z = hour(now + 59m).",
        "2026-05-25T00:00:00.000Z 2026-05-31T00:00:00.000Z 2026-05-31T12:00:00.000Z",
    );
}

#[test]
fn arithmetic_truncates_widens_and_fails_by_name() {
    check("? X = -7 / 2, Y = -7 mod 2, Z = 7 mod -2, W = 1 + 0.5, V = 2 * 3 - 4.", "-3 -1 1 1.5 2");
    check("? X = 7 / 2.0, 1 = 1.0, 1 < 1.5.", "3.5");
    check("? X = -9223372036854775808 mod -1.", "0");
    check("? usage(agent: A, tokens: T), X = T + 1.", "a 10 11; b 7 8");
    for (goal, what) in [
        ("X = 9223372036854775807 + N", "overflowed"),
        ("X = 2026-01-01 + N * 999999999w", "overflowed"),
        ("X = 2026-01-01 - N * 999999999w", "overflowed"),
        ("X = N / 0", "divided by zero"),
        ("X = N mod 0", "divided by zero"),
        ("X = 1e308 * 10 * N", "overflowed"),
    ] {
        let program = format!("? commit(n: N), N > 0, {goal}.");
        let error = ask(&house(), &program, ConstantPushing::On, QueryLimits::default());
        let Err(QueryError::Arithmetic { what: found, goal: at, row, .. }) = error else {
            panic!("{program}: {error:?}")
        };
        assert!(
            found.contains(what) && at == goal && row.starts_with("N = 1"),
            "{found} {at} {row}"
        );
    }
    // What could fail waits for what drops rows, in whatever order it is written.
    check("? 10 / N > 2, commit(n: N), N != 0.", "1; 2; 3");
    check("? commit(n: N), X = 6 / N, N > 1.", "2 3; 3 2");
}

#[test]
fn null_equals_itself_alone_and_orders_with_nothing() {
    check("? usage(agent: A, tokens: null).", "c");
    check("? usage(agent: A, cost: C), C = null.", "b null; c null");
    check("? (A) usage(agent: A, tokens: T), T != null.", "a; b");
    check("? (A) usage(agent: A, tokens: T), T < 100.", "a; b");
    check("? (A) usage(agent: A, tokens: T), T >= null.", "");
    // Where nothing else tells its type it has every one: arithmetic with it gives no row.
    check("? X = null, Y = X + 1.", "");
    check("? X = null, Y = X + 1h, Z = -X, W = Y / 2.", "");
    check("? Y = null + 1.", "");
    check("? X = null, Y = X + X.", "");
    check("? X = null, !contains(X, \"a\").", "null");
    check("? X = null, contains(X, \"a\").", "");
    check("? X = null, Y = lower(X).", "");
    check("? X = null, X < 1.", "");
    check("? X = null, X = 1.", "");
    check("p(null). ? p(X).", "null");
    check("p(null). ? S = sum { X : p(X) }, C = count { p(_) }.", "0 1");
    check("p(null). q(S) :- S = sum { X : p(X) }. ? q(S), T = S + 1.", "0 1");
    check("p(null). ? S = avg { X : p(X) }.", "");
    check("p(null). ? S = list { X : p(X) }, N = count distinct { X : p(X) }.", "[] 0");
    check("? usage(tokens: T).", "null; 7; 10");
}

#[test]
fn negation_and_comparison() {
    check("? commit(agent: A), !sub_agent_of(A, _).", "a");
    check("? commit(agent: A), !commit(agent: A, kind: work).", "d");
    check(&format!("{UNDER} top(A) :- under(_, A), !under(A, _). ? top(A)."), "a");
    check("p(1). ? p(X), !q(X). q(2).", "1");
    check("? commit(n: N), N != 1, N <= 2.", "0; 2");
}

#[test]
fn tests_and_functions_of_text() {
    check("? (N) entry(N, T), contains(T, \"o W\").", "1");
    check("? (N) entry(N, T), starts_with(T, \"src\").", "2");
    check("? (N) entry(N, T), ends_with(T, \".rs\").", "2");
    check("? (N) entry(N, T), path_under(T, \"src\").", "2");
    check("? (N) entry(N, T), matches(T, \"^[A-Z]\\\\w+ W\").", "1");
    check("param $e: text = \"o{1}\". ? (N) entry(N, T), matches(T, $e).", "1; 3");
    check("? (N) entry(N, T), !contains(T, \"o\"), T != null.", "2; 5");
    check("? entry(1, T), L = lower(T), N = len(T).", "Hello World hello world 11");
    check("? (N, X) entry(N, T), X = number(T).", "5 12.5");
    check(
        "? (X, Y) entry(_, T), X = number(json(T, \"/in/tokens\")), Y = json(T, \"/s\").",
        "42.0 é",
    );
    check(
        "? X = text(1h), Y = text(true), Z = text(now).",
        "3600000 true 2026-05-31T12:00:00.000Z",
    );
}

#[test]
fn aggregates_range_over_matches() {
    check("? S = sum { T : usage(tokens: T) }.", "27");
    check("? N = count { usage(_, _, _, _) }, M = count { usage(tokens: 10) }.", "4 2");
    check("? N = count distinct { T : usage(tokens: T) }.", "2");
    check("? X = min { T : usage(tokens: T) }, Y = max { C : usage(cost: C) }.", "7 0.5");
    check("? X = avg { T : usage(tokens: T) }, Y = avg { D : usage(took: D) }.", "9.0 1500");
    check("? X = sum { C : usage(cost: C) }, Y = sum { D : usage(took: D) }.", "0.75 3001");
    check("? X = list { T : usage(tokens: T) }.", "[7,10,10]");
    check("? X = list { A : usage(agent: A) }.", r"[\a\,\a\,\b\,\c\]");
    // Without a match.
    check("? N = count { commit(agent: zz) }, S = sum { T : usage(agent: zz, tokens: T) }.", "0 0");
    check("? L = list { T : usage(agent: zz, tokens: T) }.", "[]");
    check("? M = min { T : usage(agent: zz, tokens: T) }.", "");
    check("? M = max { T : usage(agent: c, tokens: T) }.", "");
    // An aggregate of an expression, compared, nested, and of derived rows.
    check("? S = sum { T * 2 : usage(tokens: T) }, S > 50.", "54");
    check("? M = max { N : commit(agent: A), N = count { commit(agent: A) } }.", "2");
    check(&format!("{UNDER} ? N = count {{ under(_, a) }}."), "3");
    check("p(27). ? p(S), S = sum { T : usage(tokens: T) }.", "27");
    check("p(28). ? p(S), S = sum { T : usage(tokens: T) }.", "");
}

#[test]
fn aggregates_group_by_what_is_bound_outside_or_in_the_head() {
    check("? sub_agent_of(A, _), N = count { commit(agent: A) }.", "b 2; c 0; d 1; x 0; y 0");
    check(
        "k(K, N) :- N = count { commit(kind: K) }. ? k(K, N).",
        "finding 1; session-merge 1; work 2",
    );
    check("k(K, N) :- N = count { commit(kind: K) }. ? k(work, N).", "2");
    // A group without a match does not exist, with a constant neither.
    check("k(K, N) :- N = count { commit(kind: K) }. ? k(nothing, N).", "");
    check("k(A, N) :- commit(agent: A), N = count { usage(agent: A) }. ? k(d, N).", "0");
    check(
        "k(A, N, M) :- N = count { commit(agent: A) }, M = sum { T : usage(agent: A, tokens: T) }. ? k(A, N, M).",
        "a 1 20; b 2 7",
    );
    check("? (A, N) N = count { commit(agent: A) }.", "a 1; b 2; d 1");
    check("? commit(n: X, agent: A), N = count { commit(n: Y), Y < X }, N > 1.", "2 b 2; 3 d 3");
}

#[test]
fn columns_order_limit_and_offset() {
    check("? commit(agent: A, n: N) order by A desc.", "d 3; b 1; b 2; a 0");
    check("? (N) commit(agent: A, n: N) order by N desc limit 2 offset 1.", "2; 1");
    check("? (N, A) commit(agent: A, n: N) limit 1.", "0 a");
    check("? commit(agent: _A, n: N), N > 2.", "3");
    check("? usage(agent: A, tokens: T) order by T desc, A.", "a 10; b 7; c null");
    check("? 1 < 2.", "");
}

#[test]
fn a_program_has_several_queries() {
    let report = ask(
        &house(),
        "? commit(n: 1). ? 1 > 2. ? commit(n: N), N > 2.",
        ConstantPushing::On,
        QueryLimits::default(),
    );
    let counts: Vec<usize> = report.expect("it runs").answers.iter().map(|a| a.n_rows).collect();
    assert_eq!(counts, [1, 0, 1]);
}
