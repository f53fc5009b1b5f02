//! The builtins of the store: a program has those that it calls.
//!
//! A registry that names one of them otherwise keeps its own, and a program that calls none is pinned
//! as before.

use std::collections::BTreeSet;
use std::sync::Arc;

use agentic_plan::{BuiltinSpec, Registry, store_builtins};

use crate::ast::{Literal, PipelineNode, WrittenValue};
use crate::parser::parse;

/// Returns a registry with the builtins of the store that a source calls.
pub(crate) fn with_store(text: &str, registry: Arc<Registry>) -> Arc<Registry> {
    wider_registry(text, &registry).map_or(registry, Arc::new)
}

/// Returns a wider registry, where the source calls builtins of the store that it lacks.
pub(crate) fn wider_registry(text: &str, registry: &Registry) -> Option<Registry> {
    let is_missing = |spec: &BuiltinSpec| {
        text.contains(&spec.name)
            && registry.get(&spec.name).is_none()
            && registry.by_agent(&spec.agent).is_none()
    };
    let mut missing: Vec<BuiltinSpec> = store_builtins().into_iter().filter(is_missing).collect();
    if missing.is_empty() {
        return None;
    }
    let mut called = BTreeSet::new();
    for block in parse(text).ok()?.blocks {
        collect(&block.body, &mut called);
    }
    missing.retain(|spec| called.contains(&spec.name));
    if missing.is_empty() {
        return None;
    }
    let mut wider = registry.clone();
    for spec in missing {
        // One more than a registry may have is found missing where it is called.
        let _ = wider.register(spec);
    }
    Some(wider)
}

/// Collects the names of builtins that are called, or given to others to call.
fn collect(node: &PipelineNode, called: &mut BTreeSet<String>) {
    match node {
        PipelineNode::Pipeline(nodes, _) | PipelineNode::Parallel(nodes, _) => {
            nodes.iter().for_each(|node| collect(node, called));
        }
        PipelineNode::Nested(block) => collect(&block.body, called),
        PipelineNode::Call(call) => {
            called.insert(call.name.clone());
            let named = call.named.iter().flatten().map(|named| &named.argument);
            call.positional.iter().chain(named).for_each(|value| collect_value(value, called));
        }
    }
}

fn collect_value(value: &WrittenValue, called: &mut BTreeSet<String>) {
    match &value.literal {
        Literal::Ref(name) => {
            called.insert(name.clone());
        }
        Literal::List(items) => items.iter().for_each(|item| collect_value(item, called)),
        Literal::Text(_) | Literal::Int(_) | Literal::Float(_) | Literal::Bool(_) => {}
    }
}
