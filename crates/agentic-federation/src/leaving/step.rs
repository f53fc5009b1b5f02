//! What is new in a few steps from what was announced: found here, since git takes longer to start.
//!
//! It may be more than what git would list, since something else that was announced may have an object, too. So what
//! would be refused of it is asked of git.

use std::collections::BTreeMap;

use agentic_git::Repository;
use agentic_model::Oid;
use agentic_store::journal::GitKind;

use super::{LeavingObjects, LeavingPlace};
use crate::Result;
use crate::shard::HeadChange;

/// Up to how many commits of one agent are looked at.
const STEPS_MAX: usize = 32;
/// Up to how many objects are.
const OBJECTS_MAX: usize = 1_000;
/// How deep folders stand in each other at most.
const DEPTH_MAX: usize = 64;
/// The modes of folders and of commits of others in a tree.
const FOLDER: &[u8] = b"40000";
const FOREIGN_COMMIT: &[u8] = b"160000";

/// A walk over what agents added.
struct StepWalk<'r> {
    repository: &'r Repository,
    objects: LeavingObjects,
}

/// An entry of a tree.
struct TreeLine<'b> {
    mode: &'b [u8],
    name: &'b [u8],
    oid: Oid,
}

/// Lists what is new of agents that went on by a few commits in a line, if they all did.
pub(super) fn stepped_objects(
    repository: &Repository,
    tips: &[Oid],
    changes: &[HeadChange],
) -> Result<Option<LeavingObjects>> {
    let mut walk = StepWalk { repository, objects: LeavingObjects::new() };
    let mut ways = BTreeMap::new();
    for change in changes {
        let (Some(old), Some(new)) = (&change.old, &change.new) else { continue };
        ways.insert(new.head, (old.head, LeavingPlace::File));
        if let (Some(from), Some(to)) = (old.notes, new.notes) {
            ways.insert(to, (from, LeavingPlace::Text));
        }
    }
    for tip in tips {
        let Some((from, place)) = ways.get(tip) else { return Ok(None) };
        if !walk.go(*tip, *from, *place)? {
            return Ok(None);
        }
    }
    Ok(Some(walk.objects))
}

impl StepWalk<'_> {
    /// Goes down from a tip to what was announced. Tells whether that is there, a few steps below it.
    fn go(&mut self, tip: Oid, from: Oid, place: LeavingPlace) -> Result<bool> {
        let mut commit = tip;
        for _ in 0..STEPS_MAX {
            let read = self.repository.read_commit(commit)?;
            let &[parent] = read.parents.as_slice() else { return Ok(false) };
            self.objects.insert(commit, (String::new(), place));
            let before = self.repository.tree_of(parent)?;
            if !self.compare(Some(before), read.tree, &TreeSpot { path: "", place, depth: 0 })? {
                return Ok(false);
            }
            if parent == from {
                return Ok(true);
            }
            commit = parent;
        }
        Ok(false)
    }

    /// Takes what a folder has and another one at its place has not. Tells whether it is little.
    fn compare(&mut self, old: Option<Oid>, new: Oid, spot: &TreeSpot<'_>) -> Result<bool> {
        if old == Some(new) {
            return Ok(true);
        }
        self.objects.entry(new).or_insert_with(|| (spot.path.to_owned(), spot.place));
        if spot.depth > DEPTH_MAX || self.objects.len() > OBJECTS_MAX {
            return Ok(false);
        }
        let oid_bytes = new.as_bytes().len();
        let old = old.map(|old| self.tree(old)).transpose()?.flatten().unwrap_or_default();
        let Some(new) = self.tree(new)? else { return Ok(false) };
        let (Some(old), Some(new)) = (lines(&old, oid_bytes), lines(&new, oid_bytes)) else {
            return Ok(false);
        };
        let old: BTreeMap<&[u8], TreeLine<'_>> =
            old.into_iter().map(|line| (line.name, line)).collect();
        for line in new {
            let before = old.get(line.name);
            if before.is_some_and(|before| before.oid == line.oid) || line.mode == FOREIGN_COMMIT {
                continue;
            }
            let name = String::from_utf8_lossy(line.name);
            let path = if spot.path.is_empty() {
                name.into_owned()
            } else {
                format!("{}/{name}", spot.path)
            };
            if line.mode != FOLDER {
                // The newest commit is looked at first: it is said where something stands now.
                self.objects.entry(line.oid).or_insert((path, spot.place));
                continue;
            }
            let before = before.filter(|before| before.mode == FOLDER).map(|before| before.oid);
            let inner = TreeSpot { path: &path, depth: spot.depth + 1, ..*spot };
            if !self.compare(before, line.oid, &inner)? {
                return Ok(false);
            }
        }
        Ok(self.objects.len() <= OBJECTS_MAX)
    }

    fn tree(&self, oid: Oid) -> Result<Option<Vec<u8>>> {
        let object = self.repository.verify_object(oid)?;
        Ok(Some(object.bytes).filter(|_| object.kind == GitKind::Tree))
    }
}

