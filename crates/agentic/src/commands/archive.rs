//! `agentic archive`

use std::process::ExitCode;

use agentic_api::Verb;
use agentic_api::verb::{Archive, ListArchive, Restore};
use agentic_model::AgentName;

use super::{VerbOutcome, agent_name};
use crate::context::Context;
use crate::output::warn_of;

/// Fold agents away that are done, or bring them back
///
/// Branch and notes of an archived agent are kept by the one ref refs/agentic/archive, and no
/// longer cost anything in listings and pushes. Its name stays taken. An agent that is checked out,
/// has a session that is not over, or trace entries that are bound to no commit is not archived.
///
/// Example: agentic archive fix-auth
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct ArchiveArgs {
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
pub fn run(context: &Context, args: ArchiveArgs) -> VerbOutcome {
    let space = context.space()?;
    let caller = context.caller(&space);
    let agents = args.agents.iter().map(AgentName::to_string).collect();
    let reply = match (args.list, args.restore) {
        (true, _) => ListArchive {}.run(&caller)?,
        (false, true) => Restore { agents }.run(&caller)?,
        (false, false) => Archive { agents }.run(&caller)?,
    };
    warn_of(&reply.notices);
    context.format.answer(reply.answer.as_slice(), |views| {
        views.iter().map(|view| format!("{} {}\n", view.agent, &view.head[..10])).collect()
    });
    Ok(ExitCode::SUCCESS)
}
