//! Decisions: a human's answer to a hold, as a commit.
//!
//! Under the agent's lock the durable record of a `decide` transaction *is* the decision; moving the
//! branch publishes it. A commit that merely looks like one decides nothing: only those count whose
//! record is in the agent's journal, or whose vote the session has already noted.

use agentic_model::commit::{Claims, CommitData, OpenFields};
use agentic_model::{ConsoleTrace, Instant, Kind, Oid, Person, Value};
use agentic_replay::{RequestId, StartRecord};
use agentic_space::WriteNotices;
use agentic_space::commit::RACES_MAX;
use agentic_space::error::BranchError;
use agentic_space::following::FollowingWorktree;
use agentic_space::signing::SigningChoice;
use agentic_space::write::LockedStream;
use agentic_store::Durability;
use agentic_store::journal::{BranchMove, DECIDE, KeptObject, NotesEdit, Transaction};

pub use crate::action::{Action, ApprovalScope};
pub use crate::admission::check;
pub use crate::decision::{COMMAND_LINE, Decision, GivenAnswer};
pub use crate::draft::{DecisionDraft, ShownQuestion, VALUE_BYTES_MAX};
use crate::error::{DecisionError, RequestError};
use crate::hold::{NamedRequest, PendingHold, cancelled_by, winner};
pub use crate::policy::Policy;
use crate::recent::read_journal;
use crate::summary;
use crate::trace::decision_entry;
use crate::trust::{self, DecidingCommits, Look};
use crate::{Error, Result, SessionSpace};

/// What became of a decision.
#[derive(Debug)]
pub struct DecisionOutcome {
    /// The commit.
    pub commit: Oid,
    /// The decision that counts: this one, or the same one made before.
    pub decision: Decision,
    /// The session.
    pub session: agentic_replay::SessionId,
    /// Whether everything is visible.
    pub written: WriteNotices,
}

/// Finds the decisions of a request that count, oldest first.
///
/// # Errors
/// Fails when history or the journal cannot be read.
pub fn find(
    space: &SessionSpace,
    start: &StartRecord,
    id: &RequestId,
) -> Result<Vec<(Oid, Decision)>> {
    Ok(trust::find(space, start, id, Look::Free)?.counted)
}

/// Reads the decision that a commit on the agent's branch says it is, to be accepted by somebody
/// here.
///
/// # Errors
/// Fails when it is none for this request, and when that is decided already.
pub fn proposed(space: &SessionSpace, named: &NamedRequest, commit: Oid) -> Result<Decision> {
    let hold = match named {
        NamedRequest::Open(pending) => &pending.hold,
        NamedRequest::Decided(earlier) => return Err(earlier.clone().refusal(space)),
    };
    let start = read_journal(space, &hold.session)?.start().clone();
    let found = trust::find(space, &start, &hold.id, Look::Free)?.unverified;
    let proposed = found.into_iter().find(|(oid, _)| *oid == commit);
    proposed.map(|(_, decision)| decision).ok_or_else(|| {
        Error::Decision(DecisionError::NotADecision {
            commit,
            request: hold.session.short_request(&hold.id),
        })
    })
}

/// Decides a hold. When this returns the decision is durable; the session goes on with
/// [`crate::resume`].
///
/// # Errors
/// Fails when the hold is decided already, overdue or not this principal's to decide, and when the
/// value does not fit; nothing is written then, except the expiry of an overdue hold.
pub fn decide(
    space: &SessionSpace,
    pending: &PendingHold,
    draft: &DecisionDraft,
) -> Result<DecisionOutcome> {
    let hold = &pending.hold;
    let policy = Policy::of_payload(hold.reason, &hold.payload);
    let policy = policy.at(hold.n_escalations, space.now());
    check(space, hold, &policy, draft)?;
    let journal = read_journal(space, &hold.session)?;
    let start = journal.start().clone();
    let mut decision = Decision::of_human(draft, hold, &policy).on(hold.published.as_deref());
    if signing_of(space, &decision)? == SigningChoice::Signed {
        let signer = space.repository().signer()?.name();
        decision.record.insert("authn".to_owned(), Value::text(signer));
    }
    let written = record(space, &start, &decision, Decider::Human(&policy))?;
    match written {
        WrittenDecision::New { commit, written } => {
            Ok(DecisionOutcome { commit, decision, session: hold.session, written })
        }
        WrittenDecision::Before { commit, decision: earlier } => {
            let (action, value) = (draft.action, draft.value.as_ref());
            let answer =
                GivenAnswer { action, value, scope: draft.scope, principal: &draft.principal };
            if earlier.is_repeated_by(answer, policy.subject.as_ref()) {
                let written = WriteNotices::default();
                return Ok(DecisionOutcome {
                    commit,
                    decision: earlier,
                    session: hold.session,
                    written,
                });
            }
            Err(Error::Decision(DecisionError::AlreadyDecided {
                request: hold.session.short_request(&hold.id),
                principal: earlier.principal,
                action: earlier.action.name(),
                commit: Some(commit),
            }))
        }
        WrittenDecision::Closed => {
            let journal = read_journal(space, &hold.session)?;
            let (principal, action) =
                winner(None, cancelled_by(&journal, &hold.ask.path).as_deref());
            let request = hold.session.short_request(&hold.id);
            Err(Error::Decision(DecisionError::AlreadyDecided {
                request,
                principal,
                action,
                commit: None,
            }))
        }
        WrittenDecision::Other => Err(Error::Request(RequestError::Stale {
            request: hold.session.short_request(&hold.id),
        })),
        WrittenDecision::Overdue => Err(Error::Decision(DecisionError::HoldExpired {
            request: hold.session.short_request(&hold.id),
            deadline: policy.deadline.unwrap_or(space.now()),
            value: policy.on_expiry.clone(),
            commit: None,
        })),
    }
}

