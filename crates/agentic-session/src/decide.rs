//! Decisions: a human's answer to a hold, as a commit.
//!
//! Under the agent's lock the durable record of a `decide` transaction *is* the decision; moving the
//! branch publishes it. A commit that merely looks like one decides nothing: only those count whose
//! record is in the agent's journal, or whose vote the session has already noted.

mod commit;
mod foreign;

use agentic_model::commit::OpenFields;
use agentic_model::{AgentName, Oid, Person, Value};
use agentic_replay::{OpenHold, SessionId, StartRecord};
use agentic_space::WriteNotices;
use agentic_space::commit::RACES_MAX;
use agentic_space::error::BranchError;
use agentic_space::following::FollowingWorktree;
use agentic_space::signing::SigningChoice;
use agentic_space::write::LockedStream;
use agentic_store::Durability;
use agentic_store::journal::{BranchMove, DECIDE, KeptObject, NotesEdit, Transaction};

pub(crate) use self::commit::DecisionCommit;
use self::commit::{standing_head, trace_of};
pub use self::foreign::{ForeignDecision, ForeignStanding};
pub use crate::action::{Action, ApprovalScope};
pub use crate::admission::{AdmittedAnswer, check, check_assigned, is_assigned};
pub use crate::decision::{COMMAND_LINE, Decision};
pub use crate::draft::{APPROVED_BYTES_MAX, DecisionDraft, ShownQuestion, VALUE_BYTES_MAX};
use crate::error::{DecisionError, RequestError};
use crate::folder::Folder;
use crate::hold::PendingHold;
use crate::hold::earlier::EarlierAnswer;
use crate::hold::name::{NamedRequest, find_request};
use crate::own::read_journal;
pub use crate::policy::{Policy, is_principal};
use crate::summary;
use crate::trust::{self, DecidingCommits, Look};
pub use crate::trust::{PersonKey, has_key, text_signed_by, wants_key};
pub use crate::vote::{first_voices, n_agreeing};
use crate::{Error, Result, SessionSpace, go_on, hosted};

/// What became of a decision.
#[derive(Debug)]
pub struct DecisionOutcome {
    /// The commit.
    pub commit: Oid,
    /// The decision that counts: this one, or the same one made before.
    pub decision: Decision,
    /// The session.
    pub session: SessionId,
    /// Whether everything is visible.
    pub written: WriteNotices,
}

/// Who goes on with a session whose hold turns out to be overdue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpiryFollowing {
    /// Whoever answers.
    GoOn,
    /// Somebody elsewhere.
    Leave,
}

/// Answers a hold. Where it was decided before, the same answer of the same principal succeeds once
/// more, and any other is told who was first. One that is overdue expires now.
///
/// # Errors
/// Fails as [`decide`] does.
pub fn answer(
    space: &SessionSpace,
    named: NamedRequest,
    draft: &DecisionDraft,
    follow: ExpiryFollowing,
) -> Result<DecisionOutcome> {
    let pending = match named {
        NamedRequest::Open(pending) => pending,
        NamedRequest::Decided(earlier) => return earlier.again(space, draft),
    };
    let outcome = decide(space, &pending, draft);
    let is_expired = matches!(outcome, Err(Error::Decision(DecisionError::HoldExpired { .. })));
    if !is_expired || follow == ExpiryFollowing::Leave {
        return outcome;
    }
    // The session records the expiry and goes on; then it can be said who won.
    go_on(space, &pending.hold.session)?;
    match find_request(space, &pending.hold.session, &pending.hold.id) {
        Ok(NamedRequest::Decided(earlier)) => earlier.again(space, draft),
        Ok(NamedRequest::Open(_)) | Err(_) => outcome,
    }
}

/// Decides a hold. When this returns the decision is durable; the session goes on with
/// [`crate::resume`].
///
/// # Errors
/// Fails when another host drives the session from here, when the hold is decided already, overdue or not this
/// principal's to decide, and when the value does not fit; nothing is written then, except the expiry of
/// an overdue hold.
pub fn decide(
    space: &SessionSpace,
    pending: &PendingHold,
    draft: &DecisionDraft,
) -> Result<DecisionOutcome> {
    hosted::refuse_claimed(space, &Folder::of(space, &pending.hold.session))?;
    decide_for_host(space, pending, draft)
}

