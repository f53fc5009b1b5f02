//! `agentic push`

use agentic_api::Verb as _;
use agentic_api::verb::Push;
use agentic_model::AgentName;

use super::announce::announced;
use super::{VerbOutcome, agent_name, ended};
use crate::context::Context;
use crate::output::warn_of;

/// Push branches and notes of agents, kinds and rules, in one atomic push
///
/// Without names also the archive; what is archived here then goes from the branches of the remote,
/// as far as the remote has nothing that the archive lacks. To a remote in signed mode it announces.
///
/// Example: agentic push fix-auth --remote origin
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct PushArgs {
    /// The agents; all of them without
    #[arg(value_parser = agent_name)]
    agents: Vec<AgentName>,
    /// The remote; the only one, or origin, without
    #[arg(long, value_name = "R")]
    remote: Option<String>,
    /// Replace there what `agentic purge` made again here, if nobody moved it meanwhile
    #[arg(long, requires = "remote", conflicts_with = "agents")]
    purge: bool,
}

/// Runs the verb.
pub fn run(context: &Context, args: PushArgs) -> VerbOutcome {
    let agents = args.agents.iter().map(AgentName::to_string).collect();
    let space = context.space()?;
    let pushed =
        Push { agents, remote: args.remote, purge: args.purge }.run(&context.caller(&space))?;
    warn_of(&pushed.notices);
    context.format.answer(&pushed.answer, |view| {
        let names = view.pushed.iter().map(|name| format!("{name}\n"));
        view.announced.as_ref().map_or_else(String::new, announced)
            + names.collect::<String>().as_str()
    });
    ended(pushed.completion)
}
