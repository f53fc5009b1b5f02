//! Commits in the making: each on top of the one before, as bytes, and the transaction that brings
//! them in.

use std::collections::BTreeSet;

use agentic_git::GitWriter;
use agentic_git::{IndexUpdate, PackedBlobs, Scratch};
use agentic_model::commit::{Claims, CommitData, OpenFields};
use agentic_model::{AgentName, Cid, Kind, Object, Oid};
use agentic_store::journal::{
    BranchMove, GitObject, KeptObject, NotesEdit, StreamPin, Transaction,
};
use agentic_store::{Finding, RecoveryAct};

use super::draft::{CommitDraft, CommitOutcome, Emptiness, TraceBinding};
use super::source::{BuiltTree, apply, shown};
use super::trace::{BoundTrace, PendingTrace};
use crate::agent::GENESIS_KIND;
use crate::error::CommitError;
use crate::signatures::Signatures;
use crate::signing::SigningChoice;
use crate::written::WriteNotices;
use crate::{Error, Result, Space};

/// What drafts make of a head, and kept in memory.
pub(super) struct CommitChain {
    /// The commit that the first is made upon.
    pub base: Oid,
    /// Its tree.
    base_tree: Oid,
    /// Whether there were trace entries to bind, if anything hinges on that.
    trace: Option<PendingTrace>,
    links: Vec<Result<ChainLink>>,
}

/// What became of one draft.
enum ChainLink {
    /// A commit.
    Commit(Box<ChainedCommit>),
    /// There is nothing to commit.
    Empty {
        /// The tree, which is that of the parent.
        tree: Oid,
        /// Git repositories in the folder that are no submodules.
        left_out: Vec<String>,
    },
}

/// A commit of a chain, signed if it is to be, and not written yet.
struct ChainedCommit {
    kind: Kind,
    parent: Oid,
    built: BuiltTree,
    oid: Oid,
    object: GitObject,
    signatures: Signatures,
    fields: Option<Object>,
    /// Whether the pending trace is bound to it.
    capture: TraceBinding,
    /// The behaviour that the agent has after it, where that was looked at.
    pin: StreamPin,
}

impl CommitChain {
    /// Makes the commits of drafts on top of a head. Where they are signed a program of the user's
    /// runs: not under a lock. A draft of which there can be no commit leaves the others as they
    /// are.
    pub(super) fn on(
        head: Oid,
        space: &Space,
        agent: &AgentName,
        drafts: &[CommitDraft],
    ) -> Result<CommitChain> {
        let base_tree = space.read_commit(head)?.tree;
        let mut tip = ChainTip {
            space,
            agent,
            head,
            tree: base_tree,
            scratch: space.repository().scratch(),
            trace: None,
            capture: TraceBinding::WithTrace,
            pin: None,
        };
        if drafts.iter().any(|draft| draft.asker.is_none()) {
            tip.pin = Some(space.pin_at(agent, head)?);
        }
        let links = match drafts {
            [draft] => {
                vec![draft.source.build(space, base_tree).and_then(|built| tip.add(draft, built))]
            }
            drafts => drafts.iter().map(|draft| tip.add_edits(draft)).collect(),
        };
        Ok(CommitChain { base: head, base_tree, trace: tip.trace, links })
    }

    /// Tells whether no draft can be committed, whatever the head is.
    pub(super) fn has_failed(&self) -> bool {
        self.links.iter().all(Result::is_err)
    }

    /// Tells whether it would be the same on this head, with or without entries to bind.
    pub(super) fn stands_on(&self, head: Oid, found: PendingTrace) -> bool {
        self.base == head && self.trace.is_none_or(|trace| trace == found)
    }

    /// Finds the very commit that a single draft would make, where the head is one that a crash had
    /// interrupted and that was rolled forward just now: the draft is a retry of that write.
    pub(super) fn made_before(
        &self,
        space: &Space,
        writer: &GitWriter<'_>,
        head: Oid,
        drafts: &[CommitDraft],
    ) -> Result<Option<CommitOutcome>> {
        let [draft] = drafts else { return Ok(None) };
        let tree = self.tree();
        if head == self.base && tree != self.base_tree {
            return Ok(None);
        }
        let Some(commit) = rolled_forward(space, writer).filter(|commit| *commit == head) else {
            return Ok(None);
        };
        let found = space.read_commit(commit)?;
        let said = agentic_model::trailer::strip(&found.message);
        // Two requests of a session may say the same; each makes a commit of its own.
        let request = draft.asker.as_ref().and_then(|asker| asker.request.as_ref());
        let is_retry = Claims::read(&found.message).request.as_ref() == request;
        if !is_retry || found.tree != tree || said.trim() != draft.message.trim() {
            return Ok(None);
        }
        let agent_stream = writer.stream().agent();
        let agent = agent_stream.expect("commits are made on streams of agents").clone();
        let trace = space.bound_cid(&agent.notes_ref(), commit)?;
        let before = found.parents.first().map(|parent| space.read_commit(*parent)).transpose()?;
        let before = before.map_or(space.repository().empty_tree(), |parent| parent.tree);
        let changed = space.repository().scratch().changed_paths(before, tree)?;
        Ok(Some(CommitOutcome {
            commit,
            agent,
            kind: draft.kind.clone().unwrap_or_else(Kind::agent_commit),
            tree,
            parents: found.parents,
            changed: shown(&changed),
            trace,
            written: WriteNotices::default(),
            left_out: Vec::new(),
            worktree_left_behind: None,
        }))
    }

