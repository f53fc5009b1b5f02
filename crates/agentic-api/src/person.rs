//! Persons: what only they may do, and what they are called.

use std::path::Path;

use agentic_capture::live::{conversations_above, conversations_above_of};
use agentic_model::Person;
use agentic_model::edge::Party;
use agentic_providers::process::{AGENT_VARIABLE, REQUEST_VARIABLE};
use agentic_session::SessionSpace;
use agentic_store::Layout;

use crate::{Caller, Refusal, Surroundings};

/// Refuses agents, and whatever a session runs, what only a person may do; `doing` says what that is.
/// This stops mistakes; only signatures would stop a hostile process of the same user. Where there is
/// no repository there are no worktrees of agents either.
///
/// # Errors
/// Fails when an agent is at work: its name or its request is set, this is its worktree, or the program
/// of a conversation is above this one.
pub fn require_person(
    doing: &str,
    surroundings: &Surroundings,
    space: Option<&SessionSpace>,
) -> Result<(), Refusal> {
    let hint =
        format!("{doing} from your own checkout, without {AGENT_VARIABLE} and {REQUEST_VARIABLE}");
    let set = [(AGENT_VARIABLE, &surroundings.agent), (REQUEST_VARIABLE, &surroundings.request)];
    if let Some((variable, _)) = set.iter().find(|(_, value)| value.is_some()) {
        let message = format!("an agent may not {doing}: {variable} is set");
        return Err(Refusal::not_allowed(&message, &hint));
    }
    let agent = space.filter(|space| is_worktree(space)).and_then(|space| space.current_agent());
    if let Some(agent) = agent {
        let message = format!("this is the worktree of `{agent}`, and an agent may not {doing}");
        return Err(Refusal::not_allowed(&message, &hint));
    }
    // Whoever has logged in is known by more than where the process began.
    let watched = space.filter(|_| surroundings.person.is_none());
    match watched.and_then(conversation_above) {
        Some(conversation) => {
            let message = format!("{conversation} is at work here, and an agent may not {doing}");
            let hint = format!("{doing} from a terminal that no coding agent has opened");
            Err(Refusal::not_allowed(&message, &hint))
        }
        None => Ok(()),
    }
}

/// Names the conversation of a coding agent whose program is above this one. Not every coding agent
/// passes an environment on.
fn conversation_above(space: &SessionSpace) -> Option<String> {
    let above = conversations_above(space.repository().layout());
    let first = above.first()?;
    let conversation = first.id().map_or_else(String::new, |id| id.to_string());
    Some(format!("the conversation `{conversation}`"))
}

/// Tells whether a process runs below the program of a conversation that is captured in the repository of
/// this common git directory.
pub fn is_below_conversation(common_dir: &Path, pid: i32) -> bool {
    !conversations_above_of(&Layout::new(common_dir), pid).is_empty()
}

fn is_worktree(space: &SessionSpace) -> bool {
    space.repository().git_dir() != space.repository().common_dir()
}

/// Returns who the person is whom git knows here: `user:` and the local part of the address.
///
/// # Errors
/// Fails when git knows nobody.
pub fn principal(space: &SessionSpace) -> Result<String, Refusal> {
    Ok(space.principal()?)
}

/// Says who changes a library, and who that is to git: the agent at work here, else the person whom git
/// knows.
///
/// # Errors
/// Fails when git knows nobody, and when nobody knows which agent is at work.
pub(crate) fn acting_party(
    caller: &Caller<'_>,
    doing: &str,
) -> Result<(Party, Option<Person>), Refusal> {
    if caller.require_person(doing).is_ok() {
        let name = principal(caller.space)?;
        let party = Party::parse(&name).map_err(|error| {
            Refusal::refused(&error.to_string(), "set `user.email` in git's configuration")
        });
        return Ok((party?, None));
    }
    match caller.known_agent(None)? {
        Some(agent) => Ok((Party::Agent(agent.clone()), Some(Person::of_agent(&agent)))),
        None => Err(Refusal::not_allowed(
            &format!("nobody knows which agent would {doing} here"),
            "set AGENTIC_AGENT to its name",
        )),
    }
}
