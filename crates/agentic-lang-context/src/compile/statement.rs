//! Statements and `use` declarations.

use std::sync::Arc;

use agentic_diag::Span;

use crate::ast::{
    AssignOperator, ChoiceBlock, ContextExprId, ContextExprKind, ContextStatement, For, Operator,
    StatementBlock, UseStatement, WrittenBudget, WrittenMark,
};
use crate::code::{BudgetCode, CandidateCode, ChoiceCode, ForSite, Op, SourceCode, UseSite};
use crate::json::Json;
use crate::source_text::source_text;

use super::{ContextCompiler, ReadTarget};

/// How many slots a `for` takes: list, index, count and item.
const FOR_SLOTS: u32 = 4;
/// The place of the item among the slots of a `for`.
const FOR_ITEM: u32 = 3;

impl<'a> ContextCompiler<'a> {
    pub(super) fn statement(&mut self, statement: &'a ContextStatement) {
        match statement {
            ContextStatement::Config(config) => self.config(config),
            ContextStatement::Use(declared) => {
                let site = self.use_site(declared);
                self.emit(Op::DeclareUse(site), declared.span);
            }
            ContextStatement::Choice(choice) => {
                let function = Some(self.code.functions[self.function as usize].name.clone());
                let site = self.choice_site(choice, function);
                self.emit(Op::DeclareUse(site), choice.span);
            }
            ContextStatement::Return { value } => {
                self.expr(*value);
                self.emit(Op::Return, self.file.expr(*value).span);
            }
            ContextStatement::Repeat { count, body } => self.repeat(*count, None, body),
            ContextStatement::Loop { until, max, body } => self.repeat(*max, Some(*until), body),
            ContextStatement::For(clause) => self.for_loop(clause),
            ContextStatement::If { condition, then, otherwise } => {
                self.if_statement(*condition, then, otherwise.as_ref());
            }
            ContextStatement::Expr(value) => {
                self.expr(*value);
                self.emit(Op::Pop, self.file.expr(*value).span);
            }
            ContextStatement::Assign { target, operator, value } => {
                self.assign(*target, *operator, *value);
            }
        }
    }

    /// Compiles a block in a scope of its own: its names, its configuration and its sources end
    /// with it.
    pub(super) fn block(&mut self, block: &'a StatementBlock) {
        self.in_scope(|compiler| {
            for statement in &block.statements {
                compiler.statement(statement);
            }
        });
    }

    pub(super) fn in_scope(&mut self, compile: impl FnOnce(&mut Self)) {
        let (config, last_use) = (self.config.clone(), self.last_use);
        let slots_used = self.slots_used;
        self.scopes.enter();
        compile(self);
        self.scopes.leave();
        (self.config, self.last_use) = (config, last_use);
        self.slots_used = slots_used;
    }

    fn if_statement(
        &mut self,
        condition: ContextExprId,
        then: &'a StatementBlock,
        otherwise: Option<&'a StatementBlock>,
    ) {
        let span = self.file.expr(condition).span;
        self.expr(condition);
        let skip = self.emit(Op::JumpIfFalse(0), span);
        self.block(then);
        match otherwise {
            Some(otherwise) => {
                let end = self.emit(Op::Jump(0), span);
                self.land(skip);
                self.block(otherwise);
                self.land(end);
            }
            None => self.land(skip),
        }
    }

    fn repeat(&mut self, count: u64, until: Option<ContextExprId>, body: &'a StatementBlock) {
        let span = Span::default();
        let slots_used = self.slots_used;
        let slot = self.take_slots(1);
        self.constant(Json::Number(count as f64), span);
        self.emit(Op::Store(slot), span);
        let start = self.here();
        let exit = self.emit(Op::CountDown { slot, exit: 0 }, span);
        let found = until.map(|until| {
            self.expr(until);
            self.emit(Op::JumpIfTrue(0), self.file.expr(until).span)
        });
        self.block(body);
        self.emit(Op::Jump(start), span);
        self.land(exit);
        if let Some(found) = found {
            self.land(found);
        }
        self.slots_used = slots_used;
    }

    fn for_loop(&mut self, clause: &'a For) {
        let span = self.file.expr(clause.list).span;
        self.expr(clause.list);
        self.in_scope(|compiler| {
            let slot = compiler.take_slots(FOR_SLOTS);
            let site = compiler.for_site(clause, slot);
            compiler.emit(Op::ForStart(site), span);
            let start = compiler.here();
            let exit = compiler.emit(Op::ForNext { site, exit: 0 }, span);
            let item = compiler.file.text(clause.item);
            compiler.scopes.declare(item, ReadTarget::Slot(slot + FOR_ITEM));
            compiler.block(&clause.body);
            compiler.emit(Op::Jump(start), span);
            compiler.land(exit);
        });
    }

    pub(super) fn for_site(&mut self, clause: &'a For, slot: u32) -> u32 {
        self.code.loops.push(ForSite {
            item: self.file.text(clause.item).into(),
            source: source_text(self.file, clause.list).into(),
            max: clause.max,
            slot,
            body: 0,
            function: self.function,
        });
        self.code.loops.len() as u32 - 1
    }

