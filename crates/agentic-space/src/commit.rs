//! Committing: what an agent did, as typed commits on its branch, maybe with its trace.
//!
//! One draft or many go the same way, through [`crate::write`]. Many in one write are one record,
//! one sync, and one move of the branch and of the notes; each is as if it had been made alone, with
//! its own tree, message, trailers and place in the chain, and all are there after a crash, or none.
//! Committing alone is for what must be known to be safe before the next step begins; this is for
//! those who have many steps to tell at once, and for threads of one process that write to one agent
//! at the same time.

mod chain;
mod draft;
mod source;
mod trace;

use agentic_git::Worktree;
pub use agentic_git::{FileMode, SpoolWriter, SpooledContent};
use agentic_model::{AgentName, Oid};
use agentic_store::{Durability, Stream};

use self::chain::CommitChain;
pub use self::draft::{
    Asker, CommitDraft, CommitOutcome, Edit, Emptiness, TraceBinding, TreeSource,
};
pub(crate) use self::trace::BoundTrace;
use self::trace::PendingTrace;
use crate::error::{BranchError, WorktreeError};
use crate::following::{FollowingWorktree, WriteWait, wait_for};
use crate::group::GroupPart;
use crate::signing::SigningChoice;
use crate::write::{LockedStream, ReservedBranch};
use crate::{Error, Result, Space};

/// How often edits are applied again to a head that somebody else moved meanwhile.
pub const RACES_MAX: usize = 1000;

/// Commits what an agent did. Threads of one process that commit edits to one agent at the same time
/// share one write.
///
/// # Errors
/// Fails when there is nothing to commit, when the head is not where the draft expects it, and as
/// the store does; nothing is written then.
pub fn commit(space: &Space, agent: &AgentName, draft: &CommitDraft) -> Result<CommitOutcome> {
    if draft.edits().is_none() || !space.is_live() {
        return commit_alone(space, agent, draft);
    }
    match space.queues().enter(agent, draft) {
        GroupPart::Member(outcome) => return *outcome,
        GroupPart::Leader(group) => {
            let answers = commit_all(space, agent, group.all());
            if let Some(own) = group.tell(answers) {
                return own;
            }
        }
        GroupPart::First(_turn) => return commit_alone(space, agent, draft),
        GroupPart::Stray => {}
    }
    commit_alone(space, agent, draft)
}

/// Commits a draft without a look at what other threads do.
fn commit_alone(space: &Space, agent: &AgentName, draft: &CommitDraft) -> Result<CommitOutcome> {
    let mut answers = commit_all(space, agent, std::slice::from_ref(draft))?;
    answers.pop().expect("BUG: there is an answer for each draft")
}

/// Commits drafts one after the other on top of the head, in one write. Where there are several,
/// each must be made of edits and expect no head of its own. The answers stand in the order of the
/// drafts: one that cannot be committed has its error there, and the others are committed without
/// it. The pending trace is bound to the first that asks for it.
///
/// # Errors
/// Fails when nothing could be written; nothing has happened then.
pub fn commit_all(
    space: &Space,
    agent: &AgentName,
    drafts: &[CommitDraft],
) -> Result<Vec<Result<CommitOutcome>>> {
    for _ in 0..RACES_MAX {
        match attempt(space, agent, drafts) {
            Ok(None) => {}
            Err(Error::Branch(BranchError::HeadMoved { .. })) if may_retry(drafts) => {}
            outcome => return Ok(outcome?.unwrap_or_default()),
        }
    }
    let (branch, expected) = (agent.to_string(), space.head(agent)?.to_string());
    Err(Error::Branch(BranchError::HeadMoved { branch, expected, found: None }))
}

/// Edits mean the same on any head; a snapshot of an older head would revert others.
fn may_retry(drafts: &[CommitDraft]) -> bool {
    drafts.iter().all(|draft| {
        let is_of_any_head =
            matches!(draft.source, TreeSource::Edits(_) | TreeSource::Paths { .. });
        draft.expect.is_none() && is_of_any_head
    })
}

/// Commits drafts once; nothing if what they were prepared for has changed meanwhile.
fn attempt(
    space: &Space,
    agent: &AgentName,
    drafts: &[CommitDraft],
) -> Result<Option<Vec<Result<CommitOutcome>>>> {
    let signing = signing_of(space, drafts)?;
    let early = prepare(space, agent, drafts, signing)?;
    if let Some((chain, _)) = &early
        && chain.has_failed()
    {
        return Ok(early.map(|(chain, _)| chain.transaction(agent, None).0));
    }

    // Under the agent's lock: the same again.
    let (mut locked, head) = LockedStream::agent(space, agent)?;
    let bound = match drafts.iter().any(|draft| draft.capture == TraceBinding::WithTrace) {
        true => BoundTrace::take(space, locked.writer(), agent)?,
        false => None,
    };
    let found = bound.as_ref().map_or(PendingTrace::None, |_| PendingTrace::Some);
    let (chain, following) = match early {
        Some(early) => early,
        None => (CommitChain::on(head, space, agent, drafts)?, None),
    };
    if let Some(done) = chain.made_before(space, locked.writer(), head, drafts)? {
        return Ok(Some(vec![Ok(done)]));
    }
    let (mut chain, following) = if chain.stands_on(head, found) {
        (chain, following)
    } else if following.is_none() && may_prepare_locked(space, agent, drafts, signing)? {
        // Going back to the end of the queue, they would find yet another head.
        (CommitChain::on(head, space, agent, drafts)?, None)
    } else if chain.base != head && !may_retry(drafts) {
        return Err(overtaken(agent, &drafts[0], chain.base, head));
    } else {
        return Ok(None);
    };
    let packed = chain.take_packed();
    let (mut answers, transaction) = chain.transaction(agent, bound);
    let Some(transaction) = transaction else { return Ok(Some(answers)) };
    locked.settle_parents(true)?;
    locked.bring(packed);
    let moved = locked.decide(transaction, following, durability_of(space, drafts))?.follow();
    let mut left_behind = moved.left_behind;
    for made in answers.iter_mut().rev().flatten() {
        made.written = moved.written.clone();
        made.worktree_left_behind = left_behind.take();
    }
    Ok(Some(answers))
}

