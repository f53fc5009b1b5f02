//! Plans in other forms: the exchange shape of simpler engines, and Graphviz.

use std::fmt::Write as _;

use agentic_model::{Map, Value};

use crate::node::{CallKind, GraphNode, NodeWork, PlanCall};
use crate::plan::Plan;
use crate::registry::Registry;

/// A plan has no form in the exchange shape.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("node `{node}` cannot be exported: {reason}")]
pub struct NotExportable {
    /// The node that has no form.
    pub node: String,
    /// Why it has none.
    pub reason: String,
}

impl Plan {
    /// Returns the plan in the exchange shape: nodes with `id`, `activity`, `args` as texts and
    /// `requires`; joins are calls of `sibyl/join`. Arguments are the values of the parameters in
    /// the order of the registry (by name where it does not know them), then the variadic ones.
    ///
    /// # Errors
    /// Fails on nodes other than activities and joins and on values other than texts and numbers.
    pub fn to_sibyl(&self, registry: &Registry) -> Result<Value, NotExportable> {
        let nodes = self.nodes().iter().map(|node| sibyl_node(node, registry));
        let nodes = nodes.collect::<Result<Vec<Value>, _>>()?;
        Ok(Value::map([("nodes", Value::List(nodes))]))
    }

    /// Returns the plan as a Graphviz digraph.
    pub fn to_dot(&self) -> String {
        let mut out = String::from("digraph plan {\n  rankdir=LR;\n");
        for node in self.nodes() {
            let (label, shape) = match &node.work {
                NodeWork::Join => ("join".to_owned(), "point"),
                NodeWork::Call(call) => (call.agent.to_string(), shape_of(call.kind)),
            };
            let rim = if node.id == *self.exit() { ", peripheries=2" } else { "" };
            let _ = writeln!(
                out,
                "  \"{id}\" [label=\"{id}\\n{label}\", shape={shape}{rim}];",
                id = node.id
            );
        }
        for node in self.nodes() {
            for required in &node.requires {
                let _ = writeln!(out, "  \"{required}\" -> \"{}\";", node.id);
            }
        }
        out.push_str("}\n");
        out
    }
}

fn shape_of(kind: CallKind) -> &'static str {
    match kind {
        CallKind::Activity => "box",
        CallKind::Workflow => "component",
        CallKind::Hold => "octagon",
        CallKind::Dynamic => "note",
    }
}

fn sibyl_node(node: &GraphNode, registry: &Registry) -> Result<Value, NotExportable> {
    let mut map = Map::from([("id".to_owned(), Value::text(node.id.as_str()))]);
    let (activity, args) = match &node.work {
        NodeWork::Join => ("sibyl/join", Vec::new()),
        NodeWork::Call(call) => (call.agent.as_str(), sibyl_args(node, call, registry)?),
    };
    map.insert("activity".to_owned(), Value::text(activity));
    if !args.is_empty() {
        map.insert("args".to_owned(), Value::List(args));
    }
    if !node.requires.is_empty() {
        let requires = node.requires.iter().map(|id| Value::text(id.as_str())).collect();
        map.insert("requires".to_owned(), Value::List(requires));
    }
    Ok(Value::Map(map))
}

fn sibyl_args(
    node: &GraphNode,
    call: &PlanCall,
    registry: &Registry,
) -> Result<Vec<Value>, NotExportable> {
    let refuse = |reason: String| NotExportable { node: node.id.to_string(), reason };
    if call.kind != CallKind::Activity {
        return Err(refuse(format!("it is of kind `{}`", call.kind.as_str())));
    }
    let params = registry.by_agent(&call.agent).map_or(&[][..], |spec| &spec.schema.params);
    let rank =
        |name: &str| params.iter().position(|param| param.name == name).unwrap_or(usize::MAX);
    let mut named: Vec<(&String, &Value)> = call.params.iter().collect();
    named.sort_by_key(|(name, _)| rank(name));
    named
        .into_iter()
        .map(|(_, value)| value)
        .chain(&call.args)
        .map(|value| match value {
            Value::Text(text) => Ok(Value::text(text)),
            Value::Int(_) | Value::Float(_) => Ok(Value::Text(format!("{value:?}"))),
            other @ (Value::Null
            | Value::Bool(_)
            | Value::Bytes(_)
            | Value::List(_)
            | Value::Map(_)
            | Value::Link(_)) => {
                Err(refuse(format!("it has an argument of type {}", other.variant())))
            }
        })
        .collect()
}
