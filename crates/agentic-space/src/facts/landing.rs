//! How the work of agents came to branches of people, and what of it was reverted there.
//!
//! A commit has landed where a branch reaches it, has a commit of the same patch, or has each of its files
//! with the content that it gave them. Who squashes, rebases or copies keeps no id. Only what is younger
//! than the work is looked at: a branch that did not go on since costs nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow;
use std::rc::Rc;

use agentic_model::{AgentName, Instant, Oid};
use agentic_query::FactCell;

use super::SpaceFacts;
use super::branch::{BRANCHES, LandedCommits, short};
use super::line::LineCommit;
use super::patch::{BranchPatches, PatchedCommit, WorkPatch};
use super::revert::standing_reverts;
use super::roster::{AgentPlace, FactAgent};
use super::rows::FactRows;
use super::young_branch::YoungBranch;
use crate::Result;

/// Which column of `landed` has the commit.
const COMMIT: usize = 0;

/// How the work of a commit came to a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LandingWay {
    /// The branch reaches the commit.
    Reached,
    /// It has a commit of the same patch.
    SamePatch,
    /// It has each file of the commit with that content.
    Blob,
}

/// The work of a commit on a branch of people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LandedWork {
    /// The commit.
    pub commit: Oid,
    /// Whose it is, where it was looked for by its content.
    pub agent: Option<String>,
    /// The branch.
    pub branch: String,
    /// The commit of the branch that has it: itself, or one that is like it.
    pub by: Oid,
    /// How it came there.
    pub way: LandingWay,
    /// When.
    pub at: Instant,
    /// When it was reverted there; nothing if it was not, or if that was reverted, too.
    pub reverted: Option<Instant>,
}

/// What is looked for on branches of people.
#[derive(Debug, Default)]
pub struct LandingSearch {
    /// Commits that branches reach, and which.
    pub reached: LandedCommits,
    /// Agents, all of whose work is looked for by its content.
    pub agents: BTreeSet<String>,
    /// Nothing older is looked at.
    pub since: Option<Instant>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct FoundLandings {
    /// The work, by branch.
    pub landed: Vec<LandedWork>,
    /// What could not be read.
    pub left_out: Vec<String>,
}

impl LandingWay {
    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            LandingWay::Reached => "reached",
            LandingWay::SamePatch => "same-patch",
            LandingWay::Blob => "blob",
        }
    }
}

/// What a commit of an agent did.
struct AgentPatch {
    agent: Rc<FactAgent>,
    patch: WorkPatch,
}

/// One branch of people, and what was found out about it.
struct SearchedBranch<'b> {
    name: &'b str,
    arrivals: HashMap<Oid, Oid>,
    times: HashMap<Oid, Instant>,
    /// Which commits were reverted, and when.
    reverted: BTreeMap<Oid, Instant>,
}

impl SearchedBranch<'_> {
    fn of<'b>(name: &'b str, young: &YoungBranch) -> SearchedBranch<'b> {
        SearchedBranch {
            name,
            arrivals: young.arrivals(),
            times: young.commits.iter().map(|commit| (commit.oid, commit.at)).collect(),
            reverted: standing_reverts(&young.commits),
        }
    }

    /// Describes work that came by a commit of the branch: itself, or one that is like it.
    fn landed(&self, commit: Oid, by: Oid, way: LandingWay) -> LandedWork {
        let agent = None;
        let arrived = self.arrivals.get(&by).copied().unwrap_or(by);
        let at = self.times.get(&arrived).or(self.times.get(&by)).copied();
        let reverted = [by, arrived].iter().filter_map(|oid| self.reverted.get(oid)).min().copied();
        let at = at.unwrap_or_else(|| Instant::from_millis(0));
        LandedWork { commit, agent, branch: self.name.to_owned(), by, way, at, reverted }
    }
}

