//! How the work of agents came to branches of people, and what of it was reverted there.
//!
//! A commit has landed where a branch reaches it, has a commit of the same patch, or has each of its files
//! with the content that it gave them. Who squashes, rebases or copies keeps no id. Only what is younger
//! than the oldest agent is looked at: a branch that did not go on since costs nothing.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::rc::Rc;

use agentic_model::{AgentName, Instant, Oid};
use agentic_query::FactCell;

use super::SpaceFacts;
use super::branch::{BRANCHES, short};
use super::patch::{WorkPatch, WorkPatchIds};
use super::roster::{AgentPlace, FactAgent};
use super::rows::FactRows;
use super::searched_branch::SearchedBranch;
use super::young_branch::YoungBranch;
use crate::Result;

/// Which columns of `landed` have the commit, how it came to a branch, and the agent.
const COMMIT: usize = 0;
const WAY: usize = 2;
const AGENT: usize = 6;
/// The only entry of the cache of ids of patches.
const IDS: &str = "all";

/// How the work of a commit came to a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LandingWay {
    /// The branch reaches the commit.
    Reached,
    /// It has a commit of the same patch.
    SamePatch,
    /// It has each file of the commit with that content.
    Blob,
}

impl LandingWay {
    /// Returns the word for it.
    fn word(self) -> &'static str {
        match self {
            LandingWay::Reached => "reached",
            LandingWay::SamePatch => "same-patch",
            LandingWay::Blob => "blob",
        }
    }
}

/// The work of a commit on a branch of people.
struct LandedWork<'w> {
    work: &'w AgentCommit,
    /// The commit of the branch that has it: itself, or one that is like it.
    by: Oid,
    way: LandingWay,
}

/// A commit that is the work of an agent.
struct AgentCommit {
    agent: Rc<FactAgent>,
    commit: Oid,
}

/// The work of agents that is looked for.
#[derive(Default)]
struct SoughtWork {
    commits: Vec<AgentCommit>,
    /// What they changed, where copies are wanted.
    patches: BTreeMap<Oid, WorkPatch>,
}

impl LandedWork<'_> {
    /// Tells a row of work that came by a commit of the branch. `Break` says that no more are wanted.
    fn row(&self, branch: &SearchedBranch, rows: &mut FactRows<'_, '_>) -> ControlFlow<()> {
        let LandedWork { work, by, way } = *self;
        let arrived = branch.arrivals.get(&by).copied().unwrap_or(by);
        let at = branch.times.get(&arrived).or(branch.times.get(&by)).copied();
        let at = at.unwrap_or_else(|| Instant::from_millis(0)).millis();
        let reverted = [by, arrived].iter().filter_map(|oid| branch.reverted.get(oid)).min();
        rows.row(&[
            FactCell::Text(&work.commit.to_string()),
            FactCell::Text(&branch.name),
            FactCell::Text(way.word()),
            FactCell::Int(at),
            reverted.map_or(FactCell::Null, |at| FactCell::Int(at.millis())),
            FactCell::Text(&by.to_string()),
            FactCell::Text(&work.agent.name),
        ])
    }
}

