//! The tokens of the language.

use agentic_diag::Span;

/// One token and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PipelineToken<'a> {
    pub kind: PipelineTokenKind<'a>,
    pub span: Span,
}

/// What a token is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PipelineTokenKind<'a> {
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

impl PipelineTokenKind<'_> {
    /// Names the token as a person would.
    pub fn in_words(&self) -> String {
        match self {
            PipelineTokenKind::Then => "`>=>`".to_owned(),
            PipelineTokenKind::Beside => "`<*>`".to_owned(),
            PipelineTokenKind::Open => "`(`".to_owned(),
            PipelineTokenKind::Close => "`)`".to_owned(),
            PipelineTokenKind::ListOpen => "`[`".to_owned(),
            PipelineTokenKind::ListClose => "`]`".to_owned(),
            PipelineTokenKind::Colon => "`:`".to_owned(),
            PipelineTokenKind::Comma => "`,`".to_owned(),
            PipelineTokenKind::Name(name) => format!("`{}`", crate::finding::shown(name)),
            PipelineTokenKind::Text(_) => "a string".to_owned(),
            PipelineTokenKind::Int(_) | PipelineTokenKind::Float(_) => "a number".to_owned(),
            PipelineTokenKind::End => "the end of the source".to_owned(),
        }
    }
}
