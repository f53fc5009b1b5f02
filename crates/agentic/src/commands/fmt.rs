//! `agentic fmt`

use agentic_api::LocalVerb as _;
use agentic_api::program::{ProgramSource, parse_dialect};
use agentic_api::verb::{FormatProgram, LayoutUse};
use agentic_api::view::{LayoutAnswer, LayoutView};
use agentic_lang_context::Dialect;
use agentic_replay::Language;

use super::{VerbOutcome, ended};
use crate::context::Context;
use crate::failure::CommandFailure;
use crate::language;
use crate::output::{Format, talk};
use crate::program::{report, source};

/// Lay a program out anew
///
/// Prints the new text, unless --check or --write says otherwise. Laying it out again changes
/// nothing.
///
/// Example: agentic fmt review.agent --write
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct FmtArgs {
    /// A file, or - for standard input
    pub file: String,
    /// Only tell whether it would change; exit with 1 if so
    #[arg(long, conflicts_with = "write")]
    pub check: bool,
    /// Write the new text into the file
    #[arg(long)]
    pub write: bool,
    /// The language, where the name of the file does not tell it
    #[arg(long, value_name = "LANGUAGE", value_parser = language::parser())]
    pub lang: Option<&'static dyn Language>,
    /// The version that a context program is held to
    #[arg(long, value_name = "VERSION", value_parser = parse_dialect)]
    pub dialect: Option<Dialect>,
}

/// Runs the verb.
pub fn run(context: &Context, args: FmtArgs) -> VerbOutcome {
    if args.write && args.file == "-" {
        return Err(CommandFailure::usage("standard input cannot be written", "name a file"));
    }
    let source = source(context, &args.file, args.lang)?;
    let layout = match (args.check, args.write) {
        (true, _) => LayoutUse::Compare,
        (false, true) => LayoutUse::Write,
        (false, false) => LayoutUse::Show,
    };
    let program = ProgramSource { dialect: args.dialect, ..source };
    let reply = FormatProgram { program, layout }.run_here(&context.surroundings())?;
    match &reply.answer {
        LayoutAnswer::Laid(view) => show(context, layout, view),
        LayoutAnswer::Faulty(findings) => report(context, findings),
    }
    ended(reply.completion)
}

fn show(context: &Context, layout: LayoutUse, view: &LayoutView) {
    match (context.format, layout) {
        (Format::Json, _) | (Format::Text, LayoutUse::Show) => {
            context.format.answer_program(view, |view| &view.text);
        }
        (Format::Text, LayoutUse::Compare) if view.changed => {
            talk(&format!("{} would change", view.file));
        }
        (Format::Text, LayoutUse::Compare | LayoutUse::Write) => {}
    }
}
