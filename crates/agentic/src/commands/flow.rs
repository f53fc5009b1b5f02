//! `agentic flow …`

use std::process::ExitCode;

use agentic_diag::{Diagnostic, Severity, Source, Style};
use clap::Subcommand;
use serde_json::json;

use super::Outcome;
use crate::context::{Context, read_file_or_stdin};
use crate::failure::Failure;
use crate::output::{Format, print_text, talk};

/// Work with flows
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Find what is wrong with a flow, without running it
    ///
    /// Example: agentic flow check review.rhai
    #[command(verbatim_doc_comment)]
    Check {
        /// A file, or - for standard input
        file: String,
    },
}

/// Runs the verb.
pub fn run(context: &Context, verb: Verb) -> Outcome {
    let Verb::Check { file } = verb;
    let source = read_source(&file)?;
    let findings = agentic_flow::check(source.text());
    report(context, &source, &findings);
    let is_sound = findings.iter().all(|finding| finding.severity != Severity::Error);
    Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Reads a source text.
pub fn read_source(file: &str) -> Result<Source, Failure> {
    let bytes = read_file_or_stdin(file)?;
    let text = String::from_utf8(bytes).map_err(|_| {
        Failure::refused(&format!("`{file}` is not UTF-8 text"), "save the file as UTF-8")
    })?;
    Ok(Source::new(file, text))
}

/// Shows findings: for people on standard error, as JSON on standard output.
pub fn report(context: &Context, source: &Source, findings: &[Diagnostic]) {
    if context.format == Format::Json {
        let one = |finding: &Diagnostic| {
            let position = source.position(finding.span.start);
            let severity = match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            };
            json!({
                "code": finding.code,
                "severity": severity,
                "message": finding.message,
                "line": position.line,
                "column": position.column,
                "hint": finding.hint,
            })
        };
        let all: Vec<serde_json::Value> = findings.iter().map(one).collect();
        print_text(&serde_json::Value::Array(all).to_string());
        return;
    }
    for finding in findings {
        talk(&finding.render(source, Style::Coloured));
    }
}
