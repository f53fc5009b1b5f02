//! What commits changed, to be found again on a branch where they have other ids.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use agentic_git::CommitInfo;
use agentic_model::Oid;

use super::cache::{CacheEntry, PackedReader, PackedWriter};
use super::young_branch::YoungBranch;
use crate::{Result, Space};

/// How many patches git is asked for the ids of, at most: all of them are printed for that.
const PATCHES_MAX: usize = 2_000;
/// How many are printed at once.
const PATCHES_AT_ONCE: usize = 200;

/// What a commit did.
#[derive(Debug, Clone)]
pub(super) struct WorkPatch {
    pub commit: Oid,
    files: Vec<PatchedFile>,
}

/// A file that a commit changed, with the content that it has since; nothing if it is gone.
type PatchedFile = (Vec<u8>, Option<Oid>);

/// The names of the files that a commit changed.
type PatchedNames = Vec<Vec<u8>>;

/// What the commits of a branch changed.
#[derive(Debug, Default)]
pub(super) struct BranchPatches {
    /// By file and content: the oldest commit that gave it that.
    contents: HashMap<PatchedFile, Oid>,
    /// By the names of the files: which commits change exactly these.
    by_names: HashMap<PatchedNames, Vec<Oid>>,
}

/// The ids that git gives patches, whatever lines they are at, by their commits.
#[derive(Debug, Default)]
pub(super) struct WorkPatchIds {
    /// Empty of what has none.
    ids: HashMap<Oid, String>,
    /// What this query asked for.
    asked: BTreeSet<Oid>,
    is_grown: bool,
}

impl WorkPatch {
    /// Reads what a commit changed; nothing where that is nothing. What a merge brought is the work of
    /// others.
    pub fn of(space: &Space, info: &CommitInfo) -> Result<Option<WorkPatch>> {
        WorkPatch::between(space, info.oid, info.tree, &info.parents)
    }

    /// Does the same for a commit of this tree and these parents.
    pub fn between(
        space: &Space,
        commit: Oid,
        tree: Oid,
        parents: &[Oid],
    ) -> Result<Option<WorkPatch>> {
        let before = match parents {
            [] => space.repository().empty_tree(),
            [parent] => space.repository().tree_of(*parent)?,
            [_, _, ..] => return Ok(None),
        };
        WorkPatch::changed(space, commit, [before, tree])
    }

    /// Does the same for a commit between these trees.
    pub fn changed(
        space: &Space,
        commit: Oid,
        [before, after]: [Oid; 2],
    ) -> Result<Option<WorkPatch>> {
        let changed = space.repository().file_changes(before, after)?;
        let files: Vec<PatchedFile> =
            changed.into_iter().map(|file| (file.path, file.blob)).collect();
        Ok((!files.is_empty()).then_some(WorkPatch { commit, files }))
    }

    fn names(&self) -> PatchedNames {
        self.files.iter().map(|(path, _)| path.clone()).collect()
    }

    /// Writes it to a cache.
    pub fn encode(&self, out: &mut PackedWriter) {
        out.bytes(self.commit.as_bytes());
        out.number(self.files.len() as i64);
        for (path, blob) in &self.files {
            out.bytes(path);
            out.bytes(blob.as_ref().map_or(&[], Oid::as_bytes));
        }
    }

    /// Reads one back; nothing where the bytes end.
    pub fn decode(reader: &mut PackedReader<'_>) -> Option<WorkPatch> {
        let (commit, n_files) = (reader.oid()?, reader.number()?);
        let file = |_| {
            let (path, blob) = (reader.bytes()?.to_vec(), reader.bytes()?);
            Some((path, Oid::from_bytes(blob).ok()))
        };
        let files = (0..n_files).map(file).collect::<Option<Vec<PatchedFile>>>()?;
        Some(WorkPatch { commit, files })
    }
}

impl BranchPatches {
    /// Reads those of a branch. What a merge brought its other parents have.
    pub fn of(space: &Space, young: &YoungBranch) -> Result<BranchPatches> {
        let mut found = BranchPatches::default();
        for commit in &young.commits {
            let patch = WorkPatch::between(space, commit.oid, commit.tree, &commit.parents)?;
            let Some(patch) = patch else { continue };
            found.by_names.entry(patch.names()).or_default().push(commit.oid);
            for file in patch.files {
                // The commits come newest first: the oldest one stays.
                found.contents.insert(file, commit.oid);
            }
        }
        Ok(found)
    }

