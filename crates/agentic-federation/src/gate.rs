//! The gate: what of an announced agent is believed, and what waits for a grant.

use agentic_git::{CommitInfo, Repository};
use agentic_model::commit::Claims;
use agentic_model::{AgentName, Kind, Oid};
use agentic_space::agent::{is_genesis_of, kind_on};

use crate::Result;
use crate::acceptance::HeldAgent;
use crate::capability::{PeerTrigger, TriggerName};
use crate::id::PeerId;
use crate::peer_kind::KindTranslation;
use crate::permission::Permissions;
use crate::policy::PolicyQuestion;
use crate::shard::HeadEntry;

/// How many commits of one agent are judged at once.
const COMMITS_MAX: usize = 100_000;

/// Who asks, and by what it is judged.
#[derive(Clone, Copy)]
pub struct PeerGate<'a> {
    /// Where the commits are read.
    pub repository: &'a Repository,
    /// What peers may do.
    pub permissions: &'a Permissions,
    /// What kinds of the peer mean here.
    pub kinds: &'a KindTranslation<'a>,
    /// Who announced.
    pub peer: PeerId,
}

/// What becomes of one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerVerdict {
    /// What is believed; nothing if the agent is not.
    pub believed: Option<HeadEntry>,
    /// What waits, and for what.
    pub held: Option<HeldAgent>,
}

impl PeerGate<'_> {
    /// Judges an agent as it is announced, from what was believed of it.
    ///
    /// # Errors
    /// Fails when its commits cannot be read.
    pub fn judge(
        &self,
        agent: &AgentName,
        believed: Option<&HeadEntry>,
        announced: &HeadEntry,
    ) -> Result<PeerVerdict> {
        let spawn = Kind::parse("spawn").expect("a valid name");
        if believed.is_none() && !self.may(agent, &spawn, TriggerName::Spawn) {
            let wait = held(TriggerName::Spawn, &spawn, None);
            let held = HeldAgent { head: Some(announced.head), notes: announced.notes, ..wait };
            return Ok(PeerVerdict { believed: None, held: Some(held) });
        }
        let old_head = believed.map(|believed| believed.head);
        let (head, mut waits) = self.judge_head(agent, old_head, announced.head)?;
        let old_notes = believed.and_then(|believed| believed.notes);
        let trace = Kind::parse("console-trace").expect("a valid name");
        let notes_wait =
            announced.notes != old_notes && !self.may(agent, &trace, TriggerName::Trace);
        let notes = if notes_wait { old_notes } else { announced.notes };
        if notes_wait {
            let wait = waits.take().unwrap_or_else(|| held(TriggerName::Trace, &trace, None));
            waits = Some(HeldAgent { notes: announced.notes, ..wait });
        }
        let believed = head.map(|head| HeadEntry { head, notes, from: announced.from.clone() });
        Ok(PeerVerdict { believed, held: waits })
    }

    /// Finds how far a head is believed: up to the first commit that nobody granted.
    fn judge_head(
        &self,
        agent: &AgentName,
        old: Option<Oid>,
        new: Oid,
    ) -> Result<(Option<Oid>, Option<HeldAgent>)> {
        let any = Kind::agent_commit();
        // Every kind of commits is below this one.
        if old == Some(new) || self.may(agent, &any, TriggerName::HeadMove) {
            return Ok((Some(new), None));
        }
        let (mut head, line) = self.line(agent, old, new)?;
        for commit in line.iter().rev() {
            let mut kinds = vec![self.known_kind(agent, commit)];
            if commit.parents.len() > 1 {
                // What came in from the side is of no kind that was recorded on this branch.
                kinds.push(any.clone());
            }
            let refused = kinds.iter().find(|kind| !self.may(agent, kind, TriggerName::HeadMove));
            if let Some(kind) = refused {
                let wait = held(TriggerName::HeadMove, kind, Some(commit.oid));
                return Ok((head, Some(HeldAgent { head: Some(new), ..wait })));
            }
            head = Some(commit.oid);
        }
        Ok((head, None))
    }

    /// Lists the commits between what is believed and what is announced, newest first, and where that
    /// line begins: what was believed, else the genesis, which `spawn` is about.
    fn line(
        &self,
        agent: &AgentName,
        old: Option<Oid>,
        new: Oid,
    ) -> Result<(Option<Oid>, Vec<CommitInfo>)> {
        let mut line = Vec::new();
        for commit in self.repository.first_parents(new).take(COMMITS_MAX) {
            let commit = commit?;
            if old == Some(commit.oid) {
                return Ok((old, line));
            }
            if old.is_none() && is_genesis_of(agent, &Claims::read(&commit.message)) {
                return Ok((Some(commit.oid), line));
            }
            line.push(commit);
        }
        Ok((old, line))
    }

    /// Returns the kind of a commit as this space understands it.
    fn known_kind(&self, agent: &AgentName, commit: &CommitInfo) -> Kind {
        self.kinds.here(kind_on(agent, &Claims::read(&commit.message)))
    }

    fn may(&self, agent: &AgentName, kind: &Kind, trigger: TriggerName) -> bool {
        let trigger: PeerTrigger = trigger.shown();
        let question = PolicyQuestion { peer: self.peer, kind, trigger, agent: Some(agent) };
        self.permissions.allows(question).is_some()
    }
}

fn held(trigger: TriggerName, kind: &Kind, commit: Option<Oid>) -> HeldAgent {
    HeldAgent { head: None, notes: None, trigger: trigger.shown(), kind: kind.to_string(), commit }
}
