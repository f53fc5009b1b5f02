//! Workflows become pipelines.
//!
//! A stage becomes a call. A review becomes a call of the task that reviews, a counter of rounds
//! and a loop that revises until the review approves or the rounds are spent.

mod review;

use std::collections::{BTreeMap, BTreeSet};

use agentic_diag::{Diagnostic, Span};

use crate::ast::{
    AgentExpr, AgentExprId, AgentExprKind, AgentStatement, Arg, Ast, BlockExpr, CallForm, Names,
    Pipeline, PipelineStep, RunStatement, StatementKind, StepKind, TaskItem, TaskMode,
    TaskSignature, Workflow, WrittenName,
};
use crate::code::{self, PhaseResult};
use crate::lower::review::Review;
use crate::symbol::Symbol;
use crate::types::{TypeId, TypeShape};

/// Appends a pipeline for every workflow.
pub(crate) fn lower(ast: &mut Ast) -> PhaseResult<()> {
    let workflows = std::mem::take(&mut ast.workflows);
    let lowered = lower_all(ast, &workflows);
    ast.workflows = workflows;
    lowered
}

fn lower_all(ast: &mut Ast, workflows: &[Workflow]) -> PhaseResult<()> {
    let is_review = |step: &PipelineStep| matches!(step.kind, StepKind::Review { .. });
    if let Some(step) = workflows.iter().flat_map(|flow| &flow.steps).find(|step| is_review(step)) {
        provide_countdown(ast, Span::new(step.start as usize, step.end as usize))?;
    }
    for workflow in workflows {
        let name = workflow.signature.name;
        if let Some(at) = ast.by_name.pipelines.get(name.symbol) {
            let message = format!("`{}` is also the name of a pipeline", ast.text(name.symbol));
            return Err(Box::new(
                Diagnostic::error(code::WORKFLOW_NAME_TAKEN, name.span(), message)
                    .see(ast.pipelines[at].signature.name.span(), "the pipeline"),
            ));
        }
        let body = ItemLowering::new(ast, workflow).run()?;
        ast.by_name.pipelines.set(name.symbol, ast.pipelines.len());
        ast.pipelines.push(Pipeline { signature: workflow.signature.clone(), body });
    }
    Ok(())
}

/// Declares the task that counts rounds, or checks the one that is declared.
fn provide_countdown(ast: &mut Ast, review: Span) -> PhaseResult<()> {
    let name = ast.symbols.intern("countdown");
    let current = ast.symbols.intern("current");
    let next = ast.symbols.intern("next");
    let done = ast.symbols.intern("done");
    let fields = [(next, TypeId::NUMBER), (done, TypeId::BOOL)];
    let result = ast.types.intern(TypeShape::Object(fields.into()));
    if let Some(at) = ast.by_name.tasks.get(name) {
        let task = &ast.tasks[at];
        let params = &task.signature.params;
        let is_wanted = task.mode == TaskMode::Handler
            && params.len() == 1
            && params[0].name.symbol == current
            && params[0].declared == TypeId::NUMBER
            && ast.types.are_equal(task.signature.result, result);
        if is_wanted {
            return Ok(());
        }
        let span = task.signature.name.span();
        return Err(Box::new(
            Diagnostic::error(code::COUNTDOWN_SHAPE, span, "`countdown` is not what reviews need")
                .because("reviews count their rounds with this task")
                .see(review, "a review")
                .hint(
                    "declare `task countdown(current: Number) -> Obj{next: Number, done: Bool} {}`",
                ),
        ));
    }
    let nowhere =
        |symbol| WrittenName { symbol, start: review.start as u32, end: review.end as u32 };
    let params =
        vec![crate::ast::TaskParameter { name: nowhere(current), declared: TypeId::NUMBER }];
    let signature = TaskSignature { name: nowhere(name), params, result };
    ast.by_name.tasks.set(name, ast.tasks.len());
    ast.tasks.push(TaskItem { signature, mode: TaskMode::Handler });
    Ok(())
}

/// An artifact: the variable that holds it, and its type.
#[derive(Debug, Clone, Copy)]
struct Artifact {
    variable: Symbol,
    declared: TypeId,
}

