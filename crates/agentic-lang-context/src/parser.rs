//! From tokens to the tree.
//!
//! One parser reads every version; where they differ it asks the [`Dialect`]. The first fault ends
//! it. Nesting is bounded, so that no text can exhaust the stack of any later walk.

mod contract;
mod declaration;
mod expression;
mod generate;
mod statement;

use agentic_diag::{SourceText, Span};

use crate::ast::{ContextExpr, ContextExprId, ContextExprKind, ContextFile, ContextTree};
use crate::dialect::{Commas, Dialect};
use crate::lexer::{self, ContextToken, ContextTokenKind, Punctuation, Word};
use crate::syntax::SyntaxFault;

/// How deep blocks, brackets and operators may nest in a source text.
pub const NESTING_MAX: u32 = 100;

/// How high an expression may be: the longest chain of operators, members and calls.
pub const HEIGHT_MAX: u16 = 250;

/// Parses one file.
pub(crate) fn parse(
    source: SourceText,
    dialect: Dialect,
) -> Result<ContextFile, (SourceText, SyntaxFault)> {
    match parse_text(source.text(), dialect) {
        Ok(program) => Ok(ContextFile { source, dialect, program }),
        Err(diagnostic) => Err((source, diagnostic)),
    }
}

fn parse_text(text: &str, dialect: Dialect) -> Result<ContextTree, SyntaxFault> {
    let tokens = lexer::lex(text, dialect)?.tokens;
    let exprs = Vec::with_capacity(tokens.len() / 3);
    let mut parser = ContextParser { text, tokens, at: 0, dialect, exprs, depth: 0 };
    let (imports, agents) = parser.program()?;
    Ok(ContextTree { imports, agents, exprs: parser.exprs })
}

type ParsedText<T> = Result<T, SyntaxFault>;

struct ContextParser<'a> {
    text: &'a str,
    tokens: Vec<ContextToken>,
    at: usize,
    dialect: Dialect,
    exprs: Vec<ContextExpr>,
    depth: u32,
}

impl<'a> ContextParser<'a> {
    fn token(&self) -> ContextToken {
        self.tokens[self.at]
    }

    fn ahead(&self, count: usize) -> ContextToken {
        let last = self.tokens.len() - 1;
        self.tokens[(self.at + count).min(last)]
    }

    fn advance(&mut self) -> ContextToken {
        let token = self.token();
        if token.kind != ContextTokenKind::End {
            self.at += 1;
        }
        token
    }

    fn slice(&self, span: Span) -> &'a str {
        &self.text[span.start..span.end]
    }

    fn at_symbol(&self, symbol: Punctuation) -> bool {
        self.token().is(symbol)
    }

    fn at_word(&self, word: Word) -> bool {
        self.token().is_word(word)
    }

    fn take_symbol(&mut self, symbol: Punctuation) -> Option<ContextToken> {
        self.at_symbol(symbol).then(|| self.advance())
    }

    fn take_word(&mut self, word: Word) -> Option<ContextToken> {
        self.at_word(word).then(|| self.advance())
    }

    fn expect_symbol(&mut self, symbol: Punctuation, shown: &str) -> ParsedText<ContextToken> {
        let found = self.token();
        self.take_symbol(symbol).ok_or_else(|| {
            self.fault(found, format!("`{shown}` is expected"))
                .hint(format!("put `{shown}` before it"))
        })
    }

    fn expect_word(&mut self, word: Word, shown: &str) -> ParsedText<ContextToken> {
        let found = self.token();
        self.take_word(word).ok_or_else(|| {
            self.fault(found, format!("`{shown}` is expected"))
                .hint(format!("put `{shown}` before it"))
        })
    }

    fn expect_name(&mut self, what: &str) -> ParsedText<Span> {
        let found = self.token();
        match found.kind {
            ContextTokenKind::Name(_) => Ok(self.advance().span),
            ContextTokenKind::Number
            | ContextTokenKind::Text
            | ContextTokenKind::Symbol(_)
            | ContextTokenKind::End => Err(self.fault(found, format!("{what} is expected")).hint(
                "a name begins with a letter or `_` and goes on with letters, digits and `_`",
            )),
        }
    }

    /// Makes a fault at a token, which says what was found there.
    fn fault(&self, found: ContextToken, message: impl Into<String>) -> SyntaxFault {
        let reason = match found.kind {
            ContextTokenKind::End => "the text ends here".to_owned(),
            ContextTokenKind::Name(_)
            | ContextTokenKind::Number
            | ContextTokenKind::Text
            | ContextTokenKind::Symbol(_) => {
                let shown: String = self.slice(found.span).chars().take(40).collect();
                format!("`{}` was found instead", shown.escape_debug())
            }
        };
        SyntaxFault::new(found.span, message).because(reason)
    }

    /// Takes the comma between two entries, where there is one; `close` ends the entries.
    fn separate(&mut self, commas: Commas, close: Punctuation, shown: &str) -> ParsedText<()> {
        if self.take_symbol(Punctuation::Comma).is_some() || self.at_symbol(close) {
            return Ok(());
        }
        match commas {
            Commas::Optional if self.token().kind != ContextTokenKind::End => Ok(()),
            Commas::Optional | Commas::Required => {
                let found = self.token();
                Err(self
                    .fault(found, format!("`,` or `{shown}` is expected"))
                    .hint("separate the entries with commas"))
            }
        }
    }

    /// Runs a part of the parser one level further in.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> ParsedText<T>) -> ParsedText<T> {
        if self.depth >= NESTING_MAX {
            let found = self.token();
            let message = format!("the program nests deeper than {NESTING_MAX} levels");
            return Err(self.fault(found, message).hint("move inner parts into functions"));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    fn height(&self, id: ContextExprId) -> u16 {
        self.exprs[id.0 as usize].height
    }

    /// Returns the span from `start` to the last token taken.
    fn span_from(&self, start: usize) -> Span {
        let end = self.tokens[self.at.saturating_sub(1)].span.end;
        Span::new(start, end)
    }

    /// Adds an expression that begins at `start`, ends at the last token taken, and is one higher
    /// than `below`.
    fn add(
        &mut self,
        start: usize,
        below: u16,
        kind: ContextExprKind,
    ) -> ParsedText<ContextExprId> {
        let span = self.span_from(start);
        if below >= HEIGHT_MAX {
            let message = format!("an expression is higher than {HEIGHT_MAX} levels");
            return Err(SyntaxFault::new(span, message)
                .because("this chain of operators, members or calls is too long")
                .hint("assign a part of it to a name first"));
        }
        let id = ContextExprId(
            u32::try_from(self.exprs.len()).expect("a source has at most 16 Mi bytes"),
        );
        self.exprs.push(ContextExpr { span, height: below + 1, kind });
        Ok(id)
    }
}

#[cfg(test)]
mod tests;
