//! `agentic completions`

use std::process::ExitCode;

use clap_complete::Shell;

use super::VerbOutcome;
use crate::output::print_bytes;

/// Print the completions of a shell
///
/// Example: agentic completions bash > ~/.local/share/bash-completion/completions/agentic
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Runs the verb.
pub fn run(args: CompletionsArgs) -> VerbOutcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::cli::command(), "agentic", &mut script);
    print_bytes(&script);
    Ok(ExitCode::SUCCESS)
}
