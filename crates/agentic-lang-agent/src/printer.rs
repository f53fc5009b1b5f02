//! From the syntax tree to text: lowered pipelines here, whole files in [`format`].

pub(crate) mod format;

use crate::ast::{
    AgentExprId, AgentExprKind, Arg, Ast, BlockExpr, CallForm, OnFail, ParallelStatement, Pipeline,
    RunStatement, StatementKind, TaskParameter,
};
use crate::symbol::Symbol;

/// How many blanks one level of a block is indented by.
const INDENT: usize = 2;

/// Prints a pipeline as it runs: calls with names, aliases replaced.
pub(crate) fn lowered(ast: &Ast, pipeline: &Pipeline) -> String {
    let mut printer = AgentPrinter { ast, out: String::new(), style: PrintStyle::Lowered };
    let signature = &pipeline.signature;
    printer.out.push_str("pipeline ");
    printer.name(signature.name.symbol);
    printer.params(&signature.params);
    printer.out.push_str(" -> ");
    printer.out.push_str(&ast.shown(signature.result));
    printer.out.push(' ');
    printer.block(&pipeline.body, 0);
    printer.out
}

/// How to write what can be written in more than one way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PrintStyle {
    /// Every call with names, numbers by value.
    Lowered,
}

struct AgentPrinter<'a> {
    ast: &'a Ast,
    out: String,
    style: PrintStyle,
}

