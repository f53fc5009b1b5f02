//! What people and git see of a space: what must be there whole or not at all.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agentic_testkit::Sandbox;

use crate::stage::{AFTER_AT, script_ok};

/// Refs, pending trace entries, and the status of every worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    entries: BTreeMap<String, String>,
}

impl State {
    /// Reads the state of the first space of a sandbox.
    pub fn read(sandbox: &Sandbox) -> State {
        let mut entries = BTreeMap::new();
        let lines = "git for-each-ref --format='%(refname) %(objectname)'
            git for-each-ref --format='%(refname:lstrip=3)' refs/heads/agents | while read agent; do
                echo \"pending:$agent $(agentic trace pending --json --agent $agent | md5sum)\"
            done
            git worktree list --porcelain | sed -n 's/^worktree //p' | while read folder; do
                echo \"status:$folder $(git -C $folder status --porcelain | tr '\\n' ';')\"
            done";
        for line in script_ok(sandbox, lines, AFTER_AT).lines() {
            let (name, value) = line.split_once(' ').unwrap_or((line, ""));
            let is_derived = name.starts_with("refs/remotes/")
                || name.starts_with("refs/agentic/remotes/")
                || name.starts_with("refs/agentic/rescued/");
            if !is_derived {
                entries.insert(name.to_owned(), value.to_owned());
            }
        }
        State { entries }
    }

    /// Lists what differs from another state, one line each.
    pub fn difference(&self, when: &str, found: &State) -> Vec<String> {
        let names = self.entries.keys().chain(found.entries.keys());
        let names: std::collections::BTreeSet<&String> = names.collect();
        let differs = |name: &&String| self.entries.get(*name) != found.entries.get(*name);
        let line = |name: &String| {
            format!(
                "{when}: {name} is {:?}, not {:?}",
                found.entries.get(name),
                self.entries.get(name)
            )
        };
        names.into_iter().filter(differs).map(line).collect()
    }

    /// Lists locks and marks that nobody holds any more.
    pub fn leftovers(sandbox: &Sandbox) -> Vec<String> {
        let mut found = Vec::new();
        let git_dir = sandbox.start().join(".git");
        for folder in ["refs", "worktrees", "agentic/open", "agentic/trail"] {
            find_leftovers(&git_dir.join(folder), &mut found);
        }
        let shown = |path: PathBuf| format!("left over: {}", path.display());
        found.into_iter().map(shown).collect()
    }
}

fn find_leftovers(folder: &Path, found: &mut Vec<PathBuf>) {
    let is_of_marks = folder.ends_with("agentic/open") || folder.ends_with("agentic/trail");
    for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
    {
        let is_lock = path.extension().is_some_and(|extension| extension == "lock");
        if path.is_dir() {
            find_leftovers(&path, found);
        } else if is_lock || is_of_marks {
            found.push(path);
        }
    }
}
