//! Imports, agents and functions.

use agentic_diag::Span;

use crate::ast::{
    AgentDeclaration, ContextParameter, ContextStatement, EntryStatement, FunctionDeclaration,
    Import, ImportKind, StatementBlock,
};
use crate::dialect::Commas;
use crate::lexer::{ContextTokenKind, Punctuation, Word};

use super::contract::BareFields;
use super::{ContextParser, ParsedText};

impl ContextParser<'_> {
    pub(super) fn program(&mut self) -> ParsedText<(Vec<Import>, Vec<AgentDeclaration>)> {
        let (mut imports, mut agents) = (Vec::new(), Vec::new());
        loop {
            match self.token().kind {
                ContextTokenKind::End => return Ok((imports, agents)),
                ContextTokenKind::Name(Word::Import) => imports.push(self.import()?),
                ContextTokenKind::Name(Word::Agent | Word::Main) => agents.push(self.agent()?),
                ContextTokenKind::Name(_)
                | ContextTokenKind::Number
                | ContextTokenKind::Text
                | ContextTokenKind::Symbol(_) => {
                    let found = self.token();
                    let hint = match imports.is_empty() && agents.is_empty() {
                        true => {
                            "a pipeline begins with `memory` or `temporal`, then `static` or `dynamic`; statements of this language belong into a `func` of an agent"
                        }
                        false => "statements belong into a `func` of an agent",
                    };
                    return Err(self
                        .fault(found, "`import`, `agent` or `main agent` is expected")
                        .hint(hint));
                }
            }
        }
    }

    fn import(&mut self) -> ParsedText<Import> {
        let start = self.advance().span.start;
        let kind = self.import_kind()?;
        let name = self.expect_name(&format!("the name of the {}", kind.word()))?;
        self.expect_word(Word::From, "from")?;
        let found = self.token();
        if found.kind != ContextTokenKind::Text {
            let message = format!("the address of the {} is expected", kind.word());
            return Err(self.fault(found, message).hint("write it as a quoted text"));
        }
        let uri = self.advance().span;
        Ok(Import { span: self.span_from(start), kind, name, uri })
    }

    fn import_kind(&mut self) -> ParsedText<ImportKind> {
        let found = self.token();
        let kind = match self.slice(found.span) {
            "tool" => ImportKind::Tool,
            "llm" => ImportKind::Llm,
            "file" => ImportKind::File,
            "agent" => ImportKind::Agent,
            "memory" => ImportKind::Memory,
            _ => {
                return Err(self
                    .fault(found, "the sort of the import is expected")
                    .hint("write `tool`, `llm`, `file`, `agent` or `memory`"));
            }
        };
        self.advance();
        Ok(kind)
    }

    fn entry(&mut self) -> EntryStatement {
        if self.take_word(Word::Main).is_some() {
            EntryStatement::Main
        } else {
            EntryStatement::Plain
        }
    }

    fn agent(&mut self) -> ParsedText<AgentDeclaration> {
        let start = self.token().span.start;
        let entry = self.entry();
        self.expect_word(Word::Agent, "agent")?;
        let name = self.optional_name(entry, "agent", Punctuation::BraceOpen)?;
        let span = self.span_from(start);
        self.expect_symbol(Punctuation::BraceOpen, "{")?;
        let mut agent = AgentDeclaration {
            span,
            entry,
            name,
            config: Vec::new(),
            uses: Vec::new(),
            functions: Vec::new(),
        };
        while self.take_symbol(Punctuation::BraceClose).is_none() {
            self.agent_item(&mut agent)?;
        }
        Ok(agent)
    }

    fn agent_item(&mut self, agent: &mut AgentDeclaration) -> ParsedText<()> {
        let found = self.token();
        match found.kind {
            ContextTokenKind::Name(Word::Func | Word::Main) => {
                let function = self.function()?;
                agent.functions.push(function);
                Ok(())
            }
            ContextTokenKind::Name(Word::Model | Word::Role | Word::Description | Word::Use)
                if !agent.functions.is_empty() =>
            {
                Err(self
                    .fault(found, "configuration and `use` stand before the first function")
                    .hint("move it to the top of the agent, or into a function"))
            }
            ContextTokenKind::Name(Word::Model | Word::Role | Word::Description) => {
                let config = self.config()?;
                agent.config.push(config);
                Ok(())
            }
            ContextTokenKind::Name(Word::Use) => {
                let declared = self.use_statement()?;
                agent.uses.push(declared);
                Ok(())
            }
            ContextTokenKind::Name(_)
            | ContextTokenKind::Number
            | ContextTokenKind::Text
            | ContextTokenKind::Symbol(_)
            | ContextTokenKind::End => Err(self
                .fault(found, "configuration, `use` or a function is expected")
                .hint("statements belong into a `func`; close the agent with `}`")),
        }
    }

    /// Takes a name that only a main declaration may leave out.
    fn optional_name(
        &mut self,
        entry: EntryStatement,
        what: &str,
        open: Punctuation,
    ) -> ParsedText<Option<Span>> {
        if self.at_symbol(open) {
            if entry == EntryStatement::Main {
                return Ok(None);
            }
            let found = self.token();
            return Err(self
                .fault(found, format!("only a main {what} may go without a name"))
                .hint(format!("name the {what}, or write `main` before it")));
        }
        self.expect_name(&format!("the name of the {what}")).map(Some)
    }

    fn function(&mut self) -> ParsedText<FunctionDeclaration> {
        let start = self.token().span.start;
        let entry = self.entry();
        self.expect_word(Word::Func, "func")?;
        let name = self.optional_name(entry, "func", Punctuation::ParenOpen)?;
        self.expect_symbol(Punctuation::ParenOpen, "(")?;
        let mut params = Vec::new();
        while self.take_symbol(Punctuation::ParenClose).is_none() {
            let name = self.expect_name("the name of a parameter")?;
            let contract = if self.at_symbol(Punctuation::BraceOpen) {
                Some(self.contract(BareFields::Refused)?)
            } else {
                None
            };
            params.push(ContextParameter { name, contract });
            self.separate(Commas::Required, Punctuation::ParenClose, ")")?;
        }
        let span = self.span_from(start);
        let body = self.block()?;
        Ok(FunctionDeclaration { span, entry, name, params, body })
    }

    pub(super) fn block(&mut self) -> ParsedText<StatementBlock> {
        self.expect_symbol(Punctuation::BraceOpen, "{")?;
        self.nested(|parser| {
            let mut statements: Vec<ContextStatement> = Vec::new();
            while parser.take_symbol(Punctuation::BraceClose).is_none() {
                statements.push(parser.statement()?);
            }
            Ok(StatementBlock { statements })
        })
    }
}