impl SpaceFacts<'_> {
    /// `landed`.
    pub(super) fn landed_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        let branches = self.searched_branches(rows)?;
        if branches.is_empty() {
            return Ok(());
        }
        let sought = self.sought_work(rows)?;
        let reached = self.reached(&sought.commits.iter().map(|one| one.commit).collect())?;
        reached.left_out.into_iter().for_each(|note| rows.note(note));
        let mut ids = WorkPatchIds::of(self.caches.patch_ids.find(IDS));
        for branch in branches.iter() {
            let mut copied = Vec::new();
            for one in &sought.commits {
                let known = reached.branches.get(&one.commit).into_iter().flatten();
                if known.into_iter().any(|name| *name == branch.name) {
                    let (by, way) = (one.commit, LandingWay::Reached);
                    if (LandedWork { work: one, by, way }).row(branch, rows).is_break() {
                        return Ok(());
                    }
                } else if !branch.times.contains_key(&one.commit) {
                    copied.extend(sought.patches.get(&one.commit).map(|patch| (one, patch)));
                }
            }
            if copied.is_empty() {
                continue;
            }
            let patches = branch.patches(self.space)?;
            let looked_for: Vec<&WorkPatch> = copied.iter().map(|(_, patch)| *patch).collect();
            let by_id = patches.by_id(self.space, &looked_for, &mut ids)?;
            ids.grown().into_iter().for_each(|entry| self.caches.patch_ids.keep(IDS, entry));
            for (work, patch) in copied {
                // Of what is no text the contents alone can tell.
                let same = ids.id(patch.commit).and_then(|id| by_id.get(id)).copied();
                let same = same.map(|by| (by, LandingWay::SamePatch));
                let by_content = || Some((patches.with_contents(patch)?, LandingWay::Blob));
                let Some((by, way)) = same.or_else(by_content) else { continue };
                if (LandedWork { work, by, way }).row(branch, rows).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Reads the branches of people as far as they are younger than the oldest agent, once: whatever of the
    /// rows is wanted, the answer is the same.
    fn searched_branches(&self, rows: &mut FactRows<'_, '_>) -> Result<Rc<Vec<SearchedBranch>>> {
        if let Some(known) = &*self.searched.borrow() {
            return Ok(Rc::clone(known));
        }
        let began = self.all_work(rows)?.into_iter().map(|(_, work)| work.oldest()).min();
        let mut found = Vec::new();
        let refs = match began {
            Some(_) => self.sound_refs(BRANCHES)?,
            None => Vec::new(),
        };
        for branch in refs.iter().filter(|it| !it.name.starts_with(AgentName::BRANCHES)) {
            let (name, since) = (short(branch), Instant::from_millis(began.unwrap_or_default()));
            let young = YoungBranch::read(self.space, branch.target, since);
            let young = young.map_err(|error| error.to_string());
            let Some(young) = rows.noted(format_args!("the history of branch `{name}`"), young)
            else {
                continue;
            };
            if !young.commits.is_empty() {
                found.push(SearchedBranch::of(name, young));
            }
        }
        let found = Rc::new(found);
        *self.searched.borrow_mut() = Some(Rc::clone(&found));
        Ok(found)
    }

    /// Lists the commits that are the work of agents of this space, and wanted: those of their own lines,
    /// and those that they made with plain git.
    fn sought_work(&self, rows: &mut FactRows<'_, '_>) -> Result<SoughtWork> {
        let wanted = rows.commits(COMMIT);
        let agents = match rows.bound(AGENT) {
            Some(names) => self.agents(Some(&names))?,
            None => self.agents_of(wanted.as_ref())?,
        };
        let agents: Vec<Rc<FactAgent>> =
            agents.into_iter().filter(|agent| agent.place != AgentPlace::Remote).collect();
        let is_wanted = |oid: Oid| wanted.as_ref().is_none_or(|wanted| wanted.contains(&oid));
        let ways = rows.bound(WAY);
        let are_copies_wanted = ways.is_none_or(|ways| {
            [LandingWay::SamePatch, LandingWay::Blob].iter().any(|way| ways.contains(way.word()))
        });
        let mut sought = SoughtWork::default();
        if are_copies_wanted {
            sought.patches = self.work_patches(&agents, rows);
        }
        self.read_lines(&agents);
        for agent in &agents {
            let Some(line) = self.noted_line(agent, rows) else { continue };
            let commits = line.commits().map(|commit| commit.oid).filter(|oid| is_wanted(*oid));
            let own = commits.map(|commit| AgentCommit { agent: Rc::clone(agent), commit });
            sought.commits.extend(own);
        }
        for linked in self.linked_commits(&agents, rows)? {
            let (agent, commit) = (linked.agent, linked.info.oid);
            if !is_wanted(commit) {
                continue;
            }
            if are_copies_wanted && let Some(patch) = WorkPatch::of(self.space, &linked.info)? {
                sought.patches.insert(commit, patch);
            }
            sought.commits.push(AgentCommit { agent, commit });
        }
        Ok(sought)
    }
}