/// Does the same for the host that drives the session.
pub(crate) fn decide_for_host(
    space: &SessionSpace,
    pending: &PendingHold,
    draft: &DecisionDraft,
) -> Result<DecisionOutcome> {
    let hold = &pending.hold;
    let policy = Policy::of_hold(hold, space.now());
    let admitted = check(space, hold, &policy, draft)?;
    let mut decision = Decision::of_human(admitted, hold, &policy).on(hold.published.as_deref());
    let signing = signing_of(space, &decision)?;
    // What another program said of a person stands: that a key of this user signs proves nothing of it.
    if draft.authn.is_none() && signing == SigningChoice::Signed {
        let signer = space.repository().signer()?.name();
        decision.record.insert("authn".to_owned(), Value::text(signer));
    }
    let (agent, session, decider) = (&hold.agent, hold.session, Decider::Human(hold));
    let new =
        NewDecision { agent, session, decision: &decision, policy: &policy, decider, signing };
    match new.record_under_lock(space)? {
        WrittenDecision::New { commit, written } => {
            Ok(DecisionOutcome { commit, decision, session, written })
        }
        WrittenDecision::Before(earlier) => earlier.again(space, draft),
        WrittenDecision::Other => {
            let request = session.short_request(&hold.id);
            Err(Error::Request(RequestError::Stale { request }))
        }
        WrittenDecision::Overdue => Err(overdue(space, hold, &policy)),
    }
}

fn overdue(space: &SessionSpace, hold: &OpenHold, policy: &Policy) -> Error {
    Error::Decision(DecisionError::HoldExpired {
        request: hold.session.short_request(&hold.id),
        deadline: policy.deadline.unwrap_or(space.now()),
        value: policy.on_expiry.clone(),
        commit: None,
    })
}

/// Records a decision of the engine itself, unless somebody has decided before. Returns the commit of
/// the engine's own.
pub(crate) fn record_system(
    space: &SessionSpace,
    start: &StartRecord,
    decision: &Decision,
    policy: &Policy,
) -> Result<Option<Oid>> {
    let (agent, session, decider) = (&start.agent, start.session, Decider::Engine);
    if space.head(agent).is_err() {
        return Ok(None);
    }
    let signing = signing_of(space, decision)?;
    let new = NewDecision { agent, session, decision, policy, decider, signing };
    match new.record_under_lock(space)? {
        WrittenDecision::New { commit, .. } => Ok(Some(commit)),
        // One of ours that a crash left; what somebody else decided is not what closed the hold.
        WrittenDecision::Before(earlier) => {
            let is_own = |made: Decision| made.principal == decision.principal;
            Ok(earlier.commit.filter(|_| earlier.decision.is_some_and(is_own)))
        }
        WrittenDecision::Other | WrittenDecision::Overdue => Ok(None),
    }
}

/// A decision that is to be recorded.
struct NewDecision<'a> {
    agent: &'a AgentName,
    session: SessionId,
    decision: &'a Decision,
    /// What the hold asks of it.
    policy: &'a Policy,
    decider: Decider<'a>,
    signing: SigningChoice,
}

/// Who decides: a human the hold that they know, somebody elsewhere, or the engine.
#[derive(Clone, Copy)]
enum Decider<'a> {
    Human(&'a OpenHold),
    Elsewhere(&'a OpenHold, &'a ForeignDecision),
    Engine,
}

/// What became of a decision that was to be recorded.
enum WrittenDecision {
    New {
        commit: Oid,
        written: WriteNotices,
    },
    Before(Box<EarlierAnswer>),
    /// Something else is asked now under the same id: an effect is in doubt once more.
    Other,
    Overdue,
}

/// Whether a decision may be recorded, as the session and the branch stand now.
enum DecisionCheck {
    Allowed,
    /// Only once signatures have been looked at, which is not done under a lock.
    Unseen,
    Refused(WrittenDecision),
}

