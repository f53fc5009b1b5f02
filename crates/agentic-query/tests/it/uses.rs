//! Which rule files a text names, wherever the word stands.

use agentic_query::used_rules;

fn check(text: &str, expected: &[&str]) {
    assert_eq!(used_rules(text), expected, "{text:?}");
}

#[test]
fn rule_files_are_found_wherever_a_clause_begins() {
    check("use audit.\n? p(X).", &["audit"]);
    check("? p(X). use family. use \"my rules\".", &["family", "my rules"]);
    check("\u{feff}use\taudit.", &["audit"]);
    check("use\"a b\".", &["a b"]);
    check("use// for this\naudit.", &["audit"]);
    check("é use audit.\nuse family.", &["audit", "family"]);
    check("p(X) :- use audit. use family.", &["family"]);
}

#[test]
fn other_places_of_the_word_name_none() {
    check("", &[]);
    check("? user(X), starts_with(X, \"user:\").", &[]);
    check("// use audit.\n? p(\"use audit.\").", &[]);
    check("? reuse(X), X = use_it.", &[]);
    check("use(X) :- p(X).", &[]);
    check("use-less.", &[]);
    check("useX.", &[]);
}
