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
    /// Write the announcement to a file instead, for `agentic fetch --bundle`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["agents", "remote", "purge"])]
    bundle: Option<String>,
    /// Leave out what came before an announcement of ours that the others have
    #[arg(long, value_name = "CID", requires = "bundle")]
    since: Option<String>,
    /// Carry on to the remote what was accepted of a peer, as that peer signed it
    #[arg(long, value_name = "PEER", conflicts_with_all = ["agents", "purge", "bundle"])]
    relay: Option<String>,
}

/// Runs the verb.
pub fn run(context: &Context, args: PushArgs) -> VerbOutcome {
    let agents = args.agents.iter().map(AgentName::to_string).collect();
    let space = context.space()?;
    let PushArgs { remote, purge, bundle, since, relay, .. } = args;
    let verb = Push { agents, remote, purge, bundle, since, relay };
    let pushed = verb.run(&context.caller(&space))?;
    warn_of(&pushed.notices);
    context.format.answer(&pushed.answer, |view| {
        let names = view.pushed.iter().map(|name| format!("{name}\n"));
        view.announced.as_ref().map_or_else(String::new, announced)
            + names.collect::<String>().as_str()
    });
    ended(pushed.completion)
}
