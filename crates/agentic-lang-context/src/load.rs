//! From one text to everything that it imports.
//!
//! The crate reads no files: whoever loads a program hands over a [`TextResolver`]. Imported agents
//! join one table of agents, their imports one table of imports.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agentic_diag::{Diagnostic, SourceText, Span};

use crate::ast::{ContextFile, ImportKind};
use crate::dialect::Dialect;
use crate::json::{self, Json};
use crate::parser;

/// How many files a program may consist of.
pub const FILES_MAX: usize = 512;

/// How long a chain of imports may be.
pub const IMPORT_CHAIN_MAX: usize = 64;

/// The largest imported data file, in bytes: 64 MiB.
pub const DATA_BYTES_MAX: usize = 64 << 20;

/// How many texts a program may import, whatever is in them.
pub const IMPORTS_MAX: usize = 1024;

/// How much all imported texts may have together, in bytes: 128 MiB.
pub const IMPORTS_BYTES_MAX: usize = 128 << 20;

/// Reads the text at a path that is relative to where the program starts, `/` between components;
/// or says why it cannot.
pub type TextResolver<'a> = &'a mut dyn FnMut(&str) -> Result<String, String>;

/// One finding and the file that it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFinding {
    /// Which of the program's sources.
    pub file: usize,
    /// What was found.
    pub diagnostic: Diagnostic,
}

/// A program with all that it imports.
#[derive(Debug, Default)]
pub(crate) struct LoadedProgram {
    pub files: Vec<ContextFile>,
    /// Tools, models, files and memories, by name in order of import.
    pub resources: Vec<ImportedResource>,
    /// Every agent of the program: file and place in it. Those of the first file come first.
    pub agents: Vec<(usize, usize)>,
}

/// A tool, model, file or memory.
#[derive(Debug)]
pub(crate) struct ImportedResource {
    pub kind: ImportKind,
    pub name: Arc<str>,
    pub uri: Arc<str>,
    /// The content of a file.
    pub data: Json,
}

/// What loading gave: the sources in any case, the tree if every text could be read.
pub(crate) struct LoadOutcome {
    pub loaded: LoadedProgram,
    /// Texts that do not parse, by their file number.
    pub broken: BTreeMap<usize, SourceText>,
    pub findings: Vec<FileFinding>,
}

/// The code of an import that cannot be loaded.
const IMPORT_FAILED: &str = "IMPORT_FAILED";
/// The code of agent imports that wait for each other.
const CIRCULAR_IMPORT: &str = "CIRCULAR_IMPORT";
/// The code of a name that is imported twice.
pub(crate) const DUPLICATE_IMPORT: &str = "DUPLICATE_IMPORT";

/// Loads a program; without a dialect every file gets the one that its text shows.
pub(crate) fn load(
    root: SourceText,
    dialect: Option<Dialect>,
    resolver: TextResolver<'_>,
) -> LoadOutcome {
    let mut loader = Loader {
        dialect,
        resolver,
        outcome: LoadOutcome {
            loaded: LoadedProgram::default(),
            broken: BTreeMap::new(),
            findings: Vec::new(),
        },
        by_path: BTreeMap::new(),
        loading: BTreeSet::new(),
        asked: BTreeSet::new(),
        by_name: BTreeMap::new(),
        sources: 0,
        n_imports: 0,
        import_bytes: 0,
    };
    loader.file(root, 0);
    loader.outcome
}

struct Loader<'a> {
    dialect: Option<Dialect>,
    resolver: TextResolver<'a>,
    outcome: LoadOutcome,
    /// Files by path; nothing for one that could not be parsed.
    by_path: BTreeMap<String, Option<usize>>,
    loading: BTreeSet<String>,
    /// Agents asked for: path and name.
    asked: BTreeSet<(String, String)>,
    by_name: BTreeMap<Arc<str>, usize>,
    sources: usize,
    /// How many texts were imported so far, and how much they have together.
    n_imports: usize,
    import_bytes: usize,
}

