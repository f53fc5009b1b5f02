//! The front ends of the languages, behind one face: what is wrong with a program, and how it
//! looks laid out anew.

use std::collections::BTreeMap;
use std::sync::Arc;

use agentic_diag::{Diagnostic, SourceText};
use agentic_flow::Rhai;
use agentic_lang_agent::AgentLang;
use agentic_lang_context::{Calls, ContextLanguage};
use agentic_lang_pipeline::{PipelineFindings, PipelineLanguage};
use agentic_model::Value;
use agentic_plan::Registry;
use agentic_replay::Language;

use crate::context::Context;
use crate::failure::CommandFailure;
use crate::import::ImportRoots;
use crate::program::{CheckedProgram, ProgramFile};

/// What became of laying a program out anew.
pub enum LayoutOutcome {
    /// The new text.
    Text(String),
    /// It has errors of syntax.
    Broken(CheckedProgram),
}

/// A compiled program of the context language.
pub struct ContextProgram {
    /// The program.
    pub module: agentic_lang_context::Module,
    /// The texts that it imports, by their paths.
    pub files: BTreeMap<String, String>,
}

/// How programs of a language are looked at.
struct FrontEnd {
    language: &'static dyn Language,
    check: fn(&Context, &ProgramFile, &Arc<Registry>) -> Result<CheckedProgram, CommandFailure>,
    format: fn(&ProgramFile) -> Result<LayoutOutcome, CommandFailure>,
}

/// The front ends of all languages.
static FRONT_ENDS: [FrontEnd; 4] = [
    FrontEnd { language: &AgentLang, check: check_agentlang, format: format_agentlang },
    FrontEnd { language: &PipelineLanguage, check: check_pipeline, format: format_pipeline },
    FrontEnd { language: &Rhai, check: check_script, format: format_script },
    FrontEnd { language: &ContextLanguage, check: check_context, format: format_context },
];

/// Looks for errors and warnings, without running anything. Only pipelines need a registry.
pub fn check(
    context: &Context,
    program: &ProgramFile,
    registry: &Arc<Registry>,
) -> Result<CheckedProgram, CommandFailure> {
    (front_end(program)?.check)(context, program, registry)
}

/// Lays a program out anew.
pub fn format(program: &ProgramFile) -> Result<LayoutOutcome, CommandFailure> {
    (front_end(program)?.format)(program)
}

fn front_end(program: &ProgramFile) -> Result<&'static FrontEnd, CommandFailure> {
    let found = FRONT_ENDS.iter().find(|front_end| program.language.is(front_end.language));
    found.ok_or_else(|| {
        let name = program.language.name();
        CommandFailure::usage(
            &format!("nothing here reads the language `{name}`"),
            "run it as a session",
        )
    })
}

fn check_agentlang(
    _context: &Context,
    program: &ProgramFile,
    _registry: &Arc<Registry>,
) -> Result<CheckedProgram, CommandFailure> {
    Ok(match agentic_lang_agent::read(&program.name, &program.bytes) {
        Ok(source) => {
            let findings = agentic_lang_agent::check(&source);
            CheckedProgram::of(source, findings)
        }
        Err(finding) => unreadable(program, *finding),
    })
}

fn format_agentlang(program: &ProgramFile) -> Result<LayoutOutcome, CommandFailure> {
    let source = match agentic_lang_agent::read(&program.name, &program.bytes) {
        Ok(source) => source,
        Err(finding) => return Ok(LayoutOutcome::Broken(unreadable(program, *finding))),
    };
    Ok(match agentic_lang_agent::format(&source) {
        Ok(text) => LayoutOutcome::Text(text),
        Err(finding) => LayoutOutcome::Broken(CheckedProgram::of(source, vec![*finding])),
    })
}

fn check_pipeline(
    _context: &Context,
    program: &ProgramFile,
    registry: &Arc<Registry>,
) -> Result<CheckedProgram, CommandFailure> {
    let text = agentic_lang_pipeline::source_text(&program.bytes);
    let checked = text.and_then(|text| agentic_lang_pipeline::check(text, registry));
    Ok(of_pipeline(program, checked.err().unwrap_or_default()))
}

fn format_pipeline(program: &ProgramFile) -> Result<LayoutOutcome, CommandFailure> {
    let text = agentic_lang_pipeline::source_text(&program.bytes);
    Ok(match text.and_then(agentic_lang_pipeline::format) {
        Ok(text) => LayoutOutcome::Text(text),
        Err(findings) => LayoutOutcome::Broken(of_pipeline(program, findings)),
    })
}

