//! `agentic completions`

use std::process::ExitCode;

use clap_complete::Shell;

use super::Outcome;
use crate::output::print_bytes;

/// Print the completions of a shell
///
/// Example: agentic completions bash > ~/.local/share/bash-completion/completions/agentic
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The shell
    shell: Shell,
}

/// Runs the verb.
pub fn run(args: Args) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::cli::command(), "agentic", &mut script);
    print_bytes(&script);
    Ok(ExitCode::SUCCESS)
}
