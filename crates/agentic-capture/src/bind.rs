//! Which agent a conversation belongs to: proved by one of a few rules, or left open.
//!
//! The rules are tried in order for every event, because a conversation may go on in another folder.
//! Nothing is bound by time, by similarity, or because only one agent runs.
//!
//! | rule | proof |
//! | --- | --- |
//! | `env` | `AGENTIC_AGENT` names an agent that exists, and was not set for another conversation |
//! | `worktree` | the folder lies in a worktree whose branch is the agent's |
//! | `conversation` | it was bound before, and its folder has no other branch since |
//! | `adopted` | its folder is in this repository: it gets an agent of its own |
//! | `parent` | the event has a subagent's id: the child of what the other rules give |

mod adopt;
mod child;
mod digits;
mod put_off;

use std::path::{Path, PathBuf};

use agentic_git::Repository;
use agentic_model::AgentName;
use agentic_space::Space;
use agentic_space::archive::restore;
use agentic_space::error::AgentError;
use agentic_store::Patience;

use crate::conversation::{BindReason, ConversationRecord};
use crate::event::{HookEvent, HookMoment};
use crate::{CaptureError, ConversationId, HookEnvironment};

pub use self::child::child_names;
pub use self::digits::{IdDigits, NAMES, adopted_names, id_digits};

/// The variable that names the agent of whatever runs below it.
const AGENT_VARIABLE: &str = "AGENTIC_AGENT";
/// The variable that says for which conversation that was set.
const CONVERSATION_VARIABLE: &str = "AGENTIC_CONVERSATION";

/// Where an event happened, as this repository sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookPlace {
    /// The real path of the folder, if it lies in this repository.
    pub folder: Option<PathBuf>,
    /// The full name of the branch that is checked out there.
    pub branch: Option<String>,
    /// The agent whose branch that is, or was before git began to rebase or bisect it.
    pub agent: Option<AgentName>,
}

/// Whose conversation it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// The agent.
    pub agent: AgentName,
    /// Why it is that agent's.
    pub reason: BindReason,
    /// The conversation, or the subagent as one.
    pub id: ConversationId,
    /// What is remembered of it, as of before this event.
    pub known: Option<ConversationRecord>,
    /// The agent was made for this event.
    pub is_new: bool,
    /// The event is about a helper of the vendor's, which never began and of which nothing is kept.
    pub is_helper: bool,
}

/// What stands in the way of the usual, and is worth a line in the error log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BindRemark {
    /// `AGENTIC_AGENT` names nobody.
    UnknownAgent,
    /// The agent that the conversation had is gone.
    AgentGone,
}

impl BindRemark {
    /// Returns the code under which the error log has it.
    pub fn code(self) -> &'static str {
        match self {
            BindRemark::UnknownAgent => "unknown-agent",
            BindRemark::AgentGone => "agent-gone",
        }
    }
}

/// What becomes of conversations that no rule but the last gives an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnboundConversations {
    /// Each gets an agent of its own.
    Adopted,
    /// Nothing of them is captured.
    Skipped,
}

/// Finds the agents of conversations.
pub struct Binder<'b> {
    /// The repository.
    pub space: &'b Space,
    /// The environment of the hook.
    pub environment: &'b HookEnvironment,
    /// Where the event happened.
    pub place: &'b HookPlace,
    /// How long others are waited for where an agent has to be made.
    pub patience: Patience,
    /// What there was to remark.
    pub remarks: Vec<BindRemark>,
}

impl HookPlace {
    /// Looks at the folder of an event in a repository that was opened there.
    pub fn of(space: &Space, folder: &Path) -> HookPlace {
        let Ok(folder) = folder.canonicalize() else { return HookPlace::default() };
        let repository = space.repository();
        let Some(worktree) = repository.current_worktree() else {
            // In a bare repository there is nothing checked out.
            let is_inside = folder.starts_with(repository.common_dir());
            return HookPlace { folder: is_inside.then_some(folder), ..HookPlace::default() };
        };
        let is_inside = worktree.path.canonicalize().is_ok_and(|top| folder.starts_with(top));
        if !is_inside {
            return HookPlace::default();
        }
        let branches = Repository::branches_kept(&worktree.git_dir);
        let agent = branches.iter().find_map(|branch| AgentName::from_branch_ref(branch));
        HookPlace { folder: Some(folder), branch: worktree.branch, agent }
    }
}

