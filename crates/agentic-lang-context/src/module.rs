//! Programs ready to run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agentic_diag::SourceText;
use agentic_model::STORE_ADDRESS;

use crate::analyze;
use crate::ast::ImportKind;
use crate::code::{CodePlace, ContextCode, Op, Resource};
use crate::dialect::Dialect;
use crate::error::RunFault;
use crate::load::{self, FileFinding, LoadedProgram, TextResolver};

/// How many instructions a run may take where nothing else is said.
pub const STEPS_MAX: u64 = 500_000_000;

/// How a program is read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckOptions {
    /// The dialect of every file; by default each file gets the one that its text shows.
    pub dialect: Option<Dialect>,
    /// The addresses of `npm:` and `node:` tools that the host offers.
    pub authorized_tools: BTreeSet<String>,
    /// What a call of an agent is.
    pub calls: Calls,
}

/// What a call of an agent is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Calls {
    /// A part of the run, with a trace of its own.
    #[default]
    Contexts,
    /// A program of its own: a request of kind `spawn`. It works on copies of its arguments, so a
    /// call whose callee may change one is refused.
    Children,
}

/// What a check found.
#[derive(Debug)]
pub struct CheckFindings {
    /// Every text that was read, the program itself first.
    pub sources: Vec<SourceText>,
    /// What is wrong; nothing if the program may run.
    pub findings: Vec<FileFinding>,
}

/// A compiled program: immutable, shared by any number of runs.
#[derive(Debug, Clone)]
pub struct ContextModule {
    pub(crate) shared: Arc<ModuleShared>,
}

#[derive(Debug)]
pub(crate) struct ModuleShared {
    pub sources: Vec<SourceText>,
    pub dialects: Vec<Dialect>,
    pub code: ContextCode,
    pub calls: Calls,
    pub warnings: Vec<FileFinding>,
}

/// Where a run begins. The default is the main function of the main agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntryPoint {
    /// Another agent than the main one.
    pub agent: Option<String>,
    /// Another function than the agent's main one.
    pub function: Option<String>,
}

impl EntryPoint {
    /// Reads `AGENT` or `AGENT.FUNC`.
    pub fn parse(text: &str) -> EntryPoint {
        let (agent, function) = match text.split_once('.') {
            Some((agent, function)) => (agent, Some(function.to_owned())),
            None => (text, None),
        };
        let agent = (!agent.is_empty()).then(|| agent.to_owned());
        EntryPoint { agent, function }
    }
}

/// Whether a run reports what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceMode {
    /// Every event of the language's trace.
    Full,
    /// Nothing.
    Off,
}

/// Who is asked by calls of a tool at `agentic://`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StoreReach {
    /// Whoever answers tools: a mock, or nobody.
    #[default]
    Tools,
    /// The store that the session is in, by the requests that flows make.
    Session,
}

/// How a program is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextOptions {
    /// How many iterations of one `parallel for` run at once.
    pub concurrency: usize,
    /// How deep calls may nest.
    pub call_depth_max: u32,
    /// How many instructions a run may take. One that touches large values counts as many.
    pub steps_max: u64,
    /// Which candidate each choice takes, by the id of its site.
    pub variant: BTreeMap<String, String>,
    /// Whether the run reports what it does.
    pub tracing: TraceMode,
    /// Who is asked by calls of a tool at `agentic://`.
    pub store: StoreReach,
}

impl Default for ContextOptions {
    fn default() -> ContextOptions {
        ContextOptions {
            concurrency: 4,
            call_depth_max: 1000,
            steps_max: STEPS_MAX,
            variant: BTreeMap::new(),
            tracing: TraceMode::Full,
            store: StoreReach::default(),
        }
    }
}

/// Reads a program with all that it imports and says what is wrong with it, without running
/// anything.
///
/// The name of `root` is its path; imports resolve from there and are read by `resolver`.
pub fn check(
    root: SourceText,
    options: &CheckOptions,
    resolver: TextResolver<'_>,
) -> CheckFindings {
    let (loaded, sources, findings) = read(root, options, resolver);
    let sources = sources.unwrap_or_else(|| sources_of(loaded).0);
    CheckFindings { sources, findings }
}