/// Records a decision of the engine itself, unless somebody has decided before. Returns the commit of
/// the engine's own.
pub(crate) fn record_system(
    space: &SessionSpace,
    start: &StartRecord,
    decision: &Decision,
    policy: &Policy,
) -> Result<Option<Oid>> {
    if space.head(&start.agent).is_err() {
        return Ok(None);
    }
    match record(space, start, decision, Decider::Engine(policy))? {
        WrittenDecision::New { commit, .. } => Ok(Some(commit)),
        // One of ours that a crash left; what somebody else decided is not what closed the hold.
        WrittenDecision::Before { commit, decision: earlier } => {
            Ok((earlier.principal == decision.principal).then_some(commit))
        }
        WrittenDecision::Closed | WrittenDecision::Other | WrittenDecision::Overdue => Ok(None),
    }
}

/// Who decides, and what the hold asks of it.
#[derive(Clone, Copy)]
enum Decider<'a> {
    Human(&'a Policy),
    Engine(&'a Policy),
}

enum WrittenDecision {
    New {
        commit: Oid,
        written: WriteNotices,
    },
    Before {
        commit: Oid,
        decision: Decision,
    },
    Closed,
    /// Something else is asked now under the same id: an effect is in doubt once more.
    Other,
    Overdue,
}

/// Writes the decision under the agent's lock, after looking once more whether it may be made. What
/// needs a program of the user's, to sign it or to verify others, is done before; if the branch moves
/// meanwhile, all is done again.
fn record(
    space: &SessionSpace,
    start: &StartRecord,
    decision: &Decision,
    decider: Decider<'_>,
) -> Result<WrittenDecision> {
    let (agent, request) = (&start.agent, &decision.request);
    let signing = signing_of(space, decision)?;
    for _ in 0..RACES_MAX {
        let early = match signing {
            SigningChoice::Plain => None,
            SigningChoice::Signed => {
                let found = trust::find(space, start, request, Look::Free)?;
                if let Some(answer) = answered_before(space, start, decision, decider, &found)? {
                    return Ok(answer);
                }
                let head = space.head(agent)?;
                Some((head, transaction(space, start, decision, head, signing)?))
            }
        };
        let (locked, head) = LockedStream::agent(space, agent)?;
        let found = trust::find(space, start, request, Look::Locked)?;
        if !found.unseen.is_empty() {
            drop(locked);
            trust::find(space, start, request, Look::Free)?;
            continue;
        }
        if let Some(answer) = answered_before(space, start, decision, decider, &found)? {
            return Ok(answer);
        }
        let transaction = match early {
            Some((made_on, transaction)) if made_on == head => transaction,
            Some(_) => continue,
            None => transaction(space, start, decision, head, signing)?,
        };
        // The trees are equal: no file changes.
        let following = match space.repository().worktree_of(&agent.branch_ref())? {
            Some(worktree) => FollowingWorktree::content(worktree, head)?,
            None => None,
        };
        // A decision is never less than fully durable.
        let commit = transaction.decision().expect("BUG: a decision moves its branch");
        let moved = locked.decide(transaction, following, Durability::Full)?.follow();
        return Ok(WrittenDecision::New { commit, written: moved.written });
    }
    let (branch, expected) = (agent.to_string(), space.head(agent)?.to_string());
    Err(agentic_space::Error::Branch(BranchError::HeadMoved { branch, expected, found: None })
        .into())
}

/// Tells why a decision may not be made any more. The engine's own decisions only look whether
/// the hold is settled already.
fn answered_before(
    space: &SessionSpace,
    start: &StartRecord,
    decision: &Decision,
    decider: Decider<'_>,
    found: &DecidingCommits,
) -> Result<Option<WrittenDecision>> {
    let found = &found.counted;
    let (Decider::Human(policy) | Decider::Engine(policy)) = decider;
    let settled = policy.settle(found);
    let voted = || match decider {
        Decider::Human(_) => {
            let vote = found.iter().find(|(_, vote)| vote.principal == decision.principal);
            vote.map(|(commit, vote)| (*commit, vote))
        }
        Decider::Engine(_) => None,
    };
    if let Some((commit, earlier)) = settled.or_else(voted) {
        return Ok(Some(WrittenDecision::Before { commit, decision: earlier.clone() }));
    }
    if let Decider::Engine(_) = decider {
        return Ok(None);
    }
    let journal = read_journal(space, &start.session)?;
    let holds = summary::holds(space, &journal)?;
    let Some(hold) = holds.iter().find(|hold| hold.id == decision.request) else {
        return Ok(Some(WrittenDecision::Closed));
    };
    if !decision.answers(hold) {
        return Ok(Some(WrittenDecision::Other));
    }
    Ok(policy.is_overdue(space.now()).then_some(WrittenDecision::Overdue))
}

/// Makes the commit of a decision on top of a head, with its trace. If it is signed a program of the
/// user's runs: not under a lock.
fn transaction(
    space: &SessionSpace,
    start: &StartRecord,
    decision: &Decision,
    head: Oid,
    signing: SigningChoice,
) -> Result<Transaction> {
    let agent = &start.agent;
    let person = match decision.principal.strip_prefix("user:") {
        Some(_) => space.repository().committer()?,
        None => Person::new(&decision.principal, "system@agents.invalid"),
    };
    let signatures = space.signatures_of(person)?;
    let at = signatures.committer.at;
    let hold_head = standing_head(space, decision.published(), head)?;
    let (fields, fields_object) = OpenFields::place(decision.fields(hold_head, at))?;
    let claims = Claims {
        kind: Kind::parse("decision").ok(),
        agent: Some(agent.clone()),
        session: Some(start.session.to_string()),
        request: Some(decision.request.to_string()),
        fields,
        ..Claims::default()
    };
    let data = CommitData {
        tree: space.read_commit(head)?.tree,
        parents: vec![head],
        author: signatures.author.clone(),
        committer: signatures.committer.clone(),
        message: claims.write(&decision.message()).map_err(agentic_space::Error::from)?,
    };
    let (new, object) = signing.make(space.repository(), &data)?;
    let (trace_objects, note) = trace_of(decision, agent, at)?;
    let mut kept: Vec<KeptObject> = fields_object.iter().map(KeptObject::from).collect();
    kept.extend(trace_objects);
    Ok(Transaction {
        objects: vec![object],
        branch: Some(BranchMove { name: agent.branch_ref(), expect: Some(head), new }),
        notes: Some(NotesEdit { name: agent.notes_ref(), notes: vec![(new, note)], objects: kept }),
        ..signatures.transaction(DECIDE)
    })
}

/// Decisions of people are signed if git's configuration says so.
fn signing_of(space: &SessionSpace, decision: &Decision) -> Result<SigningChoice> {
    match decision.principal.starts_with("user:") {
        true => Ok(SigningChoice::of_people(space)?),
        false => Ok(SigningChoice::Plain),
    }
}

/// The trace of a decision: one entry, bound to its commit.
fn trace_of(
    decision: &Decision,
    agent: &agentic_model::AgentName,
    at: Instant,
) -> Result<(Vec<KeptObject>, String)> {
    let text = format!(
        "decided {} {} by {}",
        &decision.request.to_string()[..12],
        decision.action.name(),
        decision.principal
    );
    let trace = ConsoleTrace { agent: agent.clone(), entries: vec![decision_entry(text, at)] };
    let objects = trace.to_objects()?;
    let cid = objects.last().expect("a trace has a naming object").cid();
    Ok((objects.iter().map(KeptObject::from).collect(), trace.note_text(cid)))
}

/// Returns the head on which a decision finds a hold: that on which it was published, or the head
/// of the branch where that has left it.
fn standing_head(space: &SessionSpace, published: Option<&str>, head: Oid) -> Result<Oid> {
    match published.and_then(|published| Oid::parse(published).ok()) {
        Some(published) if space.repository().is_ancestor(published, head)? => Ok(published),
        Some(_) | None => Ok(head),
    }
}
