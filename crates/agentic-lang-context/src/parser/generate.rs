//! `generate`, the only model call.

use crate::ast::{ContextExprId, ContextExprKind, Contract, Generate, GenerateOption, OptionValue};
use crate::lexer::{Punctuation, Word};
use crate::syntax::SyntaxFault;

use super::contract::BareFields;
use super::{ContextParser, ParsedText};

impl ContextParser<'_> {
    pub(super) fn generate(&mut self) -> ParsedText<ContextExprId> {
        let start = self.advance().span.start;
        self.expect_symbol(Punctuation::ParenOpen, "(")?;
        let first = self.exprs.len();
        let open = self.expect_symbol(Punctuation::BraceOpen, "{")?;
        let mut options = Vec::new();
        while self.take_symbol(Punctuation::BraceClose).is_none() {
            let option = self.generate_option()?;
            self.refuse_second_budget(&options, &option)?;
            options.push(option);
            self.separate(self.dialect.object_commas(), Punctuation::BraceClose, "}")?;
        }
        let options_span = self.span_from(open.span.start);
        self.expect_symbol(Punctuation::ParenClose, ")")?;
        let contract = self.reply_contract()?;
        let below = self.exprs[first..].iter().map(|expr| expr.height).max().unwrap_or(0);
        let generate = Box::new(Generate { options_span, options, contract });
        self.add(start, below, ContextExprKind::Generate(generate))
    }

    /// A budget is part of the form of `generate`, so a second one is a fault of form.
    fn refuse_second_budget(
        &self,
        before: &[GenerateOption],
        option: &GenerateOption,
    ) -> ParsedText<()> {
        let key = self.slice(option.key);
        let same = |other: &&GenerateOption| self.slice(other.key) == key;
        let budget = matches!(option.value, OptionValue::Budget(_));
        match before.iter().find(same) {
            Some(first) if budget => {
                let message = format!("the option `{key}` is given twice");
                Err(SyntaxFault::new(option.key, message)
                    .because("given again here")
                    .see(first.key, "first given here")
                    .hint("keep one of them"))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn generate_option(&mut self) -> ParsedText<GenerateOption> {
        let key = self.key()?;
        self.expect_symbol(Punctuation::Colon, ":")?;
        let is_budget = matches!(self.slice(key).trim_matches(['"', '\'']), "max_output" | "limit");
        let value = if is_budget {
            OptionValue::Budget(self.budget("a budget for the reply")?)
        } else {
            OptionValue::Expr(self.expr()?)
        };
        Ok(GenerateOption { key, value })
    }

    fn reply_contract(&mut self) -> ParsedText<Option<Contract>> {
        if !self.dialect.return_block() {
            return match self.take_symbol(Punctuation::Arrow) {
                Some(_) => self.contract(BareFields::Text).map(Some),
                None => Ok(None),
            };
        }
        self.expect_symbol(Punctuation::BraceOpen, "{")?;
        self.expect_word(Word::Return, "return")?;
        let contract = self.contract(BareFields::Refused)?;
        self.expect_symbol(Punctuation::BraceClose, "}")?;
        Ok(Some(contract))
    }
}
