//! `agentic agents`

use std::process::ExitCode;

use agentic_api::verb::{AgentLine, Agents};

use super::Outcome;
use crate::context::Context;
use crate::output::{Listing, counted};

/// List the agents
///
/// Agents that only a remote has are listed as REMOTE/NAME; `agentic fetch --adopt NAME` takes one.
///
/// Example: agentic agents --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {}

/// Runs the verb.
pub fn run(context: &Context, _: Args) -> Outcome {
    let space = context.space()?;
    let mut listing = Listing::begin(context.format);
    let verb = Agents {};
    for line in verb.lines(&context.caller(&space))? {
        listing.item(&line?, text);
    }
    listing.end();
    Ok(ExitCode::SUCCESS)
}

fn text(line: &AgentLine) -> String {
    match line {
        AgentLine::Here(agent) => {
            let from =
                agent.parent.as_ref().map(|parent| format!(" (from {parent})")).unwrap_or_default();
            format!(
                "{} {} {}{from}: {}\n",
                agent.agent,
                &agent.head[..10],
                counted(agent.commits, "commit"),
                agent.subject
            )
        }
        AgentLine::Remote(agent) => format!("{} {}\n", agent.agent, &agent.head[..10]),
    }
}
