//! The family of agents: who was forked from whom, what each did and took in.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::commit::Claims;
use agentic_model::{AgentName, Kind, Oid};

use crate::agent::kind_on;
use crate::{Result, Space};

/// One agent with everything that was forked from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Family {
    /// The agent.
    pub agent: AgentName,
    /// Its head.
    pub head: Oid,
    /// How many commits it made, the genesis included.
    pub n_commits: usize,
    /// How many of each kind.
    pub kinds: BTreeMap<Kind, usize>,
    /// The agents whose work it took in, oldest first.
    pub merges: Vec<AgentName>,
    /// The agents forked from it, by name.
    pub children: Vec<Family>,
}

/// What is gathered of one agent before the families are put together.
struct Member {
    family: Family,
    parent: Option<AgentName>,
}

impl Space {
    /// Puts the families together: agents without a parent here first, each with its descendants.
    ///
    /// # Errors
    /// Fails when refs or commits cannot be read.
    pub fn families(&self) -> Result<Vec<Family>> {
        let mut members = BTreeMap::new();
        for (name, head) in self.agent_names()? {
            members.insert(name.clone(), self.member(name, head)?);
        }
        let names: BTreeSet<AgentName> = members.keys().cloned().collect();
        let mut children = BTreeMap::<AgentName, Vec<AgentName>>::new();
        let mut roots = Vec::new();
        for (name, member) in &members {
            match member.parent.clone().filter(|parent| names.contains(parent) && parent != name) {
                Some(parent) => children.entry(parent).or_default().push(name.clone()),
                None => roots.push(name.clone()),
            }
        }
        let mut families: Vec<Family> =
            roots.iter().map(|root| assemble(root, &mut members, &children)).collect();
        // Parents written by hand can form a cycle, which has no root of its own.
        while let Some(name) = members.keys().next().cloned() {
            families.push(assemble(&name, &mut members, &children));
        }
        Ok(families)
    }

    fn member(&self, name: AgentName, head: Oid) -> Result<Member> {
        let commits = self.own_commits(&name, head)?;
        let mut kinds = BTreeMap::new();
        let (mut merges, mut parent) = (Vec::new(), None);
        for commit in commits.iter().rev() {
            let claims = Claims::read(&commit.message);
            *kinds.entry(kind_on(&name, &claims)).or_default() += 1;
            if crate::agent::is_genesis_of(&name, &claims) {
                parent = claims.parent.clone();
            }
            merges.extend(claims.merged.filter(|_| commit.parents.len() > 1));
        }
        let n_commits = commits.len();
        let children = Vec::new();
        let family = Family { agent: name, head, n_commits, kinds, merges, children };
        Ok(Member { family, parent })
    }
}

/// Takes a member out and puts its descendants below it, without recursion: chains may be long.
fn assemble(
    root: &AgentName,
    members: &mut BTreeMap<AgentName, Member>,
    children: &BTreeMap<AgentName, Vec<AgentName>>,
) -> Family {
    let mut order = vec![root.clone()];
    let mut seen = BTreeSet::from([root]);
    let mut at = 0;
    while at < order.len() {
        let below = children.get(&order[at]).into_iter().flatten();
        order.extend(below.filter(|name| seen.insert(*name)).cloned());
        at += 1;
    }
    let mut done = BTreeMap::<AgentName, Vec<Family>>::new();
    for name in order.into_iter().rev() {
        let Some(member) = members.remove(&name) else { continue };
        let mut family = member.family;
        family.children = done.remove(&name).unwrap_or_default();
        family.children.sort_by(|left, right| left.agent.cmp(&right.agent));
        if name == *root {
            return family;
        }
        let parent = member.parent.expect("only the root of a family has no parent in it");
        done.entry(parent).or_default().push(family);
    }
    unreachable!("BUG: the root is the last to be assembled")
}