impl Binder<'_> {
    /// Finds the agent of an event; nothing where no rule gives one.
    ///
    /// # Errors
    /// Fails when an agent cannot be made or brought back, and with [`CaptureError::Busy`] when others
    /// hold for too long what it takes to make it.
    pub fn bind(&mut self, event: &HookEvent) -> Result<Option<Binding>, CaptureError> {
        let Some(id) = &event.conversation else { return Ok(None) };
        let keeps_entries = |binder: &Binder<'_>| binder.keeps_subagents_as_entries();
        let subagent = event.subagent.as_ref().filter(|_| !keeps_entries(self));
        let bound = match (self.bind_conversation(event, id), subagent) {
            (Err(CaptureError::Busy { binding }), Some(subagent)) => {
                return Err(self.child_put_off(event, subagent, *binding));
            }
            (bound, _) => bound?,
        };
        match (bound, subagent) {
            (Some(bound), Some(subagent)) => self.bind_child(event, subagent, bound),
            (bound, _) => Ok(bound),
        }
    }

    fn bind_conversation(
        &mut self,
        event: &HookEvent,
        id: &ConversationId,
    ) -> Result<Option<Binding>, CaptureError> {
        let known = ConversationRecord::load(self.space.repository().layout(), id);
        let bound = |agent: AgentName, reason: BindReason, known| Binding {
            agent,
            reason,
            id: id.clone(),
            known,
            is_new: false,
            is_helper: false,
        };
        let busy = |error, reason| put_off::of(error, |agent| bound(agent, reason, known.clone()));
        // A thread that another one began stays its child wherever it works.
        if let Some(record) = known.as_ref().filter(|record| record.reason == BindReason::Parent)
            && let Some(agent) = record.agent()
            && self.brought_back(&agent).map_err(|error| busy(error, BindReason::Parent))?
        {
            return Ok(Some(bound(agent, BindReason::Parent, known)));
        }
        let named = self.named_by_environment(id);
        if let Some(agent) = named.map_err(|error| busy(error, BindReason::Env))? {
            return Ok(Some(bound(agent, BindReason::Env, known)));
        }
        if let Some(agent) = self.place.agent.clone()
            && self.brought_back(&agent).map_err(|error| busy(error, BindReason::Worktree))?
        {
            return Ok(Some(bound(agent, BindReason::Worktree, known)));
        }
        let before = self.bound_before(known.as_ref());
        if let Some(agent) = before.map_err(|error| busy(error, BindReason::Conversation))? {
            return Ok(Some(bound(agent, BindReason::Conversation, known)));
        }
        // What ends was never bound: there is nothing to keep, and no agent to make for it.
        let is_adopted = self.unbound_conversations() == UnboundConversations::Adopted;
        if self.place.folder.is_none() || !is_adopted || !may_begin(event.moment) {
            return Ok(None);
        }
        let adopted = self.adopt(id).map_err(|error| busy(error, BindReason::Adopted));
        let (agent, is_new) = adopted?;
        Ok(Some(Binding { is_new, ..bound(agent, BindReason::Adopted, known) }))
    }

    /// Rule 1. What another conversation set is meant for that one.
    fn named_by_environment(
        &mut self,
        id: &ConversationId,
    ) -> Result<Option<AgentName>, CaptureError> {
        let Some(name) = self.environment.text(AGENT_VARIABLE) else { return Ok(None) };
        let for_whom = self.environment.text(CONVERSATION_VARIABLE);
        if for_whom.is_some_and(|conversation| conversation != id.to_string()) {
            return Ok(None);
        }
        match AgentName::parse(name) {
            Ok(agent) if self.brought_back(&agent)? => Ok(Some(agent)),
            Ok(_) | Err(_) => {
                self.remarks.push(BindRemark::UnknownAgent);
                Ok(None)
            }
        }
    }

    /// Rule 3. In a worktree with another branch than it was bound in, it is somebody else's work.
    fn bound_before(
        &mut self,
        known: Option<&ConversationRecord>,
    ) -> Result<Option<AgentName>, CaptureError> {
        let Some(record) = known else { return Ok(None) };
        let Some(agent) = record.agent() else { return Ok(None) };
        let here = self.place.branch.as_ref();
        if here.is_some_and(|branch| Some(branch) != record.branch.as_ref()) {
            return Ok(None);
        }
        if self.brought_back(&agent)? {
            return Ok(Some(agent));
        }
        self.remarks.push(BindRemark::AgentGone);
        Ok(None)
    }

    /// Tells whether there is an agent of this name; one that only the archive has is brought back.
    fn brought_back(&self, agent: &AgentName) -> Result<bool, CaptureError> {
        use agentic_space::Error;
        match self.space.head(agent) {
            Ok(_) => Ok(true),
            Err(Error::Agent(AgentError::Archived { .. })) => {
                match restore(self.space, std::slice::from_ref(agent)) {
                    Ok(_) => Ok(true),
                    // Somebody else was first.
                    Err(Error::Agent(AgentError::NotArchived { .. })) => Ok(true),
                    Err(Error::Agent(AgentError::Held { .. })) => {
                        Err(Error::Agent(AgentError::Busy { name: agent.clone() }).into())
                    }
                    Err(error) => Err(error.into()),
                }
            }
            Err(Error::Agent(AgentError::Unknown { .. })) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn unbound_conversations(&self) -> UnboundConversations {
        match self.space.repository().config("agentic.captureUnbound").as_deref() {
            Some("skip") => UnboundConversations::Skipped,
            Some(_) | None => UnboundConversations::Adopted,
        }
    }

    fn keeps_subagents_as_entries(&self) -> bool {
        let kept = self.space.repository().config("agentic.captureSubagents");
        kept.as_deref() == Some("entries")
    }
}

/// Tells whether a conversation of which nothing is known may get an agent by an event.
fn may_begin(moment: HookMoment) -> bool {
    match moment {
        HookMoment::WorktreeWanted | HookMoment::WorktreeDone => false,
        HookMoment::Begins
        | HookMoment::Prompt
        | HookMoment::BeforeTool
        | HookMoment::Asked
        | HookMoment::AfterTool
        | HookMoment::SubagentBegins
        | HookMoment::SubagentEnds
        | HookMoment::TurnEnds
        | HookMoment::TurnFails
        | HookMoment::Compaction
        | HookMoment::Ends
        | HookMoment::FileChanged
        | HookMoment::ToolBatch
        | HookMoment::Noted(_)
        | HookMoment::Unknown => true,
    }
}
