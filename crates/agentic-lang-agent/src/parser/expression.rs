//! Expressions.

use agentic_diag::Diagnostic;

use crate::ast::{AgentExpr, AgentExprId, AgentExprKind, Names};
use crate::code::{self, PhaseResult};
use crate::parser::{AgentParser, Distinct};
use crate::symbol::Symbol;
use crate::token::{AgentToken, AgentTokenKind};

impl AgentParser<'_> {
    /// Parses a comparison chain, which binds to the left.
    pub(super) fn expression(&mut self) -> PhaseResult<AgentExprId> {
        let first = self.ast.exprs.len() as u32;
        let mut root = self.sum()?;
        loop {
            let found = self.kind();
            if !matches!(found, AgentTokenKind::EqualEqual | AgentTokenKind::NotEqual) {
                return Ok(root);
            }
            let kind = if found == AgentTokenKind::EqualEqual {
                AgentExprKind::Equal
            } else {
                AgentExprKind::NotEqual
            };
            let operator = self.take();
            self.sum()?;
            root = self.push(kind, first, operator);
        }
    }

    fn sum(&mut self) -> PhaseResult<AgentExprId> {
        let first = self.ast.exprs.len() as u32;
        let mut root = self.primary()?;
        while self.kind() == AgentTokenKind::Plus {
            let operator = self.take();
            self.primary()?;
            root = self.push(AgentExprKind::Add, first, operator);
        }
        Ok(root)
    }

    fn push(&mut self, kind: AgentExprKind, first: u32, token: AgentToken) -> AgentExprId {
        self.ast.exprs.push(AgentExpr { kind, first, start: token.start, end: token.end });
        AgentExprId(self.ast.exprs.len() as u32 - 1)
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "of some sixty tokens any other one is refused here"
    )]
    fn primary(&mut self) -> PhaseResult<AgentExprId> {
        let token = self.peek();
        let kind = match token.kind {
            AgentTokenKind::Name => return self.reference(),
            AgentTokenKind::Text => AgentExprKind::Text(token.symbol),
            AgentTokenKind::Number => AgentExprKind::Number(token.symbol),
            AgentTokenKind::True => AgentExprKind::Bool(true),
            AgentTokenKind::False => AgentExprKind::Bool(false),
            AgentTokenKind::Null => AgentExprKind::Null,
            AgentTokenKind::ParenOpen => {
                self.take();
                let inner = self.nested(Self::expression)?;
                self.expect(AgentTokenKind::ParenClose)?;
                return Ok(inner);
            }
            AgentTokenKind::BraceOpen => return self.object(),
            AgentTokenKind::BracketOpen => return self.list(),
            _ => return Err(self.unexpected(code::EXPECTED_EXPRESSION, "an expression")),
        };
        self.take();
        let first = self.ast.exprs.len() as u32;
        Ok(self.push(kind, first, token))
    }

    fn reference(&mut self) -> PhaseResult<AgentExprId> {
        let head = self.take();
        let start = self.ast.names.len() as u32;
        while self.accept(AgentTokenKind::Dot) {
            let field = self.name()?;
            self.ast.names.push(field.symbol);
        }
        let fields = Names { start, count: self.ast.names.len() as u32 - start };
        let first = self.ast.exprs.len() as u32;
        let token = AgentToken { end: self.end(), ..head };
        Ok(self.push(AgentExprKind::Ref { head: head.symbol, fields }, first, token))
    }

    fn object(&mut self) -> PhaseResult<AgentExprId> {
        let open = self.take();
        let first = self.ast.exprs.len() as u32;
        let keys = self.nested(Self::members)?;
        let start = self.ast.names.len() as u32;
        self.ast.names.extend(&keys);
        let names = Names { start, count: keys.len() as u32 };
        Ok(self.push(AgentExprKind::Object(names), first, AgentToken { end: self.end(), ..open }))
    }

    fn members(&mut self) -> PhaseResult<Vec<Symbol>> {
        let mut keys = Vec::new();
        let mut distinct = Distinct::default();
        if self.accept(AgentTokenKind::BraceClose) {
            return Ok(keys);
        }
        loop {
            let key = self.name()?;
            if !distinct.add(key.symbol) {
                return self.duplicate(code::DUPLICATE_KEY, key, "the key");
            }
            self.expect(AgentTokenKind::Colon)?;
            self.expression()?;
            keys.push(key.symbol);
            if !self.accept(AgentTokenKind::Comma) {
                break;
            }
        }
        self.expect(AgentTokenKind::BraceClose)?;
        Ok(keys)
    }

    fn list(&mut self) -> PhaseResult<AgentExprId> {
        let open = self.take();
        let first = self.ast.exprs.len() as u32;
        let count = self.nested(|parser| parser.items(AgentTokenKind::BracketClose))?.len() as u32;
        Ok(self.push(AgentExprKind::List(count), first, AgentToken { end: self.end(), ..open }))
    }

    /// Parses expressions up to a closing bracket, which is taken.
    pub(super) fn items(&mut self, close: AgentTokenKind) -> PhaseResult<Vec<AgentExprId>> {
        let mut items = Vec::new();
        if self.accept(close) {
            return Ok(items);
        }
        loop {
            items.push(self.expression()?);
            if !self.accept(AgentTokenKind::Comma) {
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
