//! `agentic fork-point`

use std::process::ExitCode;

use agentic_api::Verb;
use agentic_api::verb::FindForkPoint;
use agentic_model::AgentName;

use super::{VerbOutcome, agent_name};
use crate::context::Context;

/// Print the best common ancestor of two agents
///
/// Example: agentic fork-point alice bob
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct ForkPointArgs {
    /// The one
    #[arg(value_parser = agent_name)]
    left: AgentName,
    /// The other
    #[arg(value_parser = agent_name)]
    right: AgentName,
}

/// Runs the verb.
pub fn run(context: &Context, args: ForkPointArgs) -> VerbOutcome {
    let space = context.space()?;
    let verb = FindForkPoint { left: args.left.to_string(), right: args.right.to_string() };
    let found = verb.run(&context.caller(&space))?.answer;
    context.format.answer(&found, |view| view.commit.clone());
    Ok(ExitCode::SUCCESS)
}