    /// Returns the tree that it ends in.
    fn tree(&self) -> Oid {
        let last = self.links.iter().flatten().next_back();
        last.map_or(self.base_tree, |link| match link {
            ChainLink::Commit(commit) => commit.built.tree,
            ChainLink::Empty { tree, .. } => *tree,
        })
    }

    /// Returns the paths that it changes.
    pub(super) fn changed(&self) -> Vec<Vec<u8>> {
        let changed = self.commits().flat_map(|commit| &commit.built.changed);
        changed.collect::<BTreeSet<_>>().into_iter().cloned().collect()
    }

    /// Takes what becomes of the index of the worktree that it came from.
    pub(super) fn take_index(&mut self) -> Vec<IndexUpdate> {
        let mut links = self.links.iter_mut().flatten();
        match links.next() {
            Some(ChainLink::Commit(commit)) => std::mem::take(&mut commit.built.index),
            Some(ChainLink::Empty { .. }) | None => Vec::new(),
        }
    }

    /// Takes the blobs that are too large for a record.
    pub(super) fn take_packed(&mut self) -> Vec<PackedBlobs> {
        let links = self.links.iter_mut().flatten();
        let packed = links.filter_map(|link| match link {
            ChainLink::Commit(commit) => commit.built.packed.take(),
            ChainLink::Empty { .. } => None,
        });
        packed.collect()
    }

    fn commits(&self) -> impl Iterator<Item = &ChainedCommit> {
        self.links.iter().flatten().filter_map(|link| match link {
            ChainLink::Commit(commit) => Some(&**commit),
            ChainLink::Empty { .. } => None,
        })
    }

    /// Writes the one transaction that brings all of it in, with the trace that is bound; nothing
    /// where there is nothing to commit. The answers stand in the order of the drafts.
    pub(super) fn transaction(
        self,
        agent: &AgentName,
        mut bound: Option<BoundTrace>,
    ) -> (Vec<Result<CommitOutcome>>, Option<Transaction>) {
        let mut whole = None;
        let answers = self.links.into_iter().map(|link| match link? {
            ChainLink::Empty { left_out, .. } => {
                Err(Error::Commit(CommitError::Nothing { agent: agent.clone(), left_out }))
            }
            ChainLink::Commit(commit) => {
                let bound = match commit.capture {
                    TraceBinding::WithTrace => bound.take(),
                    TraceBinding::Nothing => None,
                };
                Ok(commit.append_to(&mut whole, agent, bound))
            }
        });
        (answers.collect(), whole)
    }
}

/// Where a chain in the making ends.
struct ChainTip<'a> {
    space: &'a Space,
    agent: &'a AgentName,
    head: Oid,
    tree: Oid,
    scratch: Scratch,
    trace: Option<PendingTrace>,
    /// Whether the pending trace is still to be had.
    capture: TraceBinding,
    /// The behaviour that the agent has, where that was looked at.
    pin: Option<Option<Cid>>,
}

