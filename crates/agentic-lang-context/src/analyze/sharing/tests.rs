use agentic_diag::SourceText;

use crate::{Calls, CheckOptions, check};

/// Says whether a call of a function with this body is refused.
fn is_refused(body: &str) -> bool {
    let text = format!(
        "import file F from 'f.json'\nimport tool T from 'mcp://t'\n\
         main agent L {{ main func(i) {{ W.f(i) }} }}\n\
         agent W {{ func f(p) {{\n{body}\n}}\nfunc adds(q) {{ q.add(1) }}\n\
         func same(r) {{ r }}\nfunc calls(s) {{ adds(s) }} }}"
    );
    let options = CheckOptions { calls: Calls::Children, ..CheckOptions::default() };
    let mut resolver = |_: &str| Ok("{}".to_owned());
    let checked = check(SourceText::new("main.as", text), &options, &mut resolver);
    let codes: Vec<_> = checked.findings.iter().map(|finding| finding.diagnostic.code).collect();
    assert!(codes.iter().all(|code| *code == "CHANGED_ARGUMENT"), "{body}: {codes:?}");
    !codes.is_empty()
}

#[test]
fn what_may_change_an_argument_is_refused() {
    for body in [
        "p.add(1)",
        "p.x = 1",
        "p.x.y = 1",
        "p[0].x = 1",
        "p.list.add(1)",
        "q = p\nq.add(1)",
        "q = p.a\nq.b = 1",
        "q = [p]\nq[0].add(1)",
        "q = { a: p }\nq.a.add(1)",
        "q = []\nq.add(p)\nq[0].add(1)",
        "q = {}\nq.a = p\nq.a.add(1)",
        "for x in p max 2 { x.y = 1 }",
        "if true { repeat * 2 { loop until false max 2 { p.add(1) } } }",
        "x = parallel for y in p max 2 { y.z = 1\ny }",
        "adds(p)",
        "adds(p.a)",
        "adds([1, p])",
        "calls(p)",
        "same(p).add(1)",
        "p.add(1).add(2)",
        "q = p\nr = q\nq = 1\nr.add(1)",
        "F.x = 1",
        "x = T.run({ a: p.add(1) })",
        "r = [1]\nr = p\nr.add(2)",
    ] {
        assert!(is_refused(body), "{body}");
    }
}

#[test]
fn what_changes_only_its_own_is_not_refused() {
    for body in [
        "p",
        "p = 1",
        "p += 1",
        "q = []\nq.add(p)\nq.add(p)\nq",
        "q = { a: p }\nq.b = 1\nq",
        "q = [p]\nq.add(1)",
        "total = 0\nfor x in p max 9 { total += x }\ntotal",
        "q = T.run({ a: p })\nq.x = 1",
        "q = p.length + 1\nr = [q]\nr.add(q)",
        "adds([1])",
        "same(1)",
        "p == p and p.a == 1",
        "x = not p\nr = [x]\nr[0].y",
    ] {
        assert!(!is_refused(body), "{body}");
    }
}