impl SpaceFacts<'_> {
    /// Looks for work on branches of people.
    ///
    /// # Errors
    /// Fails when refs cannot be read.
    pub fn landings(&self, search: LandingSearch) -> Result<FoundLandings> {
        let LandingSearch { reached, agents, since } = search;
        let mut found = FoundLandings { landed: Vec::new(), left_out: reached.left_out };
        let Some(since) = since else { return Ok(found) };
        let mut work: Option<Vec<AgentPatch>> = None;
        let refs = self.space.repository().list_refs(BRANCHES)?;
        for branch in refs.iter().filter(|it| !it.name.starts_with(AgentName::BRANCHES)) {
            let name = short(branch);
            let young = match YoungBranch::read(self.space, branch.target, since) {
                Ok(young) => young,
                Err(error) => {
                    found.left_out.push(format!("the history of branch `{name}`: {error}"));
                    continue;
                }
            };
            if young.commits.is_empty() {
                continue;
            }
            let searched = SearchedBranch::of(name, &young);
            for (commit, branches) in &reached.branches {
                if branches.iter().any(|one| one == name) {
                    found.landed.push(searched.landed(*commit, *commit, LandingWay::Reached));
                }
            }
            if work.is_none() {
                work = Some(self.work_of(&agents, &mut found.left_out)?);
            }
            let patches = BranchPatches::of(self.space, &young)?;
            for one in work.iter().flatten() {
                if searched.times.contains_key(&one.patch.commit) {
                    continue;
                }
                if let Some((by, way)) = patches.find(self.space, &one.patch)? {
                    let landed = searched.landed(one.patch.commit, by, way);
                    let agent = Some(one.agent.name.clone());
                    found.landed.push(LandedWork { agent, ..landed });
                }
            }
        }
        Ok(found)
    }

    /// Lists what the commits of agents did, where they changed anything.
    fn work_of(
        &self,
        names: &BTreeSet<String>,
        left_out: &mut Vec<String>,
    ) -> Result<Vec<AgentPatch>> {
        let mut work = Vec::new();
        if names.is_empty() {
            return Ok(work);
        }
        let agents: Vec<Rc<FactAgent>> =
            self.all_here()?.into_iter().filter(|agent| names.contains(&agent.name)).collect();
        self.read_lines(&agents);
        for agent in &agents {
            match self.line(agent) {
                Ok(line) => {
                    for commit in line.commits() {
                        let patch = self.patch_of(&commit)?;
                        let agent = Rc::clone(agent);
                        work.extend(patch.map(|patch| AgentPatch { agent, patch }));
                    }
                }
                Err(why) => left_out.push(format!("the commits of agent `{}`: {why}", agent.name)),
            }
        }
        Ok(work)
    }

    fn patch_of(&self, commit: &LineCommit<'_>) -> Result<Option<WorkPatch>> {
        let parents: Vec<Oid> = commit.parents().collect();
        // What a merge brought is the work of others.
        if parents.len() > 1 {
            return Ok(None);
        }
        let parent = parents.first().copied();
        let of = PatchedCommit { commit: commit.oid, tree: commit.tree, parent };
        WorkPatch::of(self.space, of)
    }

    /// `landed`.
    pub(super) fn landed_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        let wanted = rows.commits(COMMIT);
        let agents = self.agents_of(wanted.as_ref())?;
        let mut search = LandingSearch::default();
        let (mut commits, mut seen) = (BTreeSet::new(), HashSet::new());
        self.each_commit(rows, &agents, &mut |_, own| {
            if own.agent.place != AgentPlace::Remote && seen.insert(own.commit.oid) {
                commits.insert(own.commit.oid);
                search.agents.insert(own.agent.name.clone());
                let at = own.commit.at;
                search.since = Some(search.since.map_or(at, |oldest| oldest.min(at)));
            }
            ControlFlow::Continue(())
        })?;
        search.reached = self.landed(&commits)?;
        let found = self.landings(search)?;
        found.left_out.into_iter().for_each(|note| rows.note(note));
        for landed in found.landed {
            let (commit, at) = (landed.commit.to_string(), landed.at.millis());
            let reverted = landed.reverted.map_or(FactCell::Null, |at| FactCell::Int(at.millis()));
            let row = [
                FactCell::Text(&commit),
                FactCell::Text(&landed.branch),
                FactCell::Text(landed.way.word()),
                FactCell::Int(at),
                reverted,
            ];
            if rows.row(&row).is_break() {
                break;
            }
        }
        Ok(())
    }
}
