//! Constants and bindings reach the rules that they restrict, and no answer changes by that.

use agentic_query::{ConstantPushing, QueryLimits, QueryReport, QueryType};

use crate::memory::{MemoryFacts, ask, house, int, shown};

fn report(facts: &MemoryFacts, program: &str, pushing: ConstantPushing) -> QueryReport {
    let report = ask(facts, program, pushing, QueryLimits::default());
    report.unwrap_or_else(|error| panic!("{program}\n{error}"))
}

/// Numbers in a tree: `n` is below `n / 2`.
fn tree(n: i64) -> MemoryFacts {
    let mut facts = MemoryFacts::default();
    let columns = [("child", QueryType::Int), ("parent", QueryType::Int)];
    facts.add("below", &columns, (2..n).map(|child| vec![int(child), int(child / 2)]).collect());
    facts.add("seen", &columns, (2..n).map(|child| vec![int(child), int(child % 7)]).collect());
    facts
}

const UNDER: &str = "under(A, B) :- below(A, B). under(A, C) :- below(A, B), under(B, C). ";

/// Checks that a query makes few rows with pushing, many without, and answers the same.
fn check_fewer(program: &str, times: u64) {
    let facts = tree(2_000);
    let with = report(&facts, program, ConstantPushing::On);
    let without = report(&facts, program, ConstantPushing::Off);
    assert_eq!(with.answers, without.answers, "{program}");
    assert!(with.answers[0].n_rows > 0, "{program}");
    let rows = (with.explanation.n_rows, without.explanation.n_rows);
    assert!(rows.0 * times < rows.1, "{program}: {rows:?}");
}

#[test]
fn bindings_reach_recursive_rules() {
    // From one end, from the other, and by what another goal found.
    check_fewer(&format!("{UNDER} ? under(1000, B)."), 100);
    check_fewer(&format!("{UNDER} ? under(A, 500)."), 100);
    check_fewer(&format!("{UNDER} ? below(A, 500), under(A, B)."), 100);
    check_fewer(&format!("{UNDER} ? under(A, B), under(B, 3), A = 1536."), 10);
    // The recursive goal first, and two of them.
    check_fewer("u(A, B) :- below(A, B). u(A, C) :- u(A, B), below(B, C). ? u(1000, B).", 100);
    check_fewer("u(A, B) :- below(A, B). u(A, C) :- u(A, B), u(B, C). ? u(1000, B).", 100);
    // Through a rule in between, and around a comparison.
    check_fewer(&format!("{UNDER} far(A, B) :- under(A, B), A > B + 9. ? far(1000, B)."), 100);
    check_fewer(
        "same(A, B) :- below(A, C), below(B, C). same(A, B) :- below(A, C), same(C, D), below(B, D). ? same(40, B).",
        50,
    );
}

#[test]
fn bindings_reach_negations() {
    check_fewer(&format!("{UNDER} ? below(A, 500), seen(B, 2), B > 1990, !under(A, B)."), 50);
    check_fewer(&format!("{UNDER} ? below(1000, B), below(A, B), !under(A, 2)."), 10);
    check_fewer(&format!("{UNDER} ? below(A, 500), !under(A, A)."), 50);
    // Through rules in between, one of which negates, too.
    check_fewer(
        &format!("{UNDER} far(A, B) :- under(A, B), A > B + 9. ? below(A, 500), !far(A, 499)."),
        50,
    );
    check_fewer(
        &format!(
            "{UNDER} top(A) :- seen(A, _), !under(A, 3). top(A) :- below(A, 1), under(A, 1).
? below(A, 500), !top(A), seen(A, N)."
        ),
        5,
    );
}

#[test]
fn negations_in_recursions_ask_for_all() {
    let program = format!(
        "{UNDER} free(A) :- below(A, 100). free(A) :- free(B), below(A, B), !under(A, 101). ? free(A)."
    );
    let facts = tree(1_000);
    let with = report(&facts, &program, ConstantPushing::On);
    assert_eq!(with.answers, report(&facts, &program, ConstantPushing::Off).answers);
    assert!(with.answers[0].n_rows > 3);
}

/// Numbers in a chain: `n` is below `n - 1`.
fn chain(n: i64) -> MemoryFacts {
    let mut facts = MemoryFacts::default();
    let columns = [("child", QueryType::Int), ("parent", QueryType::Int)];
    facts.add("below", &columns, (1..n).map(|child| vec![int(child), int(child - 1)]).collect());
    facts.add("seen", &columns, (1..n).map(|child| vec![int(child), int(child % 7)]).collect());
    facts
}

/// Checks that a query makes at most some rows, and answers the same without pushing.
fn check_linear(program: &str, n_rows_max: u64) {
    let facts = chain(120);
    let with = report(&facts, program, ConstantPushing::On);
    let without = report(&facts, program, ConstantPushing::Off);
    assert_eq!(with.answers, without.answers, "{program}");
    assert!(with.answers[0].n_rows > 0, "{program}");
    assert!(with.explanation.n_rows <= n_rows_max, "{program}: {:#?}", with.explanation.lines());
}

