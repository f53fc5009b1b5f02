//! Which queue a request goes to.
//!
//! What touches the repository or its worktrees stays on the queue of the space: files, programs,
//! commits. Models, endpoints, pages and servers of tools are asked from anywhere. The same request of
//! the same run always goes the same way: what is configured is part of the input of the run.

use agentic_host::RunExecutor;
use agentic_host::performer::Carrier;
use agentic_lang_pipeline::run::AgentCall;
use agentic_model::Value;
use agentic_providers::model::{MODEL_REQUEST, TASK_REQUEST};
use agentic_providers::tool::{AGENT_TOOL_REQUEST, TOOL_REQUEST, reads_web};
use agentic_replay::Request;

use crate::settings::QueueMap;

/// The queue of what needs no repository.
pub const ANYWHERE: &str = "agentic";
/// How the names of the queues of spaces begin.
const OF_SPACE: &str = "agentic/";
/// How the addresses of tools begin that need no repository.
const REMOTE: [&str; 3] = ["http://", "https://", "mcp://"];

/// What the queue of a space is called.
pub fn queue_of(space_id: &str) -> String {
    format!("{OF_SPACE}{space_id}")
}

/// What the activity of a request is called: after its agent, else after its kind.
pub fn called(request: &Request) -> String {
    let agent = AgentCall::of(request).map(|call| call.agent);
    agent.unwrap_or_else(|| format!("agentic.{}", request.kind))
}

/// Says whether a queue needs a repository.
pub fn needs_repository(queue: &str) -> bool {
    queue.starts_with(OF_SPACE)
}

/// Returns the queue of a request that needs no repository; nothing for those that do.
pub fn outside(executor: &RunExecutor, request: &Request, queues: &QueueMap) -> Option<String> {
    let named = named(request, queues);
    let goes_anywhere = match executor.carrier(request) {
        Carrier::Endpoint(_) => true,
        Carrier::Provider(_) => needs_nothing(request),
        // A program may be in the worktree, and works there, unless somebody says where else.
        Carrier::Program(_) => named.is_some(),
        Carrier::Person(_) | Carrier::Script | Carrier::Nobody => false,
    };
    let usual = || queues.usual.as_deref().unwrap_or(ANYWHERE);
    goes_anywhere.then(|| named.unwrap_or_else(usual).to_owned())
}

/// Returns the queue that the agent or the kind of a request has of its own.
fn named<'q>(request: &Request, queues: &'q QueueMap) -> Option<&'q str> {
    let agent = AgentCall::of(request).map(|call| call.agent);
    let of_agent = agent.and_then(|agent| queues.named.get(&agent));
    of_agent.or_else(|| queues.named.get(&request.kind)).map(String::as_str)
}

/// Says whether a provider performs a request without a repository.
fn needs_nothing(request: &Request) -> bool {
    let uri = || request.payload.get("uri").and_then(Value::as_text).unwrap_or_default();
    match request.kind.as_str() {
        MODEL_REQUEST | TASK_REQUEST => true,
        TOOL_REQUEST => REMOTE.iter().any(|scheme| uri().starts_with(scheme)),
        AGENT_TOOL_REQUEST => reads_web(&request.payload),
        // A model that plays a role of a pipeline.
        _ => AgentCall::of(request).is_some(),
    }
}
