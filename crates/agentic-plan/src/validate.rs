//! The checks that make nodes a plan. Each pass is linear in nodes and edges.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::PlanError;
use crate::node::{GraphNode, NodeId, NodeWork};
use crate::plan::PLAN_NODES_MAX;

/// The edges of a plan, by index.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Links {
    required: Edges,
    dependents: Edges,
}

/// For each node a list of nodes, all in one row.
#[derive(Debug, Clone, PartialEq)]
struct Edges {
    /// Where the list of each node begins, and where the last one ends.
    starts: Vec<usize>,
    targets: Vec<usize>,
}

impl Edges {
    fn of(&self, index: usize) -> &[usize] {
        &self.targets[self.starts[index]..self.starts[index + 1]]
    }

    /// Turns every edge round; lists become ascending.
    fn turned(&self) -> Edges {
        let n_nodes = self.starts.len() - 1;
        let mut starts = vec![0; n_nodes + 1];
        for target in &self.targets {
            starts[target + 1] += 1;
        }
        for index in 0..n_nodes {
            starts[index + 1] += starts[index];
        }
        let mut next = starts.clone();
        let mut targets = vec![0; self.targets.len()];
        for source in 0..n_nodes {
            for &target in self.of(source) {
                targets[next[target]] = source;
                next[target] += 1;
            }
        }
        Edges { starts, targets }
    }
}

impl Links {
    pub fn required(&self, index: usize) -> &[usize] {
        self.required.of(index)
    }

    pub fn dependents(&self, index: usize) -> &[usize] {
        self.dependents.of(index)
    }
}

/// Finds nodes by their ids.
struct NodeIndex<'a> {
    nodes: &'a [GraphNode],
    by_id: Vec<usize>,
}

impl<'a> NodeIndex<'a> {
    fn new(nodes: &'a [GraphNode]) -> NodeIndex<'a> {
        let mut by_id: Vec<usize> = (0..nodes.len()).collect();
        by_id.sort_by(|left, right| nodes[*left].id.cmp(&nodes[*right].id).then(left.cmp(right)));
        NodeIndex { nodes, by_id }
    }

    fn find(&self, id: &NodeId) -> Option<usize> {
        let found = self.by_id.binary_search_by(|at| self.nodes[*at].id.cmp(id));
        found.ok().map(|at| self.by_id[at])
    }

    /// Returns the first node, in the order of the plan, whose id an earlier node has.
    fn first_duplicate(&self) -> Option<usize> {
        let pairs = self.by_id.windows(2);
        let same = pairs.filter(|pair| self.nodes[pair[0]].id == self.nodes[pair[1]].id);
        same.map(|pair| pair[1]).min()
    }
}

/// Checks ids and edges and resolves them to indices.
pub(crate) fn link(nodes: &[GraphNode]) -> Result<Links, PlanError> {
    if nodes.is_empty() {
        return Err(PlanError::Empty);
    }
    if nodes.len() > PLAN_NODES_MAX {
        return Err(PlanError::TooLarge { found: format!("{} nodes", nodes.len()) });
    }
    let index = NodeIndex::new(nodes);
    if let Some(at) = index.first_duplicate() {
        return Err(PlanError::DuplicateId { id: nodes[at].id.to_string() });
    }
    check_edges(nodes)?;
    let mut required = Edges { starts: vec![0], targets: Vec::with_capacity(nodes.len()) };
    for node in nodes {
        for name in &node.requires {
            let Some(source) = index.find(name) else {
                let (id, required) = (node.id.to_string(), name.to_string());
                return Err(PlanError::UnknownNode { id, required });
            };
            required.targets.push(source);
        }
        required.starts.push(required.targets.len());
    }
    let links = Links { dependents: required.turned(), required };
    check_cycles(nodes, &links)?;
    Ok(links)
}

/// Checks the number of edges of each node, one rule after the other over all nodes.
fn check_edges(nodes: &[GraphNode]) -> Result<(), PlanError> {
    let id = |node: &GraphNode| node.id.to_string();
    for node in nodes {
        let found = node.requires.len();
        if node.work == NodeWork::Join && found < 2 {
            return Err(PlanError::JoinArity { id: id(node), found });
        }
    }
    for node in nodes {
        let mut seen = BTreeSet::new();
        let is_one = node.requires.len() < 2;
        let mut names = node.requires.iter();
        if let Some(twice) = names.find(|name| !is_one && !seen.insert(*name)) {
            return Err(PlanError::DuplicateEdge { id: id(node), required: twice.to_string() });
        }
    }
    for node in nodes {
        let found = node.requires.len();
        if node.work != NodeWork::Join && found > 1 {
            return Err(PlanError::FanIn { id: id(node), found });
        }
    }
    Ok(())
}

/// Takes away nodes without open requirements until none is left; what stays lies on or behind a
/// circle.
fn check_cycles(nodes: &[GraphNode], links: &Links) -> Result<(), PlanError> {
    let mut open: Vec<usize> = (0..nodes.len()).map(|at| links.required(at).len()).collect();
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
pub(crate) fn check_entry(nodes: &[GraphNode], entry: &[NodeId]) -> Result<(), PlanError> {
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
pub(crate) fn check_orphans(
    nodes: &[GraphNode],
    links: &Links,
    exit: usize,
) -> Result<(), PlanError> {
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
