//! What an agent receives.
//!
//! A request holds what its node asks, and that is what is hashed: the same node asks the same in
//! every run and after every change elsewhere in its plan. Which run and which plan it belongs to
//! is known to whoever performs it, and [`AgentCall::to_input`] puts both together.

use std::sync::Arc;

use agentic_model::{Cid, Map, Value};
use agentic_replay::Request;

use crate::run::outgoing::RequestKind;

/// The call of an agent by a node of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentCall {
    /// Whom it is for.
    pub agent: String,
    /// The node of the plan that calls.
    pub node_id: String,
    /// The node whose output the input is; nothing at the entries of a plan.
    pub requires: Option<String>,
    /// The path of the first attempt: the same for all attempts of one call and different for every
    /// other call of the run.
    pub key: String,
    /// Which attempt this is, from 1.
    pub attempt: i64,
    /// The bound parameters.
    pub params: Map,
    /// The values beyond the parameters.
    pub args: Vec<Value>,
    /// What flows in.
    pub input: Value,
    /// In whose name the run was started, where somebody said so.
    pub invoked_by: Option<String>,
    /// The plan that the node is one of.
    pub plan: Option<Arc<Cid>>,
}

impl AgentCall {
    /// Reads the call that a request carries.
    pub fn of(request: &Request) -> Option<AgentCall> {
        AgentCall::read(request.payload.get("call")?, request.origin.clone())
    }

    /// Reads the call that a request passes on to a session, which it becomes the input of.
    pub fn of_spawn(request: &Request) -> Option<AgentCall> {
        let is_spawn = RequestKind::of(request) == Some(RequestKind::Spawn);
        // Sessions of other languages say themselves what flows into the sessions they spawn.
        let plan = request.origin.clone().filter(|_| is_spawn)?;
        AgentCall::read(request.payload.get("input")?, Some(plan))
    }

    fn read(call: &Value, plan: Option<Arc<Cid>>) -> Option<AgentCall> {
        let text = |key: &str| call.get(key).and_then(Value::as_text).map(str::to_owned);
        Some(AgentCall {
            agent: text("agent")?,
            node_id: text("node")?,
            requires: text("requires"),
            key: text("key")?,
            attempt: call.get("attempt")?.as_int()?,
            params: call.get("params").and_then(Value::as_map).cloned().unwrap_or_default(),
            args: call.get("args").and_then(Value::as_list).unwrap_or_default().to_vec(),
            input: call.get("input").cloned().unwrap_or(Value::Null),
            invoked_by: text("invoked_by"),
            plan,
        })
    }

    /// Returns what the agent receives in a run: `node_id`, `agent`, `params`, `args`, `input`,
    /// `upstream`, `run_id`, `plan`, `invoked_by` and `attempt`, all of them always.
    pub fn to_input(self, run_id: &str) -> Value {
        let optional = |text: Option<String>| text.map_or(Value::Null, Value::Text);
        let upstream = self.requires.into_iter().map(|node| (node, self.input.clone())).collect();
        Value::map([
            ("node_id", Value::Text(self.node_id)),
            ("agent", Value::Text(self.agent)),
            ("params", Value::Map(self.params)),
            ("args", Value::List(self.args)),
            ("upstream", Value::Map(upstream)),
            ("input", self.input),
            ("run_id", Value::text(run_id)),
            ("plan", optional(self.plan.map(|plan| plan.to_string()))),
            ("invoked_by", optional(self.invoked_by)),
            ("attempt", Value::Int(self.attempt)),
        ])
    }
}
