//! Finding the trace of a commit, also where the commit was amended, rebased, picked or squashed.
//!
//! Each way is a proof, and is only tried if the one before gave nothing. What nothing proves stays
//! open: two answers that are equally good are both named, and similarity is never one.

mod change;
mod noted;
mod patch;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use agentic_model::commit::Claims;
use agentic_model::{AgentName, Cid, Oid};
use agentic_space::{Result, Space};

use self::change::{ChangedBlobs, changed_blobs};
pub use self::noted::{NotedCommits, NotedTrace};
use self::patch::PatchIds;

/// How many rewrites are followed from a commit back to its origins.
const REWRITES_MAX: usize = 1024;

/// How the trace of a commit was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OriginProof {
    /// By its own note, also where git copied that along.
    Exact,
    /// By a rewrite that was recorded when the commit was made from another one.
    Rewritten,
    /// By the same patch in a commit that has a note.
    SamePatch,
    /// By files, each of which is the result of a commit that has a note.
    Blob,
    /// By nothing but what its message claims.
    Claim,
}

impl OriginProof {
    /// Returns the word that answers use.
    pub fn as_str(self) -> &'static str {
        match self {
            OriginProof::Exact => "exact",
            OriginProof::Rewritten => "rewritten",
            OriginProof::SamePatch => "same-patch",
            OriginProof::Blob => "blob",
            OriginProof::Claim => "claim",
        }
    }
}

/// Where a commit comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitOrigin {
    /// How that is known.
    pub proof: OriginProof,
    /// The traces, each with its commit; none of a claim.
    pub traces: Vec<NotedTrace>,
    /// The agent that the message claims, where nothing else is known.
    pub claimed: Option<AgentName>,
}

impl CommitOrigin {
    /// Tells whether several traces are equally good. A squash has several, and all of them count.
    pub fn is_ambiguous(&self) -> bool {
        let cids: BTreeSet<Cid> = self.traces.iter().map(|noted| noted.cid).collect();
        match self.proof {
            OriginProof::Exact | OriginProof::SamePatch => cids.len() > 1,
            OriginProof::Rewritten | OriginProof::Blob | OriginProof::Claim => false,
        }
    }
}

/// Finds traces of commits. What is read for one commit serves all others.
pub struct CommitOrigins<'s> {
    space: &'s Space,
    noted: OnceCell<NotedCommits>,
    rewrites: OnceCell<BTreeMap<Oid, BTreeSet<Oid>>>,
    patches: OnceCell<PatchIds>,
    results: OnceCell<ChangedBlobs>,
}

impl<'s> CommitOrigins<'s> {
    /// Begins to look.
    pub fn new(space: &'s Space) -> CommitOrigins<'s> {
        CommitOrigins {
            space,
            noted: OnceCell::new(),
            rewrites: OnceCell::new(),
            patches: OnceCell::new(),
            results: OnceCell::new(),
        }
    }

    /// Finds where a commit comes from; nothing if nothing proves or claims it.
    ///
    /// # Errors
    /// Fails when notes, the archive or commits cannot be read.
    pub fn find(&self, commit: Oid) -> Result<Option<CommitOrigin>> {
        let found = |proof, traces: Vec<NotedTrace>| {
            (!traces.is_empty()).then_some(CommitOrigin { proof, traces, claimed: None })
        };
        let claims = Claims::read(&self.space.read_commit(commit)?.message);
        let exact = self.noted()?.of(commit, claims.agent.as_ref());
        if let Some(origin) = found(OriginProof::Exact, exact) {
            return Ok(Some(origin));
        }
        if let Some(origin) = found(OriginProof::Rewritten, self.rewritten(commit)?) {
            return Ok(Some(origin));
        }
        if let Some(origin) = found(OriginProof::SamePatch, self.same_patch(commit)?) {
            return Ok(Some(origin));
        }
        if let Some(origin) = found(OriginProof::Blob, self.same_results(commit)?) {
            return Ok(Some(origin));
        }
        let claimed = claims.agent;
        Ok(claimed.map(|agent| CommitOrigin {
            proof: OriginProof::Claim,
            traces: Vec::new(),
            claimed: Some(agent),
        }))
    }

    fn noted(&self) -> Result<&NotedCommits> {
        if let Some(noted) = self.noted.get() {
            return Ok(noted);
        }
        let noted = NotedCommits::read(self.space)?;
        Ok(self.noted.get_or_init(|| noted))
    }

    /// Follows rewrites back until commits with notes are reached.
    fn rewritten(&self, commit: Oid) -> Result<Vec<NotedTrace>> {
        let rewrites = match self.rewrites.get() {
            Some(rewrites) => rewrites,
            None => {
                let read = self.noted()?.rewrites(self.space)?;
                self.rewrites.get_or_init(|| read)
            }
        };
        let mut traces = BTreeSet::new();
        let mut seen = BTreeSet::from([commit]);
        let mut next = VecDeque::from([commit]);
        while let Some(oid) = next.pop_front() {
            for from in rewrites.get(&oid).into_iter().flatten() {
                if seen.len() >= REWRITES_MAX || !seen.insert(*from) {
                    continue;
                }
                let noted = self.noted()?.of(*from, None);
                if noted.is_empty() {
                    next.push_back(*from);
                }
                traces.extend(noted);
            }
        }
        Ok(traces.into_iter().collect())
    }

    fn same_patch(&self, commit: Oid) -> Result<Vec<NotedTrace>> {
        let noted = self.noted()?;
        if noted.is_empty() {
            return Ok(Vec::new());
        }
        let patches = match self.patches.get() {
            Some(patches) => patches,
            None => {
                let read = PatchIds::read(self.space, noted.commits())?;
                self.patches.get_or_init(|| read)
            }
        };
        let Some(same) = patches.same_as(self.space, commit)? else { return Ok(Vec::new()) };
        let same = same.iter().flat_map(|oid| noted.of(*oid, None));
        Ok(same.collect::<BTreeSet<NotedTrace>>().into_iter().collect())
    }

    /// Finds commits with notes whose results all files of this one are.
    fn same_results(&self, commit: Oid) -> Result<Vec<NotedTrace>> {
        let noted = self.noted()?;
        if noted.is_empty() {
            return Ok(Vec::new());
        }
        let own = changed_blobs(self.space, &[commit])?;
        if own.is_empty() {
            return Ok(Vec::new());
        }
        let results = match self.results.get() {
            Some(results) => results,
            None => {
                let commits: Vec<Oid> = noted.commits().collect();
                let read = changed_blobs(self.space, &commits)?;
                self.results.get_or_init(|| read)
            }
        };
        let mut traces = BTreeSet::new();
        for change in own.keys() {
            let Some(made) = results.get(change) else { return Ok(Vec::new()) };
            traces.extend(made.iter().flat_map(|oid| noted.of(*oid, None)));
        }
        Ok(traces.into_iter().collect())
    }
}
