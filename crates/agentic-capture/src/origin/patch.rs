//! Ids of patches, which stay the same when a commit is picked or rebased onto another place.
//!
//! Git computes them; what it said is kept below `cache/`, where anybody may delete it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use agentic_model::Oid;
use agentic_space::{Result, Space};
use agentic_store::file::{self, Persistence};

/// How many commits one git is asked about.
const COMMITS_MAX: usize = 256;
/// The longest cache that is read, in bytes: some 800,000 commits.
const CACHE_BYTES_MAX: u64 = 64 << 20;
/// What stands for the patch of a commit that changes nothing, or is a merge.
const NO_PATCH: &str = "-";

/// The patches of commits that have notes.
pub struct PatchIds {
    known: BTreeMap<Oid, String>,
    by_patch: BTreeMap<String, BTreeSet<Oid>>,
}

impl PatchIds {
    /// Learns the patches of commits; those of before are read from the cache.
    ///
    /// # Errors
    /// Fails when git cannot be asked.
    pub fn read(space: &Space, commits: impl Iterator<Item = Oid>) -> Result<PatchIds> {
        let place = space.repository().layout().cache().join("patch-ids");
        let mut known = read_cache(&place);
        let repository = space.repository();
        let commits: Vec<Oid> = commits.filter(|oid| repository.has_object(*oid)).collect();
        let new: Vec<Oid> =
            commits.iter().filter(|oid| !known.contains_key(oid)).copied().collect();
        for part in new.chunks(COMMITS_MAX) {
            known.extend(ask_git(space, part)?);
        }
        if !new.is_empty() {
            write_cache(&place, &known);
        }
        let mut by_patch: BTreeMap<String, BTreeSet<Oid>> = BTreeMap::new();
        for commit in commits {
            if let Some(patch) = known.get(&commit).filter(|patch| *patch != NO_PATCH) {
                by_patch.entry(patch.clone()).or_default().insert(commit);
            }
        }
        Ok(PatchIds { known, by_patch })
    }

    /// Lists the commits with the same patch as this one; nothing if it has none or there are none.
    ///
    /// # Errors
    /// Fails when git cannot be asked.
    pub fn same_as(&self, space: &Space, commit: Oid) -> Result<Option<&BTreeSet<Oid>>> {
        let patch = match self.known.get(&commit) {
            Some(patch) => patch.clone(),
            None => ask_git(space, &[commit])?.remove(&commit).unwrap_or(NO_PATCH.to_owned()),
        };
        Ok(self.by_patch.get(&patch))
    }
}

fn ask_git(space: &Space, commits: &[Oid]) -> Result<BTreeMap<Oid, String>> {
    let mut found: BTreeMap<Oid, String> =
        commits.iter().map(|commit| (*commit, NO_PATCH.to_owned())).collect();
    let ids: Vec<String> = commits.iter().map(Oid::to_string).collect();
    let mut arguments = vec!["log", "--no-walk=unsorted", "--root", "-p", "--no-ext-diff"];
    arguments.extend(["--no-textconv", "--full-index", "--no-renames", "--no-color"]);
    arguments.extend(ids.iter().map(String::as_str));
    arguments.push("--");
    let patches = space.repository().git(&arguments)?.checked(&arguments)?;
    let arguments = ["patch-id", "--stable"];
    let told = space.repository().git_reading(&arguments, patches.as_bytes())?;
    for line in told.checked(&arguments)?.lines() {
        let Some((patch, commit)) = line.split_once(' ') else { continue };
        if let Ok(commit) = Oid::parse(commit.trim()) {
            found.insert(commit, patch.to_owned());
        }
    }
    Ok(found)
}

fn read_cache(place: &Path) -> BTreeMap<Oid, String> {
    let text = file::read_text(place, CACHE_BYTES_MAX).unwrap_or_default();
    let line = |line: &str| {
        let (commit, patch) = line.split_once(' ')?;
        let is_patch = patch == NO_PATCH || Oid::parse(patch).is_ok();
        Some((Oid::parse(commit).ok().filter(|_| is_patch)?, patch.to_owned()))
    };
    text.lines().filter_map(line).collect()
}

/// Keeps what is known, if that can be done: without it the next command asks git again.
fn write_cache(place: &Path, known: &BTreeMap<Oid, String>) {
    let text: String = known.iter().map(|(commit, patch)| format!("{commit} {patch}\n")).collect();
    if let Some(folder) = place.parent() {
        let _ = std::fs::create_dir_all(folder);
    }
    let _ = file::replace(place, text.as_bytes(), Persistence::Lazy);
}
