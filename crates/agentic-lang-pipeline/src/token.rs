//! The tokens of the language.

use agentic_diag::Span;

/// One token and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token<'a> {
    pub kind: TokenKind<'a>,
    pub span: Span,
}

/// What a token is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TokenKind<'a> {
    /// `>=>`
    Then,
    /// `<*>`
    Beside,
    /// `(`
    Open,
    /// `)`
    Close,
    /// `[`
    ListOpen,
    /// `]`
    ListClose,
    /// `:`
    Colon,
    /// `,`
    Comma,
    /// An identifier or a reserved word.
    Name(&'a str),
    /// A string or a text, without its marks and escapes.
    Text(String),
    /// A whole number.
    Int(i64),
    /// A number with a fraction or an exponent.
    Float(f64),
    /// The end of the source.
    End,
}

impl TokenKind<'_> {
    /// Names the token as a person would.
    pub fn in_words(&self) -> String {
        match self {
            TokenKind::Then => "`>=>`".to_owned(),
            TokenKind::Beside => "`<*>`".to_owned(),
            TokenKind::Open => "`(`".to_owned(),
            TokenKind::Close => "`)`".to_owned(),
            TokenKind::ListOpen => "`[`".to_owned(),
            TokenKind::ListClose => "`]`".to_owned(),
            TokenKind::Colon => "`:`".to_owned(),
            TokenKind::Comma => "`,`".to_owned(),
            TokenKind::Name(name) => format!("`{}`", crate::finding::shown(name)),
            TokenKind::Text(_) => "a string".to_owned(),
            TokenKind::Int(_) | TokenKind::Float(_) => "a number".to_owned(),
            TokenKind::End => "the end of the source".to_owned(),
        }
    }
}
