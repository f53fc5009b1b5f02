//! `use`: what may become context, under which budget and label.

use std::collections::BTreeSet;

use agentic_diag::Span;

use crate::ast::{
    ChoiceBlock, ContextExprId, ContextExprKind, ContextStatement, ImportKind, UseStatement,
    WrittenBudget, WrittenMark,
};
use crate::dialect::Version;

use super::{Analyzer, NameBinding, explain};

/// Labels that a model could take for a speaker of its own protocol.
const RESERVED_LABELS: [&str; 4] = ["system", "assistant", "tool", "developer"];

impl<'a> Analyzer<'a> {
    pub(super) fn use_declared(&mut self, declared: &'a UseStatement) {
        self.budget(declared.span, declared.budget.as_ref());
        if let Some(label) = declared.label {
            self.label(declared.span, label.span);
        }
        self.source(declared.value);
    }

    pub(super) fn choice(&mut self, choice: &'a ChoiceBlock) {
        self.label(choice.span, choice.label.span);
        self.choice_shape(choice);
        for candidate in &choice.candidates {
            self.budget(candidate.span, candidate.budget.as_ref());
            if let Some(value) = candidate.value {
                self.source(value);
            }
        }
    }

    /// Checks the names of the candidates. Their number and marks were checked by the parser
    /// already; the rule is kept for trees that come from elsewhere.
    fn choice_shape(&mut self, choice: &'a ChoiceBlock) {
        let mut seen = BTreeSet::new();
        for candidate in &choice.candidates {
            let name = self.file.text(candidate.name);
            if !seen.insert(name) {
                let message = format!("two candidates are called `{name}`");
                let found = self.report("DUPLICATE_USE_ONE_OF_CANDIDATE", candidate.span, message);
                explain(found, "named again here", "rename one of them");
            }
        }
        if choice.candidates.len() < 2 {
            let found =
                self.report("INVALID_USE_ONE_OF", choice.span, "a choice needs two candidates");
            explain(found, "fewer are listed", "add one, or write a plain `use`");
        }
        let marked = choice
            .candidates
            .iter()
            .filter(|candidate| candidate.mark == WrittenMark::Selected)
            .count();
        if marked > 1 {
            let message = "only one candidate is selected";
            let found = self.report("MULTIPLE_USE_ONE_OF_SELECTED", choice.span, message);
            explain(found, "several are marked", "remove the other marks");
        }
    }

    fn budget(&mut self, span: Span, budget: Option<&WrittenBudget>) {
        let Some(budget) = budget else { return };
        if budget.amount <= 0.0 {
            let found = self.report("INVALID_BUDGET", span, "a budget is more than nothing");
            explain(found, "its amount is 0", "raise it, or declare no source at all");
        }
        let known_unit = matches!(budget.unit.as_deref(), None | Some("k"));
        if !known_unit && self.since(Version::V0_1_11) {
            let found =
                self.report("INVALID_BUDGET_UNIT", span, "a budget has the unit `k` or none");
            explain(found, "another unit was given", "write characters, or thousands with `k`");
        }
    }

    fn label(&mut self, span: Span, label: Span) {
        let name = self.file.name(label);
        if self.since(Version::V0_1_4) && RESERVED_LABELS.contains(&&*name) {
            let message = format!("the label `{name}` is reserved");
            let found = self.report("RESERVED_CONTEXT_LABEL", span, message);
            explain(found, "a model could take it for a speaker", "choose another label");
        }
    }

    /// Checks the expression of a source.
    fn source(&mut self, value: ContextExprId) {
        if self.since(Version::V0_1_11) && self.contains_call(value) {
            let span = self.file.expr(value).span;
            let found = self.report("INVALID_USE_CALL", span, "a source cannot contain a call");
            explain(
                found,
                "it is read again for every `generate`",
                "assign the result of the call first, then use that name",
            );
        }
        if self.since(Version::V0_1_18) {
            self.each_name(value, &mut Analyzer::refuse_resource);
        } else if let Some((root, _)) = self.root(value) {
            self.refuse_resource(root);
        }
        self.expr(value);
    }

    fn refuse_resource(&mut self, name: ContextExprId) {
        let span = self.file.expr(name).span;
        let text = self.file.text(span);
        if let Some((_, binding)) = self.scopes.find(text)
            && !binding.is_data()
        {
            let message = format!("the {} `{text}` cannot become context", binding.word());
            let found = self.report("INVALID_USE_RESOURCE", span, message);
            explain(found, "only data enters a prompt", "use a value that it returned");
        }
    }

