//! What a piece of text is that somebody types: rules, a question, or neither yet.

use std::collections::BTreeSet;

use crate::function::{QueryFunction, TextTest};
use crate::lexer::lex;
use crate::parser::RESERVED;
use crate::token::QueryTokenKind;

/// What a piece of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryOutline {
    /// Nothing but blanks and remarks.
    Nothing,
    /// Its last clause has no end yet.
    Open,
    /// Rules, parameters and uses.
    Rules,
    /// It asks something, and may have rules, too.
    Asks,
}

/// Says what a piece of text is. One that has findings is what its clauses would be without.
pub fn query_outline(text: &str) -> QueryOutline {
    let (tokens, _) = lex(text);
    let tokens: Vec<&QueryTokenKind> = tokens.iter().map(|token| &token.kind).collect();
    let tokens = match tokens.as_slice() {
        [before @ .., QueryTokenKind::End] => before,
        whole => whole,
    };
    match tokens.last() {
        None => QueryOutline::Nothing,
        Some(QueryTokenKind::Stop) if tokens.contains(&&QueryTokenKind::Sign("?")) => {
            QueryOutline::Asks
        }
        Some(QueryTokenKind::Stop) => QueryOutline::Rules,
        Some(_) => QueryOutline::Open,
    }
}

/// Returns a text without its queries.
pub fn without_queries(text: &str) -> String {
    let (tokens, _) = lex(text);
    let (mut kept, mut begin, mut is_query) = (String::new(), 0, None);
    for token in tokens.iter().filter(|token| token.kind != QueryTokenKind::End) {
        let asks = *is_query.get_or_insert(token.kind == QueryTokenKind::Sign("?"));
        if token.kind == QueryTokenKind::Stop {
            if !asks {
                kept.push_str(&text[begin..token.span.end]);
            }
            (begin, is_query) = (token.span.end, None);
        }
    }
    kept
}

/// Lists the words of the language: functions, tests, and those that are reserved.
pub fn query_words() -> Vec<&'static str> {
    let words: BTreeSet<&str> =
        QueryFunction::names().chain(TextTest::names()).chain(RESERVED).collect();
    words.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_ends_with_a_full_stop_outside_texts_and_remarks() {
        for (text, expected) in [
            ("", QueryOutline::Nothing),
            ("  // a remark.\n", QueryOutline::Nothing),
            ("p(1)", QueryOutline::Open),
            ("p(1) // done.", QueryOutline::Open),
            ("p(\"a.\"", QueryOutline::Open),
            ("p(1).", QueryOutline::Rules),
            ("param $x: int = 1.", QueryOutline::Rules),
            ("use stuck. // a remark", QueryOutline::Rules),
            ("? p(X).", QueryOutline::Asks),
            ("p(1). ? p(X), X = 1.5.", QueryOutline::Asks),
            ("p(\"?\").", QueryOutline::Rules),
        ] {
            assert_eq!(query_outline(text), expected, "{text:?}");
        }
    }

    #[test]
    fn rules_stay_where_queries_are_left_out() {
        for (text, expected) in [
            ("? p(X).", ""),
            ("p(1).\n? p(X). p(2).", "p(1). p(2)."),
            ("// é\np(1). ? p(X)", "// é\np(1)."),
        ] {
            assert_eq!(without_queries(text), expected);
        }
    }

    #[test]
    fn words_are_those_of_the_language() {
        let words = query_words();
        for word in ["count", "lower", "starts_with", "now"] {
            assert!(words.contains(&word), "{word}");
        }
    }
}
