//! `agentic mcp`

use std::process::ExitCode;
use std::sync::Arc;

use agentic_api::{Refusal, require_person};
use agentic_mcp::{DecidingAccess, McpAccess, McpService, WriteAccess, serve_lines};
use agentic_model::AgentName;
use agentic_resident::VerbThreads;

use super::{VerbOutcome, agent_name};
use crate::context::Context;
use crate::failure::CommandFailure;

/// Serve the Model Context Protocol on standard input and output
///
/// Programs that speak it read agents, commits, traces and sessions, and write as one agent. They put
/// questions before people, and answer none.
///
/// Example: agentic mcp --read-only < /dev/null
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct McpArgs {
    /// The agent that writes are made as
    #[arg(long, value_name = "A", value_parser = agent_name)]
    agent: Option<AgentName>,
    /// Only read
    #[arg(long)]
    read_only: bool,
    /// Let the person at the program answer holds, by a form that it shows them
    #[arg(long, conflicts_with = "read_only")]
    allow_decide: bool,
}

/// Runs the verb.
pub fn run(context: &Context, args: McpArgs) -> VerbOutcome {
    let stop = context.stop_flag();
    let space = context.space()?;
    space.repository().follow_configuration();
    let mut here = context.surroundings();
    here.watcher.stop = stop;
    if args.allow_decide {
        require_person("let programs ask for decisions", &here, Some(&space))?;
    }
    let caller = context.caller(&space);
    let named = args.agent.as_ref().map(AgentName::as_str);
    let access = McpAccess {
        agent: caller.known_agent(named)?,
        writes: if args.read_only { WriteAccess::ReadOnly } else { WriteAccess::Own },
        deciding: if args.allow_decide { DecidingAccess::Form } else { DecidingAccess::Never },
    };
    let failed = |error| CommandFailure::io("serve", &error);
    let threads = VerbThreads::begin().map_err(|error| Refusal::of(&error))?;
    let server = McpService::new(Arc::new(space), here, access, threads);
    serve_lines(server, std::io::stdin(), std::io::stdout()).map_err(failed)?;
    Ok(ExitCode::SUCCESS)
}
