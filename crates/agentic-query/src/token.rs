//! Tokens.

use std::fmt;

use agentic_diag::Span;

/// What stands in a text, with its place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

/// What a token is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TokenKind {
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

impl fmt::Display for TokenKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TokenKind::Word(name) | TokenKind::Variable(name) => write!(out, "`{name}`"),
            TokenKind::Text(_) => out.write_str("a text"),
            TokenKind::Whole(_) | TokenKind::Float(_) => out.write_str("a number"),
            TokenKind::Duration(_) => out.write_str("a duration"),
            TokenKind::Instant(_) => out.write_str("an instant"),
            TokenKind::Id(text) => write!(out, "`#{text}`"),
            TokenKind::Sign(sign) => write!(out, "`{sign}`"),
            TokenKind::Stop => out.write_str("a full stop"),
            TokenKind::End => out.write_str("the end"),
        }
    }
}
