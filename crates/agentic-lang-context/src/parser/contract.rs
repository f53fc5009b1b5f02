//! Contracts: the fields that an input or a reply must have.

use crate::ast::{Contract, Field, TypeExpr};
use crate::dialect::{EntrySeparator, FieldStyle};
use crate::lexer::{ContextTokenKind, Punctuation};

use super::{ContextParser, ParsedText};

/// Whether a field without a type is a text, or a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BareFields {
    Text,
    Refused,
}

impl ContextParser<'_> {
    pub(super) fn contract(&mut self, bare: BareFields) -> ParsedText<Contract> {
        self.expect_symbol(Punctuation::BraceOpen, "{")?;
        let mut fields = Vec::new();
        while self.take_symbol(Punctuation::BraceClose).is_none() {
            fields.push(self.field(bare)?);
            self.separate_entries()?;
        }
        Ok(Contract { fields })
    }

    fn field(&mut self, bare: BareFields) -> ParsedText<Field> {
        let name = self.expect_name("the name of a field")?;
        let style = self.dialect.field_style();
        let colon = match style {
            FieldStyle::Juxtaposed => None,
            FieldStyle::Colon | FieldStyle::Either => self.take_symbol(Punctuation::Colon),
        };
        let next = self.token();
        if colon.is_some() {
            return Ok(Field { name, kind: self.field_type()? });
        }
        let on_line = !next.line_break_before && matches!(next.kind, ContextTokenKind::Name(_));
        let typed = match style {
            FieldStyle::Juxtaposed => !self.dialect.bare_fields() || on_line,
            FieldStyle::Colon => false,
            FieldStyle::Either => on_line && is_type(self.slice(next.span)),
        };
        if typed {
            return Ok(Field { name, kind: self.field_type()? });
        }
        match bare {
            BareFields::Text if self.dialect.bare_fields() => {
                Ok(Field { name, kind: TypeExpr::Text })
            }
            BareFields::Text | BareFields::Refused => Err(self
                .fault(next, format!("the type of the field `{}` is expected", self.slice(name)))
                .hint("write `name: type`; only replies may leave the type out")),
        }
    }

    fn field_type(&mut self) -> ParsedText<TypeExpr> {
        let mut lists = Vec::new();
        let kind = loop {
            let found = self.token();
            let name = self.expect_name("a type")?;
            match self.slice(name) {
                "string" => break TypeExpr::Text,
                "number" => break TypeExpr::Number,
                "boolean" => break TypeExpr::Boolean,
                "json" => break TypeExpr::Json,
                "list" if !self.at_symbol(Punctuation::BracketOpen) => break TypeExpr::List(None),
                "list" => lists.push(self.advance()),
                other => {
                    return Err(self
                        .fault(found, format!("there is no type `{other}`"))
                        .hint("write `string`, `number`, `boolean`, `json`, `list` or `list[…]`"));
                }
            }
            if lists.len() > super::NESTING_MAX as usize {
                return Err(self
                    .fault(found, format!("a type nests deeper than {} levels", super::NESTING_MAX))
                    .hint("use `json` for the inner part"));
            }
        };
        let mut kind = kind;
        for _ in lists {
            self.expect_symbol(Punctuation::BracketClose, "]")?;
            kind = TypeExpr::List(Some(Box::new(kind)));
        }
        Ok(kind)
    }

    fn separate_entries(&mut self) -> ParsedText<()> {
        let comma = self.take_symbol(Punctuation::Comma).is_some();
        let next = self.token();
        let line_end = next.line_break_before || next.is(Punctuation::BraceClose);
        match self.dialect.entry_separator() {
            EntrySeparator::Anything => Ok(()),
            EntrySeparator::LineOrComma if comma || line_end => Ok(()),
            EntrySeparator::Line if comma => Err(self
                .fault(next, "the fields of a contract are not separated by commas")
                .hint("write every field on a line of its own")),
            EntrySeparator::Line if line_end => Ok(()),
            EntrySeparator::LineOrComma | EntrySeparator::Line => Err(self
                .fault(next, "a field ends its line")
                .hint("write every field on a line of its own")),
        }
    }
}

fn is_type(text: &str) -> bool {
    matches!(text, "string" | "number" | "boolean" | "json" | "list")
}
