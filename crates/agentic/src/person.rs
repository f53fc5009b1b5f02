//! What only a person may do: not an agent, and no program that a session runs.

use crate::commands::decide::refuse_agents;
use crate::context::Context;
use crate::failure::Failure;

/// The variables that say that an agent, or a program of a session, is at work.
const AGENT_VARIABLES: [&str; 2] = ["AGENTIC_AGENT", "AGENTIC_REQUEST"];

/// Refuses agents. What is done here needs no repository, so an agent's worktree counts only where
/// there is one.
pub fn require(context: &Context, doing: &str) -> Result<(), Failure> {
    let hint = "do it yourself, in your own checkout";
    for variable in AGENT_VARIABLES {
        if std::env::var_os(variable).is_some_and(|value| !value.is_empty()) {
            let message = format!("only a person may {doing}: {variable} is set");
            return Err(Failure::not_allowed(&message, hint));
        }
    }
    match context.space_as_is() {
        Ok(space) => refuse_agents(&space),
        // Outside of a repository there are no worktrees.
        Err(_) => Ok(()),
    }
}
