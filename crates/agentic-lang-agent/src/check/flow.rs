//! Statements and how control flows through them.

use agentic_diag::Diagnostic;

use crate::ast::{
    AgentExprId, AgentStatement, Approve, BlockExpr, IfLet, ParallelStatement, StatementKind, Try,
    While,
};
use crate::check::scope::{ScopeChange, WatchedNames};
use crate::check::{Checker, Subject};
use crate::code::{self, PhaseResult, stop};
use crate::symbol::SymbolIndex;
use crate::types::{OptionalWrapping, TypeId, TypeShape};

/// How a block or statement ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockEnd {
    /// Its end can be reached.
    Falls,
    /// Every way through it returns, breaks or continues.
    Leaves,
}

/// One checked branch.
struct CheckedBranch {
    delta: ScopeChange,
    completion: BlockEnd,
}

impl Checker<'_> {
    pub(super) fn block(&mut self, block: &BlockExpr) -> PhaseResult<BlockEnd> {
        let mut completion = BlockEnd::Falls;
        for statement in &block.statements {
            // Whatever is evaluated from here on may fail, so a handler sees the names as they
            // are now.
            self.scope.exit(WatchedNames::Try);
            if self.statement(statement)? == BlockEnd::Leaves {
                completion = BlockEnd::Leaves;
            }
        }
        Ok(completion)
    }

    fn statement(&mut self, statement: &AgentStatement) -> PhaseResult<BlockEnd> {
        match &statement.kind {
            StatementKind::Run(run) => {
                let result = self.run(run)?;
                self.scope.set(&mut self.ast.types, run.target.symbol, Some(result));
                Ok(BlockEnd::Falls)
            }
            StatementKind::Parallel(parallel) => self.parallel(parallel),
            StatementKind::If(inner) => {
                self.condition(inner.condition, statement, code::IF_CONDITION, "if")?;
                let then = self.branch(|checker| checker.block(&inner.then))?;
                self.either(then, inner.otherwise.as_ref())
            }
            StatementKind::IfLet(inner) => self.if_let(inner, statement),
            StatementKind::While(inner) => self.repeat(inner, statement),
            StatementKind::Try(inner) => self.attempt(inner),
            StatementKind::Assert { condition, .. } => {
                self.condition(*condition, statement, code::ASSERT_CONDITION, "assert")?;
                Ok(BlockEnd::Falls)
            }
            StatementKind::Approve(inner) => self.approve(inner, statement),
            StatementKind::Return(value) => self.give_back(*value, statement),
            StatementKind::Break => {
                self.in_loop(statement, code::BREAK_OUTSIDE, "break")?;
                self.scope.exit(WatchedNames::Loop);
                Ok(BlockEnd::Leaves)
            }
            StatementKind::Continue => {
                self.in_loop(statement, code::CONTINUE_OUTSIDE, "continue")?;
                self.back_edge(statement)?;
                Ok(BlockEnd::Leaves)
            }
        }
    }

    /// A decision has the shape of a review's verdict, and says who gave it.
    fn approve(&mut self, inner: &Approve, statement: &AgentStatement) -> PhaseResult<BlockEnd> {
        let found = self.expression(inner.question)?;
        if !self.ast.types.fits(found, TypeId::TEXT, OptionalWrapping::Strict) {
            let message = format!("a question is a `String`, not `{}`", self.ast.shown(found));
            return stop(code::QUESTION_TYPE, statement.span(), message);
        }
        let approved = self.ast.symbols.intern("approved");
        let feedback = self.ast.symbols.intern("feedback");
        let principal = self.ast.symbols.intern("principal");
        let fields =
            [(approved, TypeId::BOOL), (feedback, TypeId::TEXT), (principal, TypeId::TEXT)];
        let verdict = self.ast.types.intern(TypeShape::Object(fields.into()));
        self.scope.set(&mut self.ast.types, inner.target.symbol, Some(verdict));
        Ok(BlockEnd::Falls)
    }

    fn condition(
        &mut self,
        condition: AgentExprId,
        statement: &AgentStatement,
        code: &'static str,
        word: &str,
    ) -> PhaseResult<()> {
        let found = self.expression(condition)?;
        if found == TypeId::BOOL {
            return Ok(());
        }
        let shown = self.ast.shown(found);
        let message = format!("in {}, `{word}` needs a `Bool`, not `{shown}`", self.title());
        let place = self.ast.expr(condition).span();
        Err(Box::new(
            Diagnostic::error(code, statement.span(), message).see(place, format!("a `{shown}`")),
        ))
    }

    fn branch(
        &mut self,
        check: impl FnOnce(&mut Self) -> PhaseResult<BlockEnd>,
    ) -> PhaseResult<CheckedBranch> {
        let mark = self.scope.mark();
        let completion = check(self)?;
        let delta = self.scope.undo(&mut self.ast.types, mark);
        Ok(CheckedBranch { delta, completion })
    }

    fn either(
        &mut self,
        then: CheckedBranch,
        otherwise: Option<&BlockExpr>,
    ) -> PhaseResult<BlockEnd> {
        let otherwise = match otherwise {
            Some(block) => self.branch(|checker| checker.block(block))?,
            None => CheckedBranch { delta: Vec::new(), completion: BlockEnd::Falls },
        };
        Ok(self.join(&then, &otherwise))
    }

    /// Continues after two branches. One that leaves takes no part in what is bound afterwards.
    fn join(&mut self, one: &CheckedBranch, other: &CheckedBranch) -> BlockEnd {
        let types = &mut self.ast.types;
        match (one.completion, other.completion) {
            (BlockEnd::Falls, BlockEnd::Leaves) => self.scope.apply(types, &one.delta),
            (BlockEnd::Leaves, BlockEnd::Falls) => self.scope.apply(types, &other.delta),
            (BlockEnd::Falls, BlockEnd::Falls) | (BlockEnd::Leaves, BlockEnd::Leaves) => {
                self.scope.merge(types, &one.delta, &other.delta);
            }
        }
        if one.completion == BlockEnd::Leaves && other.completion == BlockEnd::Leaves {
            return BlockEnd::Leaves;
        }
        BlockEnd::Falls
    }

    fn if_let(&mut self, inner: &IfLet, statement: &AgentStatement) -> PhaseResult<BlockEnd> {
        let found = self.expression(inner.value)?;
        let TypeShape::Option(item) = *self.ast.types.get(found) else {
            let shown = self.ast.shown(found);
            let message = format!("in {}, `if let` needs an `Option`, not `{shown}`", self.title());
            return stop(code::IF_LET_TYPE, statement.span(), message);
        };
        let name = inner.name.symbol;
        if self.scope.get(name).is_some() {
            let message = format!("`{}` is bound already", self.ast.text(name));
            return Err(Box::new(
                Diagnostic::error(code::IF_LET_SHADOWS, statement.span(), message)
                    .see(inner.name.span(), "bound again here")
                    .hint("choose another name"),
            ));
        }
        let then = self.branch(|checker| {
            checker.scope.set(&mut checker.ast.types, name, Some(item));
            let completion = checker.block(&inner.then)?;
            checker.scope.set(&mut checker.ast.types, name, None);
            Ok(completion)
        })?;
        self.either(then, inner.otherwise.as_ref())
    }

    fn repeat(&mut self, inner: &While, statement: &AgentStatement) -> PhaseResult<BlockEnd> {
        self.condition(inner.condition, statement, code::WHILE_CONDITION, "while")?;
        let mark = self.scope.mark();
        self.scope.watch(WatchedNames::Loop);
        if self.block(&inner.body)? == BlockEnd::Falls {
            self.back_edge(statement)?;
        }
        let lost = self.scope.unwatch(WatchedNames::Loop);
        self.scope.undo(&mut self.ast.types, mark);
        for name in lost {
            self.scope.set(&mut self.ast.types, name, None);
        }
        Ok(BlockEnd::Falls)
    }

    /// Control goes back to the head of a loop, where names must have the types they had.
    fn back_edge(&mut self, statement: &AgentStatement) -> PhaseResult<()> {
        let Some((name, before)) = self.scope.changed_in_loop() else { return Ok(()) };
        let (text, before) = (self.ast.text(name), self.ast.shown(before));
        let message = match self.scope.get(name) {
            Some(now) => {
                let now = self.ast.shown(now);
                format!("the loop turns `{text}` from `{before}` into `{now}`")
            }
            None => format!("the loop leaves `{text}`, a `{before}`, without one certain type"),
        };
        Err(Box::new(
            Diagnostic::error(code::LOOP_CHANGES_TYPE, statement.span(), message)
                .because("the next round would see the new type")
                .hint("bind another name inside the loop"),
        ))
    }

    fn in_loop(
        &self,
        statement: &AgentStatement,
        code: &'static str,
        word: &str,
    ) -> PhaseResult<()> {
        if self.scope.is_in_loop() {
            return Ok(());
        }
        let message = format!("`{word}` outside a loop in {}", self.title());
        stop(code, statement.span(), message)
    }

    fn attempt(&mut self, inner: &Try) -> PhaseResult<BlockEnd> {
        let mark = self.scope.mark();
        self.scope.watch(WatchedNames::Try);
        let completion = self.block(&inner.body)?;
        let lost = self.scope.unwatch(WatchedNames::Try);
        let delta = self.scope.undo(&mut self.ast.types, mark);
        let body = CheckedBranch { delta, completion };
        let name = inner.name.symbol;
        let handler = self.branch(|checker| {
            for name in lost {
                checker.scope.set(&mut checker.ast.types, name, None);
            }
            let outer = checker.scope.get(name);
            checker.scope.set(&mut checker.ast.types, name, Some(TypeId::TEXT));
            let completion = checker.block(&inner.handler)?;
            checker.scope.set(&mut checker.ast.types, name, outer);
            Ok(completion)
        })?;
        Ok(self.join(&body, &handler))
    }

    fn give_back(
        &mut self,
        value: AgentExprId,
        statement: &AgentStatement,
    ) -> PhaseResult<BlockEnd> {
        let found = self.expression(value)?;
        if let Subject::Pipeline(at) = self.subject {
            let signature = &self.ast.pipelines[at].signature;
            let (wanted, declared) = (signature.result, signature.name);
            if !self.ast.types.fits(found, wanted, OptionalWrapping::Strict) {
                let (shown, wanted) = (self.ast.shown(found), self.ast.shown(wanted));
                let message = format!("{} returns `{shown}`, expected `{wanted}`", self.title());
                let place = self.ast.expr(value).span();
                return Err(Box::new(
                    Diagnostic::error(code::RETURN_TYPE, statement.span(), message)
                        .see(place, format!("a `{shown}`"))
                        .see(declared.span(), format!("declared to give `{wanted}`")),
                ));
            }
        }
        Ok(BlockEnd::Leaves)
    }

    fn parallel(&mut self, parallel: &ParallelStatement) -> PhaseResult<BlockEnd> {
        let mut targets = SymbolIndex::default();
        let mut results = Vec::with_capacity(parallel.branches.len());
        self.branches = parallel.branches.iter().map(|run| run.target.symbol).collect();
        for (at, run) in parallel.branches.iter().enumerate() {
            let target = run.target;
            let text = self.ast.text(target.symbol);
            if let Some(first) = targets.get(target.symbol) {
                let message = format!("two branches are called `{text}`");
                return Err(Box::new(
                    Diagnostic::error(code::BRANCH_REPEATED, run.span(), message)
                        .see(parallel.branches[first].target.span(), "the first one"),
                ));
            }
            if self.scope.get(target.symbol).is_some() {
                let message = format!("`{text}` is bound before the parallel block");
                return Err(Box::new(
                    Diagnostic::error(code::BRANCH_SHADOWS, run.span(), message)
                        .hint("branches need names of their own"),
                ));
            }
            targets.set(target.symbol, at);
            results.push((target.symbol, Some(self.run(run)?)));
        }
        self.branches.clear();
        self.scope.apply(&mut self.ast.types, &results);
        Ok(BlockEnd::Falls)
    }
}
