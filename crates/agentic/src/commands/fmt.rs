//! `agentic fmt`

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use agentic_api::Replacement;
use agentic_api::program::{LayoutOutcome, ProgramSource, format, parse_dialect};
use agentic_lang_context::Dialect;
use agentic_replay::Language;
use serde_json::json;

use super::VerbOutcome;
use crate::context::Context;
use crate::failure::CommandFailure;
use crate::language;
use crate::output::{Format, print_bytes, print_raw, talk};
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
    let source = ProgramSource { dialect: args.dialect, ..source };
    let program = source.read(&context.surroundings(), None)?;
    let text = match format(&program)? {
        LayoutOutcome::Text(text) => text,
        LayoutOutcome::Broken(checked) => {
            report(context, &checked);
            return Ok(ExitCode::from(1));
        }
    };
    let is_changed = text.as_bytes() != program.bytes;
    if args.write && is_changed {
        replace(&context.directory.join(&args.file), text.as_bytes())
            .map_err(|error| CommandFailure::io(&format!("write `{}`", args.file), &error))?;
    }
    match context.format {
        Format::Json => {
            let view = json!({ "file": args.file, "changed": is_changed, "text": text });
            print_raw(&view.to_string());
        }
        Format::Text if args.check && is_changed => talk(&format!("{} would change", args.file)),
        Format::Text if args.check || args.write => {}
        Format::Text => print_bytes(text.as_bytes()),
    }
    Ok(if args.check && is_changed { ExitCode::from(1) } else { ExitCode::SUCCESS })
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
