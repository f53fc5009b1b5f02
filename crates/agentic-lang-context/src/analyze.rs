//! What can be known to be wrong with a program before it runs.
//!
//! Codes and places are those of the published language. The walk mirrors the scopes of a run:
//! blocks inherit, functions and agents inherit nothing from their callers, and a name first
//! assigned inside a block is unknown after it.

mod call;
mod expression;
mod field;
mod generate;
mod sharing;
mod statement;
mod structure;
mod usage;

use std::collections::{BTreeMap, BTreeSet};

use agentic_diag::{Diagnostic, Span};

use crate::ast::{
    ConfigKey, ContextExprId, ContextFile, ExprLink, FunctionDeclaration, ImportKind,
};
use crate::dialect::Version;
use crate::load::{FileFinding, LoadedProgram};
use crate::scope::Scopes;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameBinding {
    Param,
    Local,
    /// A function: agent and place in it.
    Function(usize, usize),
    /// A tool, model, file or memory, by its place in the table of imports.
    Resource(ImportKind, usize),
    Agent(usize),
}

impl NameBinding {
    fn word(self) -> &'static str {
        match self {
            NameBinding::Param => "parameter",
            NameBinding::Local => "local",
            NameBinding::Function(..) => "function",
            NameBinding::Resource(kind, _) => kind.word(),
            NameBinding::Agent(_) => "agent",
        }
    }

    fn is_mutable(self) -> bool {
        matches!(self, NameBinding::Param | NameBinding::Local)
    }

    /// Tells whether it is data, which alone may become context.
    fn is_data(self) -> bool {
        match self {
            NameBinding::Param
            | NameBinding::Local
            | NameBinding::Resource(ImportKind::File, _) => true,
            NameBinding::Function(..) | NameBinding::Resource(..) | NameBinding::Agent(_) => false,
        }
    }
}

/// Finds the calls of agents that cannot run as programs of their own.
pub(crate) fn refuse_sharing(loaded: &LoadedProgram) -> Vec<FileFinding> {
    let mut findings = Vec::new();
    sharing::check(loaded, &mut findings);
    findings
}

/// Finds what is likely to be wrong with a program that may run.
pub(crate) fn warn(loaded: &LoadedProgram) -> Vec<FileFinding> {
    let mut findings = Vec::new();
    field::check(loaded, &mut findings);
    findings
}

/// Checks a loaded program. `authorized` names the `npm:` and `node:` tools that the host offers.
pub(crate) fn analyze(loaded: &LoadedProgram, authorized: &BTreeSet<String>) -> Vec<FileFinding> {
    let mut findings = Vec::new();
    structure::check(loaded, authorized, &mut findings);
    let agents_by_name = (0..loaded.agents.len())
        .rev()
        .map(|at| (agent_name(loaded, at), at))
        .collect::<BTreeMap<_, _>>();
    let functions = (0..loaded.agents.len()).map(|at| functions_by_name(loaded, at)).collect();
    let mut analyzer = Analyzer {
        loaded,
        file_number: 0,
        file: match loaded.files.first() {
            Some(file) => file,
            None => return findings,
        },
        functions,
        scopes: Scopes::new(),
        config: Vec::new(),
        parallel: Vec::new(),
        findings,
    };
    analyzer.scopes.enter();
    for (name, at) in agents_by_name {
        analyzer.scopes.declare(name, NameBinding::Agent(at));
    }
    for (at, resource) in loaded.resources.iter().enumerate() {
        analyzer.scopes.declare(&resource.name, NameBinding::Resource(resource.kind, at));
    }
    for at in 0..loaded.agents.len() {
        analyzer.agent(at);
    }
    analyzer.findings
}

fn agent_name(loaded: &LoadedProgram, at: usize) -> &str {
    let (file, agent) = loaded.agents[at];
    let file = &loaded.files[file];
    file.agent_name(&file.program.agents[agent])
}

fn functions_by_name(loaded: &LoadedProgram, at: usize) -> BTreeMap<&str, usize> {
    let (file, agent) = loaded.agents[at];
    let file = &loaded.files[file];
    let functions = file.program.agents[agent].functions.iter().enumerate().rev();
    functions.map(|(at, function)| (file.function_name(function), at)).collect()
}

struct Analyzer<'a> {
    loaded: &'a LoadedProgram,
    file_number: usize,
    file: &'a ContextFile,
    /// The functions of every agent.
    functions: Vec<BTreeMap<&'a str, usize>>,
    scopes: Scopes<'a, NameBinding>,
    /// Configuration seen so far in the scopes around this place.
    config: Vec<ConfigKey>,
    /// The depths of the scopes of the `parallel for` bodies around this place.
    parallel: Vec<usize>,
    findings: Vec<FileFinding>,
}

impl<'a> Analyzer<'a> {
    fn report(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        let diagnostic = Diagnostic::error(code, span, message);
        self.findings.push(FileFinding { file: self.file_number, diagnostic });
        &mut self.findings.last_mut().expect("a finding was just added").diagnostic
    }

    fn since(&self, version: Version) -> bool {
        self.file.dialect.since(version)
    }

    fn agent(&mut self, at: usize) {
        let (file, agent) = self.loaded.agents[at];
        self.file_number = file;
        self.file = &self.loaded.files[file];
        let file = self.file;
        let agent = &file.program.agents[agent];
        self.scopes.enter();
        for (index, function) in agent.functions.iter().enumerate() {
            let name = file.function_name(function);
            self.function_name(at, index, function);
            if !matches!(self.scopes.find(name), Some((_, NameBinding::Function(owner, _))) if owner == at)
            {
                self.scopes.declare(name, NameBinding::Function(at, index));
            }
        }
        self.config.clear();
        for config in &agent.config {
            self.config(config);
        }
        for declared in &agent.uses {
            self.agent_use(declared);
        }
        let agent_config = self.config.len();
        for function in &agent.functions {
            self.function(function);
            self.config.truncate(agent_config);
        }
        self.scopes.leave();
    }

    fn function(&mut self, function: &'a FunctionDeclaration) {
        self.scopes.enter();
        for param in &function.params {
            self.scopes.declare(self.file.text(param.name), NameBinding::Param);
        }
        self.scopes.enter();
        self.statements(&function.body);
        self.scopes.leave();
        self.scopes.leave();
    }

    /// Returns the name at the root of a chain of members and indexes.
    fn root(&self, expr: ContextExprId) -> Option<(ContextExprId, &'a str)> {
        let mut expr = expr;
        loop {
            let file: &'a ContextFile = self.file;
            match file.expr(expr).kind.link() {
                Some(ExprLink::Name) => return Some((expr, file.text(file.expr(expr).span))),
                Some(ExprLink::Member { object, .. }) => expr = object,
                Some(ExprLink::Index { list }) => expr = list,
                Some(ExprLink::Call { .. }) | None => return None,
            }
        }
    }
}

/// Adds reason and hint to a finding that was just reported.
fn explain(diagnostic: &mut Diagnostic, reason: &str, hint: &str) {
    diagnostic.reason = reason.to_owned();
    diagnostic.hint = hint.to_owned();
}

#[cfg(test)]
mod tests;
