//! Statements.

use agentic_diag::Diagnostic;

use crate::ast::{
    AgentStatement, Approve, Arg, BlockExpr, CallForm, Extensions, If, IfLet, OnFail,
    ParallelStatement, RunStatement, StatementKind, Try, While, WrittenName,
};
use crate::code::{self, PhaseResult, stop};
use crate::parser::{AgentParser, Distinct};
use crate::token::AgentTokenKind;

impl AgentParser<'_> {
    pub(super) fn block(&mut self) -> PhaseResult<BlockExpr> {
        self.expect(AgentTokenKind::BraceOpen)?;
        self.nested(|parser| {
            let mut statements = Vec::new();
            while parser.kind() != AgentTokenKind::BraceClose {
                statements.push(parser.statement()?);
            }
            let end = parser.take().start;
            Ok(BlockExpr { statements, end })
        })
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "of some sixty tokens any other one is refused here"
    )]
    fn statement(&mut self) -> PhaseResult<AgentStatement> {
        let first = self.peek();
        let kind = match first.kind {
            AgentTokenKind::Let if self.is_approve() => self.approve()?,
            AgentTokenKind::Let => {
                let run = self.run()?;
                self.expect(AgentTokenKind::Semicolon)?;
                StatementKind::Run(Box::new(run))
            }
            AgentTokenKind::Parallel => StatementKind::Parallel(Box::new(self.parallel()?)),
            AgentTokenKind::If => self.if_statement()?,
            AgentTokenKind::While => {
                self.take();
                let condition = self.expression()?;
                let body = self.block()?;
                StatementKind::While(Box::new(While { condition, body }))
            }
            AgentTokenKind::Try => {
                self.take();
                let body = self.block()?;
                self.expect(AgentTokenKind::Catch)?;
                let name = self.name()?;
                let handler = self.block()?;
                StatementKind::Try(Box::new(Try { body, name, handler }))
            }
            AgentTokenKind::Assert => self.assert()?,
            AgentTokenKind::Return => {
                self.take();
                let value = self.expression()?;
                self.expect(AgentTokenKind::Semicolon)?;
                StatementKind::Return(value)
            }
            AgentTokenKind::Break => self.jump(StatementKind::Break)?,
            AgentTokenKind::Continue => self.jump(StatementKind::Continue)?,
            _ => return Err(self.unexpected(code::EXPECTED_STATEMENT, "a statement or `}`")),
        };
        Ok(AgentStatement { start: first.start, end: self.end(), kind })
    }

    /// Whether `let NAME = approve …` stands here, and not a call of something named `approve`.
    fn is_approve(&self) -> bool {
        let ahead = |count: usize| self.tokens.get(self.at + count).copied();
        self.ast.extensions == Extensions::On
            && ahead(3).is_some_and(|word| {
                word.kind == AgentTokenKind::Name && self.ast.text(word.symbol) == "approve"
            })
            && ahead(4).is_some_and(|next| next.kind != AgentTokenKind::ParenOpen)
    }

    fn approve(&mut self) -> PhaseResult<StatementKind> {
        self.take();
        let target = self.name()?;
        self.expect(AgentTokenKind::Equal)?;
        self.take();
        let question = self.expression()?;
        self.expect(AgentTokenKind::Semicolon)?;
        Ok(StatementKind::Approve(Box::new(Approve { target, question })))
    }

    fn jump(&mut self, kind: StatementKind) -> PhaseResult<StatementKind> {
        self.take();
        self.expect(AgentTokenKind::Semicolon)?;
        Ok(kind)
    }

    fn assert(&mut self) -> PhaseResult<StatementKind> {
        self.take();
        let condition = self.expression()?;
        let message = match self.accept(AgentTokenKind::Comma) {
            true => Some(self.expect(AgentTokenKind::Text)?.symbol),
            false => None,
        };
        self.expect(AgentTokenKind::Semicolon)?;
        Ok(StatementKind::Assert { condition, message })
    }

    fn if_statement(&mut self) -> PhaseResult<StatementKind> {
        self.take();
        if self.accept(AgentTokenKind::Let) {
            let name = self.name()?;
            self.expect(AgentTokenKind::Equal)?;
            let value = self.expression()?;
            let then = self.block()?;
            let otherwise = self.otherwise()?;
            return Ok(StatementKind::IfLet(Box::new(IfLet { name, value, then, otherwise })));
        }
        let condition = self.expression()?;
        let then = self.block()?;
        let otherwise = self.otherwise()?;
        Ok(StatementKind::If(Box::new(If { condition, then, otherwise })))
    }

    fn otherwise(&mut self) -> PhaseResult<Option<BlockExpr>> {
        if !self.accept(AgentTokenKind::Else) {
            return Ok(None);
        }
        if self.kind() == AgentTokenKind::If {
            let found = self.unexpected(code::EXPECTED_TOKEN, AgentTokenKind::BraceOpen.shown());
            return Err(Box::new(found.hint("there is no `else if`: write `else { if … { … } }`")));
        }
        self.block().map(Some)
    }

    fn parallel(&mut self) -> PhaseResult<ParallelStatement> {
        self.take();
        let limit = match self.accept(AgentTokenKind::MaxConcurrency) {
            true => Some(self.concurrency()?),
            false => None,
        };
        self.expect(AgentTokenKind::BraceOpen)?;
        let mut branches = Vec::new();
        while self.kind() != AgentTokenKind::BraceClose {
            branches.push(self.run()?);
            self.expect(AgentTokenKind::Semicolon)?;
        }
        self.take();
        self.expect(AgentTokenKind::Join)?;
        self.expect(AgentTokenKind::Semicolon)?;
        Ok(ParallelStatement { limit, branches })
    }

    fn concurrency(&mut self) -> PhaseResult<crate::symbol::Symbol> {
        let token = self.whole(code::CONCURRENCY_NOT_WHOLE, "max_concurrency")?;
        if self.ast.text(token.symbol).bytes().all(|digit| digit == b'0') {
            let message = "`max_concurrency` must be at least 1";
            return stop(code::CONCURRENCY_ZERO, token.span(), message);
        }
        Ok(token.symbol)
    }

    fn run(&mut self) -> PhaseResult<RunStatement> {
        let start = self.expect(AgentTokenKind::Let)?.start;
        let target = self.name()?;
        self.expect(AgentTokenKind::Equal)?;
        let (callee, form, args) = match self.accept(AgentTokenKind::Run) {
            true => {
                let callee = self.name()?;
                self.expect(AgentTokenKind::With)?;
                (callee, CallForm::Named, self.named_arguments()?)
            }
            false => {
                let no_call = |found: Box<Diagnostic>| {
                    let hint =
                        "`let` binds what a call gives; write a plain value where it is used";
                    // A reserved word has a hint of its own.
                    if found.hint.is_empty() { Box::new(found.hint(hint)) } else { found }
                };
                let callee = self.name().map_err(no_call)?;
                self.expect(AgentTokenKind::ParenOpen).map_err(no_call)?;
                let values = self.nested(|parser| parser.items(AgentTokenKind::ParenClose))?;
                let args = values.into_iter().map(|value| Arg { name: None, value });
                (callee, CallForm::Positional, args.collect())
            }
        };
        let (by, retries, timeout, on_fail) = (None, None, None, None);
        let end = 0;
        let mut run =
            RunStatement { start, end, target, callee, form, args, by, retries, timeout, on_fail };
        while self.clause(&mut run)? {}
        run.end = self.end();
        Ok(run)
    }

    fn named_arguments(&mut self) -> PhaseResult<Vec<Arg>> {
        self.expect(AgentTokenKind::BraceOpen)?;
        self.nested(|parser| {
            let mut args = Vec::new();
            let mut distinct = Distinct::default();
            if parser.accept(AgentTokenKind::BraceClose) {
                return Ok(args);
            }
            loop {
                let name = parser.name()?;
                if !distinct.add(name.symbol) {
                    return parser.duplicate(code::DUPLICATE_ARGUMENT, name, "the argument");
                }
                parser.expect(AgentTokenKind::Colon)?;
                let value = parser.expression()?;
                args.push(Arg { name: Some(name.symbol), value });
                if !parser.accept(AgentTokenKind::Comma) {
                    break;
                }
            }
            parser.expect(AgentTokenKind::BraceClose)?;
            Ok(args)
        })
    }

    /// Parses one clause of a call; `false` if there is none.
    fn clause(&mut self, run: &mut RunStatement) -> PhaseResult<bool> {
        let word = self.peek();
        let Some(clause) = Clause::of(word.kind) else { return Ok(false) };
        let is_repeated = match clause {
            Clause::By => run.by.is_some(),
            Clause::Retries => run.retries.is_some(),
            Clause::Timeout => run.timeout.is_some(),
            Clause::OnFail => run.on_fail.is_some(),
        };
        if is_repeated {
            let name = WrittenName { symbol: word.symbol, start: word.start, end: word.end };
            return self.duplicate(code::DUPLICATE_CLAUSE, name, "the clause");
        }
        self.take();
        match clause {
            Clause::By => run.by = Some(self.name()?),
            Clause::Retries => {
                run.retries = Some(self.whole(code::RETRIES_NOT_WHOLE, "retries")?.symbol);
            }
            Clause::Timeout => run.timeout = Some(self.timeout()?),
            Clause::OnFail => run.on_fail = Some(self.on_fail()?),
        }
        Ok(true)
    }

    fn timeout(&mut self) -> PhaseResult<crate::symbol::Symbol> {
        let token = self.expect(AgentTokenKind::Number)?;
        let is_zero = |digit: u8| digit == b'0' || digit == b'.';
        if self.ast.text(token.symbol).bytes().all(is_zero) {
            let message = "`timeout` must be above zero";
            return stop(code::TIMEOUT_NOT_POSITIVE, token.span(), message);
        }
        Ok(token.symbol)
    }

    fn on_fail(&mut self) -> PhaseResult<OnFail> {
        if self.accept(AgentTokenKind::Abort) {
            return Ok(OnFail::Abort);
        }
        if self.accept(AgentTokenKind::Use) {
            return self.expression().map(OnFail::Use);
        }
        Err(self.unexpected(code::EXPECTED_FALLBACK, "`abort` or `use` after `on_fail`"))
    }
}

/// What may be said of a call besides its arguments.
#[derive(Clone, Copy)]
enum Clause {
    By,
    Retries,
    Timeout,
    OnFail,
}

impl Clause {
    /// Returns the clause that a word begins.
    fn of(word: AgentTokenKind) -> Option<Clause> {
        let words = [
            (AgentTokenKind::By, Clause::By),
            (AgentTokenKind::Retries, Clause::Retries),
            (AgentTokenKind::Timeout, Clause::Timeout),
            (AgentTokenKind::OnFail, Clause::OnFail),
        ];
        words.into_iter().find(|(kind, _)| *kind == word).map(|(_, clause)| clause)
    }
}
