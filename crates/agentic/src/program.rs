//! Program texts: reading them, and telling what is wrong with them.

use std::path::PathBuf;

use agentic_diag::{Diagnostic, DiagnosticStyle, Severity, SourceText};
use agentic_lang_context::{Dialect, Version};
use agentic_replay::Language;
use serde_json::json;

use crate::context::Context;
use crate::failure::CommandFailure;
use crate::language;
use crate::output::{Format, print_raw, talk, talk_coloured};
use crate::text::Text;

/// How many findings are shown in full; further ones are counted.
const FINDINGS_SHOWN_MAX: usize = 20;

/// A program as it stands in its file.
pub struct ProgramFile {
    /// The file as it was named.
    pub name: String,
    /// Its language.
    pub language: &'static dyn Language,
    /// The text, which need not be text.
    pub bytes: Vec<u8>,
    /// The version that a program of the context language is held to; the one that its text shows
    /// without.
    pub dialect: Option<Dialect>,
    /// The folders that it may import files from, beside its own and its repository.
    pub imports: Vec<PathBuf>,
}

impl ProgramFile {
    /// Reads a program, or standard input for `-`.
    pub fn read(
        context: &Context,
        name: &str,
        language: Option<&'static dyn Language>,
    ) -> Result<ProgramFile, CommandFailure> {
        let bytes = context.read_bytes(name)?;
        let language = match language {
            Some(language) => language,
            None => language::of_file(name, &bytes)?,
        };
        Ok(ProgramFile {
            name: name.to_owned(),
            language,
            bytes,
            dialect: None,
            imports: Vec::new(),
        })
    }

    /// Reads the program as UTF-8 text.
    pub fn text(&self) -> Result<&str, CommandFailure> {
        let ProgramFile { name, bytes, .. } = self;
        std::str::from_utf8(bytes).map_err(|error| {
            let at = error.valid_up_to();
            let message = format!("`{name}` is not UTF-8 text from byte {at} on");
            CommandFailure::refused(&message, "save the file as UTF-8")
        })
    }
}

/// Reads the version that a program is held to.
pub fn dialect(text: &str) -> Result<Dialect, String> {
    Version::parse(text).map(Dialect::strict).ok_or_else(|| "a version is like 0.1.18".to_owned())
}

/// A program with what was found in it.
pub struct CheckedProgram {
    /// The texts that the findings point into, the program itself first.
    pub sources: Vec<SourceText>,
    /// What was found, in the order of the language: the number of the text, and the finding.
    pub findings: Vec<(usize, Diagnostic)>,
}

impl CheckedProgram {
    /// Makes the findings of a program that is one text.
    pub fn of(source: SourceText, findings: Vec<Diagnostic>) -> CheckedProgram {
        let findings = findings.into_iter().map(|finding| (0, finding)).collect();
        CheckedProgram { sources: vec![source], findings }
    }

    /// Says whether the program may run.
    pub fn is_sound(&self) -> bool {
        self.findings.iter().all(|(_, finding)| finding.severity != Severity::Error)
    }

    /// Shows the findings: for people on standard error, as JSON on standard output.
    pub fn report(&self, context: &Context) {
        match context.format {
            Format::Json => print_raw(&self.to_json().to_string()),
            Format::Text => self.show(),
        }
    }

    /// Shows the findings to the person at the terminal.
    pub fn show(&self) {
        for (file, finding) in self.findings.iter().take(FINDINGS_SHOWN_MAX) {
            let shown = finding.render(&self.sources[*file], DiagnosticStyle::Coloured);
            talk_coloured(&Text::rendered(&shown));
        }
        if self.findings.len() > FINDINGS_SHOWN_MAX {
            talk(&format!("and {} more findings", self.findings.len() - FINDINGS_SHOWN_MAX));
        }
    }

    fn to_json(&self) -> serde_json::Value {
        let one = |(file, finding): &(usize, Diagnostic)| {
            let source = &self.sources[*file];
            let position = source.position(finding.span.start);
            let severity = match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            };
            json!({
                "code": finding.code,
                "severity": severity,
                "message": finding.message,
                "file": source.name(),
                "line": position.line,
                "column": position.column,
                "hint": finding.hint,
            })
        };
        serde_json::Value::Array(self.findings.iter().map(one).collect())
    }
}
