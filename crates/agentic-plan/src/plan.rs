//! The plan: a closed graph that is known to be valid.

use agentic_model::object::ObjectError;
use agentic_model::{Cid, Map, Object, Value, json};

use crate::draft::{PLAN_VERSION, PlanDraft};
use crate::error::PlanError;
use crate::node::{Backend, GraphNode, NodeId, NodeWork, ResolutionMode};
use crate::validate::{self, Links};

/// The most nodes of one plan.
pub const PLAN_NODES_MAX: usize = 2_000;

/// A valid plan. Whoever holds one knows that it is acyclic, that its joins and only its joins
/// have several inputs, and that everything leads to its exit.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    backend: Backend,
    mode: ResolutionMode,
    nodes: Vec<GraphNode>,
    entry: Vec<NodeId>,
    exit: usize,
    links: Links,
    object: Object,
}

/// A plan whose inner edges are valid and whose ends are still to be said.
pub(crate) struct Inner {
    backend: Backend,
    mode: ResolutionMode,
    nodes: Vec<GraphNode>,
    links: Links,
}

/// A plan that lacks only its entries.
pub(crate) struct ExitingPlan {
    inner: Inner,
    exit: usize,
}

impl Plan {
    /// Makes a plan of nodes. Entries are the nodes without requirements, in the order of nodes.
    ///
    /// # Errors
    /// Fails when the plan cannot run.
    pub fn new(
        backend: Backend,
        mode: ResolutionMode,
        nodes: Vec<GraphNode>,
        exit: NodeId,
    ) -> Result<Plan, PlanError> {
        let entry = nodes.iter().filter(|node| node.requires.is_empty());
        let entry = entry.map(|node| node.id.clone()).collect();
        Plan::with_nodes(backend, mode, nodes)?.with_exit(exit)?.with_entry(entry)
    }

    /// Reads a plan from elsewhere.
    ///
    /// # Errors
    /// Fails when it is not a plan, or cannot run.
    pub fn from_value(value: &Value) -> Result<Plan, PlanError> {
        PlanDraft::from_value(value)?.validate()
    }

    /// Reads a plan from its object; its address is the id of that object.
    ///
    /// # Errors
    /// Fails when the object is not a plan, or the plan cannot run.
    pub fn from_object(object: &Object) -> Result<Plan, PlanError> {
        let plan = Plan::from_value(&Value::Map(object.map().clone()))?;
        Ok(Plan { object: object.clone(), ..plan })
    }

    pub(crate) fn with_nodes(
        backend: Backend,
        mode: ResolutionMode,
        nodes: Vec<GraphNode>,
    ) -> Result<Inner, PlanError> {
        let links = validate::link(&nodes)?;
        Ok(Inner { backend, mode, nodes, links })
    }

    /// Returns where it runs.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// Returns when it is resolved.
    pub fn mode(&self) -> ResolutionMode {
        self.mode
    }

    /// Returns its nodes, in the order they were given.
    pub fn nodes(&self) -> &[GraphNode] {
        &self.nodes
    }

    /// Returns the ids of the nodes without requirements.
    pub fn entry(&self) -> &[NodeId] {
        &self.entry
    }

    /// Returns the node whose output is the result.
    pub fn exit(&self) -> &NodeId {
        &self.nodes[self.exit].id
    }

    /// Returns the index of the exit.
    pub fn exit_index(&self) -> usize {
        self.exit
    }

    /// Returns the indices of the nodes that a node requires, in order.
    pub fn required_by(&self, index: usize) -> &[usize] {
        self.links.required(index)
    }

    /// Returns the indices of the nodes that require a node, ascending.
    pub fn dependents_of(&self, index: usize) -> &[usize] {
        self.links.dependents(index)
    }

    /// Returns its address: the id of its object.
    pub fn cid(&self) -> Cid {
        self.object.cid()
    }

    /// Returns the object of type `plan` that is stored.
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// Returns the plan as data in format v1: the object without its type.
    pub fn to_value(&self) -> Value {
        let mut map = self.object.map().clone();
        map.remove("type");
        Value::Map(map)
    }

    /// Returns format v1 as canonical JSON on one line.
    pub fn to_json(&self) -> String {
        json::to_text(&self.to_value())
    }
}

impl Inner {
    pub(crate) fn with_exit(self, exit: NodeId) -> Result<ExitingPlan, PlanError> {
        match self.nodes.iter().position(|node| node.id == exit) {
            Some(exit) => Ok(ExitingPlan { inner: self, exit }),
            None => Err(PlanError::Exit { id: exit.as_str().to_owned() }),
        }
    }
}

impl ExitingPlan {
    pub(crate) fn with_entry(self, entry: Vec<NodeId>) -> Result<Plan, PlanError> {
        let ExitingPlan { inner: Inner { backend, mode, nodes, links }, exit } = self;
        validate::check_entry(&nodes, &entry)?;
        validate::check_orphans(&nodes, &links, exit)?;
        let object = to_object(backend, mode, &nodes, &entry, &nodes[exit].id)?;
        Ok(Plan { backend, mode, nodes, entry, exit, links, object })
    }
}

fn to_object(
    backend: Backend,
    mode: ResolutionMode,
    nodes: &[GraphNode],
    entry: &[NodeId],
    exit: &NodeId,
) -> Result<Object, PlanError> {
    let map = Map::from([
        ("type".to_owned(), Value::text("plan")),
        ("v".to_owned(), Value::Int(PLAN_VERSION)),
        ("backend".to_owned(), Value::text(backend.as_str())),
        ("mode".to_owned(), Value::text(mode.as_str())),
        ("nodes".to_owned(), Value::List(nodes.iter().map(node_value).collect())),
        ("entry".to_owned(), ids_value(entry)),
        ("exit".to_owned(), Value::text(exit.as_str())),
    ]);
    Object::new(map).map_err(|error| PlanError::TooLarge {
        found: if let ObjectError::TooLong { length } = error {
            format!("{length} bytes")
        } else {
            error.to_string()
        },
    })
}

fn ids_value(ids: &[NodeId]) -> Value {
    Value::List(ids.iter().map(|id| Value::text(id.as_str())).collect())
}

/// Turns a node into data. What is empty is left out, so that every plan has one form.
fn node_value(node: &GraphNode) -> Value {
    let mut map = Map::from([("id".to_owned(), Value::text(node.id.as_str()))]);
    match &node.work {
        NodeWork::Join => {
            map.insert("kind".to_owned(), Value::text("join"));
        }
        NodeWork::Call(call) => {
            map.insert("kind".to_owned(), Value::text(call.kind.as_str()));
            map.insert("activity".to_owned(), Value::text(call.agent.as_str()));
            if !call.params.is_empty() {
                map.insert("params".to_owned(), Value::Map(call.params.clone()));
            }
            if !call.args.is_empty() {
                map.insert("args".to_owned(), Value::List(call.args.clone()));
            }
            if let Some(retry) = &call.retry {
                map.insert("retry".to_owned(), retry.to_value());
            }
            if let Some(timeout_ms) = call.timeout_ms {
                let timeout_ms = i64::try_from(timeout_ms).unwrap_or(i64::MAX);
                map.insert("timeout_ms".to_owned(), Value::Int(timeout_ms));
            }
            if let Some(auth) = &call.auth {
                map.insert("auth".to_owned(), auth.clone());
            }
        }
    }
    if !node.requires.is_empty() {
        map.insert("requires".to_owned(), ids_value(&node.requires));
    }
    Value::Map(map)
}
