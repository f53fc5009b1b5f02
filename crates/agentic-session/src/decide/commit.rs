//! The commit of a decision, and what stands beside it in the notes.

use agentic_model::commit::{Claims, CommitData, OpenFields};
use agentic_model::{AgentName, ConsoleTrace, Instant, Kind, Oid};
use agentic_replay::SessionId;
use agentic_space::Signatures;
use agentic_store::journal::KeptObject;

use crate::decision::Decision;
use crate::trace::decision_entry;
use crate::{Result, SessionSpace};

/// The commit of a decision, before it is known on which head it stands.
pub(crate) struct DecisionCommit<'a> {
    pub(crate) agent: &'a AgentName,
    pub(crate) session: SessionId,
    pub(crate) decision: &'a Decision,
    pub(crate) fields: OpenFields,
}

impl DecisionCommit<'_> {
    /// Writes it on top of a head, whose tree it has.
    pub(crate) fn on(
        self,
        space: &SessionSpace,
        head: Oid,
        signatures: &Signatures,
    ) -> Result<CommitData> {
        let claims = Claims {
            kind: Kind::parse("decision").ok(),
            agent: Some(self.agent.clone()),
            session: Some(self.session.to_string()),
            request: Some(self.decision.request.to_string()),
            fields: self.fields,
            ..Claims::default()
        };
        let message = claims.write(&self.decision.message()).map_err(agentic_space::Error::from)?;
        Ok(CommitData {
            tree: space.read_commit(head)?.tree,
            parents: vec![head],
            author: signatures.author.clone(),
            committer: signatures.committer.clone(),
            message,
        })
    }
}

/// The trace of a decision: one entry, bound to its commit.
pub(super) fn trace_of(
    decision: &Decision,
    agent: &AgentName,
    at: Instant,
) -> Result<(Vec<KeptObject>, String)> {
    let text = format!(
        "decided {} {} by {}",
        &decision.request.to_string()[..12],
        decision.action.name(),
        decision.principal
    );
    let trace = ConsoleTrace::new(agent.clone(), vec![decision_entry(text, at)]);
    let objects = trace.to_objects()?;
    let cid = objects.last().expect("a trace has a naming object").cid();
    Ok((objects.iter().map(KeptObject::from).collect(), trace.note_text(cid)))
}

/// Returns the head on which a decision finds a hold: that on which it was published, or the head
/// of the branch where that has left it.
pub(super) fn standing_head(
    space: &SessionSpace,
    published: Option<&str>,
    head: Oid,
) -> Result<Oid> {
    match published.and_then(|published| Oid::parse(published).ok()) {
        Some(published) if space.repository().is_ancestor(published, head)? => Ok(published),
        Some(_) | None => Ok(head),
    }
}
