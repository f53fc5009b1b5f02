//! Statements: their own rule first, then their expressions, then their blocks.

use crate::ast::{
    ConfigBlock, ConfigKey, ContextExprId, ContextExprKind, ContextStatement, ExprLink, For,
    ImportKind, StatementBlock,
};
use crate::dialect::Version;

use super::{Analyzer, NameBinding, explain};

impl<'a> Analyzer<'a> {
    /// Checks the statements of a block in a scope of its own.
    pub(super) fn block(&mut self, block: &'a StatementBlock) {
        let config = self.config.len();
        self.scopes.enter();
        self.statements(block);
        self.scopes.leave();
        self.config.truncate(config);
    }

    pub(super) fn statements(&mut self, block: &'a StatementBlock) {
        for statement in &block.statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &'a ContextStatement) {
        match statement {
            ContextStatement::Config(config) => self.config(config),
            ContextStatement::Use(declared) => self.use_declared(declared),
            ContextStatement::Choice(choice) => self.choice(choice),
            ContextStatement::Return { value } | ContextStatement::Expr(value) => self.expr(*value),
            ContextStatement::Repeat { body, .. } => self.block(body),
            ContextStatement::For(clause) => self.for_statement(clause),
            ContextStatement::Loop { until, body, .. } => {
                self.expr(*until);
                self.block(body);
            }
            ContextStatement::If { condition, then, otherwise } => {
                self.expr(*condition);
                self.block(then);
                if let Some(otherwise) = otherwise {
                    self.block(otherwise);
                }
            }
            ContextStatement::Assign { target, value, .. } => self.assign(*target, *value),
        }
    }

    fn for_statement(&mut self, clause: &'a For) {
        if clause.max == 0 {
            let message = "a `for` that takes no item does nothing";
            let found = self.report("INVALID_ITERATION_LIMIT", clause.span, message);
            explain(found, "the limit is 0", "raise the limit to 1 or more");
        }
        self.expr(clause.list);
        self.scopes.enter();
        self.scopes.declare(self.file.text(clause.item), NameBinding::Local);
        self.block(&clause.body);
        self.scopes.leave();
    }

    pub(super) fn config(&mut self, config: &'a ConfigBlock) {
        let expr = self.file.expr(config.value);
        match config.key {
            ConfigKey::Model => self.model(config.value),
            ConfigKey::Role | ConfigKey::Description => {
                if !matches!(expr.kind, ContextExprKind::Text) {
                    let code = self.config_code("INVALID_CONFIG_VALUE_TYPE", "INVALID_CONFIG");
                    let message = format!("`{}` is a text in quotes", config.key.word());
                    let found = self.report(code, expr.span, message);
                    explain(found, "this is something else", "write the text out here");
                }
            }
        }
        self.config.push(config.key);
    }

    /// Returns the code of today or that of the first generation.
    fn config_code(&self, today: &'static str, first: &'static str) -> &'static str {
        if self.since(Version::V0_1_18) { today } else { first }
    }

    fn model(&mut self, value: ContextExprId) {
        let expr = self.file.expr(value);
        if !matches!(expr.kind, ContextExprKind::Name) {
            let code = self.config_code("INVALID_MODEL_REFERENCE", "INVALID_CONFIG");
            let found = self.report(code, expr.span, "`model` is the name of an imported llm");
            explain(found, "this is not a name", "import the model first, then name it here");
            return;
        }
        let name = self.file.text(expr.span);
        match self.scopes.find(name) {
            Some((_, NameBinding::Resource(ImportKind::Llm, _))) => {}
            Some((_, binding)) => {
                let code = self.config_code("INVALID_MODEL_BINDING", "INVALID_MODEL");
                let message = format!("`{name}` is a {}, not an llm", binding.word());
                let found = self.report(code, expr.span, message);
                explain(found, "it cannot generate", "name an `import llm` instead");
            }
            None => {
                let message = format!("no model `{name}` is imported");
                let found = self.report("UNKNOWN_MODEL", expr.span, message);
                explain(found, "unknown here", "add `import llm NAME from \"…\"`");
            }
        }
    }

    fn assign(&mut self, target: ContextExprId, value: ContextExprId) {
        let expr = self.file.expr(target);
        match expr.kind.link() {
            Some(ExprLink::Name) => {
                self.assign_name(target);
                self.expr(value);
                self.declare_assigned(target);
            }
            Some(ExprLink::Member { object, .. }) => {
                self.refuse_outer_mutation(target);
                self.expr(object);
                self.expr(value);
            }
            Some(ExprLink::Index { .. } | ExprLink::Call { .. }) | None => {
                let message = "only names and members can be assigned to";
                let found = self.report("INVALID_ASSIGNMENT_TARGET", expr.span, message);
                explain(found, "this is neither", "assign to `name` or to `object.name`");
            }
        }
    }

    fn assign_name(&mut self, target: ContextExprId) {
        let expr = self.file.expr(target);
        let name = self.file.text(expr.span);
        let Some((depth, binding)) = self.scopes.find(name) else { return };
        if !binding.is_mutable() && self.since(Version::V0_1_11) {
            let message = format!("the {} `{name}` cannot be assigned to", binding.word());
            let found = self.report("IMMUTABLE_ASSIGNMENT", expr.span, message);
            explain(found, "it never changes", "choose another name for the value");
        }
        if binding.is_mutable() && self.is_outside_parallel(depth) {
            let message = format!("`{name}` belongs to the outside of this `parallel for`");
            let found = self.report("PARALLEL_FOR_OUTER_ASSIGNMENT", expr.span, message);
            explain(
                found,
                "iterations run at once and must not share what they change",
                "return a value from the body and use the list of results",
            );
        }
    }

    /// An unknown name becomes a local of this scope, once its value is known to be well formed.
    fn declare_assigned(&mut self, target: ContextExprId) {
        let name = self.file.text(self.file.expr(target).span);
        let known = self.scopes.find(name).is_some_and(|(_, binding)| binding.is_mutable());
        if !known {
            self.scopes.declare(name, NameBinding::Local);
        }
    }

    /// Tells whether a binding of this depth stands outside the innermost `parallel for`.
    pub(super) fn is_outside_parallel(&self, depth: usize) -> bool {
        self.parallel.last().is_some_and(|boundary| depth < *boundary)
    }

    /// Reports a change of something whose root stands outside the innermost `parallel for`.
    pub(super) fn refuse_outer_mutation(&mut self, place: ContextExprId) {
        let Some((_, name)) = self.root(place) else { return };
        let Some((depth, binding)) = self.scopes.find(name) else { return };
        if self.is_outside_parallel(depth) && binding.is_data() {
            let span = self.file.expr(place).span;
            let message = format!("`{name}` is changed inside a `parallel for`");
            let found = self.report("PARALLEL_FOR_OUTER_MUTATION", span, message);
            explain(
                found,
                "iterations run at once and must not share what they change",
                "return a value from the body and use the list of results",
            );
        }
    }
}
