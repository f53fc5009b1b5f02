//! `generate`: its options, its contract and the configuration that it needs.

use std::collections::BTreeSet;

use agentic_diag::Span;

use crate::ast::{
    ConfigKey, ContextExprId, ContextExprKind, Contract, Generate, GenerateOption, OptionValue,
    WrittenBudget,
};
use crate::dialect::{Strictness, Version};

use super::{Analyzer, explain};

impl<'a> Analyzer<'a> {
    pub(super) fn generate(&mut self, id: ContextExprId, generate: &'a Generate) {
        let span = self.file.expr(id).span;
        for key in [ConfigKey::Model, ConfigKey::Role, ConfigKey::Description] {
            if !self.config.contains(&key) {
                let message = format!("this `generate` has no `{}`", key.word());
                let found = self.report("MISSING_GENERATE_CONFIG", span, message);
                explain(found, "none is set in this place", "set it at the top of the agent");
            }
        }
        let mut seen = BTreeSet::new();
        for option in &generate.options {
            let key = self.file.name(option.key);
            if !seen.insert(key.clone()) {
                let message = format!("the option `{key}` is given twice");
                let found = self.report("DUPLICATE_GENERATE_OPTION", option.key, message);
                explain(found, "given again here", "keep one of them");
            }
            self.option(&key, option);
        }
        if !seen.contains("input") {
            let message = "a `generate` needs an `input`";
            let found = self.report("INVALID_GENERATE_INPUT", generate.options_span, message);
            explain(found, "there is no instruction", "add `input: \"…\"`");
        }
        if let Some(contract) = &generate.contract {
            self.contract(contract);
        }
    }

    pub(super) fn contract(&mut self, contract: &'a Contract) {
        let mut seen = BTreeSet::new();
        for field in &contract.fields {
            let name = self.file.text(field.name);
            if !seen.insert(name) {
                let message = format!("the contract has two fields `{name}`");
                let found = self.report("DUPLICATE_CONTRACT_FIELD", field.name, message);
                explain(found, "named again here", "rename or remove one of them");
            }
        }
    }

    fn option(&mut self, key: &str, option: &'a GenerateOption) {
        if !self.knows_option(key) {
            let message = format!("`generate` has no option `{key}`");
            let found = self.report("UNKNOWN_GENERATE_OPTION", option.key, message);
            explain(
                found,
                "unknown",
                "options are input, max_output, attempts, temperature, think, strict and debug",
            );
        }
        match &option.value {
            OptionValue::Budget(budget) => self.output_budget(key, budget),
            OptionValue::Expr(value) => {
                self.option_value(key, *value);
                self.expr(*value);
            }
        }
    }

    /// Tells whether the version of the program has an option.
    fn knows_option(&self, key: &str) -> bool {
        let union = self.file.dialect.strictness == Strictness::Union;
        match key {
            "input" | "attempts" | "debug" => true,
            "limit" => union || !self.since(Version::V0_1_4),
            "max_output" | "temperature" | "think" | "strict" => {
                union || self.since(Version::V0_1_4)
            }
            _ => false,
        }
    }

    fn output_budget(&mut self, key: &str, budget: &WrittenBudget) {
        let (code, unit_code) = if key == "limit" {
            ("INVALID_GENERATE_LIMIT", None)
        } else {
            let unit = self.since(Version::V0_1_11).then_some("INVALID_GENERATE_MAX_OUTPUT_UNIT");
            ("INVALID_GENERATE_MAX_OUTPUT", unit)
        };
        if budget.amount <= 0.0 {
            let message = format!("`{key}` is more than nothing");
            let found = self.report(code, budget.span, message);
            explain(found, "its amount is 0", "raise it, or leave the option out");
        }
        let known = matches!(budget.unit.as_deref(), None | Some("k"));
        if let (false, Some(code)) = (known, unit_code) {
            let found = self.report(code, budget.span, "the budget has the unit `k` or none");
            explain(found, "another unit was given", "write tokens, or thousands with `k`");
        }
    }

    fn option_value(&mut self, key: &str, value: ContextExprId) {
        let expr = self.file.expr(value);
        let is_bool = matches!(expr.kind, ContextExprKind::True | ContextExprKind::False);
        let is_number = matches!(expr.kind, ContextExprKind::Number);
        match key {
            "attempts" if !is_number || !is_positive(self.file.text(expr.span)) => {
                let hint = "write a whole number, 1 or more";
                self.bad_option("INVALID_GENERATE_ATTEMPTS", expr.span, key, hint);
            }
            "temperature" if !is_number => {
                let hint = "write a number, such as 0.2";
                self.bad_option("INVALID_GENERATE_TEMPERATURE", expr.span, key, hint);
            }
            "think" if !is_bool && !self.is_thinking_level(value) => {
                let hint = "write true, false, \"auto\", \"low\", \"medium\" or \"high\"";
                self.bad_option("INVALID_GENERATE_THINK", expr.span, key, hint);
            }
            "strict" if !is_bool => {
                self.bad_option("INVALID_GENERATE_STRICT", expr.span, key, "write true or false");
            }
            "debug" if !is_bool => {
                self.bad_option("INVALID_GENERATE_DEBUG", expr.span, key, "write true or false");
            }
            _ => {}
        }
    }

    fn is_thinking_level(&self, value: ContextExprId) -> bool {
        let expr = self.file.expr(value);
        let is_text = matches!(expr.kind, ContextExprKind::Text);
        is_text && matches!(&*self.file.name(expr.span), "auto" | "low" | "medium" | "high")
    }

    fn bad_option(&mut self, code: &'static str, span: Span, key: &str, hint: &str) {
        let message = format!("this is no value for the option `{key}`");
        let found = self.report(code, span, message);
        explain(found, "must be written out here", hint);
    }
}

fn is_positive(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.bytes().any(|byte| byte != b'0')
}