/// Prepares commits outside any lock: what is there, and what it becomes; and the worktree that
/// comes along. Returns nothing if that would be in vain.
fn prepare(
    space: &Space,
    agent: &AgentName,
    drafts: &[CommitDraft],
    signing: SigningChoice,
) -> Result<Option<(CommitChain, Option<FollowingWorktree>)>> {
    let alone = match drafts {
        [draft] => Some(draft),
        _ => None,
    };
    let own = alone.map_or(Ok(None), |draft| draft.source.own_worktree(space, agent))?;
    if let Some(own) = own {
        own.check_concluded()?;
        let base = settled_base(space, agent, alone, Some(&own))?;
        let mut chain = CommitChain::on(base, space, agent, drafts)?;
        let following = FollowingWorktree::Index(own, chain.take_index());
        return Ok(Some((chain, Some(following))));
    }
    let reserved = ReservedBranch::begin(space, agent.branch_ref(), signing)?;
    if reserved.is_alone() && will_be_overtaken(space, agent, drafts) {
        return Ok(None);
    }
    let base = settled_base(space, agent, alone, None)?;
    let chain = CommitChain::on(base, space, agent, drafts)?;
    let following = reserved.prepared(base, &chain.changed())?;
    Ok(Some((chain, following)))
}

/// Tells whether preparing one draft of edits before taking the lock would be in vain: somebody
/// waited for it last time, so others are before this one, and each of them moves the head.
fn will_be_overtaken(space: &Space, agent: &AgentName, drafts: &[CommitDraft]) -> bool {
    let (repository, stream) = (space.repository(), Stream::Agent(agent.clone()));
    matches!(drafts, [draft] if draft.edits().is_some()) && repository.is_contended(&stream)
}

/// Tells whether commits may be prepared under the agent's lock. Where they are signed, and where a
/// worktree has the branch, whose files are looked at, a program of the user's may run: not while
/// others wait.
fn may_prepare_locked(
    space: &Space,
    agent: &AgentName,
    drafts: &[CommitDraft],
    signing: SigningChoice,
) -> Result<bool> {
    let are_edits = drafts.iter().all(|draft| draft.edits().is_some());
    Ok(are_edits
        && signing == SigningChoice::Plain
        && space.repository().worktree_of(&agent.branch_ref())?.is_none())
}

/// Commits of people are signed if git's configuration says so; those of sessions never are.
fn signing_of(space: &Space, drafts: &[CommitDraft]) -> Result<SigningChoice> {
    match drafts.iter().any(|draft| draft.asker.is_none()) {
        true => SigningChoice::of_people(space),
        false => Ok(SigningChoice::Plain),
    }
}

/// What a session has asked for is fully durable before its answer is recorded, whatever the space
/// is content with otherwise.
fn durability_of(space: &Space, drafts: &[CommitDraft]) -> Durability {
    match drafts.iter().any(|draft| draft.asker.is_some()) {
        true => Durability::Full,
        false => space.durability(),
    }
}

/// Finds the commit that the new one builds upon, once the worktree is where that is. Whoever moves
/// the branch announces it before, so that files on their way are not taken for work.
fn settled_base(
    space: &Space,
    agent: &AgentName,
    draft: Option<&CommitDraft>,
    worktree: Option<&Worktree>,
) -> Result<Oid> {
    loop {
        let base = base_of(space, agent, draft, worktree);
        match worktree.map(|worktree| wait_for(space, worktree)).transpose()? {
            Some(WriteWait::ForAnother) => {}
            Some(WriteWait::ForNobody) | None => return base,
        }
    }
}

/// Finds the commit that the new one builds upon.
fn base_of(
    space: &Space,
    agent: &AgentName,
    draft: Option<&CommitDraft>,
    worktree: Option<&Worktree>,
) -> Result<Oid> {
    let head = space.head(agent)?;
    if let Some(expected) = draft.and_then(|draft| draft.expect)
        && expected != head
    {
        return Err(Error::Branch(BranchError::HeadMoved {
            branch: agent.to_string(),
            expected: expected.to_string(),
            found: Some(head),
        }));
    }
    let Some(worktree) = worktree else { return Ok(head) };
    let base = worktree.base(head)?;
    if base != head {
        let (path, agent) = (worktree.path.clone(), agent.clone());
        return Err(Error::Worktree(WorktreeError::Stale { path, agent, base, head }));
    }
    Ok(head)
}

/// Says that somebody moved the branch meanwhile.
fn overtaken(agent: &AgentName, draft: &CommitDraft, base: Oid, head: Oid) -> Error {
    match &draft.source {
        TreeSource::Worktree(worktree) => Error::Worktree(WorktreeError::Stale {
            path: worktree.path.clone(),
            agent: agent.clone(),
            base,
            head,
        }),
        TreeSource::Folder(_) | TreeSource::Paths { .. } | TreeSource::Edits(_) => {
            Error::Branch(BranchError::HeadMoved {
                branch: agent.to_string(),
                expected: base.to_string(),
                found: Some(head),
            })
        }
    }
}
