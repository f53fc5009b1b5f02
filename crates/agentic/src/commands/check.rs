//! `agentic check`

use std::process::ExitCode;

use super::Outcome;
use crate::context::Context;
use crate::language::Language;
use crate::program::{Program, is_sound, report};
use crate::{frontend, registry};

/// Find what is wrong with a program, without running it
///
/// The language follows from the name of the file: .agent, .as or .rhai.
///
/// Example: agentic check review.agent
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A file, or - for standard input
    file: String,
    /// The language, where the name of the file does not tell it
    #[arg(long, value_name = "LANGUAGE")]
    lang: Option<Language>,
    /// The builtins that a pipeline may call, beyond the standard ones
    #[arg(long, value_name = "FILE")]
    registry: Option<String>,
}

/// Runs the verb.
pub fn run(context: &Context, args: Args) -> Outcome {
    let registry = registry::read(context, args.registry.as_deref())?;
    let program = Program::read(context, &args.file, args.lang)?;
    let checked = frontend::check(&program, &registry)?;
    report(context, &checked.source, &checked.findings);
    Ok(if is_sound(&checked.findings) { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
