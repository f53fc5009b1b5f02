//! Many commits in one write: one record, one sync, one move of the branch and of the notes.
//!
//! Each commit is as if it had been made alone: its own tree, message, trailers and place in the
//! chain. All are there after a crash, or none. Committing alone is for what must be known to be
//! safe before the next step begins; this is for those who have many steps to tell at once, and for
//! threads of one process that write to one agent at the same time.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::{AgentName, Cid, Kind, Oid};
use agentic_store::git::{PackedBlobs, Scratch};
use agentic_store::journal::{NotesEdit, Transaction};
use agentic_store::{WorktreeLock, Writer};

use crate::commit::{
    Bound, Built, Capture, Committed, Draft, Edit, Emptiness, Made, Making, RACES_MAX, Source,
    apply, has_pending, shown, take_trace,
};
use crate::error::{BranchError, CommitError};
use crate::following::{Following, carry_out};
use crate::signing::Signing;
use crate::written::Written;
use crate::{Error, Result, Space};

/// Commits drafts one after the other on top of the head, in one write. Each must be made of edits
/// and expect no head of its own. The answers stand in the order of the drafts: one that cannot be
/// committed has its error there, and the others are committed without it. The pending trace is
/// bound to the first that asks for it.
///
/// # Errors
/// Fails when nothing could be written; nothing has happened then.
pub fn commit_all(
    space: &Space,
    agent: &AgentName,
    drafts: &[Draft],
) -> Result<Vec<Result<Committed>>> {
    let Prepared { mut writer, head, plan, bound, following } = prepare(space, agent, drafts)?;
    let mut chain = Chain { agent, bound, whole: None, packed: Vec::new() };
    let mut answers: Vec<Result<Committed>> =
        plan.steps.into_iter().map(|step| Ok(chain.add(step?))).collect();
    let Some(whole) = chain.whole else { return Ok(answers) };
    if writer.standing().and_then(|standing| standing.head) != Some(head) {
        // Somebody else made the parent, and may not have synced it.
        space.repository().sync_filesystem()?;
    }
    chain.packed.into_iter().for_each(|blobs| writer.bring(Some(blobs)));
    let moved = carry_out(space, writer, whole, (head, following), space.durability())?;
    let mut left_behind = moved.left_behind;
    for made in answers.iter_mut().rev().flatten() {
        made.written = moved.written.clone();
        made.worktree_left_behind = left_behind.take();
    }
    Ok(answers)
}

/// What drafts make of the head, with the right to move it.
struct Prepared<'a> {
    writer: Writer<'a>,
    head: Oid,
    plan: Plan,
    /// The pending trace, if one of the drafts is to bind it.
    bound: Option<Bound>,
    following: Option<Following>,
}

/// Builds the trees and makes the commits outside any lock, each on top of the one before; then
/// takes the lock and looks whether head and pending trace are the same.
fn prepare<'a>(space: &'a Space, agent: &AgentName, drafts: &[Draft]) -> Result<Prepared<'a>> {
    let mut signing = Signing::Plain;
    for draft in drafts {
        if Signing::of(space, draft.asker.as_ref())? == Signing::Signed {
            signing = Signing::Signed;
        }
    }
    let (branch, wants_trace) =
        (agent.branch_ref(), drafts.iter().any(|draft| draft.capture == Capture::WithTrace));
    for _ in 0..RACES_MAX {
        let mut reserved = signing.reserve_before(space, &branch)?;
        let base = space.head(agent)?;
        let is_pending = wants_trace && has_pending(space, agent)?;
        let trace = if is_pending { Trace::Pending } else { Trace::Nothing };
        let plan = Plan::on(space, agent, (base, trace), drafts)?;
        signing.reserve_after(space, &branch, &mut reserved)?;
        let following = plan.following(reserved, agent, base)?;
        // Under the agent's lock: the same again.
        let (writer, head) = space.writer(agent)?;
        let bound = if wants_trace { take_trace(&writer, agent)? } else { None };
        let found = if bound.is_some() { Trace::Pending } else { Trace::Nothing };
        if (head, found) == (base, trace) {
            return Ok(Prepared { writer, head, plan, bound, following });
        }
        if following.is_none() && may_prepare_locked(space, agent, signing)? {
            // Going back to the end of the queue, they would find yet another head.
            let plan = Plan::on(space, agent, (head, found), drafts)?;
            return Ok(Prepared { writer, head, plan, bound, following: None });
        }
    }
    let (branch, expected) = (agent.to_string(), space.head(agent)?.to_string());
    Err(Error::Branch(BranchError::HeadMoved { branch, expected, found: None }))
}

/// Tells whether commits may be prepared under the agent's lock. Where they are signed, and where a
/// worktree has the branch, whose files are looked at, a program of the user's may run: not while
/// others wait.
pub(crate) fn may_prepare_locked(
    space: &Space,
    agent: &AgentName,
    signing: Signing,
) -> Result<bool> {
    Ok(signing == Signing::Plain && space.repository().worktree_of(&agent.branch_ref())?.is_none())
}

