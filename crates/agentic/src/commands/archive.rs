//! `agentic archive`

use std::process::ExitCode;

use agentic_api::view::ArchivedView;
use agentic_model::AgentName;
use agentic_session::archive::archive;
use agentic_space::archive::restore;

use super::{Outcome, agent_name};
use crate::context::Context;
use crate::output::warn_deferred;

/// Fold agents away that are done, or bring them back
///
/// Branch and notes of an archived agent are kept by the one ref refs/agentic/archive, and no
/// longer cost anything in listings and pushes. Its name stays taken. An agent that is checked out,
/// has a session that is not over, or trace entries that are bound to no commit is not archived.
///
/// Example: agentic archive fix-auth
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The agents
    #[arg(value_parser = agent_name, required_unless_present = "list", conflicts_with = "list")]
    agents: Vec<AgentName>,
    /// Bring them back, each with the branch and the notes that it had
    #[arg(long, conflicts_with = "list")]
    restore: bool,
    /// List what is archived
    #[arg(long)]
    list: bool,
}

/// Runs the verb.
pub fn run(context: &Context, args: Args) -> Outcome {
    let space = context.space()?;
    let entries = if args.list {
        space.archived_agents()?
    } else {
        let moved = match args.restore {
            true => restore(&space, &args.agents)?,
            false => archive(&space, &args.agents)?,
        };
        warn_deferred(&moved.written);
        moved.entries
    };
    let views: Vec<ArchivedView> = entries.iter().map(ArchivedView::from).collect();
    context.format.answer(views.as_slice(), |views| {
        views.iter().map(|view| format!("{} {}\n", view.agent, &view.head[..10])).collect()
    });
    Ok(ExitCode::SUCCESS)
}
