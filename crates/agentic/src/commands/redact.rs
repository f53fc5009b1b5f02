//! `agentic redact`

use std::process::ExitCode;

use agentic_api::verb::{EntryBody, FindSecrets};
use agentic_api::view::SecretView;

use super::VerbOutcome;
use crate::context::{Context, read_file_or_stdin};
use crate::output::{Format, print_bytes, warn_of};

/// Print a text without its secrets
///
/// Secrets are found as they are before anything is written. --explain names rule and place of each,
/// --json does so for programs; neither shows a value.
///
/// Example: agentic redact --explain notes.txt
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct RedactArgs {
    /// A file, or - for standard input
    #[arg(default_value = "-")]
    file: String,
    /// Name rule and place of each secret in place of the text
    #[arg(long)]
    explain: bool,
}

/// Runs the verb.
pub fn run(context: &Context, args: RedactArgs) -> VerbOutcome {
    let text = EntryBody::Bytes(read_file_or_stdin(&args.file)?);
    let space = context.space_as_is()?;
    let redacted = FindSecrets { text }.redact(&context.caller(&space))?;
    warn_of(&redacted.notices);
    if context.format == Format::Json || args.explain {
        context.format.answer(redacted.secrets.as_slice(), lines);
    } else {
        print_bytes(&redacted.bytes);
    }
    Ok(ExitCode::SUCCESS)
}

fn lines(secrets: &[SecretView]) -> String {
    let line = |secret: &SecretView| format!("{} {}..{}\n", secret.rule, secret.start, secret.end);
    secrets.iter().map(line).collect()
}
