//! Branches made again: with other files, names and messages, and all else as it was.
//!
//! Author, committer and dates of a commit stay. What was signed is another commit now, so its
//! signature goes. A commit whose content stays keeps its id unless one before it is made again.

use std::collections::BTreeMap;

use agentic_model::Oid;
use gix::bstr::BString;
use gix::objs::Tree;

use crate::{Repository, to_id, to_oid};
use agentic_store::journal::{GitKind, GitObject};
use agentic_store::{Error, Result};

/// How deep folders nest at most.
const DEPTH_MAX: usize = 256;
/// How many new objects are written at once.
const BATCH_OBJECTS: usize = 512;
/// The headers of a commit that sign what it was.
const SIGNATURES: [&[u8]; 2] = [b"gpgsig ", b"gpgsig-sha256 "];

/// A part of what branches have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchPart {
    /// The content of a file, or where a link leads: a blob.
    File(Oid),
    /// The name of a file or folder.
    Name,
    /// What a commit says: its message, or who made it.
    Message,
}

/// Gives other bytes for a part of a branch that changes.
pub type BranchScrub<'s> = dyn FnMut(BranchPart, &[u8]) -> Option<Vec<u8>> + 's;

/// Whether objects are written or only named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RewrittenObjects {
    /// They are written, without being synced.
    Written,
    /// Nothing is written.
    Named,
}

/// What became of branches.
#[derive(Debug, Default)]
pub struct RewrittenBranches {
    /// Which commits became which.
    pub commits: BTreeMap<Oid, Oid>,
    /// Which files became which.
    pub blobs: BTreeMap<Oid, Oid>,
    /// The objects in which something was found themselves, and what sort of object each is.
    pub holding: BTreeMap<Oid, GitKind>,
    /// The parents of each commit that became another.
    pub parents: BTreeMap<Oid, Vec<Oid>>,
}

/// A rewriting on its way.
struct BranchDraft<'r, 's> {
    repository: &'r Repository,
    scrub: &'r mut BranchScrub<'s>,
    objects: RewrittenObjects,
    done: RewrittenBranches,
    /// What trees became; also those that stay.
    trees: BTreeMap<Oid, Oid>,
    /// What files became; also those that stay.
    files: BTreeMap<Oid, Oid>,
    fresh: Vec<GitObject>,
}

impl Repository {
    /// Lists the commits that some tips reach and others do not, each after its parents.
    ///
    /// # Errors
    /// Fails when git does.
    pub fn commits_apart(&self, tips: &[Oid], others: &[Oid]) -> Result<Vec<Oid>> {
        if tips.is_empty() {
            return Ok(Vec::new());
        }
        let wanted = tips.iter().map(|tip| format!("{tip}\n"));
        let input: String = wanted.chain(others.iter().map(|it| format!("^{it}\n"))).collect();
        let arguments =
            ["--no-replace-objects", "rev-list", "--topo-order", "--reverse", "--stdin"];
        let listed = self.git_reading(&arguments, input.as_bytes())?.checked(&arguments)?;
        Ok(listed.lines().filter_map(|line| Oid::parse(line).ok()).collect())
    }

    /// Makes commits again, which come each after its parents. Of those that are `known`, it is known
    /// what they became.
    ///
    /// # Errors
    /// Fails when an object cannot be read, and when the disk does.
    pub fn rewrite_branches(
        &self,
        commits: &[Oid],
        known: &BTreeMap<Oid, Oid>,
        objects: RewrittenObjects,
        scrub: &mut BranchScrub<'_>,
    ) -> Result<RewrittenBranches> {
        let mut draft = BranchDraft {
            repository: self,
            scrub,
            objects,
            done: RewrittenBranches { commits: known.clone(), ..RewrittenBranches::default() },
            trees: BTreeMap::new(),
            files: BTreeMap::new(),
            fresh: Vec::new(),
        };
        for commit in commits.iter().filter(|commit| !known.contains_key(commit)) {
            draft.commit(*commit)?;
        }
        draft.write(0)?;
        Ok(draft.done)
    }
}

impl BranchDraft<'_, '_> {
    fn commit(&mut self, oid: Oid) -> Result<()> {
        let bytes = self.repository.verify_object(oid)?.bytes;
        let commit = self.repository.read_commit(oid)?;
        let tree = self.tree(commit.tree, 0)?;
        let (said, is_holding) = self.said(&bytes, tree);
        if is_holding {
            self.done.holding.insert(oid, GitKind::Commit);
        }
        let is_moved = commit.parents.iter().any(|it| self.done.commits.contains_key(it));
        if is_holding || is_moved || tree != commit.tree {
            let new = self.keep(GitKind::Commit, said)?;
            self.done.commits.insert(oid, new);
            self.done.parents.insert(oid, commit.parents);
        }
        Ok(())
    }

