//! What is wrong with a program.

use std::borrow::Cow;

use agentic_diag::{Diagnostic, Severity, SourceText};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

/// What was found in a program.
#[derive(Debug, Clone)]
pub struct ProgramFindings {
    /// The texts that the findings point into, the program itself first.
    pub sources: Vec<SourceText>,
    /// What was found, in the order of the language: the number of the text, and the finding.
    pub findings: Vec<(usize, Diagnostic)>,
}

/// One finding, as data.
#[derive(Debug, Serialize, JsonSchema)]
struct FindingView<'f> {
    /// Its code, which stays.
    code: &'f str,
    /// The column, from 1.
    column: usize,
    /// The file.
    file: &'f str,
    /// What to do about it.
    hint: &'f str,
    /// The line, from 1.
    line: usize,
    /// What is wrong.
    message: &'f str,
    /// `error` or `warning`.
    severity: &'static str,
}

impl ProgramFindings {
    /// Makes the findings of a program that is one text.
    pub fn of(source: SourceText, findings: Vec<Diagnostic>) -> ProgramFindings {
        let findings = findings.into_iter().map(|finding| (0, finding)).collect();
        ProgramFindings { sources: vec![source], findings }
    }

    /// Says whether the program may run.
    pub fn is_sound(&self) -> bool {
        self.findings.iter().all(|(_, finding)| finding.severity != Severity::Error)
    }
}

impl Serialize for ProgramFindings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.findings.iter().map(|(file, finding)| {
            let source = &self.sources[*file];
            let position = source.position(finding.span.start);
            FindingView {
                code: finding.code,
                column: position.column,
                file: source.name(),
                hint: &finding.hint,
                line: position.line,
                message: &finding.message,
                severity: match finding.severity {
                    Severity::Error => "error",
                    Severity::Warning => "warning",
                },
            }
        }))
    }
}

impl JsonSchema for ProgramFindings {
    fn schema_name() -> Cow<'static, str> {
        "ProgramFindings".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<FindingView<'_>>::json_schema(generator)
    }
}
