//! What is checked before the first node of a run starts: that every agent is known, that programs
//! in nodes compile, and that nothing in memory would wait for a human.

use std::collections::BTreeMap;
use std::sync::Arc;

use agentic_model::{Cid, Value};
use agentic_plan::{
    Backend, CallKind, GraphNode, NodeWork, Plan, PlanCall, Registry, ResolutionMode,
};
use agentic_replay::ProgramFailure;

use crate::lower::{DYNAMIC_AGENT, plan_of_program};
use crate::parser::parse_program;
use crate::resolve::resolve_program;
use crate::run::failure::failure_with;

/// The agents that are loops of the language itself.
const LOOPS: [&str; 3] = ["sibyl/converge", "sibyl/tool_agent", "sibyl/supervisor"];

/// A plan that is ready to run, with the plans that its nodes carry.
pub(super) struct PreparedPlan {
    pub plan: Arc<Plan>,
    /// The id of the plan.
    pub id: Arc<Cid>,
    pub inner: BTreeMap<usize, Arc<PreparedPlan>>,
}

impl PreparedPlan {
    /// Adds the plans that the nodes carry, each before those that its own nodes carry.
    pub fn collect_inner(&self, plans: &mut Vec<Arc<Plan>>) {
        for inner in self.inner.values() {
            plans.push(Arc::clone(&inner.plan));
            inner.collect_inner(plans);
        }
    }

    /// Prepares a plan. Programs nest no deeper than the parser allows, and so does this.
    pub fn of(plan: Arc<Plan>, registry: &Registry) -> Result<PreparedPlan, ProgramFailure> {
        let mut inner = BTreeMap::new();
        for (index, node) in plan.nodes().iter().enumerate() {
            let NodeWork::Call(call) = &node.work else { continue };
            match call.kind {
                CallKind::Activity | CallKind::Workflow => {
                    check_agent(node, call, plan.backend(), registry)?;
                }
                CallKind::Hold if plan.backend() == Backend::Memory => {
                    return Err(refuse(
                        "BackendUnsupported",
                        node,
                        "nobody waits for a decision in memory",
                    ));
                }
                CallKind::Hold => {}
                CallKind::Dynamic => {
                    let carried = carried_plan(node, call, plan.backend(), registry)?;
                    inner.insert(index, Arc::new(PreparedPlan::of(Arc::new(carried), registry)?));
                }
            }
        }
        let id = Arc::new(plan.cid());
        Ok(PreparedPlan { plan, id, inner })
    }
}

fn refuse(code: &str, node: &GraphNode, reason: &str) -> ProgramFailure {
    let message = format!("node `{}` cannot run: {reason}", node.id);
    failure_with(code, message, &[("node", Value::text(node.id.as_str()))])
}

fn check_agent(
    node: &GraphNode,
    call: &PlanCall,
    backend: Backend,
    registry: &Registry,
) -> Result<(), ProgramFailure> {
    let is_loop = call.kind == CallKind::Workflow && LOOPS.contains(&call.agent.as_str());
    let spec = registry.by_agent(&call.agent);
    if backend == Backend::Memory && spec.is_some_and(|spec| spec.verdict.is_some()) {
        let reason = "nobody waits for a verdict in memory";
        return Err(refuse("BackendUnsupported", node, reason));
    }
    if is_loop || spec.is_some() {
        return Ok(());
    }
    let reason = format!("nobody registered the agent `{}`", call.agent);
    Err(refuse("AgentNotRegistered", node, &reason))
}

fn carried_plan(
    node: &GraphNode,
    call: &PlanCall,
    outer: Backend,
    registry: &Registry,
) -> Result<Plan, ProgramFailure> {
    let invalid = |reason: &str| refuse("InvalidPlan", node, reason);
    if call.agent.as_str() != DYNAMIC_AGENT {
        return Err(invalid("only `sibyl/dynamic` runs programs"));
    }
    let text = |key: &str| call.params.get(key).and_then(Value::as_text);
    let backend = text("backend").and_then(Backend::parse);
    let backend = backend.ok_or_else(|| invalid("its program has no backend"))?;
    let mode = text("mode").and_then(ResolutionMode::parse);
    let mode = mode.ok_or_else(|| invalid("its program has no mode"))?;
    let program = text("program").ok_or_else(|| invalid("it has no program"))?;
    if outer == Backend::Memory && backend == Backend::Temporal {
        return Err(invalid("a durable program cannot run inside one in memory"));
    }
    let body = parse_program(program).and_then(|body| resolve_program(&body, backend, registry));
    let body = body.map_err(|findings| {
        let first = findings.first().map(|finding| finding.diagnostic.message.as_str());
        invalid(&format!("its program does not compile: {}", first.unwrap_or("no reason given")))
    })?;
    plan_of_program(body, backend, mode).map_err(|error| invalid(&error.to_string()))
}
