//! Program texts: reading them, and telling what is wrong with them.

use std::io::Read as _;

use agentic_diag::{Diagnostic, Severity, Source, Style};
use serde_json::json;

use crate::context::{Context, read_stdin};
use crate::failure::Failure;
use crate::language::Language;
use crate::output::{Format, print_text, talk};

/// The longest program that is read, in bytes.
const PROGRAM_BYTES_MAX: u64 = 64 << 20;
/// How many findings are shown in full; further ones are counted.
const FINDINGS_SHOWN_MAX: usize = 20;

/// A program as it stands in its file.
pub struct Program {
    /// The file as it was named.
    pub name: String,
    /// Its language.
    pub language: Language,
    /// The text, which need not be text.
    pub bytes: Vec<u8>,
}

impl Program {
    /// Reads a program, or standard input for `-`.
    pub fn read(
        context: &Context,
        name: &str,
        language: Option<Language>,
    ) -> Result<Program, Failure> {
        let bytes = read_bytes(context, name)?;
        let language = match language {
            Some(language) => language,
            None => Language::of(name, &bytes)?,
        };
        Ok(Program { name: name.to_owned(), language, bytes })
    }

    /// Reads the program as UTF-8 text.
    pub fn text(&self) -> Result<&str, Failure> {
        let Program { name, bytes, .. } = self;
        std::str::from_utf8(bytes).map_err(|error| {
            let at = error.valid_up_to();
            let message = format!("`{name}` is not UTF-8 text from byte {at} on");
            Failure::refused(&message, "save the file as UTF-8")
        })
    }
}

/// Reads a file, or standard input for `-`, up to a bound.
fn read_bytes(context: &Context, name: &str) -> Result<Vec<u8>, Failure> {
    if name == "-" {
        return read_stdin();
    }
    let failed = |error: &std::io::Error| Failure::io(&format!("read `{name}`"), error);
    let file = std::fs::File::open(context.directory.join(name)).map_err(|error| failed(&error))?;
    let mut bytes = Vec::new();
    let read = file.take(PROGRAM_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| failed(&error))?;
    if bytes.len() as u64 > PROGRAM_BYTES_MAX {
        let message = format!("`{name}` is longer than {PROGRAM_BYTES_MAX} bytes");
        return Err(Failure::refused(&message, "split the program"));
    }
    Ok(bytes)
}

/// Says whether a program with these findings may run.
pub fn is_sound(findings: &[Diagnostic]) -> bool {
    findings.iter().all(|finding| finding.severity != Severity::Error)
}

/// Shows findings: for people on standard error, as JSON on standard output.
pub fn report(context: &Context, source: &Source, findings: &[Diagnostic]) {
    match context.format {
        Format::Json => print_text(&findings_json(source, findings).to_string()),
        Format::Text => show(source, findings),
    }
}

/// Shows findings to the person at the terminal.
pub fn show(source: &Source, findings: &[Diagnostic]) {
    for finding in findings.iter().take(FINDINGS_SHOWN_MAX) {
        talk(&finding.render(source, Style::Coloured));
    }
    if findings.len() > FINDINGS_SHOWN_MAX {
        talk(&format!("and {} more findings", findings.len() - FINDINGS_SHOWN_MAX));
    }
}

fn findings_json(source: &Source, findings: &[Diagnostic]) -> serde_json::Value {
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
    serde_json::Value::Array(findings.iter().map(one).collect())
}
