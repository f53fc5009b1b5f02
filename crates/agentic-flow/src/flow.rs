//! Flows as texts: parsing and checking.

use std::rc::Rc;

use agentic_diag::{Diagnostic, Span};
use rhai::{AST, Dynamic, Engine, LexError, ParseError, ParseErrorType};

use crate::engine::{DISABLED, furnish, locked};
use crate::limits::{SEMANTICS, SOURCE_BYTES_MAX, STACK_BYTES};
use crate::modules::{Modules, NoModules};
use crate::program::FlowProgram;
use crate::world::FlowWorld;

/// The name under which a script finds its input. It is a variable, not a constant: constants
/// would be folded into the parsed script.
pub(crate) const INPUT: &str = "input";

/// A parsed flow, ready to run any number of times.
pub struct Flow {
    shared: Rc<FlowShared>,
}

/// What all runs of a flow share. At most one of them runs at a time, so they can take turns with
/// one interpreter; a run that waits is no more than its stacks.
pub(crate) struct FlowShared {
    pub(crate) engine: Engine,
    pub(crate) ast: AST,
    pub(crate) world: Rc<FlowWorld>,
}

impl Flow {
    /// Parses a flow that imports nothing.
    ///
    /// # Errors
    /// Fails with what [`check`] finds.
    pub fn parse(source: &str) -> Result<Flow, Vec<Diagnostic>> {
        Flow::parse_with(source, NoModules)
    }

    /// Parses a flow that imports modules from the given place.
    ///
    /// # Errors
    /// Fails with what [`check`] finds.
    pub fn parse_with(
        source: &str,
        modules: impl Modules + 'static,
    ) -> Result<Flow, Vec<Diagnostic>> {
        Flow::parse_as(source, modules, SEMANTICS)
    }

    /// Parses a flow that means what it meant in a version of the language.
    ///
    /// # Errors
    /// Fails with what [`check`] finds.
    pub fn parse_as(
        source: &str,
        modules: impl Modules + 'static,
        semantics: u32,
    ) -> Result<Flow, Vec<Diagnostic>> {
        let mut engine = locked();
        let ast = parse(&engine, source)?;
        let world = Rc::new(FlowWorld::new(semantics));
        world.note_closures(&ast);
        furnish(&mut engine, &world, Rc::new(modules));
        Ok(Flow { shared: Rc::new(FlowShared { engine, ast, world }) })
    }

    /// Makes a run of the flow.
    pub fn program(&self) -> FlowProgram {
        FlowProgram::new(Rc::clone(&self.shared))
    }
}

/// Finds what is wrong with a flow, without running anything.
pub fn check(source: &str) -> Vec<Diagnostic> {
    parse(&locked(), source).err().unwrap_or_default()
}

fn parse(engine: &Engine, source: &str) -> Result<AST, Vec<Diagnostic>> {
    if source.len() > SOURCE_BYTES_MAX {
        let message = format!("the flow is longer than {SOURCE_BYTES_MAX} bytes");
        return Err(vec![Diagnostic::error("F0005", Span::new(0, 0), message)]);
    }
    let text = source.strip_prefix('\u{feff}').unwrap_or(source);
    let scope = scope_of(Dynamic::UNIT);
    parse_with(engine, &scope, text).map_err(|error| {
        let mut finding = diagnose(&error, text);
        let mark = source.len() - text.len();
        finding.span = Span::new(finding.span.start + mark, finding.span.end + mark);
        vec![finding]
    })
}

/// Parses on a stack of its own: how deep the caller stands does not matter.
pub(crate) fn parse_with(
    engine: &Engine,
    scope: &rhai::Scope<'_>,
    source: &str,
) -> Result<AST, ParseError> {
    let parse = || {
        let mut ast = engine.compile_with_scope(scope, source)?;
        ast.clear_source();
        Ok(ast)
    };
    match corosensei::stack::DefaultStack::new(STACK_BYTES) {
        Ok(stack) => corosensei::on_stack(stack, parse),
        Err(_) => parse(),
    }
}

/// Returns the variables that a script begins with.
pub(crate) fn scope_of(input: Dynamic) -> rhai::Scope<'static> {
    let mut scope = rhai::Scope::new();
    scope.push_dynamic(INPUT, input);
    scope
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "what is not named here is told in the words of the language"
)]
fn diagnose(error: &ParseError, source: &str) -> Diagnostic {
    let span = span_of(error.position(), source);
    let message = lower(&error.err_type().to_string());
    match error.err_type() {
        ParseErrorType::VariableUndefined(name) | ParseErrorType::ModuleUndefined(name) => {
            Diagnostic::error("F0002", span, format!("the name `{name}` is not defined"))
                .hint("the input of a flow is the variable `input`; functions see only parameters")
        }
        ParseErrorType::Reserved(name)
        | ParseErrorType::UnknownOperator(name)
        | ParseErrorType::BadInput(LexError::ImproperSymbol(name, _))
            if DISABLED.contains(&name.as_str()) =>
        {
            Diagnostic::error("F0003", span, format!("`{name}` is not available in flows"))
                .because("it would keep the run from being replayed or bounded")
        }
        ParseErrorType::ExprTooDeep | ParseErrorType::TooManyFunctions => {
            Diagnostic::error("F0004", span, message).hint("split the flow into functions or steps")
        }
        _ => Diagnostic::error("F0001", span, message),
    }
}

/// Finds the word at a position of the interpreter, which counts lines and characters from 1.
fn span_of(position: rhai::Position, source: &str) -> Span {
    let Some(line) = position.line() else { return Span::new(source.len(), source.len()) };
    let start: usize = source.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let text = source[start..].split('\n').next().unwrap_or("");
    let column = position.position().unwrap_or(1).max(1);
    let at = text.char_indices().nth(column - 1).map_or(text.len(), |(at, _)| at);
    let rest = &text[at..];
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    let end = if word > 0 { word } else { rest.chars().next().map_or(0, char::len_utf8) };
    Span::new(start + at, start + at + end)
}

/// Begins a message in lower case and ends it without a period, as all of ours.
fn lower(message: &str) -> String {
    let message = message.trim_end_matches('.');
    let mut chars = message.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests;
