//! Into which agent a conversation is taken.

use std::path::PathBuf;

use agentic_model::{AgentName, Instant};
use agentic_space::spawn::SpawnOrigin;

use super::head::{TranscriptHead, began};
use super::order::ConversationTask;
use super::own_agent::{OwnVisibility, PastAgent};
use super::take::{AgentFacts, Importer};
use crate::bind::{adopted_names, child_names};
use crate::catch_up::Speaker;
use crate::conversation::{BindReason, ConversationRecord};
use crate::{CaptureError, ConversationId, VendorFile, private};

/// Whose a transcript is, or is to become.
pub(super) struct TakenBinding {
    pub agent: AgentName,
    pub reason: BindReason,
    /// What makes the agent, where it may have to be made.
    pub past: Option<PastAgent>,
    /// The conversation, or the subagent as one.
    pub id: ConversationId,
    /// What is remembered of it.
    pub known: Option<ConversationRecord>,
    /// The conversation that began this one.
    pub parent: Option<ConversationId>,
    /// What sort of subagent it is.
    pub sort: Option<String>,
    pub speaker: Speaker,
    pub began: Instant,
    pub path: PathBuf,
}

/// What is known of a transcript when its agent is looked for.
struct BindingCase {
    id: ConversationId,
    known: Option<ConversationRecord>,
    began: Instant,
    path: PathBuf,
}

impl BindingCase {
    fn bound(self, agent: AgentName, reason: BindReason) -> TakenBinding {
        let BindingCase { id, known, began, path } = self;
        let (past, parent, sort, speaker) = (None, None, None, Speaker::Main);
        TakenBinding { agent, reason, past, id, known, parent, sort, speaker, began, path }
    }
}

