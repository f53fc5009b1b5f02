//! Agents as JSON.

use std::collections::BTreeMap;

use agentic_federation::exchange::{RemoteMode, mode_of};
use agentic_git::Repository;
use agentic_session::tree::AgentFamily;
use agentic_space::agent::{Agent, RemoteAgent};
use agentic_space::spawn::SpawnOutcome;
use schemars::JsonSchema;
use serde::Serialize;

use crate::view::texts;

/// One agent of `agentic agents`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AgentView {
    /// Its name.
    pub agent: String,
    /// The commit that its branch is at.
    pub head: String,
    /// Its first commit; missing for a branch that was not spawned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub genesis: Option<String>,
    /// The agent it was forked from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The id of its briefing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub briefing: Option<String>,
    /// How many commits it made, the genesis included.
    pub commits: usize,
    /// The first line of its newest commit's message.
    pub subject: String,
    /// When its newest commit was made.
    pub at: String,
}

/// An agent of a remote that has no branch here.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RemoteAgentView {
    /// Remote and name, such as `origin/alice`.
    pub agent: String,
    /// Where its branch was at the last fetch.
    pub head: String,
    /// The remote.
    pub remote: String,
    /// Whether nobody signed it, though the remote has signed agents, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsigned: bool,
}

/// The answer of `agentic spawn`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SpawnView {
    /// The name of the agent.
    pub agent: String,
    /// The full name of its branch.
    pub branch: String,
    /// Its first commit.
    pub genesis: String,
    /// The commit that its branch is at: the genesis.
    pub head: String,
    /// The id of its briefing.
    pub briefing: String,
    /// The agent it was forked from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The worktree that was made for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
    /// The behaviour that it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behaviour: Option<String>,
}

/// One agent of `agentic tree`, with everything forked from it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FamilyView {
    /// The name of the agent.
    pub agent: String,
    /// The commit that its branch is at.
    pub head: String,
    /// How it stands: `held`, `diverged`, `waiting`, `running` or `idle`, as its sessions say.
    pub state: String,
    /// How many commits it made, the genesis included.
    pub commits: usize,
    /// How many commits of each kind.
    pub kinds: BTreeMap<String, usize>,
    /// The agents whose work it took in, oldest first.
    pub merges: Vec<String>,
    /// The agents and branches that took its work in.
    pub merged_into: Vec<String>,
    /// The agents forked from it.
    pub children: Vec<FamilyView>,
}

/// The answer of `agentic fork-point`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ForkPointView {
    /// The best common ancestor.
    pub commit: String,
}

impl From<&Agent> for AgentView {
    fn from(agent: &Agent) -> AgentView {
        AgentView {
            agent: agent.name.to_string(),
            head: agent.head.to_string(),
            genesis: agent.genesis.map(|oid| oid.to_string()),
            parent: agent.parent.as_ref().map(ToString::to_string),
            briefing: agent.briefing.map(|cid| cid.to_string()),
            commits: agent.n_commits,
            subject: agent.subject.clone(),
            at: agent.at.to_string(),
        }
    }
}

impl RemoteAgentView {
    /// Shows an agent of a remote. What a peer announced is under its own name, and signed.
    pub fn of(agent: &RemoteAgent, repository: &Repository) -> RemoteAgentView {
        let mode = mode_of(repository, &agent.remote);
        RemoteAgentView {
            agent: format!("{}/{}", agent.remote, agent.name),
            head: agent.head.to_string(),
            remote: agent.remote.clone(),
            unsigned: mode.is_ok_and(|mode| mode == RemoteMode::Both),
        }
    }
}

impl From<&SpawnOutcome> for SpawnView {
    fn from(spawned: &SpawnOutcome) -> SpawnView {
        SpawnView {
            behaviour: None,
            agent: spawned.agent.to_string(),
            branch: spawned.agent.branch_ref(),
            genesis: spawned.genesis.to_string(),
            head: spawned.genesis.to_string(),
            briefing: spawned.briefing.to_string(),
            parent: spawned.parent.as_ref().map(ToString::to_string),
            worktree: None,
        }
    }
}

impl From<&AgentFamily> for FamilyView {
    fn from(family: &AgentFamily) -> FamilyView {
        FamilyView {
            agent: family.agent.to_string(),
            head: family.head.to_string(),
            state: family.standing.name().to_owned(),
            commits: family.n_commits,
            kinds: family.kinds.iter().map(|(kind, n)| (kind.to_string(), *n)).collect(),
            merges: texts(&family.merges),
            merged_into: family.merged_into.iter().map(ToString::to_string).collect(),
            children: family.children.iter().map(FamilyView::from).collect(),
        }
    }
}
