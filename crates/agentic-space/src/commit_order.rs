//! The order in which commits are told.

use std::collections::{BinaryHeap, HashMap};

use agentic_model::{Instant, Oid};

/// A commit, as far as its place goes.
pub(crate) trait OrderedCommit {
    /// Returns when it was made.
    fn at(&self) -> Instant;

    /// Returns its parents.
    fn parents(&self) -> &[Oid];
}

/// Puts each commit before its parents, and of others the younger one first: a commit keeps seconds alone. Begins at
/// a tip, and leaves out what is not among those that were found.
pub(crate) fn newest_first<C: OrderedCommit>(tip: Oid, found: &HashMap<Oid, C>) -> Vec<Oid> {
    let mut n_children: HashMap<Oid, usize> = HashMap::new();
    for parent in found.values().flat_map(C::parents) {
        *n_children.entry(*parent).or_default() += 1;
    }
    let mut ready: BinaryHeap<(Instant, Oid)> =
        found.get(&tip).map(|commit| (commit.at(), tip)).into_iter().collect();
    let mut order = Vec::with_capacity(found.len());
    while let Some((_, oid)) = ready.pop() {
        order.push(oid);
        for parent in found[&oid].parents() {
            let left = n_children.get_mut(parent).expect("BUG: every parent was counted");
            *left -= 1;
            if let (0, Some(commit)) = (*left, found.get(parent)) {
                ready.push((commit.at(), *parent));
            }
        }
    }
    order
}