/// Where a folder stands.
#[derive(Clone, Copy)]
struct TreeSpot<'p> {
    path: &'p str,
    place: LeavingPlace,
    depth: usize,
}

/// Reads the entries of any tree; nothing of one that is none.
fn lines(bytes: &[u8], oid_bytes: usize) -> Option<Vec<TreeLine<'_>>> {
    let (mut lines, mut rest) = (Vec::new(), bytes);
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| *byte == 0)?;
        let (head, tail) = (&rest[..end], &rest[end + 1..]);
        let space = head.iter().position(|byte| *byte == b' ')?;
        let oid = Oid::from_bytes(tail.get(..oid_bytes)?).ok()?;
        lines.push(TreeLine { mode: &head[..space], name: &head[space + 1..], oid });
        rest = &tail[oid_bytes..];
    }
    Some(lines)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;
    use std::process::Command;

    use agentic_model::AgentName;

    use super::*;
    use crate::shard::HeadEntry;

    fn git(folder: &Path, line: &str) -> String {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=A", "-c", "user.email=a@example.com"]);
        let done = command.current_dir(folder).args(line.split(' ')).output();
        let done = done.expect("git is installed");
        assert!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).trim().to_owned()
    }

    /// Commits everything that a script leaves; returns the commit.
    fn commit(folder: &Path, script: &str) -> Oid {
        let done = Command::new("sh").current_dir(folder).args(["-ec", script]).status();
        assert!(done.expect("there is a shell").success());
        git(folder, "add -A");
        git(folder, "commit -q --allow-empty -m more");
        head(folder)
    }

    fn head(folder: &Path) -> Oid {
        Oid::parse(&git(folder, "rev-parse HEAD")).expect("an id")
    }

    /// Lists what is new of an agent that moved, as this does.
    fn stepped(folder: &Path, from: Oid, tip: Oid) -> Option<LeavingObjects> {
        let repository = Repository::open(folder).expect("just made");
        let entry = |head: Oid| Some(HeadEntry { head, notes: None, from: None });
        let agent = AgentName::parse("x").expect("a name");
        let change = HeadChange { agent, old: entry(from), new: entry(tip) };
        stepped_objects(&repository, &[tip], &[change]).expect("everything is there")
    }

    #[test]
    fn nothing_is_missing_that_git_would_list() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let folder = folder.path();
        git(folder, "init -q -b main");
        let first = commit(folder, "mkdir -p d/e; echo a >a; echo b >d/b; echo c >d/e/c");
        commit(folder, "echo b2 >d/b; rm a; mkdir f; echo new >f/g");
        commit(folder, "rm -r f d/e; echo file >f; mkdir d/e; echo other >d/e/z");
        let last = commit(folder, "mv f h; git mv d i; chmod +x h");
        let listed = git(folder, &format!("rev-list --objects --no-object-names {last} ^{first}"));
        let listed: BTreeSet<Oid> =
            listed.lines().map(|line| Oid::parse(line).expect("an id")).collect();
        let found = stepped(folder, first, last).expect("these are a few steps");
        let missing: Vec<&Oid> = listed.iter().filter(|oid| !found.contains_key(*oid)).collect();
        assert_eq!(missing, Vec::<&Oid>::new());
        assert!(listed.len() > 10, "{listed:?}");
        let path_of = |path: &str| {
            let oid = git(folder, &format!("rev-parse {last}:{path}"));
            found[&Oid::parse(&oid).expect("an id")].0.clone()
        };
        assert_eq!(path_of("i/e/z"), "i/e/z");
    }

    #[test]
    fn a_merge_and_a_branch_that_was_set_back_are_left_to_git() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let folder = folder.path();
        git(folder, "init -q -b main");
        let first = commit(folder, "echo a >a");
        let second = commit(folder, "echo b >b");
        git(folder, &format!("checkout -q -b other {first}"));
        commit(folder, "echo c >c");
        assert!(stepped(folder, second, head(folder)).is_none());
        git(folder, "merge -q --no-edit main");
        assert!(stepped(folder, first, head(folder)).is_none());
    }
}