#[test]
fn recursion_that_is_asked_from_its_far_end_makes_as_many_rows_as_the_way_is_long() {
    check_linear(&format!("{UNDER} ? under(119, B)."), 800);
    check_linear(&format!("{UNDER} ? under(A, 0)."), 800);
    check_linear(&format!("{UNDER} ? under(119, 0)."), 800);
    check_linear("u(A, B) :- below(A, B). u(A, C) :- u(A, B), below(B, C). ? u(A, 0).", 800);
    check_linear("u(A, A) :- seen(A, _). u(A, C) :- below(A, B), u(B, C). ? u(119, C).", 800);
    // Two ways, a negation, a comparison, and a column that stays as it is.
    check_linear(
        "u(K, A, C) :- below(A, C), seen(_, K). u(K, A, C) :- below(A, B), u(K, B, C).
         u(K, A, C) :- below(B, A), B > 9, !seen(B, K), u(K, B, C). ? u(3, 60, C).",
        4_000,
    );
    // Columns that are not handed through stay what they are.
    check_linear(
        "u(A, C, D) :- below(A, C), D = 1. u(A, C, D) :- below(A, B), B > 110, u(B, C, E), D = E + 1. ? u(119, C, D).",
        4_000,
    );
    check_linear(
        "u(A, B) :- below(A, B). u(A, C) :- below(A, B), B > 100, u(B, C), C != 7. ? u(119, C).",
        4_000,
    );
    check_linear(
        "u(A, N) :- below(A, B), N = count { seen(X, B) }. u(A, N) :- below(A, B), B > 100, u(B, N). ? u(119, N).",
        4_000,
    );
}

#[test]
fn bindings_reach_rules_that_read_facts() {
    let program = "work(A, I) :- commit(id: I, agent: A, kind: work).
? sub_agent_of(A, a), work(A, I).";
    let report = report(&house(), program, ConstantPushing::On);
    assert_eq!(shown(&report.answers[0]), "b c3");
    let reads = &report.explanation.reads;
    let commits = reads.iter().find(|read| read.predicate == "commit").expect("commits are read");
    assert_eq!(commits.restrictions.join(", "), r#"agent = "b", kind = "work""#);
}

#[test]
fn what_may_be_anything_is_not_passed() {
    let facts = tree(200);
    for program in [
        format!("{UNDER} ? under(A, B)."),
        format!("{UNDER} ? under(A, B), seen(A, C)."),
        format!("{UNDER} ? under(A, B), A > 3."),
        format!("{UNDER} ? under(A, B), below(1000, A). ? under(A, B)."),
    ] {
        let with = report(&facts, &program, ConstantPushing::On);
        let names = with.explanation.strata.iter().flat_map(|stratum| &stratum.predicates);
        assert!(names.into_iter().all(|(name, _)| !name.contains("bound")), "{program}");
        assert_eq!(with.answers, report(&facts, &program, ConstantPushing::Off).answers);
    }
}

#[test]
fn a_guard_that_would_lead_around_a_negation_is_left_out() {
    // `reach` is asked below the negation and above it, with what the negation let through.
    let program = "reach(A, B) :- below(A, B). reach(A, C) :- below(A, B), reach(B, C).
top(A) :- seen(A, 3), reach(A, 1).
odd(A) :- seen(A, 2), reach(A, B), seen(B, 2).
rest(A) :- seen(A, 3), !odd(A).
? rest(A), reach(A, B), seen(B, 4). ? top(A).";
    let facts = tree(300);
    let with = report(&facts, program, ConstantPushing::On);
    assert_eq!(with.answers, report(&facts, program, ConstantPushing::Off).answers);
    assert!(with.answers.iter().all(|answer| answer.n_rows > 0));
}

/// Lists all orders of a list.
fn orders<T: Clone>(list: &[T]) -> Vec<Vec<T>> {
    if list.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for at in 0..list.len() {
        let mut rest = list.to_vec();
        let first = rest.remove(at);
        all.extend(orders(&rest).into_iter().map(|mut order| {
            order.insert(0, first.clone());
            order
        }));
    }
    all
}

#[test]
fn every_order_of_goals_and_rules_gives_the_same() {
    let rules = [
        ("r(A, B)", ["below(A, B)", "A > 1", "seen(A, _)"]),
        ("r(A, C)", ["below(A, B)", "r(B, C)", "!seen(B, 6)"]),
        ("n(A, N)", ["below(A, 5)", "r(A, _)", "N = count { r(A, B), B < 9 }"]),
    ];
    let query = ["r(A, B)", "seen(A, 4)", "n(C, N)", "C = B"];
    let facts = tree(60);
    let mut expected = None;
    let mut check = |program: String| {
        for pushing in [ConstantPushing::On, ConstantPushing::Off] {
            let answers = report(&facts, &program, pushing).answers;
            let rows = answers[0].rows.clone();
            let first = expected.get_or_insert_with(|| rows.clone());
            assert!(!rows.is_empty() && *first == rows, "{program}");
        }
    };
    let rule = |head: &str, goals: &[&str]| format!("{head} :- {}.\n", goals.join(", "));
    let as_is: Vec<String> = rules.iter().map(|(head, goals)| rule(head, goals)).collect();
    for goals in orders(&query) {
        check(format!("{}? (A, B, N) {}.", as_is.concat(), goals.join(", ")));
    }
    for order in orders(&as_is) {
        check(format!("{}? (A, B, N) {}.", order.concat(), query.join(", ")));
    }
    for (at, (head, goals)) in rules.iter().enumerate() {
        for goals in orders(goals) {
            let mut program = as_is.clone();
            program[at] = rule(head, &goals);
            check(format!("{}? (A, B, N) {}.", program.concat(), query.join(", ")));
        }
    }
}
