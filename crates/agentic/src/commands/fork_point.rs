//! `agentic fork-point`

use std::process::ExitCode;

use agentic_model::AgentName;
use agentic_view::ForkPointView;

use super::{Outcome, agent_name};
use crate::context::Context;

/// Print the best common ancestor of two agents
///
/// Example: agentic fork-point alice bob
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The one
    #[arg(value_parser = agent_name)]
    left: AgentName,
    /// The other
    #[arg(value_parser = agent_name)]
    right: AgentName,
}

/// Runs the verb.
pub fn run(context: &Context, args: Args) -> Outcome {
    let space = context.space()?;
    let commit = space.fork_point(&args.left, &args.right)?.to_string();
    context.format.answer(&ForkPointView { commit }, |view| view.commit.clone());
    Ok(ExitCode::SUCCESS)
}