impl AgentPrinter<'_> {
    fn name(&mut self, name: Symbol) {
        self.out.push_str(self.ast.text(name));
    }

    fn params(&mut self, params: &[TaskParameter]) {
        self.out.push('(');
        for (at, param) in params.iter().enumerate() {
            self.out.push_str(if at == 0 { "" } else { ", " });
            self.name(param.name.symbol);
            self.out.push_str(": ");
            self.out.push_str(&self.ast.shown(param.declared));
        }
        self.out.push(')');
    }

    fn line(&mut self, level: usize) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', level * INDENT));
    }

    fn block(&mut self, block: &BlockExpr, level: usize) {
        self.out.push('{');
        for statement in &block.statements {
            self.line(level + 1);
            self.statement(&statement.kind, level + 1);
        }
        self.line(level);
        self.out.push('}');
    }

    fn statement(&mut self, kind: &StatementKind, level: usize) {
        match kind {
            StatementKind::Run(run) => self.run(run),
            StatementKind::Parallel(parallel) => self.parallel(parallel, level),
            StatementKind::If(inner) => {
                self.out.push_str("if ");
                self.expression(inner.condition);
                self.branches(&inner.then, inner.otherwise.as_ref(), level);
            }
            StatementKind::IfLet(inner) => {
                self.out.push_str("if let ");
                self.name(inner.name.symbol);
                self.out.push_str(" = ");
                self.expression(inner.value);
                self.branches(&inner.then, inner.otherwise.as_ref(), level);
            }
            StatementKind::While(inner) => {
                self.out.push_str("while ");
                self.expression(inner.condition);
                self.out.push(' ');
                self.block(&inner.body, level);
            }
            StatementKind::Try(inner) => {
                self.out.push_str("try ");
                self.block(&inner.body, level);
                self.out.push_str(" catch ");
                self.name(inner.name.symbol);
                self.out.push(' ');
                self.block(&inner.handler, level);
            }
            StatementKind::Assert { condition, message } => {
                self.out.push_str("assert ");
                self.expression(*condition);
                if let Some(message) = message {
                    self.out.push_str(", ");
                    quoted(self.ast.text(*message), &mut self.out);
                }
                self.out.push(';');
            }
            StatementKind::Approve(inner) => {
                self.out.push_str("let ");
                self.name(inner.target.symbol);
                self.out.push_str(" = approve ");
                // In parentheses it would be a call.
                self.expression(inner.question);
                self.out.push(';');
            }
            StatementKind::Return(value) => {
                self.out.push_str("return ");
                self.expression(*value);
                self.out.push(';');
            }
            StatementKind::Break => self.out.push_str("break;"),
            StatementKind::Continue => self.out.push_str("continue;"),
        }
    }

    fn parallel(&mut self, parallel: &ParallelStatement, level: usize) {
        self.out.push_str("parallel ");
        if let Some(limit) = parallel.limit {
            self.out.push_str("max_concurrency ");
            number(self.ast.text(limit), &mut self.out);
            self.out.push(' ');
        }
        self.out.push('{');
        for run in &parallel.branches {
            self.line(level + 1);
            self.run(run);
        }
        self.line(level);
        self.out.push_str("} join;");
    }

    fn branches(&mut self, then: &BlockExpr, otherwise: Option<&BlockExpr>, level: usize) {
        self.out.push(' ');
        self.block(then, level);
        if let Some(otherwise) = otherwise {
            self.out.push_str(" else ");
            self.block(otherwise, level);
        }
    }

    fn run(&mut self, run: &RunStatement) {
        self.out.push_str("let ");
        self.name(run.target.symbol);
        self.out.push_str(" = ");
        match (self.style, run.form) {
            (PrintStyle::Lowered, CallForm::Named | CallForm::Positional) => {
                self.out.push_str("run ");
                self.name(run.callee.symbol);
                self.out.push_str(" with { ");
                self.arguments(&run.args);
                self.out.push_str(" }");
            }
        }
        if let Some(agent) = run.by {
            self.out.push_str(" by ");
            self.name(agent.symbol);
        }
        for (word, digits) in [(" retries ", run.retries), (" timeout ", run.timeout)] {
            if let Some(digits) = digits {
                self.out.push_str(word);
                number(self.ast.text(digits), &mut self.out);
            }
        }
        match run.on_fail {
            Some(OnFail::Use(value)) => {
                self.out.push_str(" on_fail use ");
                self.expression(value);
            }
            Some(OnFail::Abort) | None => {}
        }
        self.out.push(';');
    }

    fn arguments(&mut self, args: &[Arg]) {
        for (at, arg) in args.iter().enumerate() {
            self.out.push_str(if at == 0 { "" } else { ", " });
            let name = arg.name.expect("calls are resolved before they are printed");
            self.name(name);
            self.out.push_str(": ");
            self.expression(arg.value);
        }
    }

    /// Prints an expression. Its nodes stand in post-order, so what to print next is kept on a
    /// stack of our own.
    fn expression(&mut self, root: AgentExprId) {
        let mut stack = vec![PrintPiece::Node(root)];
        while let Some(piece) = stack.pop() {
            match piece {
                PrintPiece::Node(id) => self.node(id, &mut stack),
                PrintPiece::Sign(text) => self.out.push_str(text),
                PrintPiece::Key(name) => {
                    self.name(name);
                    self.out.push_str(": ");
                }
            }
        }
    }

    fn node(&mut self, id: AgentExprId, stack: &mut Vec<PrintPiece>) {
        let ast = self.ast;
        match ast.expr(id).kind {
            AgentExprKind::Text(text) => quoted(ast.text(text), &mut self.out),
            AgentExprKind::Number(digits) => number(ast.text(digits), &mut self.out),
            AgentExprKind::Bool(true) => self.out.push_str("true"),
            AgentExprKind::Bool(false) => self.out.push_str("false"),
            AgentExprKind::Null => self.out.push_str("null"),
            AgentExprKind::Ref { head, fields } => {
                self.name(head);
                for field in ast.names(fields) {
                    self.out.push('.');
                    self.name(*field);
                }
            }
            AgentExprKind::Add => self.operation(id, " + ", stack),
            AgentExprKind::Equal => self.operation(id, " == ", stack),
            AgentExprKind::NotEqual => self.operation(id, " != ", stack),
            AgentExprKind::List(count) => {
                self.out.push('[');
                stack.push(PrintPiece::Sign("]"));
                let children = ast.children(id, count);
                for (at, child) in children.into_iter().enumerate().rev() {
                    stack.push(PrintPiece::Node(child));
                    stack.push(PrintPiece::Sign(if at == 0 { "" } else { ", " }));
                }
            }
            AgentExprKind::Object(names) => {
                self.out.push_str("{ ");
                stack.push(PrintPiece::Sign(" }"));
                let children = ast.children(id, names.count);
                for (at, (child, name)) in
                    children.into_iter().zip(ast.names(names)).enumerate().rev()
                {
                    stack.push(PrintPiece::Node(child));
                    stack.push(PrintPiece::Key(*name));
                    stack.push(PrintPiece::Sign(if at == 0 { "" } else { ", " }));
                }
            }
        }
    }

    /// Whether a sum joins texts for certain, so that parentheses inside it mean nothing.
    fn is_text_sum(&self, root: AgentExprId) -> bool {
        let mut stack = vec![root];
        while let Some(id) = stack.pop() {
            match self.ast.expr(id).kind {
                AgentExprKind::Add => stack.extend(self.ast.children(id, 2)),
                AgentExprKind::Text(_) => return true,
                AgentExprKind::Number(_)
                | AgentExprKind::Bool(_)
                | AgentExprKind::Null
                | AgentExprKind::Ref { .. }
                | AgentExprKind::Object(_)
                | AgentExprKind::List(_)
                | AgentExprKind::Equal
                | AgentExprKind::NotEqual => {}
            }
        }
        false
    }

    /// An operation, with parentheses exactly where they change what is meant.
    fn operation(&mut self, id: AgentExprId, sign: &'static str, stack: &mut Vec<PrintPiece>) {
        let [left, right] = self.ast.children(id, 2)[..] else {
            unreachable!("an operation has two operands")
        };
        let own_kind = self.ast.expr(id).kind;
        let own = strength(own_kind);
        let wrap = |stack: &mut Vec<PrintPiece>, child: AgentExprId, is_wrapped: bool| {
            if is_wrapped {
                stack.push(PrintPiece::Sign(")"));
            }
            stack.push(PrintPiece::Node(child));
            if is_wrapped {
                stack.push(PrintPiece::Sign("("));
            }
        };
        let right_kind = self.ast.expr(right).kind;
        let is_plain = own_kind == AgentExprKind::Add && self.is_text_sum(right);
        wrap(stack, right, strength(right_kind) <= own && !is_plain);
        stack.push(PrintPiece::Sign(sign));
        wrap(stack, left, strength(self.ast.expr(left).kind) < own);
    }
}

