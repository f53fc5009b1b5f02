//! The checks that make nodes a plan. Each pass is linear in nodes and edges.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::PlanError;
use crate::node::{Node, NodeId, Work};
use crate::plan::PLAN_NODES_MAX;

/// The edges of a plan, by index.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Links {
    index: BTreeMap<NodeId, usize>,
    required: Vec<Vec<usize>>,
    dependents: Vec<Vec<usize>>,
}

impl Links {
    pub fn index_of(&self, id: &NodeId) -> Option<usize> {
        self.index.get(id).copied()
    }

    pub fn required(&self, index: usize) -> &[usize] {
        &self.required[index]
    }

    pub fn dependents(&self, index: usize) -> &[usize] {
        &self.dependents[index]
    }
}

/// Checks ids and edges and resolves them to indices.
pub(crate) fn link(nodes: &[Node]) -> Result<Links, PlanError> {
    if nodes.is_empty() {
        return Err(PlanError::Empty);
    }
    if nodes.len() > PLAN_NODES_MAX {
        return Err(PlanError::TooLarge { found: format!("{} nodes", nodes.len()) });
    }
    let mut index = BTreeMap::new();
    for (at, node) in nodes.iter().enumerate() {
        if index.insert(node.id.clone(), at).is_some() {
            return Err(PlanError::DuplicateId { id: node.id.to_string() });
        }
    }
    check_edges(nodes)?;
    let mut required = vec![Vec::new(); nodes.len()];
    let mut dependents = vec![Vec::new(); nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        for name in &node.requires {
            let Some(&source) = index.get(name) else {
                let (id, required) = (node.id.to_string(), name.to_string());
                return Err(PlanError::UnknownNode { id, required });
            };
            required[at].push(source);
            dependents[source].push(at);
        }
    }
    let links = Links { index, required, dependents };
    check_cycles(nodes, &links)?;
    Ok(links)
}

/// Checks the number of edges of each node, one rule after the other over all nodes.
fn check_edges(nodes: &[Node]) -> Result<(), PlanError> {
    let id = |node: &Node| node.id.to_string();
    for node in nodes {
        let found = node.requires.len();
        if node.work == Work::Join && found < 2 {
            return Err(PlanError::JoinArity { id: id(node), found });
        }
    }
    for node in nodes {
        let mut seen = BTreeSet::new();
        if let Some(twice) = node.requires.iter().find(|name| !seen.insert(*name)) {
            return Err(PlanError::DuplicateEdge { id: id(node), required: twice.to_string() });
        }
    }
    for node in nodes {
        let found = node.requires.len();
        if node.work != Work::Join && found > 1 {
            return Err(PlanError::FanIn { id: id(node), found });
        }
    }
    Ok(())
}

/// Takes away nodes without open requirements until none is left; what stays lies on or behind a
/// circle.
fn check_cycles(nodes: &[Node], links: &Links) -> Result<(), PlanError> {
    let mut open: Vec<usize> = links.required.iter().map(Vec::len).collect();
    let mut ready: Vec<usize> = (0..nodes.len()).filter(|at| open[*at] == 0).collect();
    let mut n_taken = 0;
    while let Some(at) = ready.pop() {
        n_taken += 1;
        for &next in links.dependents(at) {
            open[next] -= 1;
            if open[next] == 0 {
                ready.push(next);
            }
        }
    }
    if n_taken == nodes.len() {
        return Ok(());
    }
    let stays = |at: &usize| open[*at] > 0;
    let first = (0..nodes.len()).filter(stays).min_by_key(|at| &nodes[*at].id);
    let mut at = first.expect("a node was not taken");
    // Going from requirement to requirement never leaves what stays, so it comes round.
    let mut seen_at = BTreeMap::new();
    let mut walk = Vec::new();
    while !seen_at.contains_key(&at) {
        seen_at.insert(at, walk.len());
        walk.push(at);
        let upward = links.required(at).iter().copied().filter(|at| stays(at));
        at = upward.min_by_key(|at| &nodes[*at].id).expect("a node that stays requires another");
    }
    let mut circle: Vec<&NodeId> =
        walk[seen_at[&at]..].iter().rev().map(|at| &nodes[*at].id).collect();
    let smallest = (0..circle.len()).min_by_key(|at| circle[*at]).unwrap_or(0);
    circle.rotate_left(smallest);
    Err(PlanError::Cycle { nodes: circle.into_iter().map(NodeId::to_string).collect() })
}

/// Checks that the entries are exactly the nodes without requirements.
pub(crate) fn check_entry(nodes: &[Node], entry: &[NodeId]) -> Result<(), PlanError> {
    let free = nodes.iter().filter(|node| node.requires.is_empty()).map(|node| &node.id);
    let mut missing: BTreeSet<&NodeId> = free.collect();
    for id in entry {
        if !missing.remove(id) {
            return Err(PlanError::Entry { id: id.to_string() });
        }
    }
    match missing.first() {
        Some(id) => Err(PlanError::Entry { id: id.to_string() }),
        None => Ok(()),
    }
}

/// Checks that everything leads to the exit.
pub(crate) fn check_orphans(nodes: &[Node], links: &Links, exit: &NodeId) -> Result<(), PlanError> {
    let exit = links.index_of(exit).expect("the exit was checked before");
    let mut reached = vec![false; nodes.len()];
    reached[exit] = true;
    let mut open = vec![exit];
    while let Some(at) = open.pop() {
        for &source in links.required(at) {
            if !std::mem::replace(&mut reached[source], true) {
                open.push(source);
            }
        }
    }
    match reached.iter().position(|reached| !reached) {
        Some(at) => Err(PlanError::Orphan { id: nodes[at].id.to_string() }),
        None => Ok(()),
    }
}
