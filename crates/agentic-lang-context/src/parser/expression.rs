//! Expressions.

use agentic_diag::Span;

use crate::ast::{ContextExprId, ContextExprKind, Operator};
use crate::lexer::{ContextToken, ContextTokenKind, Punctuation, Word};
use crate::syntax::SyntaxFault;

use super::statement::is_plain_number;
use super::{ContextParser, ParsedText};

/// The binding strength of the strongest binary operators, `*` and `/`.
const STRENGTH_MAX: u8 = 6;

impl ContextParser<'_> {
    pub(super) fn expr(&mut self) -> ParsedText<ContextExprId> {
        self.nested(|parser| parser.binary(1))
    }

    /// Parses operators of at least this strength; all of them associate to the left.
    fn binary(&mut self, strength_min: u8) -> ParsedText<ContextExprId> {
        let mut left = self.unary()?;
        while let Some((operator, strength)) = self.binary_operator()
            && strength >= strength_min
        {
            self.advance();
            let right =
                if strength == STRENGTH_MAX { self.unary()? } else { self.binary(strength + 1)? };
            let start = self.exprs[left.0 as usize].span.start;
            let below = self.height(left).max(self.height(right));
            left = self.add(start, below, ContextExprKind::Binary { operator, left, right })?;
        }
        Ok(left)
    }

    fn binary_operator(&self) -> Option<(Operator, u8)> {
        match self.token().kind {
            ContextTokenKind::Name(Word::Or) => Some((Operator::Or, 1)),
            ContextTokenKind::Name(Word::And) => Some((Operator::And, 2)),
            ContextTokenKind::Symbol(symbol) if self.dialect.operator(symbol) => {
                symbol_operator(symbol)
            }
            ContextTokenKind::Name(_)
            | ContextTokenKind::Number
            | ContextTokenKind::Text
            | ContextTokenKind::Symbol(_)
            | ContextTokenKind::End => None,
        }
    }

    fn unary(&mut self) -> ParsedText<ContextExprId> {
        if !self.at_word(Word::Not) || !self.begins_expression(self.ahead(1)) {
            return self.postfix();
        }
        let start = self.advance().span.start;
        let inner = self.nested(ContextParser::unary)?;
        self.add(start, self.height(inner), ContextExprKind::Not(inner))
    }

    /// Tells whether a token can begin an expression; `not` before any other is a name.
    fn begins_expression(&self, token: ContextToken) -> bool {
        match token.kind {
            ContextTokenKind::Number | ContextTokenKind::Text => true,
            ContextTokenKind::Name(word) => {
                !matches!(word, Word::And | Word::Or | Word::Max | Word::As)
            }
            ContextTokenKind::Symbol(symbol) => {
                matches!(symbol, Punctuation::BraceOpen | Punctuation::BracketOpen)
            }
            ContextTokenKind::End => false,
        }
    }

    pub(super) fn postfix(&mut self) -> ParsedText<ContextExprId> {
        let start = self.token().span.start;
        let mut expr = self.primary()?;
        loop {
            let token = self.token();
            let new_line = token.line_break_before && self.dialect.brackets_begin_lines();
            match token.kind {
                ContextTokenKind::Symbol(Punctuation::Dot) => {
                    self.advance();
                    let name = self.expect_name("the name of a member")?;
                    let kind = ContextExprKind::Member { object: expr, name };
                    expr = self.add(start, self.height(expr), kind)?;
                }
                ContextTokenKind::Symbol(Punctuation::ParenOpen) if !new_line => {
                    self.advance();
                    let (args, height) = self.items(Punctuation::ParenClose, ")")?;
                    let below = self.height(expr).max(height);
                    expr = self.add(start, below, ContextExprKind::Call { callee: expr, args })?;
                }
                ContextTokenKind::Symbol(Punctuation::BracketOpen)
                    if !new_line && !self.list_follows() =>
                {
                    self.advance();
                    let index = self.expr()?;
                    self.expect_symbol(Punctuation::BracketClose, "]")?;
                    let below = self.height(expr).max(self.height(index));
                    expr = self.add(start, below, ContextExprKind::Index { list: expr, index })?;
                }
                ContextTokenKind::Name(_)
                | ContextTokenKind::Number
                | ContextTokenKind::Text
                | ContextTokenKind::Symbol(_)
                | ContextTokenKind::End => return Ok(expr),
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
    fn items(&mut self, close: Punctuation, shown: &str) -> ParsedText<(Vec<ContextExprId>, u16)> {
        let (mut items, mut height) = (Vec::new(), 0);
        while self.take_symbol(close).is_none() {
            let item = self.expr()?;
            height = height.max(self.height(item));
            items.push(item);
            self.separate(self.dialect.list_commas(), close, shown)?;
        }
        Ok((items, height))
    }

    fn primary(&mut self) -> ParsedText<ContextExprId> {
        let token = self.token();
        let start = token.span.start;
        let kind = match token.kind {
            ContextTokenKind::Text => ContextExprKind::Text,
            ContextTokenKind::Number => return self.number(token),
            ContextTokenKind::Name(Word::True) => ContextExprKind::True,
            ContextTokenKind::Name(Word::False) => ContextExprKind::False,
            ContextTokenKind::Name(Word::None) => ContextExprKind::None,
            ContextTokenKind::Name(Word::Generate) if self.ahead(1).is(Punctuation::ParenOpen) => {
                return self.generate();
            }
            ContextTokenKind::Name(Word::Parallel) if self.ahead(1).is_word(Word::For) => {
                return self.parallel();
            }
            ContextTokenKind::Name(_) => ContextExprKind::Name,
            ContextTokenKind::Symbol(Punctuation::BraceOpen) => return self.object(),
            ContextTokenKind::Symbol(Punctuation::BracketOpen) => {
                self.advance();
                let (items, height) = self.items(Punctuation::BracketClose, "]")?;
                return self.add(start, height, ContextExprKind::List(items));
            }
            ContextTokenKind::Symbol(_) | ContextTokenKind::End => {
                return Err(self
                    .fault(token, "an expression is expected")
                    .hint("there is no unary minus: write `0 - 5`"));
            }
        };
        self.advance();
        self.add(start, 0, kind)
    }

    fn number(&mut self, token: ContextToken) -> ParsedText<ContextExprId> {
        let text = self.slice(token.span);
        if self.dialect.exact_numbers() && !is_plain_number(text) {
            let message = format!("`{text}` is not a number");
            return Err(SyntaxFault::new(token.span, message)
                .because("digits, then at most one point between digits")
                .hint("only budgets have units"));
        }
        self.advance();
        self.add(token.span.start, 0, ContextExprKind::Number)
    }

    fn object(&mut self) -> ParsedText<ContextExprId> {
        let start = self.advance().span.start;
        let (mut entries, mut height) = (Vec::new(), 0);
        while self.take_symbol(Punctuation::BraceClose).is_none() {
            let key = self.key()?;
            self.expect_symbol(Punctuation::Colon, ":")?;
            let value = self.expr()?;
            height = height.max(self.height(value));
            entries.push((key, value));
            self.separate(self.dialect.object_commas(), Punctuation::BraceClose, "}")?;
        }
        self.add(start, height, ContextExprKind::Object(entries))
    }

    pub(super) fn key(&mut self) -> ParsedText<Span> {
        let found = self.token();
        if found.kind == ContextTokenKind::Text {
            return Ok(self.advance().span);
        }
        self.expect_name("a key")
    }

    fn parallel(&mut self) -> ParsedText<ContextExprId> {
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
        self.add(start, below, ContextExprKind::Parallel(Box::new(clause)))
    }
}

fn symbol_operator(symbol: Punctuation) -> Option<(Operator, u8)> {
    Some(match symbol {
        Punctuation::Equal => (Operator::Equal, 3),
        Punctuation::NotEqual => (Operator::NotEqual, 3),
        Punctuation::Less => (Operator::Less, 4),
        Punctuation::LessEqual => (Operator::LessEqual, 4),
        Punctuation::Greater => (Operator::Greater, 4),
        Punctuation::GreaterEqual => (Operator::GreaterEqual, 4),
        Punctuation::Plus => (Operator::Add, 5),
        Punctuation::Minus => (Operator::Subtract, 5),
        Punctuation::Star => (Operator::Multiply, STRENGTH_MAX),
        Punctuation::Slash => (Operator::Divide, STRENGTH_MAX),
        Punctuation::Arrow
        | Punctuation::Assign
        | Punctuation::Bang
        | Punctuation::BraceClose
        | Punctuation::BraceOpen
        | Punctuation::BracketClose
        | Punctuation::BracketOpen
        | Punctuation::Colon
        | Punctuation::Comma
        | Punctuation::Dot
        | Punctuation::MinusAssign
        | Punctuation::ParenClose
        | Punctuation::ParenOpen
        | Punctuation::PlusAssign => return None,
    })
}
