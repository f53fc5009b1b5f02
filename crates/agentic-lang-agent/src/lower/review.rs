//! Reviews: a call of the task that reviews, a counter of rounds, and a loop that revises until
//! the review approves or the rounds are spent.

use crate::ast::{
    AgentExprId, AgentExprKind, AgentStatement, Arg, BlockExpr, If, StatementKind, TaskSignature,
    While, WrittenName,
};
use crate::code::{self, PhaseResult};
use crate::lower::{Artifact, ItemLowering};
use crate::symbol::Symbol;
use crate::types::TypeShape;

/// A review step.
pub(super) struct Review {
    pub target: WrittenName,
    pub reviewer: WrittenName,
    pub source: WrittenName,
    pub reviser: WrittenName,
    pub task: WrittenName,
    pub rounds: Symbol,
}

/// The variables of a review.
struct Parts {
    source: Symbol,
    fields: Vec<Symbol>,
    verdict: Symbol,
    remaining: Symbol,
}

/// Whether a verdict is there to be passed on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReviewVerdict {
    Unknown,
    Known,
}

impl ItemLowering<'_> {
    pub(super) fn review(&mut self, review: &Review) -> PhaseResult<()> {
        let source = self.resolve(review.source)?;
        let TypeShape::Object(fields) = self.ast.types.get(source.declared).clone() else {
            let what = "reviews something that is not an object:";
            return Err(self.wrong_name(code::REVIEW_OF_NON_OBJECT, review.source, what));
        };
        self.agent(review.reviewer)?;
        self.agent(review.reviser)?;
        let target = self.ast.text(review.target.symbol).to_owned();
        let review_task = self.ast.symbols.intern(&format!("review_{target}"));
        let Some(review_at) = self.ast.by_name.tasks.get(review_task) else {
            let what = format!("needs a task `review_{target}`");
            return Err(self.wrong(code::UNKNOWN_REVIEW_TASK, review.target.span(), &what));
        };
        let Some(revise_at) = self.ast.by_name.tasks.get(review.task.symbol) else {
            let what = "names no known task:";
            return Err(self.wrong_name(code::UNKNOWN_REVISE_TASK, review.task, what));
        };
        let revised = self.ast.tasks[revise_at].signature.result;
        if !self.ast.types.are_equal(revised, source.declared) {
            let what = format!(
                "revises `{}`, a `{}`, with a task that gives `{}`:",
                self.ast.text(review.source.symbol),
                self.ast.shown(source.declared),
                self.ast.shown(revised)
            );
            return Err(self.wrong_name(code::REVISE_TYPE, review.task, &what));
        }
        let mut variable = |suffix: &str| self.ast.symbols.intern(&format!("__{target}_{suffix}"));
        let verdict = variable("review");
        let remaining = variable("remaining");
        let fields: Vec<Symbol> = fields.iter().map(|(name, _)| *name).collect();
        let parts = Parts { source: source.variable, fields, verdict, remaining };
        self.review_loop(review, &parts, review_at, revise_at)?;
        self.release(review.source.symbol);
        self.taken.insert(review.source.symbol);
        let verdict_type = self.ast.tasks[review_at].signature.result;
        self.hold(verdict, Artifact { variable: verdict, declared: verdict_type });
        let countdown = self.ast.symbols.intern("countdown");
        let countdown_at = self.ast.by_name.tasks.get(countdown).expect("reviews provide it");
        let remaining_type = self.ast.tasks[countdown_at].signature.result;
        self.hold(remaining, Artifact { variable: remaining, declared: remaining_type });
        self.hold(review.target.symbol, source);
        Ok(())
    }

    fn review_loop(
        &mut self,
        review: &Review,
        parts: &Parts,
        review_at: usize,
        revise_at: usize,
    ) -> PhaseResult<()> {
        let review_call = |lowering: &mut Self| -> PhaseResult<AgentStatement> {
            let signature = lowering.ast.tasks[review_at].signature.clone();
            let args = lowering.bind(&signature, parts, ReviewVerdict::Unknown)?;
            let callee = signature.name.symbol;
            Ok(lowering.call(parts.verdict, callee, args, Some(review.reviewer)))
        };
        let first_review = review_call(self)?;
        let rounds = increment(self.ast.text(review.rounds));
        let rounds = self.ast.symbols.intern(&rounds);
        let rounds = self.leaf(AgentExprKind::Number(rounds));
        let first_count = self.count_call(parts, rounds);
        let condition = self.not_approved(parts);
        let done = self.ast.symbols.intern("done");
        let done = self.reference(parts.remaining, Some(done));
        let stop = self.statement(StatementKind::Break);
        let then = BlockExpr { statements: vec![stop], end: self.step.end as u32 };
        let spent = StatementKind::If(Box::new(If { condition: done, then, otherwise: None }));
        let spent = self.statement(spent);
        let signature = self.ast.tasks[revise_at].signature.clone();
        let args = self.bind(&signature, parts, ReviewVerdict::Known)?;
        let revise = self.call(parts.source, review.task.symbol, args, Some(review.reviser));
        let next_review = review_call(self)?;
        let next = self.ast.symbols.intern("next");
        let next = self.reference(parts.remaining, Some(next));
        let next_count = self.count_call(parts, next);
        let statements = vec![spent, revise, next_review, next_count];
        let body = BlockExpr { statements, end: self.step.end as u32 };
        let repeat = self.statement(StatementKind::While(Box::new(While { condition, body })));
        self.body.extend([first_review, first_count, repeat]);
        Ok(())
    }

    fn count_call(&mut self, parts: &Parts, value: AgentExprId) -> AgentStatement {
        let countdown = self.ast.symbols.intern("countdown");
        let current = self.ast.symbols.intern("current");
        self.call(parts.remaining, countdown, vec![Arg { name: Some(current), value }], None)
    }

    fn not_approved(&mut self, parts: &Parts) -> AgentExprId {
        let approved = self.ast.symbols.intern("approved");
        let left = self.reference(parts.verdict, Some(approved));
        self.leaf(AgentExprKind::Bool(false));
        let root = self.leaf(AgentExprKind::Equal);
        self.ast.exprs[root.0 as usize].first = left.0;
        root
    }

    /// Binds the parameters of a task by name: the verdict before fields of the source before
    /// parameters of the workflow.
    fn bind(
        &mut self,
        signature: &TaskSignature,
        parts: &Parts,
        verdict: ReviewVerdict,
    ) -> PhaseResult<Vec<Arg>> {
        let mut args = Vec::with_capacity(signature.params.len());
        for param in &signature.params {
            let name = param.name.symbol;
            let text = self.ast.text(name);
            let is_verdict =
                verdict == ReviewVerdict::Known && matches!(text, "approved" | "feedback");
            let is_param =
                self.workflow.signature.params.iter().any(|param| param.name.symbol == name);
            let value = if is_verdict {
                self.reference(parts.verdict, Some(name))
            } else if parts.fields.contains(&name) {
                self.reference(parts.source, Some(name))
            } else if is_param {
                let (start, end) = (self.step.start as u32, self.step.end as u32);
                let variable = self.resolve(WrittenName { symbol: name, start, end })?.variable;
                self.reference(variable, None)
            } else {
                let task = self.ast.text(signature.name.symbol);
                let what = format!("has nothing for the parameter `{text}` of `{task}`");
                let found = self.wrong(code::UNBOUND_PARAMETER, self.step, &what);
                return Err(Box::new(found.hint(
                    "parameters are bound by name to fields of what is reviewed, or to \
                     parameters of the workflow",
                )));
            };
            args.push(Arg { name: Some(name), value });
        }
        Ok(args)
    }
}

/// Adds one to a whole number given by its digits.
fn increment(digits: &str) -> String {
    let mut bytes: Vec<u8> = digits.trim_start_matches('0').bytes().collect();
    for digit in bytes.iter_mut().rev() {
        if *digit < b'9' {
            *digit += 1;
            return String::from_utf8(bytes).expect("digits are ASCII");
        }
        *digit = b'0';
    }
    bytes.insert(0, b'1');
    String::from_utf8(bytes).expect("digits are ASCII")
}
