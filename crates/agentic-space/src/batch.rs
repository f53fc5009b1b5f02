//! Many commits in one write: one record, one sync, one move of the branch and of the notes.
//!
//! Each commit is as if it had been made alone: its own tree, message, trailers and place in the
//! chain. All are there after a crash, or none. Committing alone is for what must be known to be
//! safe before the next step begins; this is for those who have many steps to tell at once, and for
//! threads of one process that write to one agent at the same time.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::{AgentName, Cid, Kind, Oid};
use agentic_store::git::Scratch;
use agentic_store::journal::{NotesEdit, Transaction};
use agentic_store::{WorktreeLock, Writer};

use crate::commit::{
    Bound, Built, Capture, Committed, Draft, Edit, Emptiness, Making, RACES_MAX, Source, apply,
    take_trace, transaction,
};
use crate::following::{Following, carry_out, reserve};
use crate::space::Written;
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
    let Prepared { writer, head, plan, following } = prepare(space, agent, drafts)?;
    let Plan { tree, steps } = plan;
    // Under the agent's lock: the pending trace, and one transaction of all.
    let wants_trace = drafts.iter().any(|draft| draft.capture == Capture::WithTrace);
    let bound = if wants_trace { take_trace(&writer, agent)? } else { None };
    let mut chain = Chain { space, agent, head, tree, bound, whole: None };
    let mut answers: Vec<Result<Committed>> =
        drafts.iter().zip(steps).map(|(draft, step)| chain.add(draft, step?)).collect();
    let Some(whole) = chain.whole else { return Ok(answers) };
    if writer.standing().and_then(|standing| standing.head) != Some(head) {
        // Somebody else made the parent, and may not have synced it.
        space.repository().sync_filesystem()?;
    }
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
    following: Option<Following>,
}

/// Builds the trees outside any lock, each on top of the one before; then takes the lock and looks
/// whether the head is the same.
fn prepare<'a>(space: &'a Space, agent: &AgentName, drafts: &[Draft]) -> Result<Prepared<'a>> {
    for _ in 0..RACES_MAX {
        let reserved = reserve(space, &agent.branch_ref())?;
        let base = space.head(agent)?;
        let plan = Plan::on(space, base, drafts)?;
        let following = plan.following(reserved, agent, base)?;
        let (writer, head) = space.writer(agent)?;
        if head == base {
            return Ok(Prepared { writer, head, plan, following });
        }
        if following.is_none() && may_prepare_locked(space, agent)? {
            // Going back to the end of the queue, they would find yet another head.
            let plan = Plan::on(space, head, drafts)?;
            return Ok(Prepared { writer, head, plan, following: None });
        }
    }
    let (branch, expected) = (agent.to_string(), space.head(agent)?.to_string());
    Err(Error::HeadMoved { branch, expected, found: None })
}

/// Tells whether edits may be prepared under the agent's lock. Where a worktree has the branch, its
/// files are looked at, for which a program of the user's may run: not while others wait.
pub(crate) fn may_prepare_locked(space: &Space, agent: &AgentName) -> Result<bool> {
    Ok(space.repository().worktree_of(&agent.branch_ref())?.is_none())
}

/// Tells whether a draft can be committed together with others.
pub(crate) fn edits(draft: &Draft) -> Option<&BTreeMap<String, Edit>> {
    match &draft.source {
        Source::Edits(edits) if draft.expect.is_none() => Some(edits),
        Source::Edits(_) | Source::Worktree(_) | Source::Folder(_) | Source::Paths { .. } => None,
    }
}

/// A draft whose tree is built on top of the one before it.
struct Step {
    kind: Kind,
    built: Built,
}

/// What drafts make of a head.
struct Plan {
    /// The tree of the head.
    tree: Oid,
    steps: Vec<Result<Step>>,
}

impl Plan {
    fn on(space: &Space, head: Oid, drafts: &[Draft]) -> Result<Plan> {
        let base = space.read_commit(head)?.tree;
        let scratch = space.repository().scratch();
        let (mut tree, mut steps) = (base, Vec::with_capacity(drafts.len()));
        for draft in drafts {
            let step = build(space, &scratch, tree, draft);
            tree = step.as_ref().map_or(tree, |step| step.built.tree);
            steps.push(step);
        }
        Ok(Plan { tree: base, steps })
    }

    /// Finds the worktree that comes along.
    fn following(
        &self,
        reserved: Option<WorktreeLock>,
        agent: &AgentName,
        head: Oid,
    ) -> Result<Option<Following>> {
        let changed: BTreeSet<&String> =
            self.steps.iter().flatten().flat_map(|step| &step.built.changed).collect();
        let changed: Vec<String> = changed.into_iter().cloned().collect();
        Following::of(reserved, &agent.branch_ref(), head, &changed)
    }
}

fn build(space: &Space, scratch: &Scratch, base: Oid, draft: &Draft) -> Result<Step> {
    let edits = edits(draft).ok_or(Error::NotInBatch)?;
    let kind = draft.kind.clone().unwrap_or_else(Kind::agent_commit);
    space.check_kind(&kind, agentic_model::kind::AGENT_COMMIT)?;
    Ok(Step { kind, built: apply(scratch, base, edits)? })
}

/// The commits of a batch on their way into one transaction.
struct Chain<'a> {
    space: &'a Space,
    agent: &'a AgentName,
    head: Oid,
    tree: Oid,
    bound: Option<Bound>,
    whole: Option<Transaction>,
}

impl Chain<'_> {
    /// Appends one commit.
    fn add(&mut self, draft: &Draft, step: Step) -> Result<Committed> {
        let wants_trace = draft.capture == Capture::WithTrace;
        let has_trace = wants_trace && self.bound.is_some();
        let Step { kind, built: Built { tree, objects, changed, .. } } = step;
        if tree == self.tree && draft.emptiness == Emptiness::Refused && !has_trace {
            let (agent, left_out) = (self.agent.clone(), Vec::new());
            return Err(Error::NothingToCommit { agent, left_out });
        }
        let bound = if wants_trace { self.bound.take() } else { None };
        let trace: Option<Cid> = bound.as_ref().map(|bound| bound.cid);
        let parent = self.head;
        let making = Making { kind: &kind, tree, objects, head: parent, bound };
        let made = transaction(self.space, self.agent, draft, making)?;
        let commit = made.branch.as_ref().map_or(parent, |branch| branch.new);
        (self.head, self.tree) = (commit, tree);
        match &mut self.whole {
            Some(whole) => unite(whole, made),
            None => self.whole = Some(made),
        }
        Ok(Committed {
            commit,
            agent: self.agent.clone(),
            kind,
            tree,
            parents: vec![parent],
            changed,
            trace,
            written: Written::default(),
            left_out: Vec::new(),
            worktree_left_behind: None,
        })
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