impl Loader<'_> {
    fn report(&mut self, file: usize, diagnostic: Diagnostic) {
        self.outcome.findings.push(FileFinding { file, diagnostic });
    }

    /// Parses a file and follows its imports; returns its number in the table of files.
    fn file(&mut self, source: SourceText, chain: usize) -> Option<usize> {
        let path = source.name().to_owned();
        let number = self.sources;
        self.sources += 1;
        let dialect = self.dialect.unwrap_or_else(|| Dialect::detect(source.text()));
        let file = match parser::parse(source, dialect) {
            Ok(file) => file,
            Err((source, fault)) => {
                self.outcome.broken.insert(number, source);
                self.report(number, *fault.into_diagnostic());
                self.by_path.insert(path, None);
                return None;
            }
        };
        let loaded = &mut self.outcome.loaded;
        let at = loaded.files.len();
        loaded.agents.extend((0..file.program.agents.len()).map(|agent| (at, agent)));
        loaded.files.push(file);
        self.by_path.insert(path.clone(), Some(at));
        self.loading.insert(path.clone());
        self.imports(at, number, chain);
        self.loading.remove(&path);
        Some(at)
    }

    fn imports(&mut self, at: usize, number: usize, chain: usize) {
        let mut names = BTreeSet::new();
        for index in 0..self.outcome.loaded.files[at].program.imports.len() {
            let file = &self.outcome.loaded.files[at];
            let import = &file.program.imports[index];
            let (kind, name_span, span) = (import.kind, import.name, import.span);
            let name = file.text(import.name).to_owned();
            let uri = file.name(import.uri).into_owned();
            if !names.insert(name.clone()) {
                self.report(number, duplicate(span, &name));
                continue;
            }
            match kind {
                ImportKind::Agent => {
                    self.agent(at, number, &ImportRequest { name, uri, span, chain })
                }
                ImportKind::Tool | ImportKind::Llm | ImportKind::File | ImportKind::Memory => {
                    let from = file.source.name();
                    let uri = resolved_uri(kind, from, &uri);
                    self.resource(number, kind, NamedFile { name, uri, span, name_span });
                }
            }
        }
    }

    fn resource(&mut self, number: usize, kind: ImportKind, named: NamedFile) {
        let name: Arc<str> = named.name.into();
        if let Some(known) = self.by_name.get(&name) {
            let known = &self.outcome.loaded.resources[*known];
            if known.kind != kind || *known.uri != *named.uri {
                self.report(number, duplicate(named.span, &name));
            }
            return;
        }
        let data = if kind == ImportKind::File {
            self.data(number, &named.uri, named.name_span)
        } else {
            Json::Null
        };
        let resources = &mut self.outcome.loaded.resources;
        self.by_name.insert(name.clone(), resources.len());
        resources.push(ImportedResource { kind, name, uri: named.uri.into(), data });
    }

    /// Reads a text that is imported: one after the other, so that what is held stays bounded.
    fn read(&mut self, path: &str) -> Result<String, String> {
        if self.n_imports >= IMPORTS_MAX {
            return Err(format!("the program imports more than {IMPORTS_MAX} files"));
        }
        self.n_imports += 1;
        let text = (self.resolver)(path)?;
        if text.len() > IMPORTS_BYTES_MAX.saturating_sub(self.import_bytes) {
            return Err(format!("all imports together have more than {IMPORTS_BYTES_MAX} bytes"));
        }
        self.import_bytes += text.len();
        Ok(text)
    }

    fn data(&mut self, number: usize, path: &str, span: Span) -> Json {
        let text = match self.read(path) {
            Ok(text) if text.len() <= DATA_BYTES_MAX => text,
            Ok(text) => {
                let reason = format!("{} bytes are more than {DATA_BYTES_MAX}", text.len());
                self.report(number, failed(span, path, &reason));
                return Json::Null;
            }
            Err(reason) => {
                self.report(number, failed(span, path, &reason));
                return Json::Null;
            }
        };
        if !path.to_ascii_lowercase().ends_with(".json") {
            return Json::text(text);
        }
        json::parse(&text).unwrap_or_else(|fault| {
            self.report(number, failed(span, path, &fault.to_string()));
            Json::Null
        })
    }

    fn agent(&mut self, importer: usize, number: usize, asked: &ImportRequest) {
        let from = self.outcome.loaded.files[importer].source.name();
        let path = resolve(from, &asked.uri);
        if !self.asked.insert((path.clone(), asked.name.clone())) {
            return;
        }
        let known = self.by_path.get(&path).copied();
        let at = match known {
            Some(None) => return,
            Some(Some(at)) => {
                if self.loading.contains(&path) && at != 0 {
                    let message = format!("the import of `{path}` waits for itself");
                    let diagnostic = Diagnostic::error(CIRCULAR_IMPORT, asked.span, message)
                        .because("the file is being loaded for another agent")
                        .hint("move the shared agent into a file of its own");
                    self.report(number, diagnostic);
                    return;
                }
                Some(at)
            }
            None => self.agent_file(number, &path, asked),
        };
        if let Some(at) = at {
            self.expect_agent(number, at, asked);
        }
    }

    fn agent_file(&mut self, number: usize, path: &str, asked: &ImportRequest) -> Option<usize> {
        if self.sources >= FILES_MAX || asked.chain >= IMPORT_CHAIN_MAX {
            let reason = format!(
                "more than {FILES_MAX} files, or a chain of more than {IMPORT_CHAIN_MAX} imports"
            );
            self.report(number, failed(asked.span, path, &reason));
            return None;
        }
        match self.read(path) {
            Ok(text) => self.file(SourceText::new(path, text), asked.chain + 1),
            Err(reason) => {
                self.report(number, failed(asked.span, path, &reason));
                None
            }
        }
    }

    fn expect_agent(&mut self, number: usize, at: usize, asked: &ImportRequest) {
        let file = &self.outcome.loaded.files[at];
        let found = file.program.agents.iter().any(|agent| file.agent_name(agent) == asked.name);
        if !found {
            let reason = format!("it declares no agent `{}`", asked.name);
            let diagnostic = failed(asked.span, file.source.name(), &reason);
            self.report(number, diagnostic);
        }
    }
}