/// Tells whether a draft can be committed together with others.
pub(crate) fn edits(draft: &Draft) -> Option<&BTreeMap<String, Edit>> {
    match &draft.source {
        Source::Edits(edits) if draft.expect.is_none() => Some(edits),
        Source::Edits(_) | Source::Worktree(_) | Source::Folder(_) | Source::Paths { .. } => None,
    }
}

/// Whether there are trace entries to bind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trace {
    Pending,
    Nothing,
}

/// A draft whose commit is made on top of the one before it.
struct Step {
    kind: Kind,
    parent: Oid,
    built: Built,
    made: Made,
    /// Whether the pending trace is bound to it.
    capture: Capture,
}

/// What drafts make of a head.
struct Plan {
    steps: Vec<Result<Step>>,
}

impl Plan {
    fn on(
        space: &Space,
        agent: &AgentName,
        (head, trace): (Oid, Trace),
        drafts: &[Draft],
    ) -> Result<Plan> {
        let tree = space.read_commit(head)?.tree;
        let scratch = space.repository().scratch();
        let mut tip = Tip { head, tree, trace };
        let steps: Vec<Result<Step>> =
            drafts.iter().map(|draft| tip.add(space, agent, &scratch, draft)).collect();
        Ok(Plan { steps })
    }

    /// Finds the worktree that comes along.
    fn following(
        &self,
        reserved: Option<WorktreeLock>,
        agent: &AgentName,
        head: Oid,
    ) -> Result<Option<Following>> {
        let changed: BTreeSet<&Vec<u8>> =
            self.steps.iter().flatten().flat_map(|step| &step.built.changed).collect();
        let changed: Vec<Vec<u8>> = changed.into_iter().cloned().collect();
        Following::of(reserved, &agent.branch_ref(), head, &changed)
    }
}

/// Where a chain of commits in the making ends.
struct Tip {
    head: Oid,
    tree: Oid,
    trace: Trace,
}

impl Tip {
    /// Makes one more commit; a draft of which there can be none leaves the tip where it is.
    fn add(
        &mut self,
        space: &Space,
        agent: &AgentName,
        scratch: &Scratch,
        draft: &Draft,
    ) -> Result<Step> {
        let edits = edits(draft).ok_or(Error::Commit(CommitError::NotInBatch))?;
        let kind = draft.kind.clone().unwrap_or_else(Kind::agent_commit);
        space.check_kind(&kind, agentic_model::kind::AGENT_COMMIT)?;
        let built = apply(scratch, self.tree, edits)?;
        let capture = match self.trace {
            Trace::Pending => draft.capture,
            Trace::Nothing => Capture::Nothing,
        };
        let is_same = built.tree == self.tree && draft.emptiness == Emptiness::Refused;
        if is_same && capture == Capture::Nothing {
            let (agent, left_out) = (agent.clone(), Vec::new());
            return Err(Error::Commit(CommitError::Nothing { agent, left_out }));
        }
        let parent = self.head;
        let making = Making { kind: &kind, head: parent, tree: built.tree };
        let made = Made::of(space, agent, draft, &making)?;
        (self.head, self.tree) = (made.oid, built.tree);
        if capture == Capture::WithTrace {
            self.trace = Trace::Nothing;
        }
        Ok(Step { kind, parent, built, made, capture })
    }
}

/// The commits of a batch on their way into one transaction.
struct Chain<'a> {
    agent: &'a AgentName,
    bound: Option<Bound>,
    whole: Option<Transaction>,
    /// The blobs that are too large for it.
    packed: Vec<PackedBlobs>,
}

impl Chain<'_> {
    /// Appends one commit.
    fn add(&mut self, step: Step) -> Committed {
        let Step { kind, parent, built, made, capture } = step;
        let Built { tree, objects, packed, changed, .. } = built;
        self.packed.extend(packed);
        let bound = match capture {
            Capture::WithTrace => self.bound.take(),
            Capture::Nothing => None,
        };
        let trace: Option<Cid> = bound.as_ref().map(|bound| bound.cid);
        let commit = made.oid;
        let next = made.transaction(self.agent, objects, bound);
        match &mut self.whole {
            Some(whole) => unite(whole, next),
            None => self.whole = Some(next),
        }
        Committed {
            commit,
            agent: self.agent.clone(),
            kind,
            tree,
            parents: vec![parent],
            changed: shown(&changed),
            trace,
            written: Written::default(),
            left_out: Vec::new(),
            worktree_left_behind: None,
        }
    }
}

/// Appends a transaction to one that ends where it begins.
fn unite(whole: &mut Transaction, next: Transaction) {
    whole.objects.extend(next.objects);
    if let (Some(branch), Some(further)) = (&mut whole.branch, next.branch) {
        branch.new = further.new;
    }
    if let Some(edit) = next.notes {
        let empty = NotesEdit { name: edit.name, notes: Vec::new(), objects: Vec::new() };
        let notes = whole.notes.get_or_insert(empty);
        notes.notes.extend(edit.notes);
        notes.objects.extend(edit.objects);
    }
    if next.taken.count > 0 {
        whole.taken = next.taken;
    }
}
