//! `agentic agents`

use std::process::ExitCode;

use agentic_api::verb::{AgentLine, ListAgents, settle_peers};

use super::VerbOutcome;
use crate::context::Context;
use crate::output::{ListPrinter, counted, warn_of};

/// List the agents
///
/// Agents that only a remote has are listed as REMOTE/NAME; `agentic fetch --adopt NAME` takes one.
///
/// Example: agentic agents --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct AgentsArgs {}

/// Runs the verb.
pub fn run(context: &Context, _: AgentsArgs) -> VerbOutcome {
    let space = context.space()?;
    let mut listing = ListPrinter::begin(context.format);
    warn_of(&settle_peers(&space)?);
    let verb = ListAgents {};
    for line in verb.lines(&context.caller(&space))? {
        match line {
            Ok(line) => listing.item(&line, text),
            Err(damaged) => warn_of(&[damaged]),
        }
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
        AgentLine::Remote(agent) => {
            let unsigned = if agent.unsigned { " (unsigned)" } else { "" };
            format!("{}{unsigned} {}\n", agent.agent, &agent.head[..10])
        }
    }
}