    /// Has git say the ids of what may be the same patch: it changes files of the same names. Returns the
    /// newest commit of the branch for each id.
    pub fn by_id(
        &self,
        space: &Space,
        work: &[&WorkPatch],
        ids: &mut WorkPatchIds,
    ) -> Result<HashMap<String, Oid>> {
        let (mut wanted, mut others) = (Vec::new(), BTreeMap::new());
        for patch in work {
            if let Some((names, same)) = self.by_names.get_key_value(&patch.names()) {
                wanted.push(patch.commit);
                others.insert(names, same);
            }
        }
        // Where there is not room for all, those of the branch are of more use.
        let others: Vec<Oid> = others.into_values().flatten().copied().collect();
        ids.ask(space, others.iter().copied().chain(wanted))?;
        let mut found = HashMap::new();
        for other in others {
            if let Some(id) = ids.id(other) {
                found.entry(id.to_owned()).or_insert(other);
            }
        }
        Ok(found)
    }

    /// Finds the commit of the branch that has each file of some work with its content.
    pub fn with_contents(&self, work: &WorkPatch) -> Option<Oid> {
        // A file that is gone is gone by many commits, and says nothing.
        let mut last = None;
        for file in work.files.iter().filter(|(_, blob)| blob.is_some()) {
            last = Some(*self.contents.get(file)?);
        }
        last
    }
}

impl WorkPatchIds {
    /// Takes what an earlier query asked for.
    pub fn of(cached: Option<CacheEntry>) -> WorkPatchIds {
        let mut known = WorkPatchIds::default();
        if let Some(entry) = cached {
            let mut reader = PackedReader::new(&entry.content);
            while let (Some(commit), Some(id)) = (reader.oid(), reader.text()) {
                known.ids.insert(commit, id.to_owned());
            }
        }
        known
    }

    /// Returns what the next query may need again: what this one asked for; nothing where that was known.
    pub fn grown(&self) -> Option<CacheEntry> {
        if !self.is_grown {
            return None;
        }
        let mut content = PackedWriter::default();
        for commit in &self.asked {
            content.bytes(commit.as_bytes());
            content.bytes(self.ids.get(commit).map_or(&[], String::as_bytes));
        }
        Some(CacheEntry { key: String::new(), content: Arc::from(content.into_bytes()) })
    }

    /// Returns the id of the patch of a commit, if it was asked for and git knows one.
    pub fn id(&self, commit: Oid) -> Option<&str> {
        let id = self.ids.get(&commit).filter(|id| !id.is_empty() && self.asked.contains(&commit));
        id.map(String::as_str)
    }

    /// Asks git for those that are not known yet, as far as there is room. What has none stays without.
    fn ask(&mut self, space: &Space, wanted: impl Iterator<Item = Oid>) -> Result<()> {
        let mut new = Vec::new();
        for commit in wanted {
            let is_new = self.asked.len() < PATCHES_MAX && self.asked.insert(commit);
            if is_new && !self.ids.contains_key(&commit) {
                self.ids.insert(commit, String::new());
                new.push(commit);
            }
        }
        self.is_grown |= !new.is_empty();
        for some in new.chunks(PATCHES_AT_ONCE) {
            let commits: String = some.iter().map(|commit| format!("{commit}\n")).collect();
            let print =
                ["diff-tree", "--stdin", "--root", "-p", "-r", "--no-ext-diff", "--no-textconv"];
            let patches = space.repository().git_reading(&print, commits.as_bytes())?.stdout;
            let told = ["patch-id", "--stable"];
            let told = space.repository().git_reading(&told, patches.as_bytes())?.stdout;
            for line in told.lines() {
                let Some((id, commit)) = line.split_once(' ') else { continue };
                if let Ok(commit) = Oid::parse(commit.trim()) {
                    self.ids.insert(commit, id.to_owned());
                }
            }
        }
        Ok(())
    }
}
