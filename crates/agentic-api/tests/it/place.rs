//! Repositories in memory, each with a space of its own, and what tests do there.

use agentic_api::verb::{BriefingSource, CheckoutPlace, Spawn, SpawnBeginning};
use agentic_api::{Caller, Refusal, Reply, Surroundings, Verb as _};
use agentic_bench::small_draft;
use agentic_model::Value;
use agentic_replay::SessionId;
use agentic_session::{Begin, KeySource, SessionOptions, SessionSpace, flow_object};
use agentic_space::commit::{TraceBinding, commit};
use agentic_space::model::AgentName;
use agentic_testkit::{Sandbox, Setup};

/// Makes a repository of somebody, and opens it.
pub fn place() -> (Sandbox, SessionSpace) {
    let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
    for (key, value) in [("user.name", "Ada"), ("user.email", "ada@example.com")] {
        sandbox.git(sandbox.start(), &["config", key, value]).expect("writable");
    }
    let space =
        SessionSpace::open(sandbox.start(), SessionOptions::default()).expect("a repository");
    (sandbox, space)
}

/// Says what makes an agent that begins with nothing.
pub fn named(name: &str) -> Spawn {
    Spawn {
        behaviour: None,
        private: false,
        name: name.to_owned(),
        briefing: BriefingSource::Text(format!("Do the work of {name}")),
        beginning: SpawnBeginning::Empty,
        worktree: CheckoutPlace::Nowhere,
    }
}

/// Says what makes a sub-agent.
pub fn from(name: &str, parent: &str) -> Spawn {
    Spawn { beginning: SpawnBeginning::Agent(parent.to_owned()), ..named(name) }
}

/// Makes the caller for whom an agent was chosen for all verbs.
pub fn as_agent<'s>(agent: &str, space: &'s SessionSpace, sandbox: &Sandbox) -> Caller<'s> {
    let (folder, agent) = (sandbox.start().to_owned(), Some(agent.to_owned()));
    let surroundings = Surroundings { folder, agent, ..Surroundings::default() };
    Caller { surroundings, ..Caller::new(space, sandbox.start()) }
}

/// Takes the refusal of what is refused.
pub fn refusal<A>(outcome: Result<Reply<A>, Refusal>) -> Refusal {
    outcome.err().expect("it is refused")
}

/// Starts a session of an agent, which is made for it, and runs it as far as it goes.
pub fn start(space: &SessionSpace, agent: &str, flow: &str) -> SessionId {
    let folder = space.repository().work_dir().expect("it has files").to_owned();
    named(agent).run(&Caller::new(space, &folder)).expect("the name is free");
    let begin = Begin {
        agent: AgentName::parse(agent).expect("valid"),
        flow: flow_object(flow).expect("it is short"),
        parts: Vec::new(),
        input: Value::Null,
        key: "k".to_owned(),
        key_source: KeySource::Named,
        allow: Vec::new(),
    };
    agentic_session::start(space, begin).expect("it parses")
}

/// Commits a file with a text.
pub fn write(space: &SessionSpace, agent: &str, path: &str, text: &str) {
    let agent = AgentName::parse(agent).expect("valid");
    commit(space, &agent, &small_draft(path, text, TraceBinding::Nothing)).expect("writable");
}
