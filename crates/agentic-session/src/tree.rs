//! The family of agents: who was forked from whom, how each stands, what it did, what it took in and
//! where its own work went.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::commit::Claims;
use agentic_model::edge::Party;
use agentic_model::{AgentName, Kind, Oid};
use agentic_space::agent::{DamagedAgent, SoundAgents, kind_on};

use crate::SessionState;
use crate::{Result, SessionSpace};
use crate::{listing, summary};

/// How an agent stands, as its sessions say; of several, what needs attention most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AgentStanding {
    /// It has no session that is not over.
    Idle,
    /// Something can be done for it, or is being done.
    Running,
    /// It waits for an instant or for a child.
    Waiting,
    /// The records of a session were made by a version of its language that does not run here.
    Diverged,
    /// It waits for a human.
    Held,
}

/// One agent with everything that was forked from it.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentFamily {
    /// The agent.
    pub agent: AgentName,
    /// Its head.
    pub head: Oid,
    /// How it stands.
    pub standing: AgentStanding,
    /// How many commits it made, the genesis included.
    pub n_commits: usize,
    /// How many of each kind.
    pub kinds: BTreeMap<Kind, usize>,
    /// The agents whose work it took in, oldest first.
    pub merges: Vec<AgentName>,
    /// The agents and branches that took its work in, by name.
    pub merged_into: BTreeSet<Party>,
    /// The agents forked from it, by name.
    pub children: Vec<AgentFamily>,
}

/// What is gathered of one agent before the families are put together.
struct Member {
    family: AgentFamily,
    parent: Option<AgentName>,
}

/// The families of a space, as far as they can be read.
#[derive(Debug)]
pub struct AgentFamilies {
    /// Those without a parent here first, each with its descendants.
    pub families: Vec<AgentFamily>,
    /// What cannot be read.
    pub left_out: BTreeSet<String>,
}

impl SessionSpace {
    /// Puts the families together: agents without a parent here first, each with its descendants. What of
    /// them is damaged is left out.
    ///
    /// # Errors
    /// Fails when no refs can be read.
    pub fn families(&self) -> Result<AgentFamilies> {
        let SoundAgents { agents, damaged } = self.sound_agents()?;
        let mut left_out: BTreeSet<String> = damaged.iter().map(ToString::to_string).collect();
        let mut members = BTreeMap::new();
        for (name, head) in agents {
            match self.member(name.clone(), head) {
                Ok(member) => drop(members.insert(name, member)),
                Err(why) => left_out.extend([DamagedAgent { name, why }.to_string()]),
            }
        }
        for (name, standing) in self.standings(&mut |what| left_out.extend([what]))? {
            if let Some(member) = members.get_mut(&name) {
                member.family.standing = member.family.standing.max(standing);
            }
        }
        let merges = self.merges()?;
        left_out.extend(merges.left_out);
        for (agent, into) in merges.pairs {
            let (Ok(agent), Ok(into)) = (AgentName::parse(&agent), Party::parse(&into)) else {
                continue;
            };
            if let Some(member) = members.get_mut(&agent) {
                member.family.merged_into.insert(into);
            }
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
        let mut families: Vec<AgentFamily> =
            roots.iter().map(|root| assemble(root, &mut members, &children)).collect();
        // Parents written by hand can form a cycle, which has no root of its own.
        while let Some(name) = members.keys().next().cloned() {
            families.push(assemble(&name, &mut members, &children));
        }
        Ok(AgentFamilies { families, left_out })
    }

    /// Says for each session that is not over whose it is and how it stands; a damaged one is nobody's.
    pub(crate) fn standings(
        &self,
        tell: &mut dyn FnMut(String),
    ) -> Result<Vec<(AgentName, AgentStanding)>> {
        let summaries = listing::list_open_telling(self, tell)?.into_iter();
        let summaries = summaries.filter_map(|id| summary::read(self, &id).ok());
        Ok(summaries.map(|summary| (summary.agent, AgentStanding::of(summary.state))).collect())
    }

    fn member(&self, name: AgentName, head: Oid) -> agentic_space::Result<Member> {
        let commits = self.own_commits(&name, head)?;
        let mut kinds = BTreeMap::new();
        let (mut merges, mut parent) = (Vec::new(), None);
        for commit in commits.iter().rev() {
            let claims = Claims::read(&commit.message);
            *kinds.entry(kind_on(&name, &claims)).or_default() += 1;
            if agentic_space::agent::is_genesis_of(&name, &claims) {
                parent = claims.parent.clone();
            }
            merges.extend(claims.merged.filter(|_| commit.parents.len() > 1));
        }
        let family = AgentFamily {
            agent: name,
            head,
            standing: AgentStanding::Idle,
            n_commits: commits.len(),
            kinds,
            merges,
            merged_into: BTreeSet::new(),
            children: Vec::new(),
        };
        Ok(Member { family, parent })
    }
}

impl AgentStanding {
    fn of(state: SessionState) -> AgentStanding {
        match state {
            SessionState::Held => AgentStanding::Held,
            SessionState::Diverged => AgentStanding::Diverged,
            SessionState::Waiting => AgentStanding::Waiting,
            SessionState::Running => AgentStanding::Running,
            SessionState::Done | SessionState::Failed | SessionState::Cancelled => {
                AgentStanding::Idle
            }
        }
    }

    /// Returns its name, as users see it.
    pub fn name(self) -> &'static str {
        match self {
            AgentStanding::Idle => "idle",
            AgentStanding::Running => "running",
            AgentStanding::Waiting => "waiting",
            AgentStanding::Diverged => "diverged",
            AgentStanding::Held => "held",
        }
    }
}

/// Takes a member out and puts its descendants below it, without recursion: chains may be long.
fn assemble(
    root: &AgentName,
    members: &mut BTreeMap<AgentName, Member>,
    children: &BTreeMap<AgentName, Vec<AgentName>>,
) -> AgentFamily {
    let mut order = vec![root.clone()];
    let mut seen = BTreeSet::from([root]);
    let mut at = 0;
    while at < order.len() {
        let below = children.get(&order[at]).into_iter().flatten();
        order.extend(below.filter(|name| seen.insert(*name)).cloned());
        at += 1;
    }
    let mut done = BTreeMap::<AgentName, Vec<AgentFamily>>::new();
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
