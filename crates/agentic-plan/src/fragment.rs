//! Open pieces of plans, and the algebra that compilers build plans with.
//!
//! `sequence` and `fanout` are associative up to the numbers of joins, and a fan-out inside a
//! fan-out leaves no trace. A join is put wherever several outputs meet something that follows;
//! pairs are never wired up by guessing.

use crate::error::PlanError;
use crate::node::{Backend, GraphNode, NodeId, NodeWork, PlanCall, ResolutionMode};
use crate::plan::Plan;

/// Gives the nodes of one plan their ids: `n0, n1, …` for calls, `j0, j1, …` for joins.
#[derive(Debug, Clone, Default)]
pub struct Numbering {
    n_calls: usize,
    n_joins: usize,
}

/// A piece of a plan: nodes, those that still want an input, and those whose output is still free.
/// None of the three is ever empty.
#[derive(Debug, Clone, PartialEq)]
pub struct Fragment {
    nodes: Vec<GraphNode>,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
}

/// A piece with one output, ready to become a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct ClosedFragment {
    nodes: Vec<GraphNode>,
    exit: NodeId,
}

impl ClosedFragment {
    /// Checks the whole and makes the plan.
    ///
    /// # Errors
    /// Fails when the plan is too large.
    pub fn validate(self, backend: Backend, mode: ResolutionMode) -> Result<Plan, PlanError> {
        Plan::new(backend, mode, self.nodes, self.exit)
    }

    /// Returns the nodes, in order.
    pub fn nodes(&self) -> &[GraphNode] {
        &self.nodes
    }
}

impl Numbering {
    fn next_call(&mut self) -> NodeId {
        self.n_calls += 1;
        NodeId::call(self.n_calls - 1)
    }

    fn next_join(&mut self) -> NodeId {
        self.n_joins += 1;
        NodeId::join(self.n_joins - 1)
    }
}

impl Fragment {
    /// Makes a fragment of one call.
    pub fn call(numbering: &mut Numbering, call: PlanCall) -> Fragment {
        let work = NodeWork::Call(Box::new(call));
        let node = GraphNode { id: numbering.next_call(), work, requires: Vec::new() };
        Fragment { nodes: vec![node], inputs: vec![0], outputs: vec![0] }
    }

    /// Sets fragments side by side; nothing if there are none.
    pub fn fanout(branches: impl IntoIterator<Item = Fragment>) -> Option<Fragment> {
        let mut branches = branches.into_iter();
        let mut all = branches.next()?;
        for branch in branches {
            let offset = all.nodes.len();
            all.inputs.extend(branch.inputs.iter().map(|at| at + offset));
            all.outputs.extend(branch.outputs.iter().map(|at| at + offset));
            all.nodes.extend(branch.nodes);
        }
        Some(all)
    }

    /// Puts one fragment behind another. If several outputs are free on the left they are joined,
    /// and every input on the right gets the same one value.
    pub fn sequence(self, numbering: &mut Numbering, right: Fragment) -> Fragment {
        let mut left = self.closed(numbering);
        let up = left.nodes[left.outputs[0]].id.clone();
        let offset = left.nodes.len();
        left.nodes.extend(right.nodes);
        for at in right.inputs {
            left.nodes[at + offset].requires = vec![up.clone()];
        }
        left.outputs = right.outputs.into_iter().map(|at| at + offset).collect();
        left
    }

    /// Closes the fragment: several free outputs are joined, the one that is left is the exit.
    pub fn finish(self, numbering: &mut Numbering) -> ClosedFragment {
        let closed = self.closed(numbering);
        let exit = closed.nodes[closed.outputs[0]].id.clone();
        ClosedFragment { nodes: closed.nodes, exit }
    }

    /// Returns the nodes, in order.
    pub fn nodes(&self) -> &[GraphNode] {
        &self.nodes
    }

    /// Joins the outputs if there are several.
    fn closed(mut self, numbering: &mut Numbering) -> Fragment {
        if self.outputs.len() > 1 {
            let requires = self.outputs.iter().map(|at| self.nodes[*at].id.clone()).collect();
            self.outputs = vec![self.nodes.len()];
            self.nodes.push(GraphNode {
                id: numbering.next_join(),
                work: NodeWork::Join,
                requires,
            });
        }
        self
    }
}
