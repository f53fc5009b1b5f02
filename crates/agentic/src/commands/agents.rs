//! `agentic agents`

use std::process::ExitCode;

use agentic_view::{AgentView, RemoteAgentView};
use serde::Serialize;

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

/// One line of the list.
#[derive(Serialize)]
#[serde(untagged)]
enum Line {
    Here(AgentView),
    Remote(RemoteAgentView),
}

/// Runs the verb.
pub fn run(context: &Context, _: Args) -> Outcome {
    let space = context.space()?;
    let mut listing = Listing::begin(context.format);
    for agent in space.agents()? {
        listing.item(&Line::Here(AgentView::from(&agent?)), text);
    }
    for agent in space.remote_agents()? {
        listing.item(&Line::Remote(RemoteAgentView::from(&agent)), text);
    }
    listing.end();
    Ok(ExitCode::SUCCESS)
}

fn text(line: &Line) -> String {
    match line {
        Line::Here(agent) => {
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
        Line::Remote(agent) => format!("{} {}\n", agent.agent, &agent.head[..10]),
    }
}