struct ImportRequest {
    name: String,
    uri: String,
    span: Span,
    chain: usize,
}

struct NamedFile {
    name: String,
    uri: String,
    span: Span,
    name_span: Span,
}

fn duplicate(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error(DUPLICATE_IMPORT, span, format!("the name `{name}` is imported twice"))
        .because("imported again, or from elsewhere")
        .hint("import it under another name")
}

fn failed(span: Span, path: &str, reason: &str) -> Diagnostic {
    Diagnostic::error(IMPORT_FAILED, span, format!("`{path}` cannot be imported"))
        .because(reason)
        .hint("paths are relative to the file that imports")
}

/// Gives files and file memories the place that they mean from the importing file.
fn resolved_uri(kind: ImportKind, from: &str, uri: &str) -> String {
    match kind {
        ImportKind::File => resolve(from, uri),
        ImportKind::Memory => {
            let Some((scheme, rest)) = uri.split_once("://") else {
                return uri.to_owned();
            };
            let (path, namespace) = match rest.split_once('#') {
                Some((path, namespace)) => (path, Some(namespace)),
                None => (rest, None),
            };
            let path = resolve(from, path);
            match namespace {
                Some(namespace) => format!("{scheme}://{path}#{namespace}"),
                None => format!("{scheme}://{path}"),
            }
        }
        ImportKind::Tool | ImportKind::Llm | ImportKind::Agent => uri.to_owned(),
    }
}

/// Resolves a path from the file that names it, without looking at any file.
fn resolve(from: &str, path: &str) -> String {
    if path.starts_with('/') {
        return path.to_owned();
    }
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    let joined = parts.join("/");
    if from.starts_with('/') { format!("/{joined}") } else { joined }
}

#[cfg(test)]
mod tests;
