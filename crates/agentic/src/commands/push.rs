//! `agentic push`

use std::process::ExitCode;

use agentic_api::view::PushView;
use agentic_model::AgentName;
use agentic_session::SessionSpace;
use agentic_space::sync::{Scope, push};

use super::{Outcome, agent_name};
use crate::context::Context;
use crate::failure::Failure;

/// Push branches and notes of agents, and the registry of kinds, in one atomic push
///
/// Without names also the archive; what is archived here then goes from the branches of the remote,
/// as far as the remote has nothing that the archive lacks.
///
/// Example: agentic push fix-auth --remote origin
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The agents; all of them without
    #[arg(value_parser = agent_name)]
    agents: Vec<AgentName>,
    /// The remote; the only one, or origin, without
    #[arg(long, value_name = "R")]
    remote: Option<String>,
}

/// Runs the verb.
pub fn run(context: &Context, args: Args) -> Outcome {
    let space = context.space()?;
    let remote = remote(&space, args.remote)?;
    let scope = match args.agents.as_slice() {
        [] => Scope::All,
        named => Scope::Named(named),
    };
    let pushed = push(&space, &remote, scope)?;
    context.format.answer(&PushView::from(&pushed), |view| {
        view.pushed.iter().map(|name| format!("{name}\n")).collect()
    });
    Ok(ExitCode::SUCCESS)
}

/// Chooses the remote: the one that was named, else the only one, else `origin`.
pub fn remote(space: &SessionSpace, named: Option<String>) -> Result<String, Failure> {
    if let Some(remote) = named {
        return Ok(remote);
    }
    let remotes = space.repository().remotes();
    match remotes.as_slice() {
        [] => {
            Err(Failure::refused("there is no remote", "add one with `git remote add origin URL`"))
        }
        [only] => Ok(only.clone()),
        several if several.iter().any(|remote| remote == "origin") => Ok("origin".to_owned()),
        several => Err(Failure::usage(
            "there are several remotes",
            &format!("name one of {} with `--remote`", several.join(", ")),
        )),
    }
}
