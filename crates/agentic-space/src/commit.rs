//! Committing: what an agent did, as a typed commit on its branch, maybe with its trace.

mod base;
mod draft;
mod made;
mod retry;
mod source;

use agentic_model::{AgentName, Cid, ConsoleTrace, Kind, Oid};
pub use agentic_store::git::FileMode;
use agentic_store::git::Worktree;
use agentic_store::journal::{self, KeptObject, Taken};
use agentic_store::{Durability, Stream, WorktreeLock, Writer};

use self::base::{overtaken, settled_base};
pub use self::draft::{Asker, Capture, Committed, Draft, Edit, Emptiness, Source};
pub(crate) use self::made::{Made, Making};
use self::retry::same_as_rolled_forward;
pub(crate) use self::source::{Built, apply, shown};
use crate::batch::may_prepare_locked;
use crate::error::{BranchError, CommitError};
use crate::following::{Following, carry_out};
use crate::signing::Signing;
use crate::{Error, Result, Space};

/// How often edits are applied again to a head that somebody else moved meanwhile.
pub const RACES_MAX: usize = 1000;

/// Commits what an agent did. The order is that of `docs/` and DESIGN § 6: trees are built, and the
/// commit is made and signed, outside any lock; under the agent's lock everything is checked again;
/// one durable record decides; then objects, branch and notes become visible, and the worktree
/// follows.
///
/// # Errors
/// Fails when there is nothing to commit, when the head is not where the draft expects it, and as
/// the store does; nothing is written then.
///
/// Threads of one process that commit edits to one agent at the same time share one write.
pub fn commit(space: &Space, agent: &AgentName, draft: &Draft) -> Result<Committed> {
    crate::group::commit(space, agent, draft)
}

/// Does the same without a look at what other threads do.
pub(crate) fn commit_alone(space: &Space, agent: &AgentName, draft: &Draft) -> Result<Committed> {
    for _ in 0..RACES_MAX {
        match attempt(space, agent, draft) {
            Err(Error::Branch(BranchError::HeadMoved { .. })) if may_retry(draft) => {}
            outcome => return outcome,
        }
    }
    attempt(space, agent, draft)
}

/// Edits mean the same on any head; a snapshot of an older head would revert others.
fn may_retry(draft: &Draft) -> bool {
    draft.expect.is_none() && matches!(draft.source, Source::Edits(_) | Source::Paths { .. })
}

/// What a session has asked for is fully durable before its answer is recorded, whatever the space
/// is content with otherwise.
pub(crate) fn durability_of(space: &Space, asker: Option<&Asker>) -> Durability {
    asker.map_or(space.durability(), |_| Durability::Full)
}

fn attempt(space: &Space, agent: &AgentName, draft: &Draft) -> Result<Committed> {
    let repository = space.repository();
    let kind = draft.kind.clone().unwrap_or_else(Kind::agent_commit);
    space.check_kind(&kind, agentic_model::kind::AGENT_COMMIT)?;

    let signing = Signing::of(space, draft.asker.as_ref())?;
    let early = prepare_early(space, agent, draft, (&kind, signing))?;

    // Under the agent's lock: the same again.
    let (mut writer, head) = space.writer(agent)?;
    let prepared = match early {
        Some(early) => early,
        None => Prepared::on(head, space, agent, draft, &kind)?,
    };
    if (head != prepared.base || prepared.built.tree == prepared.base_tree)
        && let Some(done) =
            same_as_rolled_forward(space, &writer, head, draft, prepared.built.tree)?
    {
        return Ok(done);
    }
    let Prepared { base_tree, built, following, made, .. } = match prepared.base == head {
        true => prepared,
        // Going back to the end of the queue, they would find yet another head.
        false
            if crate::batch::edits(draft).is_some()
                && may_prepare_locked(space, agent, signing)? =>
        {
            Prepared::on(head, space, agent, draft, &kind)?
        }
        false => return Err(overtaken(agent, draft, prepared.base, head)),
    };
    let (tree, changed, left_out) = (built.tree, built.changed, built.left_out);
    let bound = match draft.capture {
        Capture::Nothing => None,
        Capture::WithTrace => take_trace(&writer, agent)?,
    };
    let is_empty = tree == base_tree && draft.emptiness == Emptiness::Refused && bound.is_none();
    let Some(made) = made.filter(|_| !is_empty) else {
        return Err(Error::Commit(CommitError::Nothing { agent: agent.clone(), left_out }));
    };
    if writer.standing().and_then(|standing| standing.head) != Some(head) {
        // Somebody else made the parent, and may not have synced it.
        repository.sync_filesystem()?;
    }

    let trace = bound.as_ref().map(|bound| bound.cid);
    writer.bring(built.packed);
    let transaction = made.transaction(agent, built.objects, bound);
    let durability = durability_of(space, draft.asker.as_ref());
    let moved = carry_out(space, writer, transaction, (head, following), durability)?;
    Ok(Committed {
        commit: moved.head,
        agent: agent.clone(),
        kind,
        tree,
        parents: vec![head],
        changed: shown(&changed),
        trace,
        written: moved.written,
        left_out,
        worktree_left_behind: moved.left_behind,
    })
}

