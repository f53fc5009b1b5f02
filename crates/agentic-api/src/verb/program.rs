//! Looking at texts of programs: what is wrong with them, and how they look laid out anew.

use std::io::Write as _;
use std::path::Path;

use agentic_model::guidance::ErrorClass;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::program::{
    LayoutOutcome, NamedText, ProgramFindings, ProgramSource, check, format, read_registry,
};
use crate::verb::run::faulty_reply;
use crate::verb::{LocalVerb, Reply, VerbCompletion};
use crate::view::{LayoutAnswer, LayoutView};
use crate::{Refusal, Replacement, Surroundings};

/// Find what is wrong with a program, without running it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckProgram {
    /// The program.
    pub program: ProgramSource,
    /// The builtins that a pipeline may call, beyond the standard ones.
    #[serde(default)]
    pub registry: Option<NamedText>,
}

impl LocalVerb for CheckProgram {
    type Answer = ProgramFindings;

    fn run_here(self, here: &Surroundings) -> Result<Reply<ProgramFindings>, Refusal> {
        let registry = read_registry(self.registry.as_ref(), here)?;
        let program = self.program.read(here, None)?;
        Ok(findings_reply(check(&program, &registry)?))
    }
}

/// Answers what was found in a program: one with errors is refused.
pub(super) fn findings_reply(findings: ProgramFindings) -> Reply<ProgramFindings> {
    match findings.is_sound() {
        true => Reply::plain(findings),
        false => faulty_reply(findings),
    }
}

/// What becomes of the new text of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LayoutUse {
    /// It is answered.
    #[default]
    Show,
    /// It is only held against the old one.
    Compare,
    /// It takes the place of the old one.
    Write,
}

/// Lay a program out anew.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FormatProgram {
    /// The program.
    pub program: ProgramSource,
    /// What becomes of the new text.
    #[serde(default)]
    pub layout: LayoutUse,
}

impl LocalVerb for FormatProgram {
    type Answer = LayoutAnswer;

    fn run_here(self, here: &Surroundings) -> Result<Reply<LayoutAnswer>, Refusal> {
        let is_given = self.program.file.text.is_some();
        let program = self.program.read(here, None)?;
        let file = program.name.clone();
        if self.layout == LayoutUse::Write && is_given {
            let message = format!("`{file}` is no file: its text came with what is asked");
            return Err(Refusal::usage(&message, "name a file"));
        }
        let text = match format(&program)? {
            LayoutOutcome::Text(text) => text,
            LayoutOutcome::Broken(findings) => {
                return Ok(faulty_reply(LayoutAnswer::Faulty(findings)));
            }
        };
        let changed = text.as_bytes() != program.bytes;
        let completion = match self.layout {
            LayoutUse::Compare if changed => VerbCompletion::Over(ErrorClass::Refused),
            LayoutUse::Show | LayoutUse::Compare | LayoutUse::Write => VerbCompletion::Whole,
        };
        if self.layout == LayoutUse::Write && changed {
            replace(&here.folder.join(&file), text.as_bytes())
                .map_err(|error| Refusal::io(&format!("write `{file}`"), &error))?;
        }
        let answer = LayoutAnswer::Laid(LayoutView { changed, file, text });
        Ok(Reply { completion, ..Reply::plain(answer) })
    }
}

/// Replaces a file at once, so that a crash leaves the old text or the new one.
fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut replacement = Replacement::begin(path)?;
    match replacement.write_all(bytes) {
        Ok(()) => replacement.commit(),
        Err(error) => {
            replacement.discard();
            Err(error)
        }
    }
}