impl Importer<'_> {
    /// Finds the agent of a conversation; nothing if it took place elsewhere.
    pub fn whose(
        &self,
        task: &ConversationTask,
        head: &TranscriptHead,
        file: &VendorFile,
    ) -> Result<Option<TakenBinding>, CaptureError> {
        let known = ConversationRecord::load(self.space.repository().layout(), &task.id);
        let (id, path) = (task.id.clone(), head.found.path.clone());
        let case = BindingCase { id, known, began: began(head, file), path };
        if let Some(agent) = &self.request.agent {
            return Ok(Some(case.bound(agent.clone(), BindReason::Named)));
        }
        if let Some(record) = case.known.clone()
            && let Some(agent) = record.agent()
            && self.is_there(&agent)?
        {
            let mut bound = case.bound(agent, record.reason);
            if head.facts.parent().is_some() && self.keeps_subagents_as_entries() {
                bound.speaker = Speaker::Side;
            }
            let parent = record.parent.clone().filter(|_| record.reason == BindReason::Parent);
            bound.parent = parent.map(|native| ConversationId { source: task.id.source, native });
            return Ok(Some(bound));
        }
        if !self.belonging.has(head, file)? {
            return Ok(None);
        }
        if let Some(bound) = self.thread_of_parent(task, head, &case)? {
            return Ok(Some(bound));
        }
        if let Some(agent) = self.belonging.agent(&head.facts, case.began)? {
            return Ok(Some(case.bound(agent, BindReason::Worktree)));
        }
        let past = PastAgent {
            names: adopted_names(&task.id),
            briefing: format!("Conversation {}", task.id),
            origin: self
                .belonging
                .commit(&head.facts)
                .map_or(SpawnOrigin::Root, SpawnOrigin::Commit),
            visibility: OwnVisibility::Private,
            at: case.began,
        };
        Ok(Some(self.own(case, past, BindReason::Adopted)?))
    }

    /// Finds the child that a thread is which another conversation began.
    fn thread_of_parent(
        &self,
        task: &ConversationTask,
        head: &TranscriptHead,
        case: &BindingCase,
    ) -> Result<Option<TakenBinding>, CaptureError> {
        let Some(native) = head.facts.parent() else { return Ok(None) };
        let parent = ConversationId { source: task.id.source, native: native.to_owned() };
        let record = ConversationRecord::load(self.space.repository().layout(), &parent);
        let Some(above) = record.and_then(|record| record.agent()) else { return Ok(None) };
        let sort = head.facts.said().get("agent_role").and_then(|role| role.as_text());
        let case = BindingCase {
            id: case.id.clone(),
            known: case.known.clone(),
            began: case.began,
            path: case.path.clone(),
        };
        self.child(case, (above, parent, &task.id.native), sort).map(Some)
    }

    /// Finds the child that a subagent is whose words lie in a file beside its conversation's.
    pub fn whose_child(
        &self,
        task: &ConversationTask,
        (head, file): (&TranscriptHead, &VendorFile),
        (above, subagent): (&[AgentFacts], &str),
    ) -> Result<Option<TakenBinding>, CaptureError> {
        let layout = self.space.repository().layout();
        let named = above.iter().find_map(|(agent, facts)| {
            let sort = facts.children().find(|child| child.0 == subagent)?.2;
            Some((agent.clone(), sort.map(str::to_owned)))
        });
        let first = above.first().map(|(agent, _)| (agent.clone(), None));
        let record = || ConversationRecord::load(layout, &task.id)?.agent().map(|it| (it, None));
        let Some((agent, sort)) = named.or(first).or_else(record) else { return Ok(None) };
        let plain = ConversationId { source: task.id.source, native: subagent.to_owned() };
        let (id, known) = match ConversationRecord::load(layout, &plain) {
            // Vendors that count their subagents begin anew in each conversation.
            Some(record) if record.parent.as_deref() != Some(&task.id.native) => {
                let native = format!("{}/{subagent}", task.id.native);
                let own = ConversationId { source: task.id.source, native };
                let known = ConversationRecord::load(layout, &own);
                (own, known)
            }
            known => (plain, known),
        };
        let case =
            BindingCase { id, known, began: began(head, file), path: head.found.path.clone() };
        self.child(case, (agent, task.id.clone(), subagent), sort.as_deref()).map(Some)
    }

    fn child(
        &self,
        case: BindingCase,
        (above, parent, native): (AgentName, ConversationId, &str),
        sort: Option<&str>,
    ) -> Result<TakenBinding, CaptureError> {
        if self.keeps_subagents_as_entries() || self.request.agent.is_some() {
            let bound = case.bound(above, BindReason::Conversation);
            return Ok(TakenBinding { speaker: Speaker::Side, ..bound });
        }
        if let Some(agent) = case.known.as_ref().and_then(ConversationRecord::agent)
            && self.is_there(&agent)?
        {
            let bound = case.bound(agent, BindReason::Parent);
            return Ok(TakenBinding { parent: Some(parent), ..bound });
        }
        let sort: Option<String> =
            sort.map(|sort| sort.chars().filter(|c| !c.is_control()).take(64).collect());
        let own = ConversationId { source: case.id.source, native: native.to_owned() };
        let past = PastAgent {
            names: child_names(&above, native),
            briefing: match sort.as_deref().filter(|sort| !sort.is_empty()) {
                Some(sort) => format!("Subagent {sort} {own}"),
                None => format!("Subagent {own}"),
            },
            visibility: match private::is_private(self.space, &above)? {
                true => OwnVisibility::Private,
                false => OwnVisibility::Public,
            },
            origin: SpawnOrigin::Agent(above),
            at: case.began,
        };
        let bound = self.own(case, past, BindReason::Parent)?;
        Ok(TakenBinding { parent: Some(parent), sort, ..bound })
    }

    fn keeps_subagents_as_entries(&self) -> bool {
        let kept = self.space.repository().config("agentic.captureSubagents");
        kept.as_deref() == Some("entries")
    }

    /// Names the agent that is a conversation's own.
    fn own(
        &self,
        case: BindingCase,
        past: PastAgent,
        reason: BindReason,
    ) -> Result<TakenBinding, CaptureError> {
        let agent = past.name(self.space)?;
        Ok(TakenBinding { past: Some(past), ..case.bound(agent, reason) })
    }
}
