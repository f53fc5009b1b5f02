//! The type checker.
//!
//! Findings come in a fixed order: agents, enums, pipelines in file order (those that workflows
//! become last), tests. The first one stops the check.

mod call;
mod expression;
mod flow;
mod scope;

use agentic_diag::Diagnostic;

use crate::ast::{Ast, BlockExpr};
use crate::check::flow::BlockEnd;
use crate::check::scope::NameScope;
use crate::code::{self, PhaseResult, stop};
use crate::symbol::{Symbol, SymbolIndex};
use crate::types::{TypeId, TypeShape};

/// Checks a resolved and lowered file.
pub(crate) fn check(ast: &mut Ast) -> PhaseResult<()> {
    check_agents(ast)?;
    let variants = check_enums(ast)?;
    let mut checker = Checker::new(ast, &variants);
    // Bodies are taken out while they are read, because checking makes new types.
    for at in 0..checker.ast.pipelines.len() {
        let body = std::mem::take(&mut checker.ast.pipelines[at].body);
        let checked = checker.pipeline(at, &body);
        checker.ast.pipelines[at].body = body;
        checked?;
    }
    for at in 0..checker.ast.tests.len() {
        let body = std::mem::take(&mut checker.ast.tests[at].body);
        let checked = checker.test(at, &body);
        checker.ast.tests[at].body = body;
        checked?;
    }
    Ok(())
}

/// Finds what is legal but probably not meant.
pub(crate) fn warnings(ast: &Ast) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    for task in &ast.tasks {
        let name = task.signature.name;
        let Some(at) = ast.by_name.pipelines.get(name.symbol) else { continue };
        let text = ast.text(name.symbol);
        let message = format!("the task `{text}` hides the pipeline `{text}`");
        warnings.push(
            Diagnostic::warning(code::TASK_HIDES_PIPELINE, name.span(), message)
                .because("calls mean this task")
                .see(ast.pipelines[at].signature.name.span(), "never called by this name")
                .hint("rename one of the two"),
        );
    }
    let aliases = ast.aliases.iter().map(|alias| alias.name);
    for name in aliases.clone().chain(ast.enums.iter().map(|declared| declared.name)) {
        let text = ast.text(name.symbol);
        if matches!(text, "String" | "Number" | "Bool" | "List" | "Option" | "Obj") {
            let message = format!("the type `{text}` is built in; this declaration is not used");
            warnings.push(Diagnostic::warning(code::BUILT_IN_HIDES_TYPE, name.span(), message));
        }
    }
    for name in aliases {
        let Some(at) = ast.by_name.enums.get(name.symbol) else { continue };
        let text = ast.text(name.symbol);
        let message = format!("the alias `{text}` hides the enum `{text}`");
        warnings.push(
            Diagnostic::warning(code::ALIAS_HIDES_ENUM, name.span(), message)
                .see(ast.enums[at].name.span(), "the enum"),
        );
    }
    let mut tests = SymbolIndex::default();
    for (at, test) in ast.tests.iter().enumerate() {
        if let Some(first) = tests.get(test.name) {
            let message = format!("two tests are called {:?}", ast.text(test.name));
            warnings.push(
                Diagnostic::warning(code::DUPLICATE_TEST, test.span, message)
                    .see(ast.tests[first].span, "the first one"),
            );
        }
        tests.set(test.name, at);
    }
    warnings
}

fn check_agents(ast: &Ast) -> PhaseResult<()> {
    for agent in &ast.agents {
        for tool in &agent.tools {
            if ast.by_name.tools.get(tool.symbol).is_none() {
                let (agent, tool_name) = (ast.text(agent.name.symbol), ast.text(tool.symbol));
                let message = format!("the agent `{agent}` lists an unknown tool `{tool_name}`");
                return stop(code::UNKNOWN_TOOL, tool.span(), message);
            }
        }
    }
    Ok(())
}

/// Checks enums and finds the enum of every variant.
fn check_enums(ast: &Ast) -> PhaseResult<SymbolIndex> {
    let mut variants = SymbolIndex::default();
    for (at, declared) in ast.enums.iter().enumerate() {
        let name = ast.text(declared.name.symbol);
        if declared.variants.is_empty() {
            let message = format!("the enum `{name}` has no variants");
            return stop(code::EMPTY_ENUM, declared.name.span(), message);
        }
        for variant in &declared.variants {
            if let Some(first) = variants.get(variant.symbol) {
                let (text, first) = (ast.text(variant.symbol), &ast.enums[first]);
                let first_name = ast.text(first.name.symbol);
                let message = format!("`{text}` is a variant of both `{first_name}` and `{name}`");
                return Err(Box::new(
                    Diagnostic::error(code::SHARED_VARIANT, variant.span(), message)
                        .see(first.name.span(), "the first enum")
                        .hint("a variant belongs to one enum; rename it in one of them"),
                ));
            }
            variants.set(variant.symbol, at);
        }
    }
    Ok(variants)
}

/// What is being checked, by its place in the file's list.
#[derive(Clone, Copy)]
enum Subject {
    Pipeline(usize),
    Test(usize),
}

struct Checker<'a> {
    ast: &'a mut Ast,
    variants: &'a SymbolIndex,
    subject: Subject,
    scope: NameScope,
    /// The types of the operands of an expression.
    operands: Vec<TypeId>,
    /// Which argument of a call has which name.
    arguments: SymbolIndex,
    /// The names that the branches of the parallel block around this place bind.
    branches: Vec<Symbol>,
}

impl<'a> Checker<'a> {
    fn new(ast: &'a mut Ast, variants: &'a SymbolIndex) -> Checker<'a> {
        let (scope, operands, arguments) =
            (NameScope::default(), Vec::new(), SymbolIndex::default());
        let subject = Subject::Test(0);
        Checker { ast, variants, subject, scope, operands, arguments, branches: Vec::new() }
    }

    fn pipeline(&mut self, at: usize, body: &BlockExpr) -> PhaseResult<()> {
        self.subject = Subject::Pipeline(at);
        let start = self.scope.mark();
        for param in &self.ast.pipelines[at].signature.params {
            self.scope.set(&mut self.ast.types, param.name.symbol, Some(param.declared));
        }
        if self.block(body)? == BlockEnd::Leaves {
            self.scope.undo(&mut self.ast.types, start);
            return Ok(());
        }
        let span = agentic_diag::Span::new(body.end as usize, body.end as usize + 1);
        let message = format!("{} does not return on every way through it", self.title());
        Err(Box::new(
            Diagnostic::error(code::MISSING_RETURN, span, message)
                .because("this end can be reached")
                .hint("add a `return`; a loop never counts as returning"),
        ))
    }

    fn test(&mut self, at: usize, body: &BlockExpr) -> PhaseResult<()> {
        self.subject = Subject::Test(at);
        let start = self.scope.mark();
        self.block(body)?;
        self.scope.undo(&mut self.ast.types, start);
        Ok(())
    }

    /// Names what is being checked.
    fn title(&self) -> String {
        match self.subject {
            Subject::Pipeline(at) => {
                let name = self.ast.pipelines[at].signature.name;
                format!("the pipeline `{}`", self.ast.text(name.symbol))
            }
            Subject::Test(at) => format!("the test {:?}", self.ast.text(self.ast.tests[at].name)),
        }
    }

    /// Returns the enum of a text that is one of its variants.
    fn variant_type(&mut self, text: Symbol) -> Option<TypeId> {
        let at = self.variants.get(text)?;
        let name = self.ast.enums[at].name.symbol;
        Some(self.ast.types.intern(TypeShape::Enum(name)))
    }
}
