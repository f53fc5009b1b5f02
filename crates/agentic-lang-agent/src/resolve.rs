//! Positional calls get the names of their callee's parameters.

use agentic_diag::Diagnostic;

use crate::ast::{Ast, BlockExpr, CallForm, RunStatement, StatementKind};
use crate::code::{self, PhaseResult};

/// Names the arguments of every positional call: pipelines in file order, then tests.
pub(crate) fn resolve(ast: &mut Ast) -> PhaseResult<()> {
    let mut pipelines = std::mem::take(&mut ast.pipelines);
    let mut tests = std::mem::take(&mut ast.tests);
    // While a body is resolved the signatures must be readable, so bodies are taken out one by one.
    let mut bodies: Vec<BlockExpr> =
        pipelines.iter_mut().map(|pipeline| std::mem::take(&mut pipeline.body)).collect();
    ast.pipelines = pipelines;
    let mut resolved = Ok(());
    for body in bodies.iter_mut().chain(tests.iter_mut().map(|test| &mut test.body)) {
        resolved = block(ast, body);
        if resolved.is_err() {
            break;
        }
    }
    for (pipeline, body) in ast.pipelines.iter_mut().zip(bodies) {
        pipeline.body = body;
    }
    ast.tests = tests;
    resolved
}

fn block(ast: &Ast, body: &mut BlockExpr) -> PhaseResult<()> {
    for statement in &mut body.statements {
        match &mut statement.kind {
            StatementKind::Run(run) => call(ast, run)?,
            StatementKind::Parallel(parallel) => {
                parallel.branches.iter_mut().try_for_each(|run| call(ast, run))?;
            }
            StatementKind::If(inner) => {
                block(ast, &mut inner.then)?;
                inner.otherwise.as_mut().map_or(Ok(()), |otherwise| block(ast, otherwise))?;
            }
            StatementKind::IfLet(inner) => {
                block(ast, &mut inner.then)?;
                inner.otherwise.as_mut().map_or(Ok(()), |otherwise| block(ast, otherwise))?;
            }
            StatementKind::While(inner) => block(ast, &mut inner.body)?,
            StatementKind::Try(inner) => {
                block(ast, &mut inner.body)?;
                block(ast, &mut inner.handler)?;
            }
            StatementKind::Approve(_)
            | StatementKind::Assert { .. }
            | StatementKind::Return(_)
            | StatementKind::Break
            | StatementKind::Continue => {}
        }
    }
    Ok(())
}

fn call(ast: &Ast, run: &mut RunStatement) -> PhaseResult<()> {
    if run.form == CallForm::Named {
        return Ok(());
    }
    let name = ast.text(run.callee.symbol);
    let Some(signature) = ast.callee(run.callee.symbol) else {
        return Err(Box::new(
            Diagnostic::error(
                code::UNKNOWN_CALLEE,
                run.callee.span(),
                format!("nothing is called `{name}`"),
            )
            .because("no task, pipeline or workflow has this name")
            .hint(ast.meant(name)),
        ));
    };
    let (wanted, given) = (signature.params.len(), run.args.len());
    if wanted != given {
        let message = format!("`{name}` takes {wanted} arguments, but {given} are given");
        return Err(Box::new(
            Diagnostic::error(code::WRONG_ARGUMENT_COUNT, run.span(), message)
                .see(signature.name.span(), "declared here"),
        ));
    }
    for (arg, param) in run.args.iter_mut().zip(&signature.params) {
        arg.name = Some(param.name.symbol);
    }
    Ok(())
}
