//! `agentic check`

use std::path::PathBuf;

use agentic_api::LocalVerb as _;
use agentic_api::program::{ProgramSource, parse_dialect};
use agentic_api::verb::CheckProgram;
use agentic_lang_context::Dialect;
use agentic_replay::Language;

use super::VerbOutcome;
use crate::context::Context;
use crate::language;
use crate::program::{optional_text, reported, source};

/// Find what is wrong with a program, without running it
///
/// The language follows from the name of the file: .agent, .as or .rhai.
///
/// Example: agentic check review.agent
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct CheckArgs {
    /// A file, or - for standard input
    file: String,
    /// The language, where the name of the file does not tell it
    #[arg(long, value_name = "LANGUAGE", value_parser = language::parser())]
    lang: Option<&'static dyn Language>,
    /// The version that a context program is held to
    #[arg(long, value_name = "VERSION", value_parser = parse_dialect)]
    dialect: Option<Dialect>,
    /// The builtins that a pipeline may call, beyond the standard ones
    #[arg(long, value_name = "FILE")]
    registry: Option<String>,
    /// Let the program import files from this folder, too; may be repeated
    #[arg(long, value_name = "DIR")]
    allow_import: Vec<PathBuf>,
}

/// Runs the verb.
pub fn run(context: &Context, args: CheckArgs) -> VerbOutcome {
    let registry = optional_text(context, args.registry.as_deref())?;
    let source = source(context, &args.file, args.lang)?;
    let program = ProgramSource { dialect: args.dialect, imports: args.allow_import, ..source };
    reported(context, CheckProgram { program, registry }.run_here(&context.surroundings())?)
}
