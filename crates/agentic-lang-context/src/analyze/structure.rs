//! Imports, agents and functions, before any of their content.

use std::collections::{BTreeMap, BTreeSet};

use agentic_diag::{Diagnostic, Span};
use agentic_model::STORE_ADDRESS;

use crate::ast::{EntryStatement, FunctionDeclaration, ImportKind};
use crate::dialect::Version;
use crate::load::{FileFinding, LoadedProgram};

use super::{Analyzer, NameBinding, explain};

/// How tools are called: those that a JavaScript host would offer have a finding of their own.
const TOOL_SCHEMES: [&str; 8] = ["env", "file", "http", "https", "mcp", "node", "npm", "sh"];

/// Checks the imports and the set of agents.
pub(super) fn check(
    loaded: &LoadedProgram,
    authorized: &BTreeSet<String>,
    findings: &mut Vec<FileFinding>,
) {
    for file in 0..loaded.files.len() {
        unauthorized(loaded, file, authorized, findings);
        unknown_schemes(loaded, file, findings);
    }
    agents(loaded, findings);
}

fn unauthorized(
    loaded: &LoadedProgram,
    number: usize,
    authorized: &BTreeSet<String>,
    findings: &mut Vec<FileFinding>,
) {
    let file = &loaded.files[number];
    for import in &file.program.imports {
        let uri = file.name(import.uri);
        let hosted = uri.starts_with("npm:") || uri.starts_with("node:");
        if import.kind == ImportKind::Tool && hosted && !authorized.contains(&*uri) {
            let message = format!("the tool `{uri}` needs a JavaScript host");
            let mut diagnostic =
                Diagnostic::error("UNAUTHORIZED_TOOL_IMPORT", import.span, message);
            explain(
                &mut diagnostic,
                "no host offers it here",
                "run the program where a host registers it, or import a tool over `mcp:`",
            );
            findings.push(FileFinding { file: number, diagnostic });
        }
    }
}

/// Finds tools that nobody here calls.
fn unknown_schemes(loaded: &LoadedProgram, number: usize, findings: &mut Vec<FileFinding>) {
    let file = &loaded.files[number];
    for import in file.program.imports.iter().filter(|import| import.kind == ImportKind::Tool) {
        let uri = file.name(import.uri);
        let scheme = uri.split(':').next().unwrap_or_default();
        if (uri.contains(':') && TOOL_SCHEMES.contains(&scheme)) || &*uri == STORE_ADDRESS {
            continue;
        }
        let message = match uri.split_once("://") {
            Some((scheme, _)) => format!("no tool is called by `{scheme}://`"),
            None => format!("the address `{uri}` does not say how the tool is called"),
        };
        let mut diagnostic = Diagnostic::error("UNSUPPORTED_TOOL_SCHEME", import.span, message);
        explain(
            &mut diagnostic,
            "nobody here calls it",
            "tools are `file://`, `sh://`, `env://`, `http://`, `https://` and `mcp://`, and the store \
             is `agentic://`",
        );
        findings.push(FileFinding { file: number, diagnostic });
    }
}

fn agents(loaded: &LoadedProgram, findings: &mut Vec<FileFinding>) {
    let mut report = |file: usize, diagnostic| findings.push(FileFinding { file, diagnostic });
    let mut seen: BTreeMap<&str, (usize, Span)> = BTreeMap::new();
    let (mut mains, mut entry) = (0, None);
    for (at, (file_number, agent)) in loaded.agents.iter().enumerate() {
        let file = &loaded.files[*file_number];
        let agent = &file.program.agents[*agent];
        let name = file.agent_name(agent);
        if seen.insert(name, (*file_number, agent.span)).is_some() {
            let message = format!("there are two agents `{name}`");
            report(*file_number, duplicate("DUPLICATE_AGENT", agent.span, message));
        }
        if let Some(resource) = loaded.resources.iter().find(|known| *known.name == *name) {
            let kind = resource.kind.word();
            let message = format!("the agent `{name}` has the name of an imported {kind}");
            report(*file_number, duplicate("DUPLICATE_BINDING", agent.span, message));
        }
        if agent.entry == EntryStatement::Main && *file_number == 0 {
            mains += 1;
            entry = entry.or(Some(at));
            if mains > 1 {
                let message = "a program has one main agent".to_owned();
                report(*file_number, duplicate("DUPLICATE_MAIN_AGENT", agent.span, message));
            }
        }
    }
    if loaded.files.is_empty() {
        return;
    }
    match entry.or((loaded.agents.len() == 1).then_some(0)) {
        Some(entry) => main_function(loaded, entry, &mut report),
        None => report(0, missing_main_agent(loaded.agents.len())),
    }
}