/// Something still to be printed.
enum PrintPiece {
    Node(AgentExprId),
    Sign(&'static str),
    Key(Symbol),
}

/// How tightly a node binds.
fn strength(kind: AgentExprKind) -> u8 {
    match kind {
        AgentExprKind::Equal | AgentExprKind::NotEqual => 0,
        AgentExprKind::Add => 1,
        AgentExprKind::Text(_)
        | AgentExprKind::Number(_)
        | AgentExprKind::Bool(_)
        | AgentExprKind::Null
        | AgentExprKind::Ref { .. }
        | AgentExprKind::Object(_)
        | AgentExprKind::List(_) => 2,
    }
}

/// Prints a number by its value, always as a literal that parses.
fn number(digits: &str, out: &mut String) {
    if !digits.contains('.') {
        let significant = digits.trim_start_matches('0');
        out.push_str(if significant.is_empty() { "0" } else { significant });
        return;
    }
    let value: f64 = digits.parse().expect("number literals are digits with a dot");
    let text = value.to_string();
    out.push_str(&text);
    if !text.contains('.') {
        out.push_str(".0");
    }
}

/// Prints a text literal so that it parses to the same text.
fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\0' => out.push_str("\\0"),
            _ if character.is_control() => {
                out.push_str(&format!("\\u{:04X}", character as u32));
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests;
