//! Expressions other than `generate`.

use std::sync::Arc;

use agentic_diag::Span;

use crate::ast::{ContextExprId, ContextExprKind, ContextStatement, For, Operator};
use crate::code::Op;
use crate::json::Json;

use super::{ContextCompiler, ReadTarget};

impl<'a> ContextCompiler<'a> {
    pub(super) fn expr(&mut self, id: ContextExprId) {
        let expr = self.file.expr(id);
        let span = expr.span;
        match &expr.kind {
            ContextExprKind::Text => self.constant(Json::text(self.file.name(span).as_ref()), span),
            ContextExprKind::Number => {
                self.constant(Json::Number(number(self.file.text(span))), span)
            }
            ContextExprKind::True => self.constant(Json::Bool(true), span),
            ContextExprKind::False => self.constant(Json::Bool(false), span),
            ContextExprKind::None => self.constant(Json::Null, span),
            ContextExprKind::Name => self.name(self.file.text(span), span),
            ContextExprKind::Object(entries) => {
                let keys = entries.iter().map(|(key, _)| Arc::from(self.file.name(*key).as_ref()));
                self.code.shapes.push(keys.collect());
                let shape = self.code.shapes.len() as u32 - 1;
                for (_, value) in entries {
                    self.expr(*value);
                }
                self.emit(Op::Object(shape), span);
            }
            ContextExprKind::List(items) => {
                self.exprs(items);
                self.emit(Op::List(items.len() as u32), span);
            }
            ContextExprKind::Generate(generate) => self.generate(span, generate),
            ContextExprKind::Parallel(clause) => self.parallel_for(span, clause),
            ContextExprKind::Member { object, name } => {
                self.expr(*object);
                let name = self.intern(self.file.text(*name));
                self.emit(Op::Member(name), span);
            }
            ContextExprKind::Index { list, index } => {
                self.expr(*list);
                self.expr(*index);
                self.emit(Op::Index, span);
            }
            ContextExprKind::Call { callee, args } => self.call(span, *callee, args),
            ContextExprKind::Not(inner) => {
                self.expr(*inner);
                self.emit(Op::Not, span);
            }
            ContextExprKind::Binary { operator, left, right } => {
                self.binary(span, *operator, *left, *right);
            }
        }
    }

    fn exprs(&mut self, items: &'a [ContextExprId]) {
        for item in items {
            self.expr(*item);
        }
    }

    pub(super) fn name(&mut self, name: &str, span: Span) {
        let op = match self.scopes.find(name) {
            Some((_, ReadTarget::Slot(slot))) => Op::Local(slot),
            Some((_, ReadTarget::Resource(at))) => Op::Resource(at),
            Some((_, ReadTarget::Agent(at))) => Op::Agent(at),
            Some((_, ReadTarget::Function(at))) => Op::Function(at),
            None => unreachable!("BUG: the analyzer lets no unknown name pass"),
        };
        self.emit(op, span);
    }

    /// `and` and `or` stop as soon as their result is known, and give truth values.
    fn binary(
        &mut self,
        span: Span,
        operator: Operator,
        left: ContextExprId,
        right: ContextExprId,
    ) {
        self.expr(left);
        if !matches!(operator, Operator::And | Operator::Or) {
            self.expr(right);
            self.emit(Op::Binary(operator), span);
            return;
        }
        let (decided, result) = if operator == Operator::And {
            (self.emit(Op::JumpIfFalse(0), span), false)
        } else {
            (self.emit(Op::JumpIfTrue(0), span), true)
        };
        self.expr(right);
        self.emit(Op::Truth, span);
        let end = self.emit(Op::Jump(0), span);
        self.land(decided);
        self.constant(Json::Bool(result), span);
        self.land(end);
    }

    fn call(&mut self, span: Span, callee: ContextExprId, args: &'a [ContextExprId]) {
        let expr = self.file.expr(callee);
        if let ContextExprKind::Member { object, name } = &expr.kind {
            let name = self.intern(self.file.text(*name));
            self.expr(*object);
            self.exprs(args);
            self.emit(Op::CallMethod { name, args: args.len() as u32 }, span);
        } else {
            self.exprs(args);
            let op = match self.scopes.find(self.file.text(expr.span)) {
                Some((_, ReadTarget::Function(at))) => Op::Call(at),
                Some((_, ReadTarget::Agent(agent))) => {
                    let main = self.code.agents[agent as usize].main;
                    Op::CallAgent(main.expect("the analyzer checks that an agent is callable"))
                }
                Some((_, ReadTarget::Slot(_) | ReadTarget::Resource(_))) | None => {
                    unreachable!("BUG: the analyzer lets only functions and agents be called")
                }
            };
            self.emit(op, span);
        }
    }

    fn parallel_for(&mut self, span: Span, clause: &'a For) {
        self.expr(clause.list);
        self.in_scope(|compiler| {
            let slot = compiler.take_slots(1);
            let site = compiler.for_site(clause, slot);
            compiler.emit(Op::Parallel(site), span);
            let over = compiler.emit(Op::Jump(0), span);
            compiler.code.loops[site as usize].body = compiler.here();
            let item = compiler.file.text(clause.item);
            compiler.scopes.declare(item, ReadTarget::Slot(slot));
            let statements: &'a [ContextStatement] = &clause.body.statements;
            compiler.in_scope(|compiler| compiler.body(statements, span));
            compiler.land(over);
        });
    }
}

/// Reads the leading number of a token, as versions before 0.1.18 did.
pub(super) fn number(text: &str) -> f64 {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text[..end].parse().unwrap_or(0.0)
}
