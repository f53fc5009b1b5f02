//! Tokens.

use agentic_diag::Span;

use crate::symbol::Symbol;

/// A piece of source text that the grammar knows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AgentToken {
    pub kind: AgentTokenKind,
    /// The name, the decoded text, or the digits.
    pub symbol: Symbol,
    pub start: u32,
    pub end: u32,
}

impl AgentToken {
    pub fn span(self) -> Span {
        Span::new(self.start as usize, self.end as usize)
    }
}

macro_rules! kinds {
    (plain { $($plain:ident $shown:literal,)* } keywords { $($keyword:ident $text:literal,)* }) => {
        /// What sort of token.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum AgentTokenKind {
            $($plain,)*
            $($keyword,)*
        }

        /// The reserved words; the symbol of each is its place in this list.
        pub(crate) const KEYWORDS: &[(&str, AgentTokenKind)] = &[$(($text, AgentTokenKind::$keyword),)*];

        impl AgentTokenKind {
            /// Names the token as a person would.
            pub fn shown(self) -> &'static str {
                match self {
                    $(AgentTokenKind::$plain => $shown,)*
                    $(AgentTokenKind::$keyword => concat!("`", $text, "`"),)*
                }
            }
        }
    };
}

kinds! {
    plain {
        End "the end of the file",
        Name "a name",
        Text "a text",
        Number "a number",
        Arrow "`->`",
        EqualEqual "`==`",
        NotEqual "`!=`",
        BraceOpen "`{`",
        BraceClose "`}`",
        ParenOpen "`(`",
        ParenClose "`)`",
        BracketOpen "`[`",
        BracketClose "`]`",
        Colon "`:`",
        Comma "`,`",
        Semicolon "`;`",
        Equal "`=`",
        Plus "`+`",
        Dot "`.`",
    }
    keywords {
        Abort "abort",
        Agent "agent",
        Assert "assert",
        Break "break",
        By "by",
        Catch "catch",
        Checks "checks",
        Continue "continue",
        Does "does",
        Else "else",
        Enum "enum",
        False "false",
        If "if",
        Join "join",
        Let "let",
        MaxConcurrency "max_concurrency",
        MaxRounds "max_rounds",
        Model "model",
        Null "null",
        OnFail "on_fail",
        Parallel "parallel",
        Pipeline "pipeline",
        Retries "retries",
        Return "return",
        Review "review",
        Revise "revise",
        Run "run",
        Stage "stage",
        Task "task",
        Test "test",
        Timeout "timeout",
        Tool "tool",
        Tools "tools",
        True "true",
        Try "try",
        Type "type",
        Use "use",
        Using "using",
        While "while",
        With "with",
        Workflow "workflow",
    }
}
