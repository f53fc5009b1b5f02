//! Agents that were taken over from another space of ours, and how they go on with the one there.
//!
//! Equal names are two agents until somebody adopts. What was adopted is written down here, with the commit at
//! which that was: an agent that somebody made again under the name since is another one.

use std::collections::BTreeMap;

use agentic_git::{RefMove, Repository};
use agentic_model::{AgentName, Oid, Value};
use agentic_session::SessionSpace;
use agentic_space::sync::{FetchOutcome, TheirAgent, take_in};
use agentic_store::fault;

use crate::acceptance::believed_head;
use crate::accepted::accepted_ref;
use crate::durable::{ChainContent, RACES_MAX, mover, next_state, read_state};
use crate::fields::{MalformedInput, ObjectReader, decode_map, encode, oid_value};
use crate::folder::{FolderDraft, TreeFolder, read_file, read_subfolder};
use crate::freshness::require_fresh;
use crate::id::{PeerId, Petname, SpaceId};
use crate::own::require_own;
use crate::shard::AdoptedFrom;
use crate::tracking::{followed_peers, tracked_spaces};
use crate::{Error, Result};

/// The ref that holds what was adopted. It is never pushed.
pub const ADOPTED_REF: &str = "refs/agentic/adopted";
/// Its folder of agents.
const AGENTS: &str = "agents";
/// The version of an entry.
const VERSION: i64 = 1;
/// The longest entry that is read, in bytes.
const ENTRY_BYTES_MAX: usize = 4 << 10;

/// Whether an agent goes on with the one that it was adopted from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FollowChoice {
    /// It goes its own way.
    #[default]
    Stays,
    /// A fetch moves it forward.
    Follows,
}

/// Where an agent of this space came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdoptedAgent {
    /// Whose agent it was.
    pub from: AdoptedFrom,
    /// Where it was adopted.
    pub at: Oid,
    /// Whether it goes on with that one.
    pub follow: FollowChoice,
}

/// How agents stand to those that they were adopted from.
#[derive(Debug, Default)]
pub struct FollowedAgents {
    /// What moved.
    pub moved: FetchOutcome,
    /// The agents whose origin was set back. Nothing of that is followed.
    pub rewound: Vec<AgentName>,
}

/// An agent of another space, as people name it: `self+desk/x`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignAgent {
    /// The name of the space.
    pub label: String,
    /// The agent.
    pub agent: AgentName,
}

impl AdoptedAgent {
    fn to_bytes(&self) -> Vec<u8> {
        encode(&Value::map([
            ("v", Value::Int(VERSION)),
            ("from", self.from.to_value()),
            ("at", oid_value(self.at)),
            ("follow", Value::Bool(self.follow == FollowChoice::Follows)),
        ]))
    }

    fn decode(bytes: &[u8]) -> std::result::Result<AdoptedAgent, MalformedInput> {
        let of = "the entry of an adopted agent";
        let map = decode_map(of, bytes)?;
        let fields = ObjectReader::plain(of, &map);
        if fields.int("v")? != VERSION {
            return Err(fields.wrong("v"));
        }
        let from = map.get("from").ok_or_else(|| fields.wrong("from"))?;
        let follow = match map.get("follow") {
            Some(Value::Bool(true)) => FollowChoice::Follows,
            Some(Value::Bool(false)) => FollowChoice::Stays,
            _ => return Err(fields.wrong("follow")),
        };
        Ok(AdoptedAgent { from: AdoptedFrom::read(from)?, at: fields.oid("at")?, follow })
    }
}

/// Reads what was adopted and is still the agent of that name.
///
/// # Errors
/// Fails when an entry is damaged.
pub fn adoptions(repository: &Repository) -> Result<BTreeMap<AgentName, AdoptedAgent>> {
    let Some((_, folder)) = read_state(repository, ADOPTED_REF)? else {
        return Ok(BTreeMap::new());
    };
    let mut found = read_adoptions(repository, &folder)?;
    let mut gone = Vec::new();
    for (agent, adoption) in &found {
        let is_it = match repository.find_ref(&agent.branch_ref())? {
            Some(head) => repository.is_ancestor(adoption.at, head)?,
            None => false,
        };
        if !is_it {
            gone.push(agent.clone());
        }
    }
    found.retain(|agent, _| !gone.contains(agent));
    Ok(found)
}

fn read_adoptions(
    repository: &Repository,
    folder: &TreeFolder,
) -> Result<BTreeMap<AgentName, AdoptedAgent>> {
    let damaged = |what: &str| Error::damaged(format!("`{ADOPTED_REF}` is damaged: {what}"));
    let agents = read_subfolder(repository, folder, AGENTS)?;
    let mut found = BTreeMap::new();
    for name in agents.keys() {
        let bytes = read_file(repository, &agents, name, ENTRY_BYTES_MAX)?.unwrap_or_default();
        let agent = AgentName::parse(name).map_err(|_| damaged(name))?;
        let adoption = AdoptedAgent::decode(&bytes).map_err(|wrong| damaged(&wrong.0))?;
        found.insert(agent, adoption);
    }
    Ok(found)
}

