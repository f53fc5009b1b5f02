//! `agentic init`

use std::process::ExitCode;

use agentic_api::Verb as _;
use agentic_api::verb::Init;

use super::VerbOutcome;
use crate::context::Context;

/// Set up remotes, so that plain `git fetch` brings notes along
///
/// Writes refspecs for notes and kinds into the configuration of each remote. Safe to repeat; every
/// other verb works without it.
///
/// Example: agentic init --remote origin
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct InitArgs {
    /// A remote to set up; all of them without
    #[arg(long, value_name = "REMOTE")]
    remote: Vec<String>,
}

/// Runs the verb.
pub fn run(context: &Context, args: InitArgs) -> VerbOutcome {
    let space = context.space()?;
    let done = Init { remotes: args.remote }.run(&context.caller(&space))?.answer;
    context.format.answer(&done, |view| match (view.remotes.is_empty(), view.changed) {
        (true, _) => "ready; there are no remotes to set up".to_owned(),
        (false, true) => format!("set up {}", view.remotes.join(", ")),
        (false, false) => format!("{} were set up already", view.remotes.join(", ")),
    });
    Ok(ExitCode::SUCCESS)
}
