//! `generate`: everything about it that the source fixes.

use agentic_diag::Span;

use crate::ast::{Generate, OptionValue};
use crate::code::{Debug, GenerateOptions, GenerateSite, Op, Validation};
use crate::dialect::Version;
use crate::json::Json;

use super::ContextCompiler;
use super::expression::number;
use super::statement::budget_code;

impl<'a> ContextCompiler<'a> {
    pub(super) fn generate(&mut self, span: Span, generate: &'a Generate) {
        let options = self.generate_options(generate);
        let contract = generate
            .contract
            .as_ref()
            .map(|contract| super::contract_code(self.file, self.file_number, contract));
        let configured = "the analyzer checks that a generate is configured";
        let site = GenerateSite {
            version: self.file.dialect.version,
            agent: self.code.agents[self.agent as usize].name.clone(),
            model: self.config.model.expect(configured),
            role: self.config.role.clone().expect(configured),
            description: self.config.description.clone().expect(configured),
            last_use: self.last_use,
            contract,
            options,
        };
        self.code.generates.push(site);
        let at = self.code.generates.len() as u32 - 1;
        for option in &generate.options {
            if let OptionValue::Expr(value) = option.value
                && self.file.name(option.key) == "input"
            {
                self.expr(value);
            }
        }
        self.emit(Op::Generate(at), span);
    }

    fn generate_options(&self, generate: &Generate) -> GenerateOptions {
        let first = !self.file.dialect.since(Version::V0_1_4);
        let mut options = GenerateOptions {
            max_output: None,
            attempts: 1,
            temperature: None,
            think: Json::Bool(false),
            validation: if first { Validation::First } else { Validation::Lenient },
            debug: Debug::Silent,
        };
        for option in &generate.options {
            match &option.value {
                OptionValue::Budget(budget) => options.max_output = Some(budget_code(budget)),
                OptionValue::Expr(value) => {
                    let text = self.file.name(self.file.expr(*value).span);
                    match &*self.file.name(option.key) {
                        "attempts" => options.attempts = text.parse().unwrap_or(u64::MAX),
                        "temperature" => options.temperature = Some(number(&text)),
                        "think" => options.think = thinking(&text),
                        "strict" if text == "true" => options.validation = Validation::Strict,
                        "debug" if text == "true" => options.debug = Debug::Shown,
                        _ => {}
                    }
                }
            }
        }
        options
    }
}

fn thinking(text: &str) -> Json {
    match text {
        "true" => Json::Bool(true),
        "false" => Json::Bool(false),
        level => Json::text(level),
    }
}