/// Checks and compiles a program.
///
/// # Errors
/// Fails with everything that the check found.
pub fn compile(
    root: SourceText,
    options: &CheckOptions,
    resolver: TextResolver<'_>,
) -> Result<ContextModule, CheckFindings> {
    let (loaded, sources, findings) = read(root, options, resolver);
    if let Some(sources) = sources {
        return Err(CheckFindings { sources, findings });
    }
    if !findings.is_empty() {
        return Err(CheckFindings { sources: sources_of(loaded).0, findings });
    }
    let code = crate::compile::compile(&loaded);
    let warnings = analyze::warn(&loaded);
    let (sources, dialects) = sources_of(loaded);
    let calls = options.calls;
    Ok(ContextModule {
        shared: Arc::new(ModuleShared { sources, dialects, code, calls, warnings }),
    })
}

/// Loads and analyzes; the sources come back apart when a text could not be parsed.
fn read(
    root: SourceText,
    options: &CheckOptions,
    resolver: TextResolver<'_>,
) -> (LoadedProgram, Option<Vec<SourceText>>, Vec<FileFinding>) {
    let outcome = load::load(root, options.dialect, resolver);
    let load::LoadOutcome { loaded, broken, mut findings } = outcome;
    if broken.is_empty() {
        findings.extend(analyze::analyze(&loaded, &options.authorized_tools));
        if findings.is_empty() && options.calls == Calls::Children {
            findings.extend(analyze::refuse_sharing(&loaded));
        }
        return (loaded, None, findings);
    }
    let mut broken = broken;
    let mut files = loaded.files.into_iter().map(|file| file.source);
    let mut sources = Vec::new();
    loop {
        match broken.remove(&sources.len()).or_else(|| files.next()) {
            Some(source) => sources.push(source),
            None => return (LoadedProgram::default(), Some(sources), findings),
        }
    }
}

fn sources_of(loaded: LoadedProgram) -> (Vec<SourceText>, Vec<Dialect>) {
    loaded.files.into_iter().map(|file| (file.source, file.dialect)).unzip()
}

impl ContextModule {
    /// Says whether it has a tool at `agentic://`: the store of the session that it runs as.
    pub fn reaches_store(&self) -> bool {
        let is_store = |resource: &Resource| {
            resource.kind == ImportKind::Tool && &*resource.uri == STORE_ADDRESS
        };
        self.shared.code.resources.iter().any(is_store)
    }

    /// Returns the texts of the program, the program itself first.
    pub fn sources(&self) -> &[SourceText] {
        &self.shared.sources
    }

    /// Returns what is likely to be wrong with the program, though it may run.
    pub fn warned(&self) -> CheckFindings {
        let (sources, findings) = (self.shared.sources.clone(), self.shared.warnings.clone());
        CheckFindings { sources, findings }
    }

    /// Returns the dialect of the program itself, which a start record pins.
    pub fn dialect(&self) -> Dialect {
        self.shared.dialects[0]
    }

    /// Lists the ids of the choices (`use one of`) and their candidates, in order of the source.
    pub fn choices(&self) -> Vec<(&str, Vec<&str>)> {
        let sites = self.shared.code.uses.iter().filter_map(|site| {
            let choice = site.choice.as_ref()?;
            let names = site.candidates.iter().map(|candidate| &*candidate.name).collect();
            Some((&*choice.site_id, names))
        });
        sites.collect()
    }

    /// Tells whether a run ended where a model is called.
    pub fn is_at_model_call(&self, fault: &RunFault) -> bool {
        let (line, column) = (fault.position.line as usize, fault.position.column as usize);
        let code = &self.shared.code;
        code.ops.iter().zip(&code.places).any(|(op, place)| {
            let is_there = || {
                let position = self.shared.position(*place);
                (position.line, position.column) == (line, column)
            };
            matches!(op, Op::Generate(_)) && place.file as usize == fault.file && is_there()
        })
    }

    /// Lists the addresses of the imported resources: sort, name and address.
    pub fn resources(&self) -> impl Iterator<Item = (&'static str, &str, &str)> {
        let resources = self.shared.code.resources.iter();
        resources.map(|resource| (resource.kind.word(), &*resource.name, &*resource.uri))
    }
}

impl ModuleShared {
    /// Returns line and column of a place.
    pub(crate) fn position(&self, place: CodePlace) -> agentic_diag::LineColumn {
        self.sources[place.file as usize].position(place.start as usize)
    }
}