    fn assign(&mut self, target: ContextExprId, operator: AssignOperator, value: ContextExprId) {
        let span = self.file.expr(target).span;
        self.expr(value);
        let operator = match operator {
            AssignOperator::Set => None,
            AssignOperator::Add => Some(Operator::Add),
            AssignOperator::Subtract => Some(Operator::Subtract),
        };
        if let ContextExprKind::Member { object, name } = &self.file.expr(target).kind {
            let name = self.intern(self.file.text(*name));
            self.expr(*object);
            if let Some(operator) = operator {
                self.update_member(name, operator, span);
            } else {
                self.emit(Op::SetMember(name), span);
            }
        } else {
            let name = self.file.text(span);
            if let Some(operator) = operator {
                self.name(name, span);
                self.emit(Op::Swap, span);
                self.emit(Op::Binary(operator), span);
            }
            let slot = self.assigned_slot(name);
            self.emit(Op::Store(slot), span);
        }
    }

    /// The stack holds the right side, then the object. The object is kept in a slot meanwhile.
    fn update_member(&mut self, name: u32, operator: Operator, span: Span) {
        let slots_used = self.slots_used;
        let slot = self.take_slots(1);
        self.emit(Op::Copy, span);
        self.emit(Op::Store(slot), span);
        self.emit(Op::Member(name), span);
        self.emit(Op::Swap, span);
        self.emit(Op::Binary(operator), span);
        self.emit(Op::Local(slot), span);
        self.emit(Op::SetMember(name), span);
        self.slots_used = slots_used;
    }

    fn assigned_slot(&mut self, name: &'a str) -> u32 {
        if let Some((_, ReadTarget::Slot(slot))) = self.scopes.find(name) {
            return slot;
        }
        let slot = self.take_slots(1);
        self.scopes.declare(name, ReadTarget::Slot(slot));
        slot
    }

    pub(super) fn agent_use(&mut self, declared: &'a ContextStatement) {
        match declared {
            ContextStatement::Use(declared) => {
                self.use_site(declared);
            }
            ContextStatement::Choice(choice) => {
                self.choice_site(choice, None);
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

    fn use_site(&mut self, declared: &'a UseStatement) -> u32 {
        let label = declared.label.map(|label| Arc::from(self.file.name(label.span).as_ref()));
        let source = self.source(declared.value, declared.budget.as_ref());
        let candidates = vec![CandidateCode { name: "".into(), source: Some(source) }];
        self.visible(UseSite { label, previous: self.last_use, candidates, choice: None })
    }

    fn choice_site(&mut self, choice: &'a ChoiceBlock, function: Option<Arc<str>>) -> u32 {
        let label = self.file.name(choice.label.span).into_owned();
        let site_id = self.site_id(&label, function);
        let selected =
            choice.candidates.iter().position(|candidate| candidate.mark == WrittenMark::Selected);
        let candidates = choice
            .candidates
            .iter()
            .map(|candidate| CandidateCode {
                name: self.file.text(candidate.name).into(),
                source: candidate.value.map(|value| self.source(value, candidate.budget.as_ref())),
            })
            .collect();
        self.visible(UseSite {
            label: Some(label.into()),
            previous: self.last_use,
            candidates,
            choice: Some(ChoiceCode { site_id: site_id.into(), selected }),
        })
    }

    fn visible(&mut self, site: UseSite) -> u32 {
        self.code.uses.push(site);
        let at = self.code.uses.len() as u32 - 1;
        self.last_use = Some(at);
        at
    }

    fn site_id(&mut self, label: &str, function: Option<Arc<str>>) -> String {
        let count = self.labels.entry(label.to_owned()).or_insert(0);
        *count += 1;
        let label = if *count > 1 { format!("{label}#{count}") } else { label.to_owned() };
        let agent = &self.code.agents[self.agent as usize].name;
        let path = self.file.source.name();
        match function {
            Some(function) => format!("{path}#{agent}.{function}[{label}]"),
            None => format!("{path}#{agent}[{label}]"),
        }
    }

    /// Compiles the expression of a source as a piece of code of its own, which every `generate`
    /// that sees it runs again.
    fn source(&mut self, value: ContextExprId, budget: Option<&WrittenBudget>) -> SourceCode {
        let span = self.file.expr(value).span;
        let over = self.emit(Op::Jump(0), span);
        let address = self.here();
        self.expr(value);
        self.emit(Op::SourceEnd, span);
        self.land(over);
        SourceCode {
            text: source_text(self.file, value).into(),
            address,
            budget: budget.map(budget_code),
        }
    }
}

pub(super) fn budget_code(budget: &WrittenBudget) -> BudgetCode {
    BudgetCode {
        amount: budget.amount,
        unit: budget.unit.as_deref().map(Arc::from),
        limit: budget.characters(),
    }
}
