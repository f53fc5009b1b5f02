//! Branches of agents in a purge, if they are made again: commits, what they say, and their files.
//!
//! What names a commit goes along: notes, archives, edges, records of sessions. Of a session, a value
//! that names one goes whole, since the program was told the old name.

use std::collections::{BTreeMap, BTreeSet};

use agentic_git::{BranchPart, HistoryLeaf, RewrittenBranches, RewrittenObjects};
use agentic_model::{AgentName, Object, Oid, Value, canonical};
use agentic_space::Space;
use agentic_space::purging::branches::{
    AgentBranches, PurgedWorktree, WorktreeGoing, buried_in_branches, is_agent_branch,
};
use agentic_space::purging::{PurgeHistory, PurgedRef};
use agentic_store::file::{self, Persistence};
use serde::{Deserialize, Serialize};

use super::aim::PurgeScrub;
use super::files::all_files;
use super::hit::{PurgeHit, PurgePlace};
use super::scan::attribute;
use super::unfinished::UnfinishedPurge;
use super::{PurgeAim, PurgeError};

/// How many digits an id of git's has: of either hash.
const OID_DIGITS: [usize; 2] = [40, 64];
/// What people and programs said, which goes on naming what it named.
const SAID: [&str; 4] = [
    "objects/console-trace/",
    "objects/briefing/",
    "objects/session-segment/",
    "objects/tombstone/",
];

/// What becomes of branches of agents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum BranchFate {
    /// They are named.
    #[default]
    Named,
    /// They are made again, with those that were spawned from them.
    MadeAgain,
}

/// What branches are made again with.
pub(super) struct BranchRewriter<'r> {
    /// Where they are.
    pub space: &'r Space,
    /// What is taken out.
    pub aim: &'r PurgeAim,
    /// How far this has come.
    pub unfinished: &'r UnfinishedPurge,
}

/// What becomes of branches.
#[derive(Default)]
pub(super) struct BranchFindings {
    fate: BranchFate,
    pub branches: AgentBranches,
    pub rewritten: RewrittenBranches,
}

impl BranchRewriter<'_> {
    /// Finds out what becomes of the branches of agents.
    pub fn find(&self, history: &PurgeHistory) -> Result<BranchFindings, PurgeError> {
        match self.unfinished.branches {
            BranchFate::Named => return Ok(BranchFindings::default()),
            BranchFate::MadeAgain => {}
        }
        let branches = self.space.agent_branches(history)?;
        let rewritten = self.rewrite(&branches.commits, RewrittenObjects::Named)?;
        Ok(BranchFindings { fate: self.unfinished.branches, branches, rewritten })
    }

    /// Writes what branches become, and says where their refs go.
    pub fn write(&self, found: &BranchFindings) -> Result<Vec<PurgedRef>, PurgeError> {
        let _the_same_as_found =
            self.rewrite(&found.branches.commits, RewrittenObjects::Written)?;
        Ok(found.moving())
    }

    /// Makes commits again, or says what they would be.
    fn rewrite(
        &self,
        commits: &[Oid],
        objects: RewrittenObjects,
    ) -> Result<RewrittenBranches, PurgeError> {
        let mut known = self.unfinished.known_commits();
        let buried = match self.aim {
            PurgeAim::Tombstones(tombstones) => buried_in_branches(self.space, tombstones),
            PurgeAim::Value(_)
            | PurgeAim::Rule { .. }
            | PurgeAim::Conversation(_)
            | PurgeAim::Agent { .. }
            | PurgeAim::Object(_) => BTreeMap::new(),
        };
        known.extend(buried.iter().map(|(old, new)| (*old, *new)));
        let repository = self.space.repository();
        let mut scrub = PurgeScrub::new(self.aim, &self.unfinished.id);
        let mut clean = |part: BranchPart, bytes: &[u8]| match part {
            BranchPart::File(blob) => match buried.get(&blob) {
                Some(new) => repository.read_blob(*new).ok(),
                None => scrub.text(bytes),
            },
            BranchPart::Name | BranchPart::Message => scrub.text(bytes),
        };
        Ok(repository.rewrite_branches(commits, &known, objects, &mut clean)?)
    }
}

