//! Repositories in memory, each with a space of its own, and what tests do there.

use agentic_api::verb::{Beginning, BriefingSource, Place, Spawn};
use agentic_api::{Caller, Refusal, Reply, Surroundings};
use agentic_session::{Options, SessionSpace};
use agentic_space::commit::{Capture, commit};
use agentic_space::model::AgentName;
use agentic_testkit::{Sandbox, Setup, small_draft};

/// Makes a repository of somebody, and opens it.
pub fn place() -> (Sandbox, SessionSpace) {
    let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
    for (key, value) in [("user.name", "Ada"), ("user.email", "ada@example.com")] {
        sandbox.git(sandbox.start(), &["config", key, value]).expect("writable");
    }
    let space = SessionSpace::open(sandbox.start(), Options::default()).expect("a repository");
    (sandbox, space)
}

/// Says what makes an agent that begins with nothing.
pub fn named(name: &str) -> Spawn {
    Spawn {
        name: name.to_owned(),
        briefing: BriefingSource::Text(format!("Do the work of {name}")),
        beginning: Beginning::Empty,
        worktree: Place::Nowhere,
    }
}

/// Says what makes a sub-agent.
pub fn from(name: &str, parent: &str) -> Spawn {
    Spawn { beginning: Beginning::Agent(parent.to_owned()), ..named(name) }
}

/// Makes the caller for whom an agent was chosen for all verbs.
pub fn as_agent<'s>(agent: &str, space: &'s SessionSpace, sandbox: &Sandbox) -> Caller<'s> {
    let (folder, agent) = (sandbox.start().to_owned(), Some(agent.to_owned()));
    Caller { space, surroundings: Surroundings { folder, agent, request: None } }
}

/// Takes the refusal of what is refused.
pub fn refusal<A>(outcome: Result<Reply<A>, Refusal>) -> Refusal {
    outcome.err().expect("it is refused")
}

/// Commits a file with a text.
pub fn write(space: &SessionSpace, agent: &str, path: &str, text: &str) {
    let agent = AgentName::parse(agent).expect("valid");
    commit(space, &agent, &small_draft(path, text, Capture::Nothing)).expect("writable");
}