fn check_script(
    _context: &Context,
    program: &ProgramFile,
    _registry: &Arc<Registry>,
) -> Result<CheckedProgram, CommandFailure> {
    let source = SourceText::new(program.name.as_str(), program.text()?);
    let findings = agentic_flow::check(source.text());
    Ok(CheckedProgram::of(source, findings))
}

fn format_script(_program: &ProgramFile) -> Result<LayoutOutcome, CommandFailure> {
    Err(CommandFailure::usage("scripts are not laid out anew", "format `.agent` and `.as` files"))
}

fn check_context(
    context: &Context,
    program: &ProgramFile,
    _registry: &Arc<Registry>,
) -> Result<CheckedProgram, CommandFailure> {
    Ok(match compile_context(context, program, Calls::Contexts)? {
        Ok(compiled) => of_context(compiled.module.warned()),
        Err(checked) => checked,
    })
}

fn format_context(program: &ProgramFile) -> Result<LayoutOutcome, CommandFailure> {
    let text = program.text()?;
    Ok(match agentic_lang_context::format(text, program.dialect) {
        Ok(text) => LayoutOutcome::Text(text),
        Err(finding) => {
            let source = SourceText::new(program.name.as_str(), text);
            LayoutOutcome::Broken(CheckedProgram::of(source, vec![*finding]))
        }
    })
}

/// The findings of the pipeline language.
pub fn of_pipeline(program: &ProgramFile, findings: PipelineFindings) -> CheckedProgram {
    let source = SourceText::new(program.name.as_str(), readable(&program.bytes));
    CheckedProgram::of(source, findings.into_iter().map(|finding| finding.diagnostic).collect())
}

/// Returns what is wrong with a program of the pipeline language as data, with all that is known
/// about it.
pub fn pipeline_findings(program: &ProgramFile, registry: &Registry) -> Vec<Value> {
    let text = agentic_lang_pipeline::source_text(&program.bytes);
    let checked = text.and_then(|text| agentic_lang_pipeline::check(text, registry));
    let source = SourceText::new(program.name.as_str(), readable(&program.bytes));
    let findings = checked.err().unwrap_or_default();
    agentic_lang_pipeline::findings_to_values(&source, &findings)
}

/// The finding of a file that cannot be read as text, at the place where that begins.
pub fn unreadable(program: &ProgramFile, finding: Diagnostic) -> CheckedProgram {
    let text = readable(&program.bytes);
    let span = agentic_diag::Span::new(text.len(), text.len());
    let source = SourceText::new(program.name.as_str(), text);
    CheckedProgram::of(source, vec![Diagnostic { span, ..finding }])
}

/// Returns the text up to the first byte that is none.
fn readable(bytes: &[u8]) -> &str {
    let end = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
    std::str::from_utf8(&bytes[..end]).expect("the text ends before the first bad byte")
}

/// Compiles a program of the context language with all that it imports, or finds what is wrong.
pub fn compile_context(
    context: &Context,
    program: &ProgramFile,
    calls: Calls,
) -> Result<Result<ContextProgram, CheckedProgram>, CommandFailure> {
    let source = SourceText::new(program.name.as_str(), program.text()?);
    let mut files = BTreeMap::new();
    let roots = ImportRoots::of(&context.directory, &program.name, &program.imports);
    let mut resolver = |path: &str| {
        let text = roots.read(path)?;
        files.insert(path.to_owned(), text.clone());
        Ok(text)
    };
    let options = agentic_lang_context::CheckOptions {
        dialect: program.dialect,
        calls,
        ..agentic_lang_context::CheckOptions::default()
    };
    let compiled = agentic_lang_context::compile(source, &options, &mut resolver);
    Ok(match compiled {
        Ok(module) => Ok(ContextProgram { module, files }),
        Err(checked) => Err(of_context(checked)),
    })
}

/// Takes over what was found in a program of the context language.
pub fn of_context(checked: agentic_lang_context::CheckFindings) -> CheckedProgram {
    let findings = checked.findings.into_iter();
    let findings = findings.map(|finding| (finding.file, finding.diagnostic)).collect();
    CheckedProgram { sources: checked.sources, findings }
}
