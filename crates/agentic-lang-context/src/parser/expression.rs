//! Expressions.

use agentic_diag::Span;

use crate::ast::{ExprId, ExprKind, Operator};
use crate::lexer::{Symbol, Token, TokenKind, Word};
use crate::syntax::Fault;

use super::statement::is_plain_number;
use super::{Parsed, Parser};

/// The binding strength of the strongest binary operators, `*` and `/`.
const STRENGTH_MAX: u8 = 6;

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Parsed<ExprId> {
        self.nested(|parser| parser.binary(1))
    }

    /// Parses operators of at least this strength; all of them associate to the left.
    fn binary(&mut self, strength_min: u8) -> Parsed<ExprId> {
        let mut left = self.unary()?;
        while let Some((operator, strength)) = self.binary_operator()
            && strength >= strength_min
        {
            self.advance();
            let right =
                if strength == STRENGTH_MAX { self.unary()? } else { self.binary(strength + 1)? };
            let start = self.exprs[left.0 as usize].span.start;
            let below = self.height(left).max(self.height(right));
            left = self.add(start, below, ExprKind::Binary { operator, left, right })?;
        }
        Ok(left)
    }

    fn binary_operator(&self) -> Option<(Operator, u8)> {
        match self.token().kind {
            TokenKind::Name(Word::Or) => Some((Operator::Or, 1)),
            TokenKind::Name(Word::And) => Some((Operator::And, 2)),
            TokenKind::Symbol(symbol) if self.dialect.operator(symbol) => symbol_operator(symbol),
            TokenKind::Name(_)
            | TokenKind::Number
            | TokenKind::Text
            | TokenKind::Symbol(_)
            | TokenKind::End => None,
        }
    }

    fn unary(&mut self) -> Parsed<ExprId> {
        if !self.at_word(Word::Not) || !self.begins_expression(self.ahead(1)) {
            return self.postfix();
        }
        let start = self.advance().span.start;
        let inner = self.nested(Parser::unary)?;
        self.add(start, self.height(inner), ExprKind::Not(inner))
    }

    /// Tells whether a token can begin an expression; `not` before any other is a name.
    fn begins_expression(&self, token: Token) -> bool {
        match token.kind {
            TokenKind::Number | TokenKind::Text => true,
            TokenKind::Name(word) => !matches!(word, Word::And | Word::Or | Word::Max | Word::As),
            TokenKind::Symbol(symbol) => {
                matches!(symbol, Symbol::BraceOpen | Symbol::BracketOpen)
            }
            TokenKind::End => false,
        }
    }

    pub(super) fn postfix(&mut self) -> Parsed<ExprId> {
        let start = self.token().span.start;
        let mut expr = self.primary()?;
        loop {
            let token = self.token();
            let new_line = token.line_break_before && self.dialect.brackets_begin_lines();
            match token.kind {
                TokenKind::Symbol(Symbol::Dot) => {
                    self.advance();
                    let name = self.expect_name("the name of a member")?;
                    let kind = ExprKind::Member { object: expr, name };
                    expr = self.add(start, self.height(expr), kind)?;
                }
                TokenKind::Symbol(Symbol::ParenOpen) if !new_line => {
                    self.advance();
                    let (args, height) = self.items(Symbol::ParenClose, ")")?;
                    let below = self.height(expr).max(height);
                    expr = self.add(start, below, ExprKind::Call { callee: expr, args })?;
                }
                TokenKind::Symbol(Symbol::BracketOpen) if !new_line && !self.list_follows() => {
                    self.advance();
                    let index = self.expr()?;
                    self.expect_symbol(Symbol::BracketClose, "]")?;
                    let below = self.height(expr).max(self.height(index));
                    expr = self.add(start, below, ExprKind::Index { list: expr, index })?;
                }
                TokenKind::Name(_)
                | TokenKind::Number
                | TokenKind::Text
                | TokenKind::Symbol(_)
                | TokenKind::End => return Ok(expr),
            }
        }
    }

    /// Where commas are optional, `a [` with a blank between begins a new item.
    fn list_follows(&self) -> bool {
        let before = self.tokens[self.at - 1].span.end;
        self.dialect.list_commas() == crate::dialect::Commas::Optional
            && !self.dialect.since(crate::Version::V0_1_5)
            && before != self.token().span.start
    }

    /// Parses expressions up to the closing symbol; also returns the height of the highest.
    fn items(&mut self, close: Symbol, shown: &str) -> Parsed<(Vec<ExprId>, u16)> {
        let (mut items, mut height) = (Vec::new(), 0);
        while self.take_symbol(close).is_none() {
            let item = self.expr()?;
            height = height.max(self.height(item));
            items.push(item);
            self.separate(self.dialect.list_commas(), close, shown)?;
        }
        Ok((items, height))
    }

    fn primary(&mut self) -> Parsed<ExprId> {
        let token = self.token();
        let start = token.span.start;
        let kind = match token.kind {
            TokenKind::Text => ExprKind::Text,
            TokenKind::Number => return self.number(token),
            TokenKind::Name(Word::True) => ExprKind::True,
            TokenKind::Name(Word::False) => ExprKind::False,
            TokenKind::Name(Word::None) => ExprKind::None,
            TokenKind::Name(Word::Generate) if self.ahead(1).is(Symbol::ParenOpen) => {
                return self.generate();
            }
            TokenKind::Name(Word::Parallel) if self.ahead(1).is_word(Word::For) => {
                return self.parallel();
            }
            TokenKind::Name(_) => ExprKind::Name,
            TokenKind::Symbol(Symbol::BraceOpen) => return self.object(),
            TokenKind::Symbol(Symbol::BracketOpen) => {
                self.advance();
                let (items, height) = self.items(Symbol::BracketClose, "]")?;
                return self.add(start, height, ExprKind::List(items));
            }
            TokenKind::Symbol(_) | TokenKind::End => {
                return Err(self
                    .fault(token, "an expression is expected")
                    .hint("there is no unary minus: write `0 - 5`"));
            }
        };
        self.advance();
        self.add(start, 0, kind)
    }

    fn number(&mut self, token: Token) -> Parsed<ExprId> {
        let text = self.slice(token.span);
        if self.dialect.exact_numbers() && !is_plain_number(text) {
            let message = format!("`{text}` is not a number");
            return Err(Fault::new(token.span, message)
                .because("digits, then at most one point between digits")
                .hint("only budgets have units"));
        }
        self.advance();
        self.add(token.span.start, 0, ExprKind::Number)
    }

    fn object(&mut self) -> Parsed<ExprId> {
        let start = self.advance().span.start;
        let (mut entries, mut height) = (Vec::new(), 0);
        while self.take_symbol(Symbol::BraceClose).is_none() {
            let key = self.key()?;
            self.expect_symbol(Symbol::Colon, ":")?;
            let value = self.expr()?;
            height = height.max(self.height(value));
            entries.push((key, value));
            self.separate(self.dialect.object_commas(), Symbol::BraceClose, "}")?;
        }
        self.add(start, height, ExprKind::Object(entries))
    }

    pub(super) fn key(&mut self) -> Parsed<Span> {
        let found = self.token();
        if found.kind == TokenKind::Text {
            return Ok(self.advance().span);
        }
        self.expect_name("a key")
    }

    fn parallel(&mut self) -> Parsed<ExprId> {
        let parallel = self.advance();
        let start = parallel.span.start;
        if !self.dialect.since(crate::Version::V0_1_7) {
            return Err(self
                .fault(parallel, format!("version {} has no `parallel for`", self.dialect.version))
                .hint("write a plain `for`"));
        }
        self.expect_word(Word::For, "for")?;
        let first = self.exprs.len();
        let clause = self.nested(|parser| parser.for_clause(start))?;
        let below = self.exprs[first..].iter().map(|expr| expr.height).max().unwrap_or(0);
        self.add(start, below, ExprKind::Parallel(Box::new(clause)))
    }
}

fn symbol_operator(symbol: Symbol) -> Option<(Operator, u8)> {
    Some(match symbol {
        Symbol::Equal => (Operator::Equal, 3),
        Symbol::NotEqual => (Operator::NotEqual, 3),
        Symbol::Less => (Operator::Less, 4),
        Symbol::LessEqual => (Operator::LessEqual, 4),
        Symbol::Greater => (Operator::Greater, 4),
        Symbol::GreaterEqual => (Operator::GreaterEqual, 4),
        Symbol::Plus => (Operator::Add, 5),
        Symbol::Minus => (Operator::Subtract, 5),
        Symbol::Star => (Operator::Multiply, STRENGTH_MAX),
        Symbol::Slash => (Operator::Divide, STRENGTH_MAX),
        Symbol::Arrow
        | Symbol::Assign
        | Symbol::Bang
        | Symbol::BraceClose
        | Symbol::BraceOpen
        | Symbol::BracketClose
        | Symbol::BracketOpen
        | Symbol::Colon
        | Symbol::Comma
        | Symbol::Dot
        | Symbol::MinusAssign
        | Symbol::ParenClose
        | Symbol::ParenOpen
        | Symbol::PlusAssign => return None,
    })
}
