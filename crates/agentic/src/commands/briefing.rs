//! `agentic briefing`

use std::process::ExitCode;

use agentic_api::verb::ShowBriefing;
use agentic_model::AgentName;

use super::{VerbOutcome, agent_name};
use crate::context::Context;
use crate::output::{Format, print_raw, print_text};

/// Print what an agent was asked to do
///
/// Example: agentic briefing fix-auth
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct BriefingArgs {
    /// The agent; else AGENTIC_AGENT, else the current branch
    #[arg(value_parser = agent_name)]
    agent: Option<AgentName>,
}

/// Runs the verb.
pub fn run(context: &Context, args: BriefingArgs) -> VerbOutcome {
    let verb = ShowBriefing { agent: args.agent.map(|agent| agent.to_string()) };
    let space = context.space()?;
    let briefing = verb.read(&context.caller(&space))?;
    match context.format {
        Format::Json => print_raw(&briefing.data().0.to_string()),
        Format::Text => print_text(&briefing.text()?),
    }
    Ok(ExitCode::SUCCESS)
}
