//! Tokens.

use std::fmt;

use agentic_diag::Span;

/// What stands in a text, with its place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QueryToken {
    pub kind: QueryTokenKind,
    pub span: Span,
}

/// What a token is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum QueryTokenKind {
    Word(String),
    Variable(String),
    Text(String),
    /// A whole number before its sign is known.
    Whole(u64),
    Float(f64),
    Duration(i64),
    Instant(i64),
    Id(String),
    /// Punctuation and operators, as they are written.
    Sign(&'static str),
    /// The full stop that ends a clause.
    Stop,
    End,
}

impl fmt::Display for QueryTokenKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueryTokenKind::Word(name) | QueryTokenKind::Variable(name) => write!(out, "`{name}`"),
            QueryTokenKind::Text(_) => out.write_str("a text"),
            QueryTokenKind::Whole(_) | QueryTokenKind::Float(_) => out.write_str("a number"),
            QueryTokenKind::Duration(_) => out.write_str("a duration"),
            QueryTokenKind::Instant(_) => out.write_str("an instant"),
            QueryTokenKind::Id(text) => write!(out, "`#{text}`"),
            QueryTokenKind::Sign(sign) => write!(out, "`{sign}`"),
            QueryTokenKind::Stop => out.write_str("a full stop"),
            QueryTokenKind::End => out.write_str("the end"),
        }
    }
}
