//! What is wrong is found, all at once, with a hint.

use std::collections::BTreeMap;

use agentic_diag::{DiagnosticStyle, Severity, SourceText};
use agentic_query::{QueryFinding, QueryInput, compile};

use crate::memory::{NOW, house};

fn codes(program: &str, params: &[(&str, &str)], files: &[(&str, &str)]) -> String {
    let source = SourceText::new("q", program);
    let params = params.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let files: BTreeMap<String, SourceText> =
        files.iter().map(|(k, v)| ((*k).to_owned(), SourceText::new(*k, *v))).collect();
    let input = QueryInput { source: &source, files: &files, params: &params, now: NOW };
    let found = match compile(&input, &house()) {
        Ok(compiled) => compiled.warnings().to_vec(),
        // What is unused in a program that is refused anyway is no case here.
        Err(findings) => {
            let is_error = |finding: &QueryFinding| finding.diagnostic.severity == Severity::Error;
            findings.into_iter().filter(is_error).collect()
        }
    };
    for finding in &found {
        assert!(!finding.diagnostic.hint.is_empty(), "{program}: {finding:?}");
        assert!(!finding.diagnostic.render(&source, DiagnosticStyle::Plain).is_empty());
    }
    found.iter().map(|finding| finding.diagnostic.code).collect::<Vec<_>>().join(" ")
}

fn check(program: &str, expected: &str) {
    assert_eq!(codes(program, &[], &[]), expected, "{program}");
}

#[test]
fn names_columns_and_numbers_of_arguments() {
    check("? comit(id: 1).", "Q10");
    check("? commit(agnt: 1).", "Q11");
    check("p(1). ? p(agent: 1).", "Q11");
    check("? commit(1).", "Q12");
    // What is to be a rule of that name has the columns that it says.
    check("commit(A) :- entry(_, A). ? commit(A).", "Q14");
    // Columns of rules have no names, so none of them can be left out.
    check("p(1, 2). ? p().", "Q12");
    check("? commit(1, agent: b).", "Q13");
    check("? commit(n: 1, n: 2).", "Q13");
    check("? (N, N) commit(n: N).", "Q13");
    check("p(1). p(1, 2). ? p(X).", "Q12");
    check("commit(1). ? p(1).", "Q14 Q10");
    check("lower(1). contains(1). ? commit(n: N).", "Q14 Q14");
    check("? X = lowr(\"a\").", "Q15");
    check("? X = lower(\"a\", \"b\").", "Q12");
    check("? entry(_, T), contains(T).", "Q12");
    check("? entry(_, T), matches(T, T).", "Q16");
    check("? entry(_, T), matches(T, \"(\").", "Q16");
    check("? entry(_, T), matches(T, \"(((a{1000}){1000}){1000}){1000}\").", "Q16");
    check("? entry(_, T), X = json(T, \"a\").", "Q16");
    check("commit(1).", "Q44 Q14");
}

#[test]
fn expressions_are_compiled_once_and_are_not_too_many() {
    let goals = |texts: &mut dyn Iterator<Item = usize>| {
        let goal = |n: usize| format!("p(T) :- entry(_, T), matches(T, \"(a{{300}}){{9}}{n}\").\n");
        format!("{}? p(T).", texts.map(goal).collect::<String>())
    };
    check(&goals(&mut (0..64)), "");
    check(&goals(&mut (0..65)), "Q06");
    check(&goals(&mut (0..9_000).map(|n| n % 64)), "");
}

#[test]
fn types_that_disagree() {
    check("p(X) :- commit(agent: X, n: X). ? p(X).", "Q20");
    check("p(1). p(a). ? p(X).", "Q20");
    check("p(X) :- commit(n: X). q(X) :- p(X), entry(_, X). ? q(X).", "Q20");
    check("? commit(n: N), N = \"a\".", "Q20");
    check("? commit(n: N, at: At), N < At.", "Q20");
    check("? commit(at: At), X = At + At.", "Q21");
    check("? commit(agent: A), X = A + 1.", "Q21");
    check("? commit(agent: A), X = - A.", "Q21");
    check("? commit(n: N), X = lower(N).", "Q21");
    check("? commit(n: N), contains(N, \"a\").", "Q21");
    check("? S = sum { A : commit(agent: A) }.", "Q21");
    check("? commit(id: c2).", "Q20");
    check("? commit(agent: #abcd).", "Q20");
    check("? commit(n: N), N < 1.5.", "");
}

#[test]
fn ids_that_are_none() {
    check("? commit(id: #abc).", "Q42");
    check("? commit(id: #ffff).", "Q42");
    check("? commit(id: #aaaa).", "Q42");
}

#[test]
fn variables_that_nothing_binds() {
    check("p(X). ? p(X).", "Q30");
    check("p(X, Y) :- commit(n: X). ? p(X, Y).", "Q30");
    check("p(_) :- commit(n: 1). ? p(X).", "Q30");
    check("? !commit(n: X).", "Q30");
    check("? commit(n: N), X < N.", "Q30");
    check("? commit(n: N), N < _.", "Q30");
    check("p(1). ? p(Z), X = Y + Z, Y = X - Z.", "Q30");
    check("? entry(_, T), contains(T, X).", "Q30");
    check("? N = count { commit(n: N) }.", "Q30");
    check("? S = list { X : commit(n: 1) }.", "Q30");
    check("? N = count { p(M) }, M = count { p(N) }. p(1).", "Q30 Q30");
    check("? commit(n: N), X = N + 1, Y = X * 2, Y > Z, Z = 1.", "");
}

