use super::*;

fn check(text: &str, codes: &str) {
    let (_, findings) = parse(text);
    let found: Vec<&str> = findings.iter().map(|finding| finding.code).collect();
    assert_eq!(found.join(" "), codes, "{:.200}\n{findings:.3?}", text);
    assert!(findings.iter().all(|finding| !finding.hint.is_empty()), "{text:.200}");
}

#[test]
fn everything_that_the_grammar_has_is_read() {
    check(
        r#"param $root: text = "release". param $n: int. use audit. use "bob/audit".
        under(A, B) :- sub_agent_of(A, B). // a comment
        edge(1, -2). p(). by(x).
        "#,
        "Q07",
    );
    for clause in [
        "? p(X).",
        "? why p(X) order by X.",
        "? (A, B) p(A, B), q(B) order by A desc, B asc limit 10 offset 3.",
        "? (A) = B, p(A, B).",
        "? (A) p(A).",
        "? (A + 1) * 2 = B, p(A), p(B).",
        "? commit(agent: A, by: B, kind: session-merge, at: T), T > 2026-05-31.",
        "? T = 2026-05-31T12:00:00Z, U = 2026-05-31T12:00:00.250+02:00.",
        "? X = 1h30m, Y = 10ms, Z = 2w - 1d.",
        "? X = -9223372036854775808, Y = 1.5e-3, Z = -2.5.",
        "? request(id: #0123abcd.ff, session: #0123abcd).",
        "? commit(id: #1a2b).",
        "? N = count { p(X, _) }, M = count distinct { X : p(X) }, S = sum { X + 1 : p(X) }.",
        "? L = list { X : p(X), Y = max { Z : q(Z, X) }, Y > 2 }.",
        "? !p(X), !contains(T, \"a\\n\\u00e9\").",
        "? X = now - At, Y = true, Z = null, W = - X, V = -(X mod 2) / 3.",
        "? lower(T) = \"x\", json(T, \"/a/b\") != week(At).",
        "? p($root).",
    ] {
        check(clause, "");
    }
}

#[test]
fn what_is_wrong_is_found_all_at_once() {
    check("p(X) :- q(X", "Q04");
    check("p(X) :- .\nq(1) q(2).\n? p(X), .\n? r(X).", "Q04 Q04 Q04");
    check("? p(X) limit -1. ? p(X) order X. ? p(X), X ~ 1.", "Q01 Q04 Q04");
    check("? p(\"abc", "Q02");
    check(r#"? p("a\q"). ? p("\u12")."#, "Q02 Q02");
    check("? p(99999999999999999999). ? p(9223372036854775808). ? p(1e999).", "Q03 Q03 Q03");
    check("? p(2026-13-01). ? p(99999999999999999w).", "Q03 Q03");
    check("? p(X).q(X).", "Q01");
    check("? p(order). count(1).", "Q07 Q07");
    check("param $x: number.", "Q04");
    check("? \u{0} p(X).", "Q01");
    check("? p(#).", "Q01");
}

#[test]
fn hostile_sizes_are_refused() {
    check(&format!("? X = {}1{}.", "(".repeat(60), ")".repeat(60)), "");
    for piece in ["(", "-", "lower(", "- ("] {
        check(&format!("? X = {}1.", piece.repeat(50_000)), "Q05");
    }
    check(&format!("? {}p(1).", "X = count { ".repeat(50_000)), "Q05");
    check(&format!("? X = 1{}.", " + 1".repeat(64)), "");
    check(&format!("? X = 1{}.", " + 1".repeat(100_000)), "Q05");
    check(&format!("? X = 1{}.", " * 1".repeat(100_000)), "Q05");
    check(&format!("? p(1{}).", ", 1".repeat(100_000)), "Q06");
    check(&format!("? p(1){}.", ", p(1)".repeat(100_000)), "Q06");
    check(&"p(1).\n".repeat(CLAUSES_MAX), "");
    check(&"p(1).\n".repeat(CLAUSES_MAX + 1), "Q06");
    check(&" ".repeat(QUERY_BYTES_MAX + 1), "Q06");
    let (_, findings) = parse(&"~".repeat(QUERY_BYTES_MAX));
    assert!(findings.len() <= crate::code::FINDINGS_MAX);
}