impl ChainTip<'_> {
    /// Makes one more commit of edits, whose tree is made of one that may be in memory only.
    fn add_edits(&mut self, draft: &CommitDraft) -> Result<ChainLink> {
        let edits = draft.edits().ok_or(Error::Commit(CommitError::NotInBatch))?;
        let built = apply(&self.scratch, self.tree, edits)?;
        self.add(draft, built)
    }

    fn add(&mut self, draft: &CommitDraft, built: BuiltTree) -> Result<ChainLink> {
        let kind = draft.kind.clone().unwrap_or_else(Kind::agent_commit);
        self.space.check_commit(&kind, &draft.fields)?;
        if kind.as_str() == GENESIS_KIND {
            // Everything before it would no longer be the agent's.
            return Err(Error::Commit(CommitError::SecondGenesis { agent: self.agent.clone() }));
        }
        let capture = match self.capture {
            TraceBinding::WithTrace => draft.capture,
            TraceBinding::Nothing => TraceBinding::Nothing,
        };
        let is_empty = built.tree == self.tree && draft.emptiness == Emptiness::Refused;
        if is_empty && (capture == TraceBinding::Nothing || !self.has_pending()?) {
            return Ok(ChainLink::Empty { tree: built.tree, left_out: built.left_out });
        }
        let commit = self.commit(draft, kind, built)?;
        (self.head, self.tree) = (commit.oid, commit.built.tree);
        if let (Some(behaviour), None) = (draft.behaviour, &draft.asker) {
            self.pin = Some(Some(behaviour));
        }
        if capture == TraceBinding::WithTrace {
            self.capture = TraceBinding::Nothing;
        }
        Ok(ChainLink::Commit(Box::new(ChainedCommit { capture, ..commit })))
    }

    /// Tells whether there are entries to bind, as far as that can be told without the agent's lock.
    fn has_pending(&mut self) -> Result<bool> {
        let trace = match self.trace {
            Some(trace) => trace,
            None => *self.trace.insert(PendingTrace::of(self.space, self.agent)?),
        };
        Ok(trace == PendingTrace::Some)
    }

    fn commit(&self, draft: &CommitDraft, kind: Kind, built: BuiltTree) -> Result<ChainedCommit> {
        let signatures = self.space.signatures(self.agent)?;
        let (fields, fields_object) = OpenFields::place(draft.fields.clone())?;
        let claims = Claims {
            kind: Some(kind.clone()),
            agent: Some(self.agent.clone()),
            behaviour: self.behaviour(draft),
            session: draft.asker.as_ref().map(|asker| asker.session.clone()),
            request: draft.asker.as_ref().and_then(|asker| asker.request.clone()),
            fields,
            ..Claims::default()
        };
        let data = CommitData {
            tree: built.tree,
            parents: vec![self.head],
            author: signatures.author.clone(),
            committer: signatures.committer.clone(),
            message: claims.write(&draft.message)?,
        };
        let signing = SigningChoice::of(self.space, draft.asker.as_ref())?;
        let (oid, object) = signing.make(self.space.repository(), &data)?;
        let (parent, capture) = (self.head, TraceBinding::Nothing);
        let fields = fields_object;
        let pin = match (&draft.asker, draft.behaviour.or(self.pin.flatten())) {
            (Some(_), _) => StreamPin::Unknown,
            (None, found) => StreamPin::found(found),
        };
        Ok(ChainedCommit { kind, parent, built, oid, object, signatures, fields, capture, pin })
    }

    /// Tells which behaviour makes a commit: what a session runs, else what the agent has.
    fn behaviour(&self, draft: &CommitDraft) -> Option<Cid> {
        match &draft.asker {
            Some(asker) => asker.behaviour,
            None => draft.behaviour.or(self.pin.flatten()),
        }
    }
}

impl ChainedCommit {
    /// Appends the commit to a transaction that ends at its parent.
    fn append_to(
        self,
        whole: &mut Option<Transaction>,
        agent: &AgentName,
        bound: Option<BoundTrace>,
    ) -> CommitOutcome {
        let ChainedCommit { kind, parent, built, oid, object, signatures, fields, pin, .. } = self;
        let trace = bound.as_ref().map(|bound| bound.cid);
        let whole = whole.get_or_insert_with(|| {
            let branch = BranchMove { name: agent.branch_ref(), expect: Some(parent), new: oid };
            Transaction { branch: Some(branch), ..signatures.transaction("commit") }
        });
        if let Some(branch) = &mut whole.branch {
            branch.new = oid;
        }
        if pin != StreamPin::Unknown {
            whole.pin = pin;
        }
        whole.objects.extend(built.objects);
        whole.objects.push(object);
        if fields.is_some() || bound.is_some() {
            let notes = whole.notes.get_or_insert_with(|| NotesEdit {
                name: agent.notes_ref(),
                notes: Vec::new(),
                objects: Vec::new(),
            });
            notes.objects.extend(fields.iter().map(KeptObject::from));
            if let Some(bound) = bound {
                notes.objects.extend(bound.objects);
                notes.notes.push((oid, bound.note));
                whole.taken = bound.taken;
            }
        }
        CommitOutcome {
            commit: oid,
            agent: agent.clone(),
            kind,
            tree: built.tree,
            parents: vec![parent],
            changed: shown(&built.changed),
            trace,
            written: WriteNotices::default(),
            left_out: built.left_out,
            worktree_left_behind: None,
        }
    }
}

/// Returns the commit that a crash had interrupted, and that was rolled forward when the journal was
/// opened: by this write, or by whoever opened the space.
fn rolled_forward(space: &Space, writer: &GitWriter<'_>) -> Option<Oid> {
    let earlier = space.recovered().iter().filter(|one| one.stream == *writer.stream());
    let earlier = earlier.filter_map(|one| {
        if let RecoveryAct::Opened(finding) = &one.mended { Some(finding) } else { None }
    });
    writer.findings().iter().chain(earlier).find_map(|finding| match finding {
        Finding::RolledForward { commit } => *commit,
        Finding::CutTail { .. } | Finding::GaveUp { .. } | Finding::SetAside { .. } => None,
    })
}
