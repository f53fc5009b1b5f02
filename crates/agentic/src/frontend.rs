//! The front ends of the languages, behind one face: what is wrong with a program, and how it
//! looks laid out anew.

use std::sync::Arc;

use agentic_diag::{Diagnostic, Source};
use agentic_lang_pipeline::Findings;
use agentic_plan::Registry;

use crate::failure::Failure;
use crate::language::Language;
use crate::program::Program;

/// A program with what was found in it.
pub struct Checked {
    /// The text that the findings point into.
    pub source: Source,
    /// What was found, in the order of the language.
    pub findings: Vec<Diagnostic>,
}

/// What became of laying a program out anew.
pub enum Layout {
    /// The new text.
    Text(String),
    /// It has errors of syntax.
    Broken(Checked),
}

/// Looks for errors and warnings, without running anything. Only pipelines need a registry.
pub fn check(program: &Program, registry: &Arc<Registry>) -> Result<Checked, Failure> {
    match program.language {
        Language::Agentlang => Ok(match agentic_lang_agent::read(&program.name, &program.bytes) {
            Ok(source) => {
                let findings = agentic_lang_agent::check(&source);
                Checked { source, findings }
            }
            Err(finding) => unreadable(program, *finding),
        }),
        Language::Pipeline => {
            let text = agentic_lang_pipeline::source_text(&program.bytes);
            let checked = text.and_then(|text| agentic_lang_pipeline::check(text, registry));
            Ok(of_pipeline(program, checked.err().unwrap_or_default()))
        }
        Language::Rhai => {
            let source = Source::new(program.name.as_str(), program.text()?);
            let findings = agentic_flow::check(source.text());
            Ok(Checked { source, findings })
        }
        Language::Context => Err(no_context()),
    }
}

/// Lays a program out anew.
pub fn format(program: &Program) -> Result<Layout, Failure> {
    match program.language {
        Language::Agentlang => {
            let source = match agentic_lang_agent::read(&program.name, &program.bytes) {
                Ok(source) => source,
                Err(finding) => return Ok(Layout::Broken(unreadable(program, *finding))),
            };
            Ok(match agentic_lang_agent::format(&source) {
                Ok(text) => Layout::Text(text),
                Err(finding) => Layout::Broken(Checked { source, findings: vec![*finding] }),
            })
        }
        Language::Pipeline => {
            let text = agentic_lang_pipeline::source_text(&program.bytes);
            Ok(match text.and_then(agentic_lang_pipeline::format) {
                Ok(text) => Layout::Text(text),
                Err(findings) => Layout::Broken(of_pipeline(program, findings)),
            })
        }
        Language::Rhai => {
            Err(Failure::usage("scripts are not laid out anew", "format `.agent` and `.as` files"))
        }
        Language::Context => Err(no_context()),
    }
}

/// The findings of the pipeline language.
pub fn of_pipeline(program: &Program, findings: Findings) -> Checked {
    let source = Source::new(program.name.as_str(), readable(&program.bytes));
    Checked { source, findings: findings.into_iter().map(|finding| finding.diagnostic).collect() }
}

/// The finding of a file that cannot be read as text, at the place where that begins.
pub fn unreadable(program: &Program, finding: Diagnostic) -> Checked {
    let text = readable(&program.bytes);
    let span = agentic_diag::Span::new(text.len(), text.len());
    let source = Source::new(program.name.as_str(), text);
    Checked { source, findings: vec![Diagnostic { span, ..finding }] }
}

/// Returns the text up to the first byte that is none.
fn readable(bytes: &[u8]) -> &str {
    let end = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
    std::str::from_utf8(&bytes[..end]).expect("the text ends before the first bad byte")
}

/// The refusal of a language that is not there yet.
pub fn no_context() -> Failure {
    Failure::refused(
        "programs of the context language cannot be run or checked yet",
        "a file of the pipeline language begins with `memory` or `temporal`",
    )
}
