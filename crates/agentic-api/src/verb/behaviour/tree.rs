//! The versions of a name: which was made from which.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::{AboutBehaviour, Cid, LibraryName};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::behaviours::{BehaviourShelf, behaviour_name};
use crate::verb::{Reply, Verb};
use crate::view::BehaviourNodeView;
use crate::{Caller, Notice, Refusal};

/// Show the versions of a name, each below what it was made from.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BehaviourTree {
    /// The name.
    pub name: String,
}

impl Verb for BehaviourTree {
    type Answer = Vec<BehaviourNodeView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<BehaviourNodeView>>, Refusal> {
        let name = behaviour_name(&self.name)?;
        let shelf = BehaviourShelf::new(caller.space);
        let state = shelf.state()?;
        let all = state.about_all()?;
        let found = caller.space.behaviour_in_force(&name)?;
        let changes = state.changes(caller.space, &name)?;
        let adopted: BTreeSet<Cid> = changes.iter().filter_map(|change| change.cid).collect();
        let versions = versions(&name, &all.told, &adopted);
        if versions.is_empty() {
            return Err(shelf.unknown(&self.name)?);
        }
        let cid = |pointer: Option<agentic_model::LibraryPointer>| pointer.map(|it| it.cid);
        let (now, offered) = (cid(found.pointer), cid(found.offered));
        let contested = cid(found.shared.contested);
        let mark = |cid: &Cid| {
            if Some(*cid) == now {
                "in force"
            } else if Some(*cid) == contested {
                "contested"
            } else if Some(*cid) == offered {
                "offered"
            } else if adopted.contains(cid) {
                "before"
            } else {
                "added"
            }
        };
        let nodes = order(&versions, &all.told).into_iter().map(|(depth, cid)| {
            let about = all.told.get(&cid).cloned().unwrap_or_default();
            BehaviourNodeView::of(cid, depth, mark(&cid), &about)
        });
        let notices = all.damaged.into_iter();
        let notices =
            notices.map(|why| Notice::Unreadable { what: format!("behaviours: {why}") }).collect();
        Ok(Reply { notices, ..Reply::plain(nodes.collect()) })
    }
}

/// Finds the versions of a name: those added under it, those adopted as it, and what they were made
/// from.
fn versions(
    name: &LibraryName,
    told: &BTreeMap<Cid, AboutBehaviour>,
    adopted: &BTreeSet<Cid>,
) -> BTreeSet<Cid> {
    let added = told.iter().filter(|(_, about)| about.names.contains(name)).map(|(cid, _)| *cid);
    let mut todo: Vec<Cid> = added.chain(adopted.iter().copied()).collect();
    let mut found = BTreeSet::new();
    while let Some(cid) = todo.pop() {
        if found.insert(cid) {
            todo.extend(told.get(&cid).into_iter().flat_map(|about| &about.parents));
        }
    }
    found
}

/// Puts each version below its first parent. What two clones made parents of each other stands at the
/// top, each once.
fn order(versions: &BTreeSet<Cid>, told: &BTreeMap<Cid, AboutBehaviour>) -> Vec<(usize, Cid)> {
    let parent = |cid: &Cid| {
        let about = told.get(cid)?;
        about.parents.iter().find(|parent| versions.contains(parent)).copied()
    };
    let mut children: BTreeMap<Option<Cid>, Vec<Cid>> = BTreeMap::new();
    for cid in versions {
        children.entry(parent(cid)).or_default().push(*cid);
    }
    let mut nodes = Vec::new();
    let mut seen = BTreeSet::new();
    let tops: Vec<Cid> = children.get(&None).into_iter().flatten().copied().collect();
    for top in tops.into_iter().chain(versions.iter().copied()) {
        let mut todo = vec![(0, top)];
        while let Some((depth, cid)) = todo.pop() {
            if seen.insert(cid) {
                nodes.push((depth, cid));
                let below = children.get(&Some(cid)).into_iter().flatten().rev();
                todo.extend(below.map(|child| (depth + 1, *child)));
            }
        }
    }
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_that_were_made_from_each_other_stand_once() {
        let [a, b, c] = [&b"a"[..], b"b", b"c"].map(Cid::of);
        let about = |parents: &[Cid]| AboutBehaviour {
            parents: parents.iter().copied().collect(),
            ..AboutBehaviour::default()
        };
        let told = BTreeMap::from([(a, about(&[b])), (b, about(&[a])), (c, about(&[a, b]))]);
        let all = versions(&LibraryName::parse("x").expect("a name"), &told, &[c].into());
        assert_eq!(all, [a, b, c].into());
        let nodes = order(&all, &told);
        assert_eq!(nodes.len(), 3);
        assert_eq!(nodes[0].0, 0);
        let chain = BTreeMap::from([(a, about(&[])), (b, about(&[a])), (c, about(&[b]))]);
        assert_eq!(order(&all, &chain), [(0, a), (1, b), (2, c)]);
    }
}