fn main_function(loaded: &LoadedProgram, entry: usize, report: &mut dyn FnMut(usize, Diagnostic)) {
    let (file_number, agent) = loaded.agents[entry];
    let agent = &loaded.files[file_number].program.agents[agent];
    if agent.functions.iter().all(|function| function.entry == EntryStatement::Plain) {
        let message = "the agent that the program begins with has no main func";
        let diagnostic = Diagnostic::error("MISSING_MAIN_FUNC", agent.span, message)
            .because("nothing in it can be started")
            .hint("write `main` before one of its functions");
        report(file_number, diagnostic);
    }
}

fn missing_main_agent(count: usize) -> Diagnostic {
    let (message, hint) = if count == 0 {
        (
            "the program declares no agent",
            "declare one: `main agent Name { main func(input) { … } }`",
        )
    } else {
        ("none of several agents is the main one", "write `main` before one agent")
    };
    Diagnostic::error("MISSING_MAIN_AGENT", Span::new(0, 0), message)
        .because("nothing says where the program begins")
        .hint(hint)
}

fn duplicate(code: &'static str, span: Span, message: String) -> Diagnostic {
    Diagnostic::error(code, span, message)
        .because("declared again here")
        .hint("rename or remove one of them")
}

impl<'a> Analyzer<'a> {
    /// Checks a function's own name and parameters.
    pub(super) fn function_name(
        &mut self,
        agent: usize,
        index: usize,
        function: &'a FunctionDeclaration,
    ) {
        let file = self.file;
        let name = file.function_name(function);
        let siblings = &file.program.agents[self.loaded.agents[agent].1].functions;
        let earlier = &siblings[..index];
        if self.functions[agent].get(name).is_some_and(|first| *first != index) {
            let message = format!("the agent has two functions `{name}`");
            let found = self.report("DUPLICATE_FUNCTION", function.span, message);
            explain(found, "declared again here", "rename or remove one of them");
        }
        if function.entry == EntryStatement::Main
            && earlier.iter().any(|other| other.entry == EntryStatement::Main)
        {
            let found =
                self.report("DUPLICATE_MAIN_FUNC", function.span, "an agent has one main func");
            explain(found, "declared again here", "remove `main` from one of them");
        }
        if let Some((_, binding @ NameBinding::Resource(..))) = self.scopes.find(name) {
            let message =
                format!("the function `{name}` has the name of an imported {}", binding.word());
            let found = self.report("DUPLICATE_BINDING", function.span, message);
            explain(found, "the name is taken", "rename one of them");
        }
        self.params(function);
    }

    fn params(&mut self, function: &'a FunctionDeclaration) {
        let file = self.file;
        let mut seen = BTreeSet::new();
        for (at, param) in function.params.iter().enumerate() {
            let name = file.text(param.name);
            if !seen.insert(name) {
                let message = format!("the function has two parameters `{name}`");
                let found = self.report("DUPLICATE_PARAM", param.name, message);
                explain(found, "declared again here", "rename one of them");
            }
            if let Some((_, binding @ NameBinding::Resource(..))) = self.scopes.find(name) {
                let message =
                    format!("the parameter `{name}` hides an imported {}", binding.word());
                let found = self.report("PARAM_SHADOWS_IMPORT", param.name, message);
                explain(found, "the name is taken", "rename the parameter");
            }
            if let Some(contract) = &param.contract {
                if function.entry == EntryStatement::Plain || at > 0 {
                    let code = if file.dialect.since(Version::V0_1_18) {
                        "INVALID_PARAM_CONTRACT"
                    } else {
                        "INVALID_PARAM_SHAPE"
                    };
                    let message = "only the input of a main func has a contract";
                    let found = self.report(code, param.name, message);
                    explain(found, "this is not such an input", "remove the contract");
                }
                self.contract(contract);
            }
        }
    }
}
