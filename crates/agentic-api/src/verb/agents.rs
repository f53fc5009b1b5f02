//! Looking at agents: all of them, their family, one of anything, and where two of them parted.

use agentic_session::tree::AgentFamilies;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::caller::agent_name;
use crate::roster::{AgentRoster, KnownLedger, RosterDemand, agent_among};
use crate::verb::{Reply, Verb, settle_named, settle_peers};
use crate::view::{AgentView, FamilyView, ForkPointView, RemoteAgentView, ShowView};
use crate::{Caller, Notice, Refusal};

/// List the agents, those that only a remote has last.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListAgents {}

/// One agent of the list.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum AgentLine {
    /// It has a branch here.
    Here(AgentView),
    /// Only a remote has it.
    Remote(RemoteAgentView),
}

impl ListAgents {
    /// Reads the agents one by one, as far as they are asked for. One that is damaged is an item that says
    /// so.
    ///
    /// # Errors
    /// Fails when the list cannot be read.
    pub fn lines<'s>(
        &self,
        caller: &Caller<'s>,
    ) -> Result<impl Iterator<Item = Result<AgentLine, Notice>> + use<'s>, Refusal> {
        settle_peers(caller.space)?;
        let here = caller.space.agents()?.map(|agent| match agent {
            Ok(agent) => Ok(AgentLine::Here(AgentView::from(&agent))),
            Err(damaged) => Err(Notice::left_out(&damaged)),
        });
        let remote = remote_agents(caller)?.into_iter();
        Ok(here.chain(remote.map(|agent| Ok(AgentLine::Remote(agent)))))
    }

    /// Lists the agents as far as they are known without reading them, and reads the others.
    ///
    /// # Errors
    /// Fails when the list cannot be read.
    pub fn among(
        &self,
        caller: &Caller<'_>,
        known: &KnownLedger,
    ) -> Result<Reply<impl Iterator<Item = AgentLine> + use<>>, Refusal> {
        let here = AgentRoster::read(caller.space, known, RosterDemand::Whole)?;
        let notices = here.left_out.iter().map(Notice::left_out).collect();
        let remote = remote_agents(caller)?.into_iter();
        let lines = here.views().map(AgentLine::Here).chain(remote.map(AgentLine::Remote));
        Ok(Reply { notices, ..Reply::plain(lines) })
    }
}

impl Verb for ListAgents {
    type Answer = Vec<AgentLine>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<AgentLine>>, Refusal> {
        let (mut lines, mut notices) = (Vec::new(), Vec::new());
        for line in self.lines(caller)? {
            match line {
                Ok(line) => lines.push(line),
                Err(damaged) => notices.push(damaged),
            }
        }
        Ok(Reply { notices, ..Reply::plain(lines) })
    }
}

/// List the agents that only a remote has.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListRemoteAgents {}

impl Verb for ListRemoteAgents {
    type Answer = Vec<RemoteAgentView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<RemoteAgentView>>, Refusal> {
        Ok(Reply::plain(remote_agents(caller)?))
    }
}

fn remote_agents(caller: &Caller<'_>) -> Result<Vec<RemoteAgentView>, Refusal> {
    let remote = caller.space.remote_agents()?;
    let repository = caller.space.repository();
    Ok(remote.iter().map(|agent| RemoteAgentView::of(agent, repository)).collect())
}

/// Show the family of agents: who was forked from whom, how each stands, what it did and took in.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tree {}

impl Tree {
    /// Shows the families as far as they are known without reading their agents, and reads the others.
    ///
    /// # Errors
    /// Fails when the list cannot be read.
    pub fn among(
        &self,
        caller: &Caller<'_>,
        known: &KnownLedger,
    ) -> Result<Reply<Vec<FamilyView>>, Refusal> {
        let roster = AgentRoster::read(caller.space, known, RosterDemand::Whole)?;
        let notices = roster.left_out.iter().map(Notice::left_out).collect();
        Ok(Reply { notices, ..Reply::plain(roster.families()) })
    }
}

impl Verb for Tree {
    type Answer = Vec<FamilyView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<FamilyView>>, Refusal> {
        let mut notices = settle_peers(caller.space)?;
        let AgentFamilies { families, left_out } = caller.space.families()?;
        notices.extend(left_out.iter().map(Notice::left_out));
        Ok(Reply { notices, ..Reply::plain(families.iter().map(FamilyView::from).collect()) })
    }
}

/// Show a commit, an object or an agent.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Show {
    /// A commit, an object's id or a prefix of it, or an agent.
    pub id: String,
}

impl Show {
    /// Shows an agent as far as it is known without reading its commits, and all else as ever.
    ///
    /// # Errors
    /// Fails as the verb does.
    pub fn among(self, caller: &Caller<'_>, known: &KnownLedger) -> Result<ShowView, Refusal> {
        match agent_among(caller.space, known, &self.id)? {
            Some(agent) => Ok(ShowView::Agent { id: agent.agent.clone(), agent }),
            None => Ok(self.run(caller)?.answer),
        }
    }
}

impl Verb for Show {
    type Answer = ShowView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<ShowView>, Refusal> {
        let notices = settle_named(caller.space, &self.id)?;
        let view = ShowView::from(&caller.space.show(&self.id)?);
        Ok(Reply { notices, ..Reply::plain(view) })
    }
}

/// Find the best common ancestor of two agents.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindForkPoint {
    /// The one.
    pub left: String,
    /// The other.
    pub right: String,
}

impl Verb for FindForkPoint {
    type Answer = ForkPointView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<ForkPointView>, Refusal> {
        let (left, right) = (agent_name(&self.left)?, agent_name(&self.right)?);
        let commit = caller.space.fork_point(&left, &right)?.to_string();
        Ok(Reply::plain(ForkPointView { commit }))
    }
}
