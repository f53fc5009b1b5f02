//! Expressions.

use agentic_diag::Diagnostic;

use crate::ast::{Expr, ExprId, ExprKind, Names};
use crate::code::{self, PhaseResult};
use crate::parser::{Distinct, Parser};
use crate::symbol::Symbol;
use crate::token::{Token, TokenKind};

impl Parser<'_> {
    /// Parses a comparison chain, which binds to the left.
    pub(super) fn expression(&mut self) -> PhaseResult<ExprId> {
        let first = self.ast.exprs.len() as u32;
        let mut root = self.sum()?;
        loop {
            let found = self.kind();
            if !matches!(found, TokenKind::EqualEqual | TokenKind::NotEqual) {
                return Ok(root);
            }
            let kind =
                if found == TokenKind::EqualEqual { ExprKind::Equal } else { ExprKind::NotEqual };
            let operator = self.take();
            self.sum()?;
            root = self.push(kind, first, operator);
        }
    }

    fn sum(&mut self) -> PhaseResult<ExprId> {
        let first = self.ast.exprs.len() as u32;
        let mut root = self.primary()?;
        while self.kind() == TokenKind::Plus {
            let operator = self.take();
            self.primary()?;
            root = self.push(ExprKind::Add, first, operator);
        }
        Ok(root)
    }

    fn push(&mut self, kind: ExprKind, first: u32, token: Token) -> ExprId {
        self.ast.exprs.push(Expr { kind, first, start: token.start, end: token.end });
        ExprId(self.ast.exprs.len() as u32 - 1)
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "of some sixty tokens any other one is refused here"
    )]
    fn primary(&mut self) -> PhaseResult<ExprId> {
        let token = self.peek();
        let kind = match token.kind {
            TokenKind::Name => return self.reference(),
            TokenKind::Text => ExprKind::Text(token.symbol),
            TokenKind::Number => ExprKind::Number(token.symbol),
            TokenKind::True => ExprKind::Bool(true),
            TokenKind::False => ExprKind::Bool(false),
            TokenKind::Null => ExprKind::Null,
            TokenKind::ParenOpen => {
                self.take();
                let inner = self.nested(Self::expression)?;
                self.expect(TokenKind::ParenClose)?;
                return Ok(inner);
            }
            TokenKind::BraceOpen => return self.object(),
            TokenKind::BracketOpen => return self.list(),
            _ => return Err(self.unexpected(code::EXPECTED_EXPRESSION, "an expression")),
        };
        self.take();
        let first = self.ast.exprs.len() as u32;
        Ok(self.push(kind, first, token))
    }

    fn reference(&mut self) -> PhaseResult<ExprId> {
        let head = self.take();
        let start = self.ast.names.len() as u32;
        while self.accept(TokenKind::Dot) {
            let field = self.name()?;
            self.ast.names.push(field.symbol);
        }
        let fields = Names { start, count: self.ast.names.len() as u32 - start };
        let first = self.ast.exprs.len() as u32;
        let token = Token { end: self.end(), ..head };
        Ok(self.push(ExprKind::Ref { head: head.symbol, fields }, first, token))
    }

    fn object(&mut self) -> PhaseResult<ExprId> {
        let open = self.take();
        let first = self.ast.exprs.len() as u32;
        let keys = self.nested(Self::members)?;
        let start = self.ast.names.len() as u32;
        self.ast.names.extend(&keys);
        let names = Names { start, count: keys.len() as u32 };
        Ok(self.push(ExprKind::Object(names), first, Token { end: self.end(), ..open }))
    }

    fn members(&mut self) -> PhaseResult<Vec<Symbol>> {
        let mut keys = Vec::new();
        let mut distinct = Distinct::default();
        if self.accept(TokenKind::BraceClose) {
            return Ok(keys);
        }
        loop {
            let key = self.name()?;
            if !distinct.add(key.symbol) {
                return self.duplicate(code::DUPLICATE_KEY, key, "the key");
            }
            self.expect(TokenKind::Colon)?;
            self.expression()?;
            keys.push(key.symbol);
            if !self.accept(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::BraceClose)?;
        Ok(keys)
    }

    fn list(&mut self) -> PhaseResult<ExprId> {
        let open = self.take();
        let first = self.ast.exprs.len() as u32;
        let count = self.nested(|parser| parser.items(TokenKind::BracketClose))?.len() as u32;
        Ok(self.push(ExprKind::List(count), first, Token { end: self.end(), ..open }))
    }

    /// Parses expressions up to a closing bracket, which is taken.
    pub(super) fn items(&mut self, close: TokenKind) -> PhaseResult<Vec<ExprId>> {
        let mut items = Vec::new();
        if self.accept(close) {
            return Ok(items);
        }
        loop {
            items.push(self.expression()?);
            if !self.accept(TokenKind::Comma) {
                break;
            }
        }
        self.expect(close).map_err(|found| Box::new(explain_minus(*found)))?;
        Ok(items)
    }
}

/// A closing bracket that is missing after a comparison is often a missing comma.
fn explain_minus(found: Diagnostic) -> Diagnostic {
    found.hint("separate the items by commas")
}