impl NewDecision<'_> {
    /// Writes it under the agent's lock, after looking once more whether it may be made. What needs a
    /// program of the user's, to sign it or to verify others, is done before; if the branch moves
    /// meanwhile, all is done again.
    fn record_under_lock(&self, space: &SessionSpace) -> Result<WrittenDecision> {
        let agent = self.agent;
        for _ in 0..RACES_MAX {
            let early = match self.signing {
                SigningChoice::Plain => None,
                SigningChoice::Signed => {
                    if let DecisionCheck::Refused(why) = self.check(space, Look::Free)? {
                        return Ok(why);
                    }
                    let head = space.head(agent)?;
                    Some((head, self.transaction(space, head)?))
                }
            };
            let (locked, head) = LockedStream::agent(space, agent)?;
            match self.check(space, Look::Locked)? {
                DecisionCheck::Allowed => {}
                DecisionCheck::Unseen => {
                    drop(locked);
                    self.check(space, Look::Free)?;
                    continue;
                }
                DecisionCheck::Refused(why) => return Ok(why),
            }
            let transaction = match early {
                Some((made_on, transaction)) if made_on == head => transaction,
                Some(_) => continue,
                None => self.transaction(space, head)?,
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

    /// Looks whether it may be made. The engine's own decisions only look whether the hold is settled
    /// already.
    fn check(&self, space: &SessionSpace, look: Look) -> Result<DecisionCheck> {
        let (decision, policy) = (self.decision, self.policy);
        let journal = read_journal(space, &self.session)?;
        let DecidingCommits { counted, unseen, .. } =
            trust::find(space, &journal, &decision.request, look)?;
        if !unseen.is_empty() {
            return Ok(DecisionCheck::Unseen);
        }
        let earlier = |commit, earlier| {
            let earlier = EarlierAnswer::of_decision(self.session, commit, earlier, policy);
            DecisionCheck::Refused(WrittenDecision::Before(Box::new(earlier)))
        };
        if let Some((commit, settled)) = policy.settle(&counted) {
            return Ok(earlier(commit, settled));
        }
        let (known, at) = match self.decider {
            Decider::Engine => return Ok(DecisionCheck::Allowed),
            Decider::Human(known) => (known, space.now()),
            Decider::Elsewhere(known, made) => (known, made.arrived_at),
        };
        if let Some((commit, vote)) =
            counted.iter().find(|(_, vote)| vote.voices().any(|voice| decision.has_voice(voice)))
        {
            return Ok(earlier(*commit, vote));
        }
        let holds = summary::holds(space, &journal)?;
        let refused = match holds.iter().find(|hold| hold.id == decision.request) {
            None => WrittenDecision::Before(Box::new(EarlierAnswer::of_gone(&journal, known))),
            Some(hold) if !decision.answers(hold) => WrittenDecision::Other,
            Some(_) if policy.is_overdue(at) => WrittenDecision::Overdue,
            Some(_) => return Ok(DecisionCheck::Allowed),
        };
        Ok(DecisionCheck::Refused(refused))
    }

    /// Makes the commit of a decision on top of a head, with its trace. If it is signed a program of the
    /// user's runs: not under a lock.
    fn transaction(&self, space: &SessionSpace, head: Oid) -> Result<Transaction> {
        let (agent, decision) = (self.agent, self.decision);
        let person = match decision.principal.strip_prefix("user:") {
            Some(_) => space.repository().committer()?,
            None => Person::new(&decision.principal, "system@agents.invalid"),
        };
        let signatures = space.signatures_of(person)?;
        let at = signatures.committer.at;
        let mut kept: Vec<KeptObject> = Vec::new();
        let (new, object) = match self.decider {
            // The branch goes to the very commit that somebody made elsewhere.
            Decider::Elsewhere(_, made) if made.parent() == head => (made.commit, made.object()),
            Decider::Elsewhere(..) | Decider::Human(_) | Decider::Engine => {
                let hold_head = standing_head(space, decision.published(), head)?;
                let (fields, object) = OpenFields::place(decision.fields(hold_head, at))?;
                kept.extend(object.iter().map(KeptObject::from));
                let draft = DecisionCommit { agent, session: self.session, decision, fields };
                let data = draft.on(space, head, &signatures)?;
                self.signing.make(space.repository(), &data)?
            }
        };
        let (trace_objects, note) = trace_of(decision, agent, at)?;
        kept.extend(trace_objects);
        Ok(Transaction {
            objects: vec![object],
            branch: Some(BranchMove { name: agent.branch_ref(), expect: Some(head), new }),
            notes: Some(NotesEdit {
                name: agent.notes_ref(),
                notes: vec![(new, note)],
                objects: kept,
            }),
            ..signatures.transaction(DECIDE)
        })
    }
}

/// Decisions of people are signed if git's configuration says so.
fn signing_of(space: &SessionSpace, decision: &Decision) -> Result<SigningChoice> {
    match decision.principal.starts_with("user:") {
        true => Ok(SigningChoice::of_people(space)?),
        false => Ok(SigningChoice::Plain),
    }
}
