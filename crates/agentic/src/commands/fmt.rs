//! `agentic fmt`

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use super::Outcome;
use crate::context::Context;
use crate::failure::Failure;
use crate::frontend::{self, Layout};
use crate::language::Language;
use crate::output::{Format, print_bytes, print_text, talk};
use crate::program::{Program, report};

/// Lay a program out anew
///
/// Prints the new text, unless --check or --write says otherwise. Laying it out again changes
/// nothing.
///
/// Example: agentic fmt review.agent --write
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A file, or - for standard input
    pub file: String,
    /// Only tell whether it would change; exit with 1 if so
    #[arg(long, conflicts_with = "write")]
    pub check: bool,
    /// Write the new text into the file
    #[arg(long)]
    pub write: bool,
    /// The language, where the name of the file does not tell it
    #[arg(long, value_name = "LANGUAGE")]
    pub lang: Option<Language>,
}

/// Runs the verb.
pub fn run(context: &Context, args: Args) -> Outcome {
    if args.write && args.file == "-" {
        return Err(Failure::usage("standard input cannot be written", "name a file"));
    }
    let program = Program::read(context, &args.file, args.lang)?;
    let text = match frontend::format(&program)? {
        Layout::Text(text) => text,
        Layout::Broken(checked) => {
            report(context, &checked.source, &checked.findings);
            return Ok(ExitCode::from(1));
        }
    };
    let is_changed = text.as_bytes() != program.bytes;
    if args.write && is_changed {
        replace(&context.directory.join(&args.file), text.as_bytes())
            .map_err(|error| Failure::io(&format!("write `{}`", args.file), &error))?;
    }
    match context.format {
        Format::Json => {
            let view = json!({ "file": args.file, "changed": is_changed, "text": text });
            print_text(&view.to_string());
        }
        Format::Text if args.check && is_changed => talk(&format!("{} would change", args.file)),
        Format::Text if args.check || args.write => {}
        Format::Text => print_bytes(text.as_bytes()),
    }
    Ok(if args.check && is_changed { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Replaces a file at once, so that a crash leaves the old text or the new one. A link stays a
/// link: what it leads to is replaced.
fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let path = std::fs::canonicalize(path)?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let fresh = path.with_file_name(name);
    let written = (|| {
        let mut file = std::fs::File::create_new(&fresh)?;
        file.write_all(bytes)?;
        file.set_permissions(std::fs::metadata(&path)?.permissions())?;
        file.sync_all()?;
        std::fs::rename(&fresh, &path)
    })();
    if written.is_err() {
        // What could not become the file is of no use.
        let _ = std::fs::remove_file(&fresh);
    }
    written
}
