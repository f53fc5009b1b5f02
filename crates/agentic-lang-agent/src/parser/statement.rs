//! Statements.

use agentic_diag::Diagnostic;

use crate::ast::{
    Approve, Arg, BlockExpr, CallForm, Extensions, If, IfLet, OnFail, ParallelStatement,
    RunStatement, Statement, StatementKind, Try, While, WrittenName,
};
use crate::code::{self, PhaseResult, stop};
use crate::parser::{Distinct, Parser};
use crate::token::TokenKind;

impl Parser<'_> {
    pub(super) fn block(&mut self) -> PhaseResult<BlockExpr> {
        self.expect(TokenKind::BraceOpen)?;
        self.nested(|parser| {
            let mut statements = Vec::new();
            while parser.kind() != TokenKind::BraceClose {
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
    fn statement(&mut self) -> PhaseResult<Statement> {
        let first = self.peek();
        let kind = match first.kind {
            TokenKind::Let if self.is_approve() => self.approve()?,
            TokenKind::Let => {
                let run = self.run()?;
                self.expect(TokenKind::Semicolon)?;
                StatementKind::Run(Box::new(run))
            }
            TokenKind::Parallel => StatementKind::Parallel(Box::new(self.parallel()?)),
            TokenKind::If => self.if_statement()?,
            TokenKind::While => {
                self.take();
                let condition = self.expression()?;
                let body = self.block()?;
                StatementKind::While(Box::new(While { condition, body }))
            }
            TokenKind::Try => {
                self.take();
                let body = self.block()?;
                self.expect(TokenKind::Catch)?;
                let name = self.name()?;
                let handler = self.block()?;
                StatementKind::Try(Box::new(Try { body, name, handler }))
            }
            TokenKind::Assert => self.assert()?,
            TokenKind::Return => {
                self.take();
                let value = self.expression()?;
                self.expect(TokenKind::Semicolon)?;
                StatementKind::Return(value)
            }
            TokenKind::Break => self.jump(StatementKind::Break)?,
            TokenKind::Continue => self.jump(StatementKind::Continue)?,
            _ => return Err(self.unexpected(code::EXPECTED_STATEMENT, "a statement or `}`")),
        };
        Ok(Statement { start: first.start, end: self.end(), kind })
    }

    /// Whether `let NAME = approve …` stands here, and not a call of something named `approve`.
    fn is_approve(&self) -> bool {
        let ahead = |count: usize| self.tokens.get(self.at + count).copied();
        self.ast.extensions == Extensions::On
            && ahead(3).is_some_and(|word| {
                word.kind == TokenKind::Name && self.ast.text(word.symbol) == "approve"
            })
            && ahead(4).is_some_and(|next| next.kind != TokenKind::ParenOpen)
    }

    fn approve(&mut self) -> PhaseResult<StatementKind> {
        self.take();
        let target = self.name()?;
        self.expect(TokenKind::Equal)?;
        self.take();
        let question = self.expression()?;
        self.expect(TokenKind::Semicolon)?;
        Ok(StatementKind::Approve(Box::new(Approve { target, question })))
    }

    fn jump(&mut self, kind: StatementKind) -> PhaseResult<StatementKind> {
        self.take();
        self.expect(TokenKind::Semicolon)?;
        Ok(kind)
    }

    fn assert(&mut self) -> PhaseResult<StatementKind> {
        self.take();
        let condition = self.expression()?;
        let message = match self.accept(TokenKind::Comma) {
            true => Some(self.expect(TokenKind::Text)?.symbol),
            false => None,
        };
        self.expect(TokenKind::Semicolon)?;
        Ok(StatementKind::Assert { condition, message })
    }

    fn if_statement(&mut self) -> PhaseResult<StatementKind> {
        self.take();
        if self.accept(TokenKind::Let) {
            let name = self.name()?;
            self.expect(TokenKind::Equal)?;
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
        if !self.accept(TokenKind::Else) {
            return Ok(None);
        }
        if self.kind() == TokenKind::If {
            let found = self.unexpected(code::EXPECTED_TOKEN, TokenKind::BraceOpen.shown());
            return Err(Box::new(found.hint("there is no `else if`: write `else { if … { … } }`")));
        }
        self.block().map(Some)
    }

    fn parallel(&mut self) -> PhaseResult<ParallelStatement> {
        self.take();
        let limit = match self.accept(TokenKind::MaxConcurrency) {
            true => Some(self.concurrency()?),
            false => None,
        };
        self.expect(TokenKind::BraceOpen)?;
        let mut branches = Vec::new();
        while self.kind() != TokenKind::BraceClose {
            branches.push(self.run()?);
            self.expect(TokenKind::Semicolon)?;
        }
        self.take();
        self.expect(TokenKind::Join)?;
        self.expect(TokenKind::Semicolon)?;
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
        let start = self.expect(TokenKind::Let)?.start;
        let target = self.name()?;
        self.expect(TokenKind::Equal)?;
        let (callee, form, args) = match self.accept(TokenKind::Run) {
            true => {
                let callee = self.name()?;
                self.expect(TokenKind::With)?;
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
                self.expect(TokenKind::ParenOpen).map_err(no_call)?;
                let values = self.nested(|parser| parser.items(TokenKind::ParenClose))?;
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
        self.expect(TokenKind::BraceOpen)?;
        self.nested(|parser| {
            let mut args = Vec::new();
            let mut distinct = Distinct::default();
            if parser.accept(TokenKind::BraceClose) {
                return Ok(args);
            }
            loop {
                let name = parser.name()?;
                if !distinct.add(name.symbol) {
                    return parser.duplicate(code::DUPLICATE_ARGUMENT, name, "the argument");
                }
                parser.expect(TokenKind::Colon)?;
                let value = parser.expression()?;
                args.push(Arg { name: Some(name.symbol), value });
                if !parser.accept(TokenKind::Comma) {
                    break;
                }
            }
            parser.expect(TokenKind::BraceClose)?;
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
        let token = self.expect(TokenKind::Number)?;
        let is_zero = |digit: u8| digit == b'0' || digit == b'.';
        if self.ast.text(token.symbol).bytes().all(is_zero) {
            let message = "`timeout` must be above zero";
            return stop(code::TIMEOUT_NOT_POSITIVE, token.span(), message);
        }
        Ok(token.symbol)
    }

    fn on_fail(&mut self) -> PhaseResult<OnFail> {
        if self.accept(TokenKind::Abort) {
            return Ok(OnFail::Abort);
        }
        if self.accept(TokenKind::Use) {
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
    fn of(word: TokenKind) -> Option<Clause> {
        let words = [
            (TokenKind::By, Clause::By),
            (TokenKind::Retries, Clause::Retries),
            (TokenKind::Timeout, Clause::Timeout),
            (TokenKind::OnFail, Clause::OnFail),
        ];
        words.into_iter().find(|(kind, _)| *kind == word).map(|(_, clause)| clause)
    }
}