/// Takes an agent of another space of ours over under its name.
///
/// # Errors
/// Fails when there is no such agent, and when another one has its name here.
pub fn adopt(
    space: &SessionSpace,
    foreign: &ForeignAgent,
    follow: FollowChoice,
    moved: &mut FetchOutcome,
) -> Result<()> {
    let ForeignAgent { label, agent } = foreign;
    let repository = space.repository();
    let tracked = tracked_spaces(space)?.into_iter().find(|tracked| tracked.label == *label);
    let tracked = tracked.ok_or_else(|| {
        Error::refused(
            format!("nothing was accepted of `{label}`"),
            "`agentic peer show self` lists our other spaces; `agentic fetch` receives them",
        )
    })?;
    tracked.require_listed()?;
    if tracked.petname != Petname::own() {
        return Err(Error::refused(
            format!("`{label}/{agent}` is of somebody else, and stays theirs"),
            format!("`agentic merge {label}/{agent} --into NAME` takes its work in"),
        ));
    }
    let entry = believed_head(repository, tracked.record, agent)?.ok_or_else(|| {
        Error::refused(
            format!("`{label}` has no agent `{agent}`"),
            "`agentic agents` lists those that it has",
        )
    })?;
    require_free(space, agent, entry.head)?;
    let theirs = TheirAgent { agent: agent.clone(), head: entry.head, notes: entry.notes };
    let before = repository.find_ref(&agent.branch_ref())?;
    if before.is_none() || follow == FollowChoice::Follows {
        take_in(space, &theirs, moved)?;
    }
    fault::point("agent-adopted")?;
    // Whoever was there before is the same agent further on, or further back.
    let at = match before {
        Some(head) => repository.fork_point(head, entry.head)?.unwrap_or(entry.head),
        None => entry.head,
    };
    let own = require_own(space)?;
    let from = AdoptedFrom { peer: own.peer().0, space: tracked.space, agent: agent.clone() };
    note(space, agent, &AdoptedAgent { from, at, follow })
}

/// Refuses a name that another agent has here.
fn require_free(space: &SessionSpace, agent: &AgentName, theirs: Oid) -> Result<()> {
    let repository = space.repository();
    let taken = |why: &str| {
        Error::conflict(
            format!("`{agent}` is another agent here: {why}"),
            "rename or archive the one that is here, or merge instead",
        )
    };
    if space.archived_agent(agent)?.is_some() {
        return Err(taken("it is in the archive"));
    }
    let Some(ours) = repository.find_ref(&agent.branch_ref())? else { return Ok(()) };
    let genesis = |head: Oid| -> Result<Option<Oid>> {
        let claims = |message: &str| agentic_model::commit::Claims::read(message);
        for commit in repository.first_parents(head) {
            let commit = commit?;
            if agentic_space::agent::is_genesis_of(agent, &claims(&commit.message)) {
                return Ok(Some(commit.oid));
            }
        }
        Ok(None)
    };
    match genesis(ours)? == genesis(theirs)? {
        true => Ok(()),
        false => Err(taken("it began with another commit")),
    }
}

fn note(space: &SessionSpace, agent: &AgentName, adoption: &AdoptedAgent) -> Result<()> {
    let repository = space.repository();
    for _ in 0..RACES_MAX {
        let state = read_state(repository, ADOPTED_REF)?;
        let tip = state.as_ref().map(|(tip, _)| *tip);
        let mut all = match &state {
            Some((_, folder)) => read_adoptions(repository, folder)?,
            None => BTreeMap::new(),
        };
        if all.insert(agent.clone(), adoption.clone()).as_ref() == Some(adoption) {
            return Ok(());
        }
        let mut folder = FolderDraft::default();
        for (agent, adoption) in &all {
            folder.put(&format!("{AGENTS}/{agent}"), adoption.to_bytes());
        }
        let (at, message) = (space.now(), format!("agentic fetch --adopt {agent}"));
        let content = ChainContent { folder, also: Vec::new(), at, message };
        let next = next_state(repository, ADOPTED_REF, tip, content);
        if next.publish(repository, &mover(repository, at)?)? == RefMove::Moved {
            return Ok(());
        }
    }
    Err(Error::conflict("others adopt all the time", "try again"))
}

/// Moves agents forward with those that they were adopted from and follow, and says which have gone another way
/// or are among those that were set back.
///
/// # Errors
/// Fails when a record is damaged, and when a worktree cannot follow.
pub fn follow(space: &SessionSpace, set_back: &[(SpaceId, AgentName)]) -> Result<FollowedAgents> {
    let repository = space.repository();
    let (mut followed, mut has_taken) = (FollowedAgents::default(), false);
    for (agent, adoption) in adoptions(repository)? {
        let from = &adoption.from;
        let record = accepted_ref(PeerId(from.peer), from.space);
        let Some(record) = repository.find_ref(&record)? else { continue };
        let Some(entry) = believed_head(repository, record, &from.agent)? else { continue };
        let Some(ours) = repository.find_ref(&agent.branch_ref())? else { continue };
        if set_back.contains(&(from.space, from.agent.clone())) {
            followed.rewound.push(agent);
            continue;
        }
        let is_apart = !repository.is_ancestor(ours, entry.head)?
            && !repository.is_ancestor(entry.head, ours)?;
        if is_apart {
            followed.moved.diverged.push(agent);
            continue;
        }
        if adoption.follow == FollowChoice::Follows {
            let own = followed_peers(space)?.remove(&Petname::own());
            if let Some(own) = own {
                require_fresh(space, &own, (Petname::own().as_str(), from.space))?;
            }
            let theirs = TheirAgent { agent, head: entry.head, notes: entry.notes };
            take_in(space, &theirs, &mut followed.moved)?;
            has_taken = true;
        }
    }
    if has_taken {
        // No journal holds what was fetched, so what is printed as done must be on the disk.
        repository.sync_filesystem()?;
    }
    Ok(followed)
}
