//! Rules with more columns than a row of datafrog has.

use agentic_query::{ConstantPushing, QueryLimits, QueryType};

use crate::memory::{MemoryFacts, ask, int, shown};

const WIDTH: usize = 24;

fn columns(from: usize) -> String {
    (0..WIDTH).map(|n| format!("X{}", (n + from) % WIDTH)).collect::<Vec<_>>().join(", ")
}

fn check(program: &str, expected: &str) {
    let mut facts = MemoryFacts::default();
    let names: Vec<String> = (0..WIDTH).map(|n| format!("c{n}")).collect();
    let kinds: Vec<_> = names.iter().map(|name| (name.as_str(), QueryType::Int)).collect();
    let row = |first: i64| (0..WIDTH as i64).map(|n| int(first + n * n)).collect();
    facts.add("e", &kinds, vec![row(0), row(1_000)]);
    for pushing in [ConstantPushing::On, ConstantPushing::Off] {
        let report = ask(&facts, program, pushing, QueryLimits::default());
        let report = report.unwrap_or_else(|error| panic!("{program}\n{error}"));
        assert_eq!(shown(&report.answers[0]), expected, "{program}");
    }
}

#[test]
fn long_rows_recur() {
    // Rotated until the first row comes again: as many rows as columns, of each of two.
    let turned = format!("w({0}) :- e({0}). w({1}) :- w({0}). ", columns(0), columns(1));
    check(&format!("{turned}? N = count {{ w({}) }}.", columns(0)), "48");
    let rest = vec!["_"; WIDTH - 3].join(", ");
    check(&format!("{turned}? w(0, A, B, {rest})."), "1 4");
    check(&format!("{turned}? (A) w(1000, A, _, {rest})."), "1001");
    check(&format!("{turned}? (A) w(A, 529, _, {rest})."), "484");
}

#[test]
fn long_keys_find_long_rows() {
    // Both goals grow, and the second is looked up by more columns than stand in a row.
    let last = format!("X{}", WIDTH - 1);
    let but_last = columns(0).replace(&format!(", {last}"), "");
    let program = format!(
        "w({all}, N) :- e({all}), N = 0.
w({all}, N) :- w({all}, M), w({but_last}, _, M), N = M + 1, N < 5.
w({all}, 9) :- w({but_last}, {last}, 4).
? (X0, N) w({all}, N).",
        all = columns(0),
    );
    check(&program, "0 0; 0 1; 0 2; 0 3; 0 4; 0 9; 1000 0; 1000 1; 1000 2; 1000 3; 1000 4; 1000 9");
}
