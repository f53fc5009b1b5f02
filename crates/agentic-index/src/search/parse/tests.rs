use agentic_diag::DiagnosticStyle;
use agentic_model::Instant;

use crate::search::{SearchQuery, SearchTerm};

fn parse(text: &str) -> SearchQuery {
    let now = Instant::parse("2026-11-21T12:00:00Z").expect("an instant");
    SearchQuery::parse(text, now).unwrap_or_else(|found| panic!("{text}: {:?}", found.findings))
}

fn word(text: &str) -> SearchTerm {
    SearchTerm::Word(text.to_owned())
}

#[test]
fn words_phrases_and_prefixes() {
    let query = parse("Token -refresh \"two  Workers\" retr* src/a.rs");
    let phrase = |text: &str, words: &[&str]| SearchTerm::Phrase {
        text: text.to_owned(),
        words: words.iter().map(|word| (*word).to_owned()).collect(),
    };
    let wanted = vec![
        word("token"),
        phrase("two workers", &["two", "workers"]),
        SearchTerm::Prefix("retr".to_owned()),
        phrase("src/a.rs", &["a", "rs", "src"]),
    ];
    assert_eq!(query.wanted, wanted);
    assert_eq!(query.unwanted, vec![word("refresh")]);
}

#[test]
fn filters() {
    let query = parse("agent:alice agent:bob in:trace by:user:ada after:2d before:2026-11-21");
    assert_eq!(query.filters.agents, ["alice", "bob"]);
    assert_eq!(query.filters.by, ["user:ada"]);
    assert_eq!(query.filters.after, Instant::parse("2026-11-19T12:00:00Z"));
    assert_eq!(query.filters.before, Instant::parse("2026-11-21T00:00:00Z"));
    assert!(query.wanted.is_empty());
}

#[test]
fn colons_of_programs_are_no_filters() {
    for text in ["std::fs::read", "http://x.example/a", "Error:", "error:", "12:30"] {
        assert_eq!(parse(text).wanted.len(), 1, "{text}");
    }
}

#[test]
fn findings_stand_under_a_caret() {
    let cases = [
        ("", "nothing is asked"),
        ("agnet:alice", "there is no filter `agnet`"),
        ("say \"never ends", "this phrase has no end"),
        ("in:cellar", "there is no place `cellar`"),
        ("after:soon", "`soon` is no instant"),
        ("agent:", "this filter has no value"),
        ("-agent:alice", "a filter cannot be turned around"),
        ("*", "nothing stands before the `*`"),
        ("—", "this has no word"),
    ];
    for (text, said) in cases {
        let found = SearchQuery::parse(text, Instant::from_millis(0)).expect_err(text);
        let shown = found.render(DiagnosticStyle::Plain);
        assert!(shown.contains(said) && shown.contains('^'), "{text}: {shown}");
    }
}

#[test]
fn any_text_is_read_or_refused() {
    for text in
        ["\"", "-", "--", "-\"", "agent:\"", "a:\"b\"c", "x:*", ":", "::", "é:é", "*a*", "\u{0}"]
    {
        let _ = SearchQuery::parse(text, Instant::from_millis(0));
    }
    let long = "a ".repeat(4_000);
    assert!(SearchQuery::parse(&long, Instant::from_millis(0)).is_err());
    assert!(SearchQuery::parse(&"é".repeat(4_000), Instant::from_millis(0)).is_err());
}