#[test]
fn recursion_through_negation_or_aggregates() {
    check("p(X) :- commit(n: X), !p(X). ? p(X).", "Q31");
    check("p(X) :- commit(n: X), !q(X). q(X) :- r(X). r(X) :- p(X). ? p(X).", "Q31");
    check("p(N) :- N = count { p(_) }. ? p(X).", "Q31");
}

#[test]
fn what_nothing_uses_is_a_warning() {
    check("p(1). ? commit(n: N).", "Q32");
    check("p(X) :- commit(n: X, agent: Y). ? p(X).", "Q32");
    check("p(X) :- commit(n: X, agent: _Y). ? p(X).", "");
}

#[test]
fn parameters_and_files() {
    let program = "param $n: int. ? commit(n: $n).";
    assert_eq!(codes(program, &[("n", "1")], &[]), "");
    assert_eq!(codes(program, &[("n", "1). ? entry(_, _")], &[]), "Q41");
    assert_eq!(codes(program, &[], &[]), "Q41");
    assert_eq!(codes(program, &[("n", "1"), ("m", "1")], &[]), "Q40");
    check("? commit(n: $n).", "Q40");
    check("param $x: text = a. param $x: text = b. ? commit(agent: $x).", "Q40");
    check("param $x: int = a. ? commit(n: 1).", "Q41");
    // An id has the type that its parameter declares, wherever it stands.
    check("param $x: commit = #ffff. ? X = $x.", "Q42");
    check("param $x: commit = #abcd. ? X = $x, Y = 1, X = Y.", "Q20");
    check("param $x: session = #abcdabcd. ? commit(id: $x).", "Q20 Q42");
    check("use audit. ? commit(n: 1).", "Q43");
    let audit = [("audit", "late(N) :- commit(n: N), N > 2. ? late(N).")];
    assert_eq!(codes("use audit. ? late(N).", &[], &audit), "");
    assert_eq!(codes("use audit. late(1). ? late(N).", &[], &audit), "Q14");
    let broken = [("audit", "late(N) :- comit(n: N).")];
    assert_eq!(codes("use audit. ? late(N).", &[], &broken), "Q10");
}

#[test]
fn findings_come_all_at_once() {
    check(
        "p(X) :- comit(X). q(X) :- commit(n: X), !q(X). ? p(X), q(X), X < \"a\". ? zz().",
        "Q10 Q31 Q20 Q10",
    );
}

#[test]
fn what_follows_from_a_finding_is_none() {
    // Names that are unknown bind nothing, and tell no types.
    check("p(X) :- comit(X). ? p(X).", "Q10");
    check("? comit(at: T), now - T < 2d.", "Q10");
    check("p(X, Y) :- comit(at: X, n: Y), Y > 3. ? p(A, B), A < now.", "Q10");
    check("p(X) :- commit(agnt: X, n: N), M = N + 1, M > X. ? p(X).", "Q11");
    check("? commit(X, Y), X < Y, Y < 3.", "Q12");
    check("? N = count { comit(agent: A), commit(agent: A) }, N > 1.", "Q10");
    check("? N = sum { X : comit(n: X) }, N > 1.", "Q10");
    check("? comit(id: X), X = #aaaa.", "Q10");
    check("? commit(n: N), X = lowr(N), X > 3, Z = X + 1.", "Q15");
    check("? commit(agent: A), matches(A, $x).", "Q40");
    // A variable is said once, and not what waits for it.
    check("? commit(n: N), Z = W + 1, Z > 2, Q = Z, Z < Q.", "Q30");
    check("p(A, Q) :- commit(agent: A), Q = W * 2. ? p(A, B).", "Q30");
    check("? commit(n: N), Z = W + 1, C = count { commit(n: M), M < Z }, C > Z.", "Q30");
    check("? commit(n: N), A < B.", "Q30 Q30");
    // Warnings never leave no room for an error.
    let unused: String =
        (0..200).map(|n| format!("p{n}(X) :- commit(n: X, agent: Y).\n")).collect();
    check(&format!("{unused}? comit(n: N)."), "Q10");
    check("p(1). ? comit(n: N).", "Q10");
    // Clauses that cannot be read would have said something.
    check("p(X) :- commit(X _). ? p(X), X < 3.", "Q04");
    check("? commit(n: N", "Q04");
    check("? commit(n; N).", "Q01");
    check("? commit(n: \"N).", "Q02");
    check("param $x: txt. ? commit(n: $x).", "Q04");
    check("use 3. ? commit(n: N), foo(N).", "Q04");
    check("use nix. ? commit(n: N), foo(N, M), M < 3.", "Q43");
    let other = "? commit(n: N), foo(N). ? commit(n: \"N).";
    check(other, "Q10 Q02");
    assert_eq!(codes("param $x txt. ? commit(n: $x).", &[("x", "1")], &[]), "Q04");
}
