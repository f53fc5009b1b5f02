//! The front ends of the languages, behind one face: what is wrong with a program, and how it
//! looks laid out anew.

use std::collections::BTreeMap;
use std::sync::Arc;

use agentic_diag::{Diagnostic, SourceText};
use agentic_flow::Rhai;
use agentic_lang_agent::AgentLang;
use agentic_lang_context::{Calls, ContextLanguage};
use agentic_lang_pipeline::{CompiledSource, PipelineFindings, PipelineLanguage};
use agentic_model::Value;
use agentic_plan::Registry;
use agentic_replay::Language;

use super::findings::ProgramFindings;
use super::import::ImportRoots;
use super::source::ProgramText;
use crate::Refusal;

/// What became of laying a program out anew.
#[derive(Debug)]
pub enum LayoutOutcome {
    /// The new text.
    Text(String),
    /// It has errors of syntax.
    Broken(ProgramFindings),
}

/// A compiled program of the context language.
pub(crate) struct ContextProgram {
    /// The program.
    pub module: agentic_lang_context::ContextModule,
    /// The texts that it imports, by their paths.
    pub files: BTreeMap<String, String>,
}

/// How programs of a language are looked at.
struct FrontEnd {
    language: &'static dyn Language,
    check: fn(&ProgramText, &Arc<Registry>) -> Result<ProgramFindings, Refusal>,
    format: fn(&ProgramText) -> Result<LayoutOutcome, Refusal>,
}

/// The front ends of all languages.
static FRONT_ENDS: [FrontEnd; 4] = [
    FrontEnd { language: &AgentLang, check: check_agentlang, format: format_agentlang },
    FrontEnd { language: &PipelineLanguage, check: check_pipeline, format: format_pipeline },
    FrontEnd { language: &Rhai, check: check_script, format: format_script },
    FrontEnd { language: &ContextLanguage, check: check_context, format: format_context },
];

/// Looks for errors and warnings, without running anything. Only pipelines need a registry.
///
/// # Errors
/// Fails when nothing here reads the language, and when a text is none.
pub fn check(program: &ProgramText, registry: &Arc<Registry>) -> Result<ProgramFindings, Refusal> {
    (front_end(program)?.check)(program, registry)
}

/// Lays a program out anew.
///
/// # Errors
/// Fails when programs of the language are not laid out anew, and when a text is none.
pub fn format(program: &ProgramText) -> Result<LayoutOutcome, Refusal> {
    (front_end(program)?.format)(program)
}

fn front_end(program: &ProgramText) -> Result<&'static FrontEnd, Refusal> {
    let found = FRONT_ENDS.iter().find(|front_end| program.language.is(front_end.language));
    found.ok_or_else(|| {
        let name = program.language.name();
        Refusal::usage(&format!("nothing here reads the language `{name}`"), "run it as a session")
    })
}

fn check_agentlang(
    program: &ProgramText,
    _registry: &Arc<Registry>,
) -> Result<ProgramFindings, Refusal> {
    Ok(match agentic_lang_agent::read(&program.name, &program.bytes) {
        Ok(source) => {
            let findings = agentic_lang_agent::check(&source);
            ProgramFindings::of(source, findings)
        }
        Err(finding) => unreadable(program, *finding),
    })
}

fn format_agentlang(program: &ProgramText) -> Result<LayoutOutcome, Refusal> {
    let source = match agentic_lang_agent::read(&program.name, &program.bytes) {
        Ok(source) => source,
        Err(finding) => return Ok(LayoutOutcome::Broken(unreadable(program, *finding))),
    };
    Ok(match agentic_lang_agent::format(&source) {
        Ok(text) => LayoutOutcome::Text(text),
        Err(finding) => LayoutOutcome::Broken(ProgramFindings::of(source, vec![*finding])),
    })
}

fn check_pipeline(
    program: &ProgramText,
    registry: &Arc<Registry>,
) -> Result<ProgramFindings, Refusal> {
    let text = agentic_lang_pipeline::source_text(&program.bytes);
    let checked = text.and_then(|text| agentic_lang_pipeline::check(text, registry));
    Ok(of_pipeline(program, checked.err().unwrap_or_default()))
}

fn format_pipeline(program: &ProgramText) -> Result<LayoutOutcome, Refusal> {
    let text = agentic_lang_pipeline::source_text(&program.bytes);
    Ok(match text.and_then(agentic_lang_pipeline::format) {
        Ok(text) => LayoutOutcome::Text(text),
        Err(findings) => LayoutOutcome::Broken(of_pipeline(program, findings)),
    })
}

