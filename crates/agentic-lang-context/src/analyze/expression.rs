//! Expressions other than calls and `generate`.

use crate::ast::{ContextExprId, ContextExprKind, ContextStatement, For};

use super::{Analyzer, NameBinding, explain};

impl<'a> Analyzer<'a> {
    pub(super) fn expr(&mut self, id: ContextExprId) {
        let expr = self.file.expr(id);
        match &expr.kind {
            ContextExprKind::Text
            | ContextExprKind::Number
            | ContextExprKind::True
            | ContextExprKind::False
            | ContextExprKind::None => {}
            ContextExprKind::Name => self.name(id),
            ContextExprKind::Object(entries) => {
                for (_, value) in entries {
                    self.expr(*value);
                }
            }
            ContextExprKind::List(items) => self.exprs(items),
            ContextExprKind::Generate(generate) => self.generate(id, generate),
            ContextExprKind::Parallel(clause) => self.parallel_for(id, clause),
            ContextExprKind::Member { object, .. } => self.expr(*object),
            ContextExprKind::Index { list, index } => {
                self.expr(*list);
                self.expr(*index);
            }
            ContextExprKind::Call { callee, args } => self.call(*callee, args),
            ContextExprKind::Not(inner) => self.expr(*inner),
            ContextExprKind::Binary { left, right, .. } => {
                self.expr(*left);
                self.expr(*right);
            }
        }
    }

    pub(super) fn exprs(&mut self, items: &'a [ContextExprId]) {
        for item in items {
            self.expr(*item);
        }
    }

    fn name(&mut self, id: ContextExprId) {
        let span = self.file.expr(id).span;
        let name = self.file.text(span);
        if self.scopes.find(name).is_none() {
            let message = format!("nothing here is called `{name}`");
            let found = self.report("UNKNOWN_IDENTIFIER", span, message);
            explain(
                found,
                "unknown in this place",
                "names assigned inside a block are gone after it; assign before the block",
            );
        }
    }

    fn parallel_for(&mut self, id: ContextExprId, clause: &'a For) {
        let span = self.file.expr(id).span;
        if clause.max == 0 {
            let message = "a `parallel for` that takes no item does nothing";
            let found = self.report("INVALID_PARALLEL_FOR_LIMIT", span, message);
            explain(found, "the limit is 0", "raise the limit to 1 or more");
        }
        if !matches!(clause.body.statements.last(), Some(ContextStatement::Expr(_))) {
            let message = "the body of a `parallel for` ends with its value";
            let found = self.report("INVALID_PARALLEL_FOR_BODY", span, message);
            explain(found, "its last statement is no expression", "end it with the value");
        }
        self.expr(clause.list);
        self.scopes.enter();
        self.parallel.push(self.scopes.depth());
        self.scopes.declare(self.file.text(clause.item), NameBinding::Local);
        self.block(&clause.body);
        self.parallel.pop();
        self.scopes.leave();
    }
}