/// Prepares a commit outside any lock: what is there, and what it becomes. Returns nothing if that
/// would be in vain.
fn prepare_early(
    space: &Space,
    agent: &AgentName,
    draft: &Draft,
    (kind, signing): (&Kind, Signing),
) -> Result<Option<Prepared>> {
    let own = draft.source.own_worktree(space, agent)?;
    own.as_ref().map_or(Ok(()), Worktree::check_concluded)?;
    let mut other = match own {
        Some(_) => None,
        None => signing.reserve_before(space, &agent.branch_ref())?,
    };
    let is_free = signing == Signing::Plain && other.is_none();
    if is_free && will_be_overtaken(space, agent, draft) {
        return Ok(None);
    }
    let base = settled_base(space, agent, draft, own.as_ref())?;
    let prepared = Prepared::on(base, space, agent, draft, kind)?;
    if own.is_none() {
        signing.reserve_after(space, &agent.branch_ref(), &mut other)?;
    }
    prepared.followed_by(own, other, agent).map(Some)
}

/// Tells whether preparing edits before taking the lock would be in vain: somebody waited for it
/// last time, so others are before this one, and each of them moves the head.
fn will_be_overtaken(space: &Space, agent: &AgentName, draft: &Draft) -> bool {
    let (repository, stream) = (space.repository(), Stream::Agent(agent.clone()));
    crate::batch::edits(draft).is_some() && repository.is_contended(&stream)
}

/// What a draft makes of the commit that it builds upon.
struct Prepared {
    base: Oid,
    base_tree: Oid,
    built: Built,
    following: Option<Following>,
    /// The commit; nothing if there is nothing to commit.
    made: Option<Made>,
}

impl Prepared {
    fn on(
        base: Oid,
        space: &Space,
        agent: &AgentName,
        draft: &Draft,
        kind: &Kind,
    ) -> Result<Prepared> {
        let base_tree = space.read_commit(base)?.tree;
        let built = draft.source.build(space, base_tree)?;
        let is_worth_it = built.tree != base_tree
            || draft.emptiness == Emptiness::Allowed
            || (draft.capture == Capture::WithTrace && has_pending(space, agent)?);
        let making = Making { kind, head: base, tree: built.tree };
        let made = is_worth_it.then(|| Made::of(space, agent, draft, &making)).transpose()?;
        Ok(Prepared { base, base_tree, built, following: None, made })
    }

    /// Adds the worktree that comes along: the one that was committed, or the one that was reserved.
    fn followed_by(
        mut self,
        own: Option<Worktree>,
        other: Option<WorktreeLock>,
        agent: &AgentName,
    ) -> Result<Prepared> {
        self.following = match own {
            Some(own) => Some(Following::Index(own, std::mem::take(&mut self.built.index))),
            None => Following::of(other, &agent.branch_ref(), self.base, &self.built.changed)?,
        };
        Ok(self)
    }
}

/// Tells whether an agent has trace entries that are bound to no commit, as far as that can be told
/// without its lock.
pub(crate) fn has_pending(space: &Space, agent: &AgentName) -> Result<bool> {
    let tail = journal::tail(space.repository().layout(), &Stream::Agent(agent.clone()))?;
    Ok(tail.is_some_and(|record| record.standing.n_pending > 0))
}

/// The pending trace, ready to be bound.
pub(crate) struct Bound {
    pub cid: Cid,
    pub note: String,
    pub objects: Vec<KeptObject>,
    pub taken: Taken,
}

/// Collects the pending entries of a stream into the objects of a trace.
pub(crate) fn take_trace(writer: &Writer<'_>, agent: &AgentName) -> Result<Option<Bound>> {
    let entries = writer.pending_entries()?;
    if entries.is_empty() {
        return Ok(None);
    }
    let from = writer.standing().map_or(0, |standing| standing.taken_before);
    let taken = Taken { from, count: entries.len() as u64 };
    let trace = ConsoleTrace { agent: agent.clone(), entries };
    let objects = trace.to_objects()?;
    let cid = objects.last().expect("a trace has a naming object").cid();
    let note = trace.note_text(cid);
    let objects = objects.iter().map(KeptObject::from).collect();
    Ok(Some(Bound { cid, note, objects, taken }))
}