fn check_script(
    program: &ProgramText,
    _registry: &Arc<Registry>,
) -> Result<ProgramFindings, Refusal> {
    let source = SourceText::new(program.name.as_str(), program.text()?);
    let findings = agentic_flow::check(source.text());
    Ok(ProgramFindings::of(source, findings))
}

fn format_script(_program: &ProgramText) -> Result<LayoutOutcome, Refusal> {
    Err(Refusal::usage("scripts are not laid out anew", "format `.agent` and `.as` files"))
}

fn check_context(
    program: &ProgramText,
    _registry: &Arc<Registry>,
) -> Result<ProgramFindings, Refusal> {
    Ok(match compile_context(program, Calls::Contexts)? {
        Ok(compiled) => of_context(compiled.module.warned()),
        Err(checked) => checked,
    })
}

fn format_context(program: &ProgramText) -> Result<LayoutOutcome, Refusal> {
    let text = program.text()?;
    Ok(match agentic_lang_context::format(text, program.dialect) {
        Ok(text) => LayoutOutcome::Text(text),
        Err(finding) => {
            let source = SourceText::new(program.name.as_str(), text);
            LayoutOutcome::Broken(ProgramFindings::of(source, vec![*finding]))
        }
    })
}

/// Compiles a program of the pipeline language, or finds what is wrong with it.
///
/// # Errors
/// Returns what is wrong.
pub fn compile_pipeline(
    program: &ProgramText,
    registry: &Arc<Registry>,
) -> Result<CompiledSource, ProgramFindings> {
    let text = agentic_lang_pipeline::source_text(&program.bytes);
    let compiled = text.and_then(|text| agentic_lang_pipeline::compile(text, Arc::clone(registry)));
    compiled.map_err(|findings| of_pipeline(program, findings))
}

fn of_pipeline(program: &ProgramText, findings: PipelineFindings) -> ProgramFindings {
    pipeline_source_findings(&program.name, &program.bytes, findings)
}

/// Takes over what was found in a text of the pipeline language.
pub fn pipeline_source_findings(
    name: &str,
    bytes: &[u8],
    findings: PipelineFindings,
) -> ProgramFindings {
    let source = SourceText::new(name, readable(bytes));
    ProgramFindings::of(source, findings.into_iter().map(|finding| finding.diagnostic).collect())
}

/// Returns what is wrong with a program of the pipeline language as data, with all that is known
/// about it.
pub fn pipeline_findings(program: &ProgramText, registry: &Registry) -> Vec<Value> {
    let text = agentic_lang_pipeline::source_text(&program.bytes);
    let checked = text.and_then(|text| agentic_lang_pipeline::check(text, registry));
    let source = SourceText::new(program.name.as_str(), readable(&program.bytes));
    let findings = checked.err().unwrap_or_default();
    agentic_lang_pipeline::findings_to_values(&source, &findings)
}

/// The finding of a file that cannot be read as text, at the place where that begins.
pub(crate) fn unreadable(program: &ProgramText, finding: Diagnostic) -> ProgramFindings {
    let text = readable(&program.bytes);
    let span = agentic_diag::Span::new(text.len(), text.len());
    let source = SourceText::new(program.name.as_str(), text);
    ProgramFindings::of(source, vec![Diagnostic { span, ..finding }])
}

/// Returns the text up to the first byte that is none.
fn readable(bytes: &[u8]) -> &str {
    let end = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
    std::str::from_utf8(&bytes[..end]).expect("the text ends before the first bad byte")
}

/// Compiles a program of the context language with all that it imports, or finds what is wrong.
pub(crate) fn compile_context(
    program: &ProgramText,
    calls: Calls,
) -> Result<Result<ContextProgram, ProgramFindings>, Refusal> {
    let source = SourceText::new(program.name.as_str(), program.text()?);
    let mut files = BTreeMap::new();
    let roots = ImportRoots::of(&program.folder, &program.name, &program.imports);
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
pub(crate) fn of_context(checked: agentic_lang_context::CheckFindings) -> ProgramFindings {
    let findings = checked.findings.into_iter();
    let findings = findings.map(|finding| (finding.file, finding.diagnostic)).collect();
    ProgramFindings { sources: checked.sources, findings }
}
