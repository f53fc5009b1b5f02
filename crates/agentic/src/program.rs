//! Programs as the command line names them, and what is shown of what is wrong with them.

use agentic_api::Reply;
use agentic_api::program::{NamedText, ProgramFindings, ProgramSource};
use agentic_diag::DiagnosticStyle;
use agentic_replay::Language;

use crate::commands::{VerbOutcome, ended};
use crate::context::Context;
use crate::failure::CommandFailure;
use crate::output::{Format, print_raw, talk, talk_coloured};
use crate::text::Text;

/// How many findings are shown in full; further ones are counted.
const FINDINGS_SHOWN_MAX: usize = 20;

/// Names a program, or takes standard input for `-`.
pub fn source(
    context: &Context,
    name: &str,
    language: Option<&'static dyn Language>,
) -> Result<ProgramSource, CommandFailure> {
    let language = language.map(|language| language.name().to_owned());
    Ok(ProgramSource { language, ..ProgramSource::of(context.named_text(name)?) })
}

/// Names a text that may be left out.
pub fn optional_text(
    context: &Context,
    name: Option<&str>,
) -> Result<Option<NamedText>, CommandFailure> {
    name.map(|name| context.named_text(name)).transpose()
}

/// Returns the text of an input: what stands there, or behind `@` in a file.
pub fn input_text(
    context: &Context,
    given: Option<&str>,
) -> Result<Option<String>, CommandFailure> {
    let Some(given) = given else { return Ok(None) };
    let Some(file) = given.strip_prefix('@') else { return Ok(Some(given.to_owned())) };
    Ok(Some(context.named_text(file)?.read(&context.surroundings())?))
}

/// Shows findings: for people on standard error, as JSON on standard output.
pub fn report(context: &Context, findings: &ProgramFindings) {
    match context.format {
        Format::Json => print_raw(&serde_json::to_string(findings).expect("views have text keys")),
        Format::Text => show(findings),
    }
}

/// Shows what was found in a program, and ends as the verb ended.
pub fn reported(context: &Context, reply: Reply<ProgramFindings>) -> VerbOutcome {
    report(context, &reply.answer);
    ended(reply.completion)
}

/// Shows findings to the person at the terminal.
pub fn show(findings: &ProgramFindings) {
    let ProgramFindings { sources, findings } = findings;
    for (file, finding) in findings.iter().take(FINDINGS_SHOWN_MAX) {
        let shown = finding.render(&sources[*file], DiagnosticStyle::Coloured);
        talk_coloured(&Text::rendered(&shown));
    }
    if findings.len() > FINDINGS_SHOWN_MAX {
        talk(&format!("and {} more findings", findings.len() - FINDINGS_SHOWN_MAX));
    }
}