/// Keeps the worktrees whose branches are made again from everybody else. Those whose branch has moved
/// already, before somebody was killed, have followed then.
pub(super) fn reserve(
    space: &Space,
    unfinished: &UnfinishedPurge,
    before: &BranchFindings,
) -> Result<Vec<PurgedWorktree>, PurgeError> {
    match unfinished.branches {
        BranchFate::Named => return Ok(Vec::new()),
        BranchFate::MadeAgain => {}
    }
    let branches = before.moving();
    Ok(space.reserve_for_purge(branches.iter().map(|moved| moved.name.as_str()))?)
}

/// Says where the branch of each worktree goes, and checks that nothing is lost there.
pub(super) fn going(
    space: &Space,
    worktrees: Vec<PurgedWorktree>,
    refs: &[PurgedRef],
) -> Result<Vec<WorktreeGoing>, PurgeError> {
    let mut going = Vec::new();
    for worktree in worktrees {
        let Some(moved) = refs.iter().find(|moved| moved.name == worktree.branch) else { continue };
        going.push(worktree.going(space, moved.old, moved.new)?);
    }
    let has_way = |name: &str| going.iter().any(|worktree| worktree.branch() == name);
    for moved in refs.iter().filter(|moved| AgentName::from_branch_ref(&moved.name).is_some()) {
        // Somebody has checked it out meanwhile, or its agent has become concerned.
        if !has_way(&moved.name) && space.repository().worktree_of(&moved.name)?.is_some() {
            return Err(PurgeError::Moving);
        }
    }
    Ok(going)
}

/// Takes away the logs of branches that were made again, and of heads the lines that name commits
/// which are gone.
pub(super) fn forget_moves(space: &Space, unfinished: &UnfinishedPurge) -> Result<(), PurgeError> {
    if unfinished.commits.is_empty() {
        return Ok(());
    }
    let root = space.repository().common_dir();
    let gone = unfinished.known_commits();
    for found in all_files(space)? {
        let name = found.name.strip_prefix("logs/").unwrap_or(&found.name);
        let is_head = found.name == "logs/HEAD" || found.name.ends_with("/logs/HEAD");
        let is_branch = found.name.starts_with("logs/") && is_agent_branch(name);
        if !is_head && !is_branch {
            continue;
        }
        let log = std::fs::read(&found.path).map_err(PurgeError::file("read", &found.path))?;
        let lines = log.split_inclusive(|byte| *byte == b'\n');
        let kept: Vec<&[u8]> = lines.filter(|line| renamed_text(line, &gone).is_none()).collect();
        let kept = kept.concat();
        if kept.len() < log.len() {
            file::replace(&root.join(&found.name), &kept, Persistence::Synced)?;
        }
    }
    Ok(())
}

impl BranchFindings {
    /// Says what becomes of branches.
    pub fn fate(&self) -> BranchFate {
        self.fate
    }

    /// Says where the refs of the branches go.
    pub fn moving(&self) -> Vec<PurgedRef> {
        let moved = self.branches.roots.iter().filter_map(|(name, tip)| {
            let new = *self.rewritten.commits.get(tip)?;
            Some(PurgedRef { name: name.clone(), old: *tip, new })
        });
        moved.collect()
    }

    /// Tells in which branches it was found.
    pub fn hits(&self, space: &Space) -> Result<Vec<PurgeHit>, PurgeError> {
        let holding = self.rewritten.holding.iter();
        let holding = holding.map(|(oid, kind)| (*oid, format!("{kind:?}"))).collect();
        let mut hits = attribute(space, &holding)?;
        hits.retain(|hit| self.is_ours(hit));
        Ok(hits)
    }

