//! The builtins that ask the store which the session is in.

use agentic_model::StoreVerb;

use crate::agent::{AgentId, CallEffect, Implementation};
use crate::node::{Backend, RetryLimits};
use crate::registry::{AgentParameter, ArgSchema, BuiltinSpec, ParameterType};

/// Makes the builtins of the store. A program has those that it calls and that its registry does not
/// name otherwise; `hold` is a builtin of every registry.
pub fn store_builtins() -> Vec<BuiltinSpec> {
    let text = |name: &str| AgentParameter::new(name, ParameterType::String).optional();
    vec![
        builtin(
            StoreVerb::Commit,
            "Commits to the branch of the session's agent.",
            CallEffect::Idempotent,
            vec![text("message"), text("kind")],
        ),
        builtin(
            StoreVerb::Pending,
            "Lists what waits for people.",
            CallEffect::Read,
            vec![text("agent")],
        ),
        builtin(
            StoreVerb::Query,
            "Answers a query over all facts.",
            CallEffect::Read,
            vec![text("text")],
        ),
        builtin(
            StoreVerb::Relate,
            "Asserts or retracts a relation.",
            CallEffect::Idempotent,
            vec![text("relation"), text("target"), text("source"), text("change")],
        ),
        builtin(
            StoreVerb::Spawn,
            "Makes an agent that descends from the session's.",
            CallEffect::Idempotent,
            vec![text("briefing"), text("name"), text("from"), text("flow")],
        ),
        builtin(
            StoreVerb::Trace,
            "Writes what flows in into the trace of the session's agent, and gives it on.",
            CallEffect::Pure,
            vec![],
        ),
    ]
}

fn builtin(
    verb: StoreVerb,
    description: &str,
    effect: CallEffect,
    params: Vec<AgentParameter>,
) -> BuiltinSpec {
    let agent = AgentId::parse(&format!("agentic/{}", verb.name()));
    BuiltinSpec {
        description: description.to_owned(),
        schema: ArgSchema { params, variadic: None },
        backends: vec![Backend::Temporal],
        run: Some(Implementation::Store(verb)),
        effect: Some(effect),
        // What the store refuses it refuses again.
        retry: Some(RetryLimits {
            max_attempts: 1,
            initial_ms: 1_000,
            backoff: 1.0,
            max_interval_ms: None,
            non_retryable: Vec::new(),
        }),
        ..BuiltinSpec::new(verb.name(), agent.expect("ids of the store are well-formed"))
    }
}
