//! From tokens to the syntax tree.
//!
//! Recursive descent; every level of brackets, blocks and types counts against
//! [`NESTING_MAX`], so that no input can exhaust the stack.

mod declaration;
mod expression;
mod statement;
mod types;

use std::collections::HashSet;

use agentic_diag::{Diagnostic, Span};

use crate::ast::{Ast, ByName, Extensions, WrittenName};
use crate::code::{self, PhaseResult, stop};
use crate::lexer::{self, FileTokens};
use crate::symbol::{Symbol, Symbols};
use crate::token::{AgentToken, AgentTokenKind};
use crate::types::Types;

/// How deep brackets, blocks and types may nest in the source.
pub const NESTING_MAX: u32 = 256;
/// Lists of names shorter than this are compared one by one.
const SHORT_LIST: usize = 16;

/// A file as it is written, and its tokens.
pub(crate) struct ParsedFile {
    pub ast: Ast,
    pub tokens: FileTokens,
}

/// Parses a whole file.
pub(crate) fn parse(text: &str) -> PhaseResult<ParsedFile> {
    let mut symbols = Symbols::default();
    let tokens = lexer::tokens(text, &mut symbols)?;
    let ast = Ast {
        symbols,
        types: Types::new(),
        exprs: Vec::with_capacity(tokens.list.len() / 4),
        names: Vec::new(),
        agents: Vec::new(),
        tools: Vec::new(),
        tasks: Vec::new(),
        pipelines: Vec::new(),
        workflows: Vec::new(),
        aliases: Vec::new(),
        enums: Vec::new(),
        tests: Vec::new(),
        by_name: ByName::default(),
        extensions: Extensions::Off,
    };
    let mut parser = AgentParser { tokens: &tokens.list, at: 0, depth: 0, ast, text };
    parser.file()?;
    let ast = parser.ast;
    Ok(ParsedFile { ast, tokens })
}

struct AgentParser<'a> {
    tokens: &'a [AgentToken],
    at: usize,
    depth: u32,
    ast: Ast,
    text: &'a str,
}

impl AgentParser<'_> {
    fn peek(&self) -> AgentToken {
        self.tokens[self.at]
    }

    fn kind(&self) -> AgentTokenKind {
        self.tokens[self.at].kind
    }

    /// Takes the next token. The end of the file is never passed.
    fn take(&mut self) -> AgentToken {
        let token = self.tokens[self.at];
        if token.kind != AgentTokenKind::End {
            self.at += 1;
        }
        token
    }

    /// Takes the next token if it is of a kind.
    fn accept(&mut self, kind: AgentTokenKind) -> bool {
        let is_kind = self.kind() == kind;
        if is_kind {
            self.take();
        }
        is_kind
    }

    fn expect(&mut self, kind: AgentTokenKind) -> PhaseResult<AgentToken> {
        if self.kind() == kind {
            return Ok(self.take());
        }
        let found = self.unexpected(code::EXPECTED_TOKEN, kind.shown());
        Err(if kind == AgentTokenKind::Name {
            Box::new(self.explain_keyword(*found))
        } else if kind == AgentTokenKind::Semicolon && self.at > 0 {
            let last = self.tokens[self.at - 1].span();
            Box::new(found.see(last, "it may be missing after this"))
        } else {
            found
        })
    }

    /// Says why a reserved word cannot be a name.
    fn explain_keyword(&self, found: Diagnostic) -> Diagnostic {
        let shown = self.kind().shown();
        match self.kind() as u8 >= AgentTokenKind::Abort as u8 {
            true => found.hint(format!("{shown} is a reserved word; choose another name")),
            false => found,
        }
    }

    fn unexpected(&self, code: &'static str, wanted: &str) -> Box<Diagnostic> {
        let token = self.peek();
        let message = format!("expected {wanted}, found {}", token.kind.shown());
        Box::new(
            Diagnostic::error(code, token.span(), message).because(format!("expected {wanted}")),
        )
    }

    fn name(&mut self) -> PhaseResult<WrittenName> {
        let token = self.expect(AgentTokenKind::Name)?;
        Ok(WrittenName { symbol: token.symbol, start: token.start, end: token.end })
    }

    /// Where the last taken token ends.
    fn end(&self) -> u32 {
        self.tokens[self.at.saturating_sub(1)].end
    }

    /// Parses something one level further in.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> PhaseResult<T>) -> PhaseResult<T> {
        if self.depth >= NESTING_MAX {
            let message = format!("brackets and blocks nest deeper than {NESTING_MAX} levels");
            return stop(code::NESTED_TOO_DEEP, self.peek().span(), message);
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn duplicate<T>(&self, code: &'static str, name: WrittenName, what: &str) -> PhaseResult<T> {
        let text = self.ast.text(name.symbol);
        Err(Box::new(
            Diagnostic::error(code, name.span(), format!("{what} `{text}` is given twice"))
                .because("given again here")
                .hint("remove or rename one of the two"),
        ))
    }

    /// Parses a whole number after a clause's word.
    fn whole(&mut self, code: &'static str, clause: &str) -> PhaseResult<AgentToken> {
        let token = self.expect(AgentTokenKind::Number)?;
        if self.ast.text(token.symbol).contains('.') {
            return stop(code, token.span(), format!("`{clause}` needs a whole number"));
        }
        Ok(token)
    }

    fn span_from(&self, start: u32) -> Span {
        Span::new(start as usize, self.end() as usize)
    }
}

/// Names of one list, to find the ones that are given twice.
#[derive(Default)]
struct Distinct {
    short: Vec<Symbol>,
    long: HashSet<Symbol>,
}

impl Distinct {
    /// Adds a name; `false` if it was there.
    fn add(&mut self, name: Symbol) -> bool {
        if self.short.len() < SHORT_LIST {
            let is_new = !self.short.contains(&name);
            self.short.push(name);
            return is_new;
        }
        if self.long.is_empty() {
            self.long.extend(&self.short);
        }
        self.long.insert(name)
    }
}