    /// Tells whether something is in a branch that is made again, or in what leads there.
    pub fn is_ours(&self, hit: &PurgeHit) -> bool {
        let is_root = |name: &String| self.branches.roots.iter().any(|(root, _)| root == name);
        match hit.place {
            PurgePlace::Branch => hit.reference.as_ref().is_some_and(is_root),
            // Archives keep branches; logs of refs go.
            PurgePlace::Archive | PurgePlace::Reflog => true,
            PurgePlace::Notes
            | PurgePlace::Journal
            | PurgePlace::Aside
            | PurgePlace::Session
            | PurgePlace::Capture
            | PurgePlace::Derived
            | PurgePlace::Unreachable
            | PurgePlace::File
            | PurgePlace::Source => false,
        }
    }

    /// Lists what commits and files became that a branch reaches, for the tombstones of its agent.
    pub fn buried_below(&self, tip: Oid) -> BTreeMap<String, String> {
        let (mut seen, mut open) = (BTreeSet::new(), vec![tip]);
        while let Some(oid) = open.pop() {
            if self.rewritten.commits.contains_key(&oid) && seen.insert(oid) {
                open.extend(self.rewritten.parents.get(&oid).into_iter().flatten());
            }
        }
        if seen.is_empty() {
            return BTreeMap::new();
        }
        let commits = self.rewritten.commits.iter().filter(|(old, _)| seen.contains(old));
        let all = commits.chain(&self.rewritten.blobs);
        all.map(|(old, new)| (old.to_string(), new.to_string())).collect()
    }
}

/// Returns what a leaf of notes becomes that names commits by their ids; nothing if it names none.
/// What was said in traces and briefings stays as it was said.
pub(super) fn renamed_leaf(
    leaf: &HistoryLeaf,
    bytes: &[u8],
    commits: &BTreeMap<Oid, Oid>,
) -> Option<Vec<u8>> {
    if commits.is_empty() || SAID.iter().any(|folder| leaf.path.starts_with(folder)) {
        return None;
    }
    if leaf.object.is_none() {
        // The note of a commit names objects only.
        let is_note = Oid::parse(&leaf.path).is_ok();
        return (!is_note).then(|| renamed_text(bytes, commits)).flatten();
    }
    let value = canonical::decode(bytes).ok()?;
    let renamed = renamed_value(value.clone(), commits);
    if renamed == value {
        return None;
    }
    Object::from_value(renamed).ok().map(|object| object.bytes().to_vec())
}

fn renamed_value(value: Value, commits: &BTreeMap<Oid, Oid>) -> Value {
    value.map_scalars(&|scalar| {
        let text = scalar.as_text().map(str::as_bytes);
        match text.and_then(|text| renamed_text(text, commits)) {
            Some(bytes) => Value::text(String::from_utf8_lossy(&bytes)),
            None => scalar,
        }
    })
}

/// Gives the new ids of commits to a text that names old ones; nothing if it names none.
pub(super) fn renamed_text(bytes: &[u8], commits: &BTreeMap<Oid, Oid>) -> Option<Vec<u8>> {
    let mut renamed = bytes.to_vec();
    let mut is_renamed = false;
    let mut at = 0;
    while at < bytes.len() {
        let n_digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        if OID_DIGITS.contains(&n_digits)
            && let Ok(text) = std::str::from_utf8(&bytes[at..at + n_digits])
            && let Some(new) = Oid::parse(text).ok().and_then(|old| commits.get(&old))
        {
            renamed[at..at + n_digits].copy_from_slice(new.to_string().as_bytes());
            is_renamed = true;
        }
        at += n_digits.max(1);
    }
    is_renamed.then_some(renamed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_ids_of_commits_are_renamed_and_nothing_else() {
        let oid = |digit: char| Oid::parse(&digit.to_string().repeat(40)).expect("40 digits");
        let commits = BTreeMap::from([(oid('a'), oid('b'))]);
        let text = format!("commit:{} and {}0, {}", oid('a'), oid('a'), oid('c'));
        let renamed = renamed_text(text.as_bytes(), &commits).expect("it names one");
        let expected = format!("commit:{} and {}0, {}", oid('b'), oid('a'), oid('c'));
        assert_eq!(String::from_utf8_lossy(&renamed), expected);
        assert_eq!(renamed_text(b"nothing", &commits), None);
    }
}
