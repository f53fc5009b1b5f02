//! `agentic fork-point`

use std::process::ExitCode;

use agentic_api::Verb;
use agentic_api::verb::ForkPoint;
use agentic_model::AgentName;

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
    let verb = ForkPoint { left: args.left.to_string(), right: args.right.to_string() };
    let found = verb.run(&context.caller(&space))?.answer;
    context.format.answer(&found, |view| view.commit.clone());
    Ok(ExitCode::SUCCESS)
}