    /// Returns the bytes of a commit with another tree, new parents and without what is taken out of
    /// what it says, and whether there was something to take out.
    fn said(&mut self, bytes: &[u8], tree: Oid) -> (Vec<u8>, bool) {
        let head =
            bytes.windows(2).position(|pair| pair == b"\n\n").map_or(bytes.len(), |at| at + 1);
        let (headers, message) = bytes.split_at(head);
        let mut said = Vec::with_capacity(bytes.len());
        let (mut is_holding, mut is_signature) = (false, false);
        for line in headers.split_inclusive(|byte| *byte == b'\n') {
            let goes_on = line.starts_with(b" ") && is_signature;
            is_signature = goes_on || SIGNATURES.iter().any(|begin| line.starts_with(begin));
            if is_signature {
                continue;
            }
            let parent = line.strip_prefix(b"parent ").map(<[u8]>::trim_ascii_end);
            let parent = parent.and_then(|oid| Oid::parse(std::str::from_utf8(oid).ok()?).ok());
            if line.starts_with(b"tree ") {
                said.extend_from_slice(format!("tree {tree}\n").as_bytes());
            } else if let Some(parent) = parent {
                let new = self.done.commits.get(&parent).unwrap_or(&parent);
                said.extend_from_slice(format!("parent {new}\n").as_bytes());
            } else {
                is_holding |= self.say(line, &mut said);
            }
        }
        is_holding |= self.say(message, &mut said);
        (said, is_holding)
    }

    fn say(&mut self, text: &[u8], said: &mut Vec<u8>) -> bool {
        let clean = (self.scrub)(BranchPart::Message, text);
        said.extend_from_slice(clean.as_deref().unwrap_or(text));
        clean.is_some()
    }

    fn tree(&mut self, oid: Oid, depth: usize) -> Result<Oid> {
        if let Some(known) = self.trees.get(&oid) {
            return Ok(*known);
        }
        if depth > DEPTH_MAX {
            return Err(Error::corrupt(format!("tree {oid}"), "its folders nest too deep"));
        }
        let before = self.repository.load_tree(oid)?;
        let mut tree = Tree::empty();
        let mut is_holding = false;
        for entry in &before.entries {
            let mut entry = entry.clone();
            if let Some(name) = (self.scrub)(BranchPart::Name, &entry.filename) {
                entry.filename = free_name(&before, &tree, name);
                is_holding = true;
            }
            let content = to_oid(&entry.oid);
            if entry.mode.is_tree() {
                entry.oid = to_id(self.tree(content, depth + 1)?);
            } else if !entry.mode.is_commit() {
                entry.oid = to_id(self.file(content)?);
            }
            tree.entries.push(entry);
        }
        let new = match tree == before {
            true => oid,
            false => {
                tree.entries.sort();
                let mut bytes = Vec::new();
                gix::objs::WriteTo::write_to(&tree, &mut bytes)
                    .map_err(Error::git("write a tree"))?;
                self.keep(GitKind::Tree, bytes)?
            }
        };
        if is_holding {
            self.done.holding.insert(oid, GitKind::Tree);
        }
        self.trees.insert(oid, new);
        Ok(new)
    }

    fn file(&mut self, oid: Oid) -> Result<Oid> {
        if let Some(known) = self.files.get(&oid) {
            return Ok(*known);
        }
        let bytes = self.repository.read_blob(oid)?;
        let new = match (self.scrub)(BranchPart::File(oid), &bytes) {
            Some(clean) => {
                let new = self.keep(GitKind::Blob, clean)?;
                self.done.holding.insert(oid, GitKind::Blob);
                self.done.blobs.insert(oid, new);
                new
            }
            None => oid,
        };
        self.files.insert(oid, new);
        Ok(new)
    }

    fn keep(&mut self, kind: GitKind, bytes: Vec<u8>) -> Result<Oid> {
        let object = GitObject { kind, bytes };
        let oid = self.repository.name_object(&object);
        match self.objects {
            RewrittenObjects::Named => {}
            RewrittenObjects::Written => {
                self.fresh.push(object);
                self.write(BATCH_OBJECTS)?;
            }
        }
        Ok(oid)
    }

    /// Writes what is made, if it is more than so much.
    fn write(&mut self, most: usize) -> Result<()> {
        if self.fresh.len() > most {
            let fresh = std::mem::take(&mut self.fresh);
            let _kept_by_their_youth = self.repository.write_objects(&fresh)?;
        }
        Ok(())
    }
}

/// Returns a name that nothing else in a folder has.
fn free_name(before: &Tree, made: &Tree, name: Vec<u8>) -> BString {
    let is_taken = |name: &BString| {
        before.entries.iter().chain(&made.entries).any(|entry| entry.filename == *name)
    };
    let mut free = BString::from(name.clone());
    for number in 2.. {
        if !is_taken(&free) {
            break;
        }
        free = BString::from(name.clone());
        free.extend_from_slice(format!("-{number}").as_bytes());
    }
    free
}
