//! Calls of tasks and pipelines.

use agentic_diag::Diagnostic;

use crate::ast::{Arg, OnFail, RunStatement, TaskMode, TaskSignature};
use crate::check::Checker;
use crate::code::{self, PhaseResult};
use crate::symbol::{Symbol, SymbolIndex};
use crate::types::{OptionalWrapping, TypeId};

/// The codes of what can be wrong with arguments, which differ between tasks and pipelines.
struct Codes {
    missing: &'static str,
    unknown: &'static str,
    mistyped: &'static str,
    what: &'static str,
}

const TASK: Codes = Codes {
    missing: code::MISSING_ARGUMENTS,
    unknown: code::UNKNOWN_ARGUMENTS,
    mistyped: code::ARGUMENT_TYPE,
    what: "task",
};

const PIPELINE: Codes = Codes {
    missing: code::MISSING_INPUTS,
    unknown: code::UNKNOWN_INPUTS,
    mistyped: code::INPUT_TYPE,
    what: "pipeline",
};

/// What is called, by its place in the file's list.
#[derive(Clone, Copy)]
enum CheckedCallee {
    Task(usize),
    Pipeline(usize),
}

impl Checker<'_> {
    /// Checks a call and returns the type of its result.
    pub(super) fn run(&mut self, run: &RunStatement) -> PhaseResult<TypeId> {
        let name = run.callee.symbol;
        if let Some(at) = self.ast.by_name.tasks.get(name) {
            return self.task_call(run, at);
        }
        if let Some(at) = self.ast.by_name.pipelines.get(name) {
            return self.pipeline_call(run, at);
        }
        let found = self.wrong(run, code::UNKNOWN_TASK, "no task or pipeline is called");
        Err(Box::new(found.hint(self.ast.meant(self.ast.text(name)))))
    }

    /// Says what is wrong with a call; the name of the callee is added.
    fn wrong(&self, run: &RunStatement, code: &'static str, what: &str) -> Box<Diagnostic> {
        let message = format!("{what} `{}`", self.ast.text(run.callee.symbol));
        Box::new(Diagnostic::error(code, run.span(), message))
    }

    fn task_call(&mut self, run: &RunStatement, at: usize) -> PhaseResult<TypeId> {
        let mode = self.ast.tasks[at].mode;
        if let Some(agent) = run.by {
            if self.ast.by_name.agents.get(agent.symbol).is_none() {
                let text = self.ast.text(agent.symbol);
                let what = format!("no agent `{text}` is there to perform");
                return Err(self.wrong(run, code::UNKNOWN_AGENT, &what));
            }
        } else if mode == TaskMode::Agent {
            let found = self.wrong(run, code::AGENT_NEEDED, "no agent is named to perform");
            return Err(Box::new(found.hint("add `by AGENT`")));
        }
        let result = self.ast.tasks[at].signature.result;
        if let Some(OnFail::Use(fallback)) = run.on_fail {
            let found = self.expression(fallback)?;
            if !self.ast.types.fits(found, result, OptionalWrapping::Allowed) {
                let (found, result) = (self.ast.shown(found), self.ast.shown(result));
                let what = format!("the fallback is `{found}` instead of `{result}` for");
                return Err(self.wrong(run, code::FALLBACK_TYPE, &what));
            }
        }
        self.arguments(run, CheckedCallee::Task(at), &TASK)?;
        Ok(result)
    }

    fn pipeline_call(&mut self, run: &RunStatement, at: usize) -> PhaseResult<TypeId> {
        if run.by.is_some() {
            let what = "`by` has no meaning when calling the pipeline";
            return Err(self.wrong(run, code::PIPELINE_BY, what));
        }
        let retries = run.retries.map(|digits| self.ast.text(digits));
        if retries.is_some_and(|digits| digits.bytes().any(|digit| digit != b'0')) {
            let what = "`retries` has no meaning when calling the pipeline";
            return Err(self.wrong(run, code::PIPELINE_RETRIES, what));
        }
        if matches!(run.on_fail, Some(OnFail::Use(_))) {
            let what = "`on_fail use` has no meaning when calling the pipeline";
            return Err(self.wrong(run, code::PIPELINE_FALLBACK, what));
        }
        if run.timeout.is_some() {
            let what = "`timeout` has no meaning when calling the pipeline";
            return Err(self.wrong(run, code::PIPELINE_TIMEOUT, what));
        }
        self.arguments(run, CheckedCallee::Pipeline(at), &PIPELINE)?;
        Ok(self.ast.pipelines[at].signature.result)
    }

    fn arguments(
        &mut self,
        run: &RunStatement,
        callee: CheckedCallee,
        codes: &Codes,
    ) -> PhaseResult<()> {
        let mut given = std::mem::take(&mut self.arguments);
        let name = |arg: &Arg| arg.name.expect("calls are resolved before the check");
        run.args.iter().enumerate().for_each(|(at, arg)| given.set(name(arg), at));
        let checked = self.bound_arguments(run, callee, codes, &given);
        run.args.iter().for_each(|arg| given.remove(name(arg)));
        self.arguments = given;
        checked
    }

    fn bound_arguments(
        &mut self,
        run: &RunStatement,
        callee: CheckedCallee,
        codes: &Codes,
        given: &SymbolIndex,
    ) -> PhaseResult<()> {
        let params = self.signature(callee).params.iter().map(|param| param.name.symbol);
        let missing: Vec<Symbol> = params.filter(|name| given.get(*name).is_none()).collect();
        if !missing.is_empty() {
            let what = format!("missing arguments {} of the {}", self.sorted(&missing), codes.what);
            return Err(self.wrong(run, codes.missing, &what));
        }
        let count = self.signature(callee).params.len();
        if run.args.len() > count {
            let params = self.signature(callee).params.iter().map(|param| param.name.symbol);
            let known: std::collections::HashSet<Symbol> = params.collect();
            let names = run.args.iter().filter_map(|arg| arg.name);
            let unknown: Vec<Symbol> = names.filter(|name| !known.contains(name)).collect();
            let what = format!("unknown arguments {} of the {}", self.sorted(&unknown), codes.what);
            return Err(self.wrong(run, codes.unknown, &what));
        }
        for at in 0..count {
            let param = self.signature(callee).params[at];
            let arg = given.get(param.name.symbol).expect("no argument is missing");
            let value = run.args[arg].value;
            let found = self.expression(value)?;
            if !self.ast.types.fits(found, param.declared, OptionalWrapping::Allowed) {
                let name = self.ast.text(param.name.symbol);
                let (found, wanted) = (self.ast.shown(found), self.ast.shown(param.declared));
                let what =
                    format!("`{name}` is `{found}` instead of `{wanted}` for the {}", codes.what);
                let found = self.wrong(run, codes.mistyped, &what);
                let found = found.hint(self.ast.variants_of(param.declared));
                return Err(Box::new(
                    found.see(self.ast.expr(value).span(), format!("must be `{wanted}`")),
                ));
            }
        }
        Ok(())
    }

    fn signature(&self, callee: CheckedCallee) -> &TaskSignature {
        match callee {
            CheckedCallee::Task(at) => &self.ast.tasks[at].signature,
            CheckedCallee::Pipeline(at) => &self.ast.pipelines[at].signature,
        }
    }

    /// Lists names in the order of the alphabet.
    fn sorted(&self, names: &[Symbol]) -> String {
        let mut texts: Vec<String> =
            names.iter().map(|name| format!("`{}`", self.ast.text(*name))).collect();
        texts.sort();
        texts.join(", ")
    }
}
