//! Sessions that run elsewhere: what they ask, as it is sealed in notes that came from there, and answers that
//! are made here and sent there.
//!
//! Nothing that came from there is believed to be whole: what cannot be read asks nothing.

use std::collections::BTreeSet;

use agentic_git::Signer;
use agentic_model::commit::OpenFields;
use agentic_model::{AgentName, Cid, Oid, Value};
use agentic_replay::{Attendance, RecordChain, SessionId, StoredObjects, SummaryReader};
use agentic_store::journal::{GitKind, GitObject};

use crate::admission::check_elsewhere;
use crate::decide::{Decision, DecisionCommit, DecisionDraft, DecisionOutcome, Policy};
use crate::decision::{GRANT, IDENTITY, ON_BEHALF_OF};
use crate::hold::{PendingHold, oldest_first};
use crate::own::{FirstRecord, chain_of};
use crate::segment::Segments;
use crate::{Result, SessionSpace, trust};

/// An agent of somebody else, as it is believed here.
#[derive(Debug, Clone, Copy)]
pub struct AgentElsewhere<'a> {
    /// Its name there.
    pub agent: &'a AgentName,
    /// Its head.
    pub head: Oid,
    /// The tip of its notes.
    pub notes: Oid,
    /// The ref under which what its notes hold is remembered.
    pub notes_ref: &'a str,
}

/// Who decides elsewhere, and for whom.
#[derive(Debug, Clone)]
pub struct ForeignVoice {
    /// Who we are to whoever takes the decision in.
    pub identity: Cid,
    /// Who gave us the right to decide for them, and by which capability.
    pub delegation: Option<VoiceDelegation>,
}

/// For whom somebody decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoiceDelegation {
    /// The person: `user:ada`.
    pub person: String,
    /// The capability that says so.
    pub grant: Cid,
}

/// Lists what the sessions of an agent elsewhere ask, oldest first, as far as it is sealed.
///
/// # Errors
/// Fails when the notes cannot be read.
pub fn holds_elsewhere(space: &SessionSpace, of: AgentElsewhere<'_>) -> Result<Vec<PendingHold>> {
    let segments = Segments::of_state(space, of.notes_ref, of.notes)?;
    let sessions: BTreeSet<SessionId> = segments.sessions().collect();
    let mut found = Vec::new();
    for id in sessions {
        let Ok(journal) = sealed_journal(&segments, &id) else { continue };
        if journal.is_over() || journal.start().agent != *of.agent {
            continue;
        }
        let values = SealedValues { segments: &segments };
        let Ok(Some(reader)) = SummaryReader::of_open(&journal, &values) else { continue };
        for hold in reader.holds(Attendance::AtRest) {
            let votes = trust::claimed(space, &journal, &hold.id, of.head).unwrap_or_default();
            let policy = Policy::of_hold(&hold, space.now());
            if policy.settle(&votes).is_none() {
                let overdue = policy.is_overdue(space.now());
                let (unverified, waiting) = (Vec::new(), Vec::new());
                // What it asks about is in force elsewhere: nobody here knows better.
                let warning = None;
                found.push(PendingHold {
                    hold,
                    policy,
                    overdue,
                    votes,
                    unverified,
                    waiting,
                    warning,
                });
            }
        }
    }
    oldest_first(&mut found);
    Ok(found)
}

/// Makes the commit of a decision of a hold elsewhere, on the head that its agent has there. Nothing moves.
///
/// # Errors
/// Fails when the hold takes no such answer, and when nobody signs.
pub fn decide_elsewhere(
    space: &SessionSpace,
    (head, pending): (Oid, &PendingHold),
    draft: &DecisionDraft,
    (voice, signer): (&ForeignVoice, &Signer<'_>),
) -> Result<(DecisionOutcome, GitObject)> {
    let (hold, policy) = (&pending.hold, Policy::of_hold(&pending.hold, space.now()));
    let for_whom = voice.delegation.as_ref().map(|for_whom| for_whom.person.as_str());
    let person = for_whom.unwrap_or(&draft.principal);
    let admitted = check_elsewhere(hold, &policy, draft, person)?;
    let mut decision = Decision::of_human(admitted, hold, &policy).on(hold.published.as_deref());
    let mut note = |field: &str, text: String| {
        decision.record.insert(field.to_owned(), Value::Text(text));
    };
    note("authn", signer.name());
    note(IDENTITY, voice.identity.to_string());
    if let Some(delegation) = &voice.delegation {
        note(ON_BEHALF_OF, delegation.person.clone());
        note(GRANT, delegation.grant.to_string());
    }
    let signatures = space.signatures_of(space.repository().committer()?)?;
    let published = decision.published().and_then(|published| Oid::parse(published).ok());
    // Its fields stand in the message whatever their length: no notes of that agent are written here.
    let fields = decision.fields(published.unwrap_or(head), signatures.committer.at);
    let (agent, session) = (&hold.agent, hold.session);
    let fields = OpenFields::Inline(fields);
    let commit = DecisionCommit { agent, session, decision: &decision, fields };
    let bytes = signer.sign(&commit.on(space, head, &signatures)?)?;
    let object = GitObject { kind: GitKind::Commit, bytes };
    let commit = space.repository().name_object(&object);
    let written = agentic_space::WriteNotices::default();
    Ok((DecisionOutcome { commit, decision, session, written }, object))
}

/// Reads the records of a session that are sealed.
fn sealed_journal(segments: &Segments<'_>, id: &SessionId) -> Result<RecordChain> {
    let frames = segments.frames(id)?;
    if let Some(first) = frames.first() {
        // Its id follows from how it began.
        FirstRecord::from_frame(id, first)?;
    }
    chain_of(id, &frames, &|id| segments.frames(id))
}

/// Long values as they are sealed beside the records.
struct SealedValues<'a> {
    segments: &'a Segments<'a>,
}

impl StoredObjects for SealedValues<'_> {
    fn bytes(&self, cid: &Cid) -> Option<Vec<u8>> {
        let sessions: BTreeSet<SessionId> = self.segments.sessions().collect();
        sessions.iter().find_map(|id| self.segments.value(id, cid).ok()?)
    }
}