struct ItemLowering<'a> {
    ast: &'a mut Ast,
    workflow: &'a Workflow,
    artifacts: BTreeMap<Symbol, Artifact>,
    /// Which artifact each variable holds.
    holders: BTreeMap<Symbol, Symbol>,
    /// Artifacts that a review has taken.
    taken: BTreeSet<Symbol>,
    body: Vec<AgentStatement>,
    step: Span,
}

impl<'a> ItemLowering<'a> {
    fn new(ast: &'a mut Ast, workflow: &'a Workflow) -> ItemLowering<'a> {
        let mut lowering = ItemLowering {
            ast,
            workflow,
            artifacts: BTreeMap::new(),
            holders: BTreeMap::new(),
            taken: BTreeSet::new(),
            body: Vec::new(),
            step: Span::default(),
        };
        for param in &workflow.signature.params {
            let variable = param.name.symbol;
            lowering.hold(variable, Artifact { variable, declared: param.declared });
        }
        lowering
    }

    /// Gives an artifact a name, which may have been that of another one.
    fn hold(&mut self, name: Symbol, artifact: Artifact) {
        self.release(name);
        self.artifacts.insert(name, artifact);
        self.holders.insert(artifact.variable, name);
        self.taken.remove(&name);
    }

    fn release(&mut self, name: Symbol) {
        if let Some(old) = self.artifacts.remove(&name) {
            self.holders.remove(&old.variable);
        }
    }

    fn run(mut self) -> PhaseResult<BlockExpr> {
        let workflow = self.workflow;
        let mut returns = false;
        for step in &workflow.steps {
            self.step = Span::new(step.start as usize, step.end as usize);
            match &step.kind {
                StepKind::Stage { target, agent, task, args } => {
                    self.stage(*target, *agent, *task, args)?;
                }
                StepKind::Review { target, reviewer, source, reviser, task, rounds } => {
                    let review = Review {
                        target: *target,
                        reviewer: *reviewer,
                        source: *source,
                        reviser: *reviser,
                        task: *task,
                        rounds: *rounds,
                    };
                    self.review(&review)?;
                }
                StepKind::Return(value) => {
                    let value = self.rewrite(*value)?;
                    let kind = StatementKind::Return(value);
                    self.push(kind);
                    returns = true;
                }
            }
        }
        if !returns {
            let name = workflow.signature.name;
            return Err(self.wrong(code::WORKFLOW_WITHOUT_RETURN, name.span(), "has no `return`"));
        }
        Ok(BlockExpr { statements: self.body, end: workflow.end })
    }

    /// Says what is wrong with the workflow.
    fn wrong(&self, code: &'static str, span: Span, what: &str) -> Box<Diagnostic> {
        let name = self.ast.text(self.workflow.signature.name.symbol);
        Box::new(Diagnostic::error(code, span, format!("the workflow `{name}` {what}")))
    }

    fn wrong_name(&self, code: &'static str, name: WrittenName, what: &str) -> Box<Diagnostic> {
        let text = self.ast.text(name.symbol);
        self.wrong(code, name.span(), &format!("{what} `{text}`"))
    }

    fn statement(&self, kind: StatementKind) -> AgentStatement {
        AgentStatement { start: self.step.start as u32, end: self.step.end as u32, kind }
    }

    fn push(&mut self, kind: StatementKind) {
        let statement = self.statement(kind);
        self.body.push(statement);
    }

    fn resolve(&self, name: WrittenName) -> PhaseResult<Artifact> {
        if let Some(artifact) = self.artifacts.get(&name.symbol) {
            return Ok(*artifact);
        }
        if self.taken.contains(&name.symbol) {
            let what = "reads what a review has taken:";
            let found = self.wrong_name(code::ARTIFACT_TAKEN, name, what);
            return Err(Box::new(found.hint("use the name of the review instead")));
        }
        Err(self.wrong_name(code::UNKNOWN_ARTIFACT, name, "has no artifact or parameter"))
    }

    fn agent(&self, name: WrittenName) -> PhaseResult<()> {
        match self.ast.by_name.agents.get(name.symbol) {
            Some(_) => Ok(()),
            None => Err(self.wrong_name(code::UNKNOWN_STEP_AGENT, name, "names no known agent:")),
        }
    }

    /// Copies an expression with the variables of artifacts in place of their names.
    fn rewrite(&mut self, root: AgentExprId) -> PhaseResult<AgentExprId> {
        let first = self.ast.expr(root).first;
        let offset = self.ast.exprs.len() as u32;
        for at in first..=root.0 {
            let node = self.ast.exprs[at as usize];
            let kind = match node.kind {
                AgentExprKind::Ref { head, fields } => {
                    let name = WrittenName { symbol: head, start: node.start, end: node.end };
                    AgentExprKind::Ref { head: self.resolve(name)?.variable, fields }
                }
                AgentExprKind::Text(_)
                | AgentExprKind::Number(_)
                | AgentExprKind::Bool(_)
                | AgentExprKind::Null
                | AgentExprKind::Object(_)
                | AgentExprKind::List(_)
                | AgentExprKind::Add
                | AgentExprKind::Equal
                | AgentExprKind::NotEqual => node.kind,
            };
            self.ast.exprs.push(AgentExpr { kind, first: node.first - first + offset, ..node });
        }
        Ok(AgentExprId(self.ast.exprs.len() as u32 - 1))
    }

    fn leaf(&mut self, kind: AgentExprKind) -> AgentExprId {
        let first = self.ast.exprs.len() as u32;
        let (start, end) = (self.step.start as u32, self.step.end as u32);
        self.ast.exprs.push(AgentExpr { kind, first, start, end });
        AgentExprId(first)
    }

    /// Makes `head` or `head.field`.
    fn reference(&mut self, head: Symbol, field: Option<Symbol>) -> AgentExprId {
        let start = self.ast.names.len() as u32;
        self.ast.names.extend(field);
        let fields = Names { start, count: self.ast.names.len() as u32 - start };
        self.leaf(AgentExprKind::Ref { head, fields })
    }

    fn call(
        &self,
        target: Symbol,
        callee: Symbol,
        args: Vec<Arg>,
        by: Option<WrittenName>,
    ) -> AgentStatement {
        let (start, end) = (self.step.start as u32, self.step.end as u32);
        let name = |symbol| WrittenName { symbol, start, end };
        self.statement(StatementKind::Run(Box::new(RunStatement {
            start,
            end,
            target: name(target),
            callee: name(callee),
            form: CallForm::Named,
            args,
            by,
            retries: None,
            timeout: None,
            on_fail: None,
        })))
    }

    fn stage(
        &mut self,
        target: WrittenName,
        agent: WrittenName,
        task: WrittenName,
        args: &[AgentExprId],
    ) -> PhaseResult<()> {
        let Some(at) = self.ast.by_name.tasks.get(task.symbol) else {
            return Err(self.wrong_name(code::UNKNOWN_STAGE_TASK, task, "names no known task:"));
        };
        self.agent(agent)?;
        let signature = self.ast.tasks[at].signature.clone();
        if signature.params.len() != args.len() {
            let (wanted, given) = (signature.params.len(), args.len());
            let what = format!("gives {given} arguments where {wanted} are needed, to");
            return Err(self.wrong_name(code::WRONG_STAGE_ARGUMENTS, task, &what));
        }
        let mut bound = Vec::with_capacity(args.len());
        for (param, arg) in signature.params.iter().zip(args) {
            let value = self.rewrite(*arg)?;
            bound.push(Arg { name: Some(param.name.symbol), value });
        }
        let variable = self.free_variable(target.symbol);
        let call = self.call(variable, task.symbol, bound, Some(agent));
        self.body.push(call);
        let declared = signature.result;
        self.hold(target.symbol, Artifact { variable, declared });
        Ok(())
    }

    /// Returns the variable for an artifact: its own name, unless another artifact lives there.
    fn free_variable(&mut self, target: Symbol) -> Symbol {
        let mut variable = target;
        let mut count = 2;
        while self.holders.get(&variable).is_some_and(|name| *name != target) {
            let fresh = format!("__{}_{count}", self.ast.text(target));
            variable = self.ast.symbols.intern(&fresh);
            count += 1;
        }
        variable
    }
}
