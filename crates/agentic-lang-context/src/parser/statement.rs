//! Statements.

use crate::ast::{
    AssignOperator, Candidate, ChoiceBlock, ConfigBlock, ConfigKey, ContextExprKind,
    ContextStatement, For, ItemLabel, UseStatement, WrittenBudget, WrittenMark,
};
use crate::dialect::LimitMark;
use crate::lexer::{ContextTokenKind, Punctuation, Word};
use crate::syntax::SyntaxFault;

use super::{ContextParser, ParsedText};

impl ContextParser<'_> {
    pub(super) fn statement(&mut self) -> ParsedText<ContextStatement> {
        match self.token().kind {
            ContextTokenKind::Name(Word::Model | Word::Role | Word::Description) => {
                self.config().map(ContextStatement::Config)
            }
            ContextTokenKind::Name(Word::Use) => self.use_statement(),
            ContextTokenKind::Name(Word::Return) => {
                self.advance();
                Ok(ContextStatement::Return { value: self.expr()? })
            }
            ContextTokenKind::Name(Word::Repeat) => self.repeat_statement(),
            ContextTokenKind::Name(Word::For) => {
                let start = self.advance().span.start;
                Ok(ContextStatement::For(self.for_clause(start)?))
            }
            ContextTokenKind::Name(Word::Loop) => self.loop_statement(),
            ContextTokenKind::Name(Word::If) => self.if_statement(),
            ContextTokenKind::Name(_)
            | ContextTokenKind::Number
            | ContextTokenKind::Text
            | ContextTokenKind::Symbol(_)
            | ContextTokenKind::End => self.expression_statement(),
        }
    }

    pub(super) fn config(&mut self) -> ParsedText<ConfigBlock> {
        let key = match self.advance().kind {
            ContextTokenKind::Name(Word::Model) => ConfigKey::Model,
            ContextTokenKind::Name(Word::Role) => ConfigKey::Role,
            ContextTokenKind::Name(_)
            | ContextTokenKind::Number
            | ContextTokenKind::Text
            | ContextTokenKind::Symbol(_)
            | ContextTokenKind::End => ConfigKey::Description,
        };
        let value = match key {
            ConfigKey::Model => self.postfix()?,
            ConfigKey::Role | ConfigKey::Description => self.expr()?,
        };
        Ok(ConfigBlock { key, value })
    }

    fn expression_statement(&mut self) -> ParsedText<ContextStatement> {
        let target = self.expr()?;
        let operator = match self.token().kind {
            ContextTokenKind::Symbol(Punctuation::Assign) => AssignOperator::Set,
            ContextTokenKind::Symbol(Punctuation::PlusAssign) => AssignOperator::Add,
            ContextTokenKind::Symbol(Punctuation::MinusAssign) => AssignOperator::Subtract,
            ContextTokenKind::Name(_)
            | ContextTokenKind::Number
            | ContextTokenKind::Text
            | ContextTokenKind::Symbol(_)
            | ContextTokenKind::End => return Ok(ContextStatement::Expr(target)),
        };
        let found = self.token();
        if let ContextTokenKind::Symbol(symbol) = found.kind
            && !self.dialect.operator(symbol)
        {
            return Err(self
                .fault(found, format!("version {} has no such operator", self.dialect.version))
                .hint("write the assignment out with `=`"));
        }
        let expr = &self.exprs[target.0 as usize];
        if !matches!(expr.kind, ContextExprKind::Name | ContextExprKind::Member { .. }) {
            return Err(SyntaxFault::new(expr.span, "this cannot be assigned to")
                .because("neither a name nor a member of an object")
                .hint("assign to `name` or to `object.name`"));
        }
        self.advance();
        let value = self.expr()?;
        Ok(ContextStatement::Assign { target, operator, value })
    }

    fn repeat_statement(&mut self) -> ParsedText<ContextStatement> {
        self.advance();
        self.expect_symbol(Punctuation::Star, "*")?;
        let count = self.count("how often to repeat")?;
        Ok(ContextStatement::Repeat { count, body: self.block()? })
    }

    fn loop_statement(&mut self) -> ParsedText<ContextStatement> {
        self.advance();
        self.expect_word(Word::Until, "until")?;
        let until = self.expr()?;
        self.expect_limit_mark()?;
        let max = self.count("how often to loop at most")?;
        Ok(ContextStatement::Loop { until, max, body: self.block()? })
    }

    /// Parses `NAME in LIST max N { … }`, after `for` or `parallel for`.
    pub(super) fn for_clause(&mut self, start: usize) -> ParsedText<For> {
        let item = self.expect_name("a name for each item")?;
        self.expect_word(Word::In, "in")?;
        let list = self.expr()?;
        self.expect_limit_mark()?;
        let max = self.count("how many items to take at most")?;
        let span = self.span_from(start);
        Ok(For { span, item, list, max, body: self.block()? })
    }

    fn if_statement(&mut self) -> ParsedText<ContextStatement> {
        self.advance();
        let condition = self.expr()?;
        let then = self.block()?;
        let otherwise =
            if self.take_word(Word::Else).is_some() { Some(self.block()?) } else { None };
        Ok(ContextStatement::If { condition, then, otherwise })
    }

    fn at_limit_mark(&self) -> bool {
        match self.dialect.limit_mark() {
            LimitMark::Less => self.at_symbol(Punctuation::Less),
            LimitMark::Max => self.at_word(Word::Max),
        }
    }

    fn expect_limit_mark(&mut self) -> ParsedText<()> {
        match self.dialect.limit_mark() {
            LimitMark::Less => self.expect_symbol(Punctuation::Less, "<")?,
            LimitMark::Max => self.expect_word(Word::Max, "max")?,
        };
        Ok(())
    }

    /// Takes a whole number; one beyond 64 bits counts as the largest.
    fn count(&mut self, what: &str) -> ParsedText<u64> {
        let found = self.token();
        let text = self.slice(found.span);
        if found.kind != ContextTokenKind::Number || !text.bytes().all(|byte| byte.is_ascii_digit())
        {
            return Err(self
                .fault(found, format!("a whole number is expected: {what}"))
                .hint("limits are written out in digits"));
        }
        self.advance();
        Ok(text.parse().unwrap_or(u64::MAX))
    }

    pub(super) fn use_statement(&mut self) -> ParsedText<ContextStatement> {
        let start = self.advance().span.start;
        if self.at_word(Word::One)
            && self.ahead(1).is_word(Word::Of)
            && self.ahead(2).is(Punctuation::BraceOpen)
        {
            return self.choice(start).map(ContextStatement::Choice);
        }
        let value = self.expr()?;
        let mut label = None;
        if self.dialect.label_before_budget() && self.at_word(Word::As) {
            label = Some(self.label_words()?);
        }
        let budget = self.optional_budget()?;
        if self.dialect.labels() && label.is_none() && self.at_word(Word::As) {
            label = Some(self.label_words()?);
        }
        let span = self.span_from(start);
        if label.is_some() {
            self.expect_end_of_label()?;
        }
        Ok(ContextStatement::Use(UseStatement { span, value, budget, label }))
    }

    fn optional_budget(&mut self) -> ParsedText<Option<WrittenBudget>> {
        if !self.at_limit_mark() {
            return Ok(None);
        }
        self.advance();
        self.budget("a budget").map(Some)
    }

    pub(super) fn budget(&mut self, what: &str) -> ParsedText<WrittenBudget> {
        let found = self.token();
        if found.kind != ContextTokenKind::Number {
            return Err(self
                .fault(found, format!("{what} is expected"))
                .hint("write a number, such as `800` or `2k`"));
        }
        let text = self.slice(found.span);
        match split_budget(text) {
            Some((amount, unit)) => {
                self.advance();
                let unit = (!unit.is_empty()).then(|| unit.to_owned());
                Ok(WrittenBudget { span: found.span, amount, unit })
            }
            None => Err(SyntaxFault::new(found.span, format!("`{text}` is not a budget"))
                .because("neither a number nor a number with a unit")
                .hint("write a number, such as `800` or `2k`")),
        }
    }

    /// Parses `as LABEL`.
    fn label_words(&mut self) -> ParsedText<ItemLabel> {
        self.advance();
        let found = self.token();
        let is_label = matches!(found.kind, ContextTokenKind::Name(_) | ContextTokenKind::Text);
        if !is_label {
            return Err(self
                .fault(found, "a label is expected after `as`")
                .hint("write one word or a quoted text"));
        }
        let mut span = self.advance().span;
        let bare = |kind| matches!(kind, ContextTokenKind::Name(_) | ContextTokenKind::Number);
        while self.dialect.many_word_labels()
            && bare(found.kind)
            && bare(self.token().kind)
            && !self.token().line_break_before
        {
            span = span.to(self.advance().span);
        }
        Ok(ItemLabel { span })
    }

    fn expect_end_of_label(&self) -> ParsedText<()> {
        let found = self.token();
        if found.line_break_before
            || found.is(Punctuation::BraceClose)
            || found.kind == ContextTokenKind::End
        {
            return Ok(());
        }
        Err(self
            .fault(found, "a label ends its line")
            .hint("begin a new line, or put a label of several words in quotes"))
    }

    fn choice(&mut self, start: usize) -> ParsedText<ChoiceBlock> {
        let one = self.advance();
        if !self.dialect.since(crate::Version::V0_1_18) {
            return Err(self
                .fault(one, format!("version {} has no `use one of`", self.dialect.version))
                .hint("declare the source with a plain `use`"));
        }
        self.advance();
        let open = self.advance();
        let mut candidates: Vec<Candidate> = Vec::new();
        while self.take_symbol(Punctuation::BraceClose).is_none() {
            candidates.push(self.candidate()?);
        }
        if candidates.len() < 2 {
            return Err(SyntaxFault::new(open.span, "a choice needs two candidates")
                .because("fewer than two are listed here")
                .hint("add a candidate, such as `none: empty`, or write a plain `use`"));
        }
        let mut marked =
            candidates.iter().filter(|candidate| candidate.mark == WrittenMark::Selected);
        if let (Some(first), Some(second)) = (marked.next(), marked.next()) {
            return Err(SyntaxFault::new(second.span, "only one candidate is selected")
                .because("marked as well")
                .see(first.span, "marked first")
                .hint("remove one `selected`"));
        }
        if !self.at_word(Word::As) {
            let found = self.token();
            return Err(self
                .fault(found, "`as` and a label are expected")
                .hint("every choice is known by its label: write `as name` after the `}`"));
        }
        let label = self.label_words()?;
        let span = self.span_from(start);
        self.expect_end_of_label()?;
        Ok(ChoiceBlock { span, candidates, label })
    }

    fn candidate(&mut self) -> ParsedText<Candidate> {
        let name = self.expect_name("the name of a candidate")?;
        self.expect_symbol(Punctuation::Colon, ":")?;
        let is_empty = self.at_word(Word::Empty)
            && (self.ahead(1).line_break_before
                || self.ahead(1).is_word(Word::Selected)
                || self.ahead(1).is(Punctuation::BraceClose));
        let (value, budget) = if is_empty {
            self.advance();
            (None, None)
        } else {
            (Some(self.expr()?), self.optional_budget()?)
        };
        let mark = if self.at_word(Word::Selected) && !self.token().line_break_before {
            self.advance();
            WrittenMark::Selected
        } else {
            WrittenMark::Unmarked
        };
        let span = self.span_from(name.start);
        let next = self.token();
        if !next.line_break_before && !next.is(Punctuation::BraceClose) {
            return Err(self
                .fault(next, "a candidate ends its line")
                .hint("write every candidate on a line of its own"));
        }
        Ok(Candidate { span, name, value, budget, mark })
    }
}

/// Splits `2.5k` into amount and unit.
fn split_budget(text: &str) -> Option<(f64, &str)> {
    let is_unit = |byte: &u8| byte.is_ascii_alphabetic();
    let unit_length = text.bytes().rev().take_while(|byte| is_unit(byte)).count();
    let (number, unit) = text.split_at(text.len() - unit_length);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    number.parse().ok().map(|amount| (amount, unit))
}

/// Tells whether a number has no unit and no odd ending.
pub(super) fn is_plain_number(text: &str) -> bool {
    split_budget(text).is_some_and(|(_, unit)| unit.is_empty())
}