    /// Checks an agent-level `use`, which reaches imported files alone.
    pub(super) fn agent_use(&mut self, declared: &'a ContextStatement) {
        match declared {
            ContextStatement::Use(declared) => {
                self.budget(declared.span, declared.budget.as_ref());
                if let Some(label) = declared.label {
                    self.label(declared.span, label.span);
                }
                self.agent_source(declared.value);
            }
            ContextStatement::Choice(choice) => {
                self.choice_shape(choice);
                self.label(choice.span, choice.label.span);
                for candidate in &choice.candidates {
                    self.budget(candidate.span, candidate.budget.as_ref());
                    if let Some(value) = candidate.value {
                        self.agent_source(value);
                    }
                }
            }
            ContextStatement::Config(_)
            | ContextStatement::Return { .. }
            | ContextStatement::Repeat { .. }
            | ContextStatement::For(_)
            | ContextStatement::Loop { .. }
            | ContextStatement::If { .. }
            | ContextStatement::Expr(_)
            | ContextStatement::Assign { .. } => {}
        }
    }

    fn agent_source(&mut self, value: ContextExprId) {
        if self.contains_call(value) {
            let span = self.file.expr(value).span;
            let found = self.report("INVALID_USE_CALL", span, "a source cannot contain a call");
            explain(found, "it is read again for every `generate`", "use the file itself");
        }
        self.each_name(value, &mut |analyzer, name| {
            let span = analyzer.file.expr(name).span;
            let text = analyzer.file.text(span);
            let bound = analyzer.scopes.find(text);
            if !matches!(bound, Some((_, NameBinding::Resource(ImportKind::File, _)))) {
                let message = format!("`{text}` is not an imported file");
                let found = analyzer.report("INVALID_AGENT_USE", span, message);
                explain(
                    found,
                    "an agent as a whole sees imported files alone",
                    "move this `use` into the functions that need it",
                );
            }
        });
    }

    fn contains_call(&self, id: ContextExprId) -> bool {
        match &self.file.expr(id).kind {
            ContextExprKind::Call { .. }
            | ContextExprKind::Generate(_)
            | ContextExprKind::Parallel(_) => true,
            ContextExprKind::Text
            | ContextExprKind::Number
            | ContextExprKind::True
            | ContextExprKind::False
            | ContextExprKind::None
            | ContextExprKind::Name => false,
            ContextExprKind::Object(entries) => {
                entries.iter().any(|(_, value)| self.contains_call(*value))
            }
            ContextExprKind::List(items) => items.iter().any(|item| self.contains_call(*item)),
            ContextExprKind::Member { object, .. } => self.contains_call(*object),
            ContextExprKind::Index { list, index } => {
                self.contains_call(*list) || self.contains_call(*index)
            }
            ContextExprKind::Not(inner) => self.contains_call(*inner),
            ContextExprKind::Binary { left, right, .. } => {
                self.contains_call(*left) || self.contains_call(*right)
            }
        }
    }

    /// Visits every name of an expression, outside of calls.
    fn each_name(
        &mut self,
        id: ContextExprId,
        visit: &mut dyn FnMut(&mut Analyzer<'a>, ContextExprId),
    ) {
        match &self.file.expr(id).kind {
            ContextExprKind::Name => visit(self, id),
            ContextExprKind::Text
            | ContextExprKind::Number
            | ContextExprKind::True
            | ContextExprKind::False
            | ContextExprKind::None
            | ContextExprKind::Generate(_)
            | ContextExprKind::Parallel(_)
            | ContextExprKind::Call { .. } => {}
            ContextExprKind::Object(entries) => {
                for (_, value) in entries {
                    self.each_name(*value, visit);
                }
            }
            ContextExprKind::List(items) => {
                for item in items {
                    self.each_name(*item, visit);
                }
            }
            ContextExprKind::Member { object, .. } => self.each_name(*object, visit),
            ContextExprKind::Index { list, index } => {
                self.each_name(*list, visit);
                self.each_name(*index, visit);
            }
            ContextExprKind::Not(inner) => self.each_name(*inner, visit),
            ContextExprKind::Binary { left, right, .. } => {
                self.each_name(*left, visit);
                self.each_name(*right, visit);
            }
        }
    }
}
