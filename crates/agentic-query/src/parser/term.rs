//! Terms and literals.

use agentic_diag::{Diagnostic, Span};

use super::{ParsedQuery, QUERY_NESTING_MAX, QueryParser, is_reserved};
use crate::ast::{Arithmetic, LiteralText, NameText, TermKind, TermText};
use crate::code;
use crate::token::QueryTokenKind;
use crate::value::{QueryType, QueryValue};

const SUMS: [(&str, Arithmetic); 2] = [("+", Arithmetic::Add), ("-", Arithmetic::Subtract)];
const PRODUCTS: [(&str, Arithmetic); 2] = [("*", Arithmetic::Multiply), ("/", Arithmetic::Divide)];

impl QueryParser {
    /// Reads a sum.
    pub(super) fn term(&mut self) -> ParsedQuery<TermText> {
        self.enter()?;
        let mut left = self.product()?;
        let mut n = 0;
        while let Some((_, operator)) = SUMS.iter().find(|(sign, _)| self.is_sign(sign)) {
            self.count_operator(&mut n)?;
            let right = self.product()?;
            left = joined(*operator, left, right);
        }
        self.depth -= 1;
        Ok(left)
    }

    fn product(&mut self) -> ParsedQuery<TermText> {
        let mut left = self.unary()?;
        let mut n = 0;
        loop {
            let sign = PRODUCTS.iter().find(|(sign, _)| self.is_sign(sign));
            let operator = match sign {
                Some((_, operator)) => *operator,
                None if self.is_word("mod") => Arithmetic::Modulo,
                None => return Ok(left),
            };
            self.count_operator(&mut n)?;
            let right = self.unary()?;
            left = joined(operator, left, right);
        }
    }

    /// Every operator makes the tree one deeper, so a long sum is as deep as nested brackets.
    fn count_operator(&mut self, n: &mut usize) -> ParsedQuery<()> {
        self.at += 1;
        *n += 1;
        if *n <= QUERY_NESTING_MAX {
            return Ok(());
        }
        let said = format!("more than {QUERY_NESTING_MAX} operators follow each other");
        let finding = Diagnostic::error(code::NESTED_TOO_DEEP, self.span(), said);
        Err(Box::new(finding.hint("give parts of it a variable of their own")))
    }

    fn unary(&mut self) -> ParsedQuery<TermText> {
        let start = self.span();
        if self.is_sign("-") {
            if matches!(
                self.ahead(1),
                QueryTokenKind::Whole(_) | QueryTokenKind::Float(_) | QueryTokenKind::Duration(_)
            ) {
                let (literal, span) = self.literal()?;
                return Ok(TermText { kind: TermKind::Literal(literal), span });
            }
            self.at += 1;
            self.enter()?;
            let inner = self.unary()?;
            self.depth -= 1;
            let kind = TermKind::Negate(Box::new(inner));
            return Ok(TermText { kind, span: self.since(start) });
        }
        if self.take_sign("(") {
            let inner = self.term()?;
            self.expect_sign(")", "close the bracket")?;
            return Ok(inner);
        }
        self.simple(start)
    }

    fn simple(&mut self, start: Span) -> ParsedQuery<TermText> {
        let kind = match self.kind().clone() {
            QueryTokenKind::Variable(name) => {
                self.at += 1;
                if name == "_" { TermKind::Blank } else { TermKind::Variable(name) }
            }
            QueryTokenKind::Sign("$") => {
                self.at += 1;
                TermKind::Param(self.expect_word("name the parameter")?.name)
            }
            QueryTokenKind::Word(name) if matches!(self.ahead(1), QueryTokenKind::Sign("(")) => {
                let name = NameText { name, span: start };
                self.at += 2;
                let mut args = vec![self.term()?];
                while self.take_sign(",") {
                    args.push(self.term()?);
                }
                self.expect_sign(")", "close the arguments of the function")?;
                TermKind::Call(name, args)
            }
            QueryTokenKind::Word(_)
            | QueryTokenKind::Text(_)
            | QueryTokenKind::Whole(_)
            | QueryTokenKind::Float(_)
            | QueryTokenKind::Duration(_)
            | QueryTokenKind::Instant(_)
            | QueryTokenKind::Id(_)
            | QueryTokenKind::Sign(_)
            | QueryTokenKind::Stop
            | QueryTokenKind::End => TermKind::Literal(self.literal()?.0),
        };
        Ok(TermText { kind, span: self.since(start) })
    }

    /// Reads a literal, with its sign.
    pub(super) fn literal(&mut self) -> ParsedQuery<(LiteralText, Span)> {
        let start = self.span();
        let is_negative = self.take_sign("-");
        let literal = match (self.kind().clone(), is_negative) {
            (QueryTokenKind::Whole(number), _) => self.whole(number, is_negative)?,
            (QueryTokenKind::Float(number), _) => {
                let number = if is_negative { -number } else { number };
                let value = QueryValue::float(number).unwrap_or(QueryValue::Null);
                LiteralText::Value(QueryType::Float, value)
            }
            (QueryTokenKind::Duration(millis), _) => {
                let millis = if is_negative { -millis } else { millis };
                LiteralText::Value(QueryType::Duration, QueryValue::Int(millis))
            }
            (QueryTokenKind::Text(text), false) => {
                LiteralText::Value(QueryType::Text, QueryValue::text(&text))
            }
            (QueryTokenKind::Instant(millis), false) => {
                LiteralText::Value(QueryType::Instant, QueryValue::Int(millis))
            }
            (QueryTokenKind::Id(text), false) => LiteralText::Id(text),
            (QueryTokenKind::Word(word), false) => self.word_value(&word)?,
            (
                QueryTokenKind::Word(_) | QueryTokenKind::Text(_) | QueryTokenKind::Instant(_),
                true,
            )
            | (QueryTokenKind::Id(_), true)
            | (QueryTokenKind::Variable(_) | QueryTokenKind::Sign(_) | QueryTokenKind::Stop, _)
            | (QueryTokenKind::End, _) => {
                return self.expected("a value", "write a literal, a word or a variable");
            }
        };
        self.at += 1;
        Ok((literal, self.since(start)))
    }

    fn whole(&self, number: u64, is_negative: bool) -> ParsedQuery<LiteralText> {
        let wide = if is_negative { -i128::from(number) } else { i128::from(number) };
        let Ok(number) = i64::try_from(wide) else {
            let finding =
                Diagnostic::error(code::BAD_NUMBER, self.span(), "this number has no room");
            return Err(Box::new(finding.hint("whole numbers have 64 bits")));
        };
        Ok(LiteralText::Value(QueryType::Int, QueryValue::Int(number)))
    }

    fn word_value(&self, word: &str) -> ParsedQuery<LiteralText> {
        Ok(match word {
            "null" => LiteralText::Null,
            "now" => LiteralText::Now,
            "true" => LiteralText::Value(QueryType::Bool, QueryValue::Bool(true)),
            "false" => LiteralText::Value(QueryType::Bool, QueryValue::Bool(false)),
            _ if is_reserved(word) => {
                let finding =
                    Diagnostic::error(code::RESERVED, self.span(), format!("`{word}` is reserved"));
                return Err(Box::new(finding.hint(format!("write the text as \"{word}\""))));
            }
            _ => LiteralText::Value(QueryType::Text, QueryValue::text(word)),
        })
    }
}

fn joined(operator: Arithmetic, left: TermText, right: TermText) -> TermText {
    let span = left.span.to(right.span);
    TermText { kind: TermKind::Binary(operator, Box::new(left), Box::new(right)), span }
}
