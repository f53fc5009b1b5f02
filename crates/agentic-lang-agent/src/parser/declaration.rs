//! Declarations.

use crate::ast::{
    AgentItem, Alias, Enum, Extensions, Pipeline, PipelineStep, StepKind, TaskItem, TaskMode,
    TaskParameter, TaskSignature, TestItem, ToolItem, Workflow, WrittenName,
};
use crate::code::{self, PhaseResult};
use crate::parser::{AgentParser, Distinct};
use crate::token::AgentTokenKind;

/// The version that has extensions.
const VERSION: &str = "agentic 1";
/// The version that means no more than a file without this line.
const ORIGINAL: &str = "0.2";
/// What versions that are not spoken here added.
const LATER: [(&str, &str); 4] = [
    ("0.3", "`record`, `union`, `match`, `Result` and `retry_on`"),
    ("0.4", "effects, idempotency, `backoff`, `budget`, `requires` and `eval`"),
    ("0.5", "`parallel map`, `race`, `approve` with a deadline and durable execution"),
    ("0.6", "modules: `import` and `m::name`"),
];

impl AgentParser<'_> {
    pub(super) fn file(&mut self) -> PhaseResult<()> {
        self.version()?;
        while self.kind() != AgentTokenKind::End {
            self.declaration()?;
        }
        Ok(())
    }

    /// Parses the line that asks for what the original language did not have. `language` is no
    /// reserved word: it means this only where nothing else can stand.
    fn version(&mut self) -> PhaseResult<()> {
        let word = self.peek();
        if word.kind != AgentTokenKind::Name || self.ast.text(word.symbol) != "language" {
            return Ok(());
        }
        if self.tokens.get(self.at + 1).is_none_or(|next| next.kind != AgentTokenKind::Text) {
            return Ok(());
        }
        self.take();
        let version = self.expect(AgentTokenKind::Text)?;
        let text = self.ast.text(version.symbol);
        if text != VERSION && text != ORIGINAL {
            let message = format!("the language version {text:?} is not known");
            let later = LATER.iter().find(|(later, _)| *later == text);
            let what = later.map_or_else(String::new, |(_, what)| {
                format!("what that version added is not here: {what}; ")
            });
            return Err(Box::new(
                agentic_diag::Diagnostic::error(code::UNKNOWN_VERSION, version.span(), message)
                    .hint(format!("{what}write `language \"{VERSION}\";`, or leave the line out")),
            ));
        }
        let has_extensions = text == VERSION;
        self.expect(AgentTokenKind::Semicolon)?;
        if has_extensions {
            self.ast.extensions = Extensions::On;
        }
        Ok(())
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "of some sixty tokens any other one is refused here"
    )]
    fn declaration(&mut self) -> PhaseResult<()> {
        match self.kind() {
            AgentTokenKind::Agent => self.agent(),
            AgentTokenKind::Tool => self.tool(),
            AgentTokenKind::Task => self.task(),
            AgentTokenKind::Pipeline => self.pipeline(),
            AgentTokenKind::Workflow => self.workflow(),
            AgentTokenKind::Type => self.alias(),
            AgentTokenKind::Enum => self.enumeration(),
            AgentTokenKind::Test => self.test(),
            _ => Err(self.unexpected(code::EXPECTED_DECLARATION, "a declaration")),
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "of some sixty tokens any other one is refused here"
    )]
    fn agent(&mut self) -> PhaseResult<()> {
        self.take();
        let name = self.name()?;
        self.expect(AgentTokenKind::BraceOpen)?;
        let (mut model, mut tools) = (None, None);
        while !self.accept(AgentTokenKind::BraceClose) {
            let word = self.peek();
            let key = WrittenName { symbol: word.symbol, start: word.start, end: word.end };
            match word.kind {
                AgentTokenKind::Comma => _ = self.take(),
                AgentTokenKind::Model if model.is_some() => {
                    return self.duplicate(code::DUPLICATE_AGENT_ENTRY, key, "the entry");
                }
                AgentTokenKind::Tools if tools.is_some() => {
                    return self.duplicate(code::DUPLICATE_AGENT_ENTRY, key, "the entry");
                }
                AgentTokenKind::Model => {
                    self.take();
                    self.expect(AgentTokenKind::Colon)?;
                    model = Some(self.expect(AgentTokenKind::Text)?.symbol);
                }
                AgentTokenKind::Tools => {
                    self.take();
                    self.expect(AgentTokenKind::Colon)?;
                    tools = Some(self.tool_list()?);
                }
                _ => {
                    let wanted = "`model`, `tools` or `}`";
                    return Err(self.unexpected(code::EXPECTED_AGENT_ENTRY, wanted));
                }
            }
        }
        let Some(tools) = tools else { return self.without_tools(name) };
        if self.ast.by_name.agents.get(name.symbol).is_some() {
            return self.duplicate(code::DUPLICATE_AGENT, name, "the agent");
        }
        let index = self.ast.agents.len();
        self.ast.by_name.agents.set(name.symbol, index);
        self.ast.agents.push(AgentItem { name, model, tools });
        Ok(())
    }

    fn without_tools<T>(&self, name: WrittenName) -> PhaseResult<T> {
        let message = format!("the agent `{}` does not say its tools", self.ast.text(name.symbol));
        Err(Box::new(
            agentic_diag::Diagnostic::error(code::AGENT_WITHOUT_TOOLS, name.span(), message)
                .hint("add `tools: []` if it has none"),
        ))
    }

    fn tool_list(&mut self) -> PhaseResult<Vec<WrittenName>> {
        self.expect(AgentTokenKind::BracketOpen)?;
        let mut tools = Vec::new();
        let mut distinct = Distinct::default();
        if self.accept(AgentTokenKind::BracketClose) {
            return Ok(tools);
        }
        loop {
            let tool = self.name()?;
            if !distinct.add(tool.symbol) {
                return self.duplicate(code::DUPLICATE_AGENT_TOOL, tool, "the tool");
            }
            tools.push(tool);
            if !self.accept(AgentTokenKind::Comma) {
                break;
            }
        }
        self.expect(AgentTokenKind::BracketClose)?;
        Ok(tools)
    }

    /// Parses name, parameters and result type.
    fn signature(&mut self) -> PhaseResult<TaskSignature> {
        let name = self.name()?;
        self.expect(AgentTokenKind::ParenOpen)?;
        let mut params = Vec::new();
        let mut distinct = Distinct::default();
        if self.kind() != AgentTokenKind::ParenClose {
            loop {
                let name = self.name()?;
                if !distinct.add(name.symbol) {
                    return self.duplicate(code::DUPLICATE_PARAMETER, name, "the parameter");
                }
                self.expect(AgentTokenKind::Colon)?;
                params.push(TaskParameter { name, declared: self.type_id()? });
                if !self.accept(AgentTokenKind::Comma) {
                    break;
                }
            }
        }
        self.expect(AgentTokenKind::ParenClose)?;
        self.expect(AgentTokenKind::Arrow)?;
        let result = self.type_id()?;
        Ok(TaskSignature { name, params, result })
    }

    fn tool(&mut self) -> PhaseResult<()> {
        self.take();
        let signature = self.signature()?;
        self.empty_body()?;
        let name = signature.name;
        if self.ast.by_name.tools.get(name.symbol).is_some() {
            return self.duplicate(code::DUPLICATE_TOOL, name, "the tool");
        }
        let index = self.ast.tools.len();
        self.ast.by_name.tools.set(name.symbol, index);
        self.ast.tools.push(ToolItem { signature });
        Ok(())
    }

    fn task(&mut self) -> PhaseResult<()> {
        self.take();
        let signature = self.signature()?;
        let mode = match self.accept(AgentTokenKind::By) {
            true => {
                self.expect(AgentTokenKind::Agent)?;
                TaskMode::Agent
            }
            false => TaskMode::Handler,
        };
        self.empty_body()?;
        let name = signature.name;
        if self.ast.by_name.tasks.get(name.symbol).is_some() {
            return self.duplicate(code::DUPLICATE_TASK, name, "the task");
        }
        let index = self.ast.tasks.len();
        self.ast.by_name.tasks.set(name.symbol, index);
        self.ast.tasks.push(TaskItem { signature, mode });
        Ok(())
    }

    fn empty_body(&mut self) -> PhaseResult<()> {
        self.expect(AgentTokenKind::BraceOpen)?;
        self.expect(AgentTokenKind::BraceClose)?;
        Ok(())
    }

    fn pipeline(&mut self) -> PhaseResult<()> {
        self.take();
        let signature = self.signature()?;
        let body = self.block()?;
        let name = signature.name;
        if self.ast.by_name.pipelines.get(name.symbol).is_some() {
            return self.duplicate(code::DUPLICATE_PIPELINE, name, "the pipeline");
        }
        let index = self.ast.pipelines.len();
        self.ast.by_name.pipelines.set(name.symbol, index);
        self.ast.pipelines.push(Pipeline { signature, body });
        Ok(())
    }

    fn workflow(&mut self) -> PhaseResult<()> {
        self.take();
        let signature = self.signature()?;
        self.expect(AgentTokenKind::BraceOpen)?;
        let mut steps = Vec::new();
        while self.kind() != AgentTokenKind::BraceClose {
            steps.push(self.step()?);
        }
        let end = self.take().start;
        let name = signature.name;
        let is_taken = self.ast.by_name.workflows.get(name.symbol).is_some()
            || self.ast.by_name.pipelines.get(name.symbol).is_some();
        if is_taken {
            return self.duplicate(code::DUPLICATE_WORKFLOW, name, "the workflow or pipeline");
        }
        let index = self.ast.workflows.len();
        self.ast.by_name.workflows.set(name.symbol, index);
        self.ast.workflows.push(Workflow { signature, steps, end });
        Ok(())
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "of some sixty tokens any other one is refused here"
    )]
    fn step(&mut self) -> PhaseResult<PipelineStep> {
        let start = self.peek().start;
        let kind = match self.kind() {
            AgentTokenKind::Stage => self.stage()?,
            AgentTokenKind::Review => self.review()?,
            AgentTokenKind::Return => {
                self.take();
                StepKind::Return(self.expression()?)
            }
            _ => {
                let wanted = "`stage`, `review`, `return` or `}`";
                return Err(self.unexpected(code::EXPECTED_STEP, wanted));
            }
        };
        self.expect(AgentTokenKind::Semicolon)?;
        Ok(PipelineStep { start, end: self.end(), kind })
    }

    fn stage(&mut self) -> PhaseResult<StepKind> {
        self.take();
        let target = self.name()?;
        self.expect(AgentTokenKind::Equal)?;
        let agent = self.name()?;
        self.expect(AgentTokenKind::Does)?;
        let task = self.name()?;
        self.expect(AgentTokenKind::ParenOpen)?;
        let args = self.nested(|parser| parser.items(AgentTokenKind::ParenClose))?;
        Ok(StepKind::Stage { target, agent, task, args })
    }

    fn review(&mut self) -> PhaseResult<StepKind> {
        self.take();
        let target = self.name()?;
        self.expect(AgentTokenKind::Equal)?;
        let reviewer = self.name()?;
        self.expect(AgentTokenKind::Checks)?;
        let source = self.name()?;
        self.expect(AgentTokenKind::Revise)?;
        self.expect(AgentTokenKind::With)?;
        let reviser = self.name()?;
        self.expect(AgentTokenKind::Using)?;
        let task = self.name()?;
        self.expect(AgentTokenKind::MaxRounds)?;
        let rounds = self.whole(code::ROUNDS_NOT_WHOLE, "max_rounds")?.symbol;
        Ok(StepKind::Review { target, reviewer, source, reviser, task, rounds })
    }

    fn alias(&mut self) -> PhaseResult<()> {
        self.take();
        let name = self.name()?;
        self.expect(AgentTokenKind::Equal)?;
        let declared = self.type_id()?;
        self.expect(AgentTokenKind::Semicolon)?;
        if self.ast.by_name.aliases.get(name.symbol).is_some() {
            return self.duplicate(code::DUPLICATE_ALIAS, name, "the type");
        }
        let index = self.ast.aliases.len();
        self.ast.by_name.aliases.set(name.symbol, index);
        self.ast.aliases.push(Alias { name, declared });
        Ok(())
    }

    fn enumeration(&mut self) -> PhaseResult<()> {
        self.take();
        let name = self.name()?;
        self.expect(AgentTokenKind::BraceOpen)?;
        let mut variants = Vec::new();
        let mut distinct = Distinct::default();
        while self.kind() != AgentTokenKind::BraceClose {
            let variant = self.name()?;
            if !distinct.add(variant.symbol) {
                let what = format!("in the enum `{}`, the variant", self.ast.text(name.symbol));
                return self.duplicate(code::DUPLICATE_VARIANT, variant, &what);
            }
            variants.push(variant);
            if !self.accept(AgentTokenKind::Comma) {
                break;
            }
        }
        self.expect(AgentTokenKind::BraceClose)?;
        self.expect(AgentTokenKind::Semicolon)?;
        if self.ast.by_name.enums.get(name.symbol).is_some() {
            return self.duplicate(code::DUPLICATE_ENUM, name, "the enum");
        }
        let index = self.ast.enums.len();
        self.ast.by_name.enums.set(name.symbol, index);
        self.ast.enums.push(Enum { name, variants });
        Ok(())
    }

    fn test(&mut self) -> PhaseResult<()> {
        let start = self.take().start;
        let name = self.expect(AgentTokenKind::Text)?.symbol;
        let span = self.span_from(start);
        let body = self.block()?;
        self.ast.tests.push(TestItem { name, span, body });
        Ok(())
    }
}
