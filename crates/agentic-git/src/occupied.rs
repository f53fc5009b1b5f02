//! Branches that git will move by itself: the one that is being rebased, and the one from which a
//! bisection began. While that lasts, `HEAD` is detached and names neither.

use std::path::Path;

use agentic_store::ground::Occupation;

/// The files that name a branch which is being rebased.
const REBASED: [&str; 2] = ["rebase-merge/head-name", "rebase-apply/head-name"];
/// The file that names the other branches which a rebase moves when it is over.
const REBASED_TOO: &str = "rebase-merge/update-refs";
/// The file that names where a bisection began.
const BISECTED: &str = "BISECT_START";

/// Lists the full names of the branches that a worktree with a detached head occupies, given its git
/// directory.
pub(super) fn occupied_branches(git_dir: &Path) -> Vec<(String, Occupation)> {
    let read = |name: &str| std::fs::read_to_string(git_dir.join(name)).unwrap_or_default();
    let names = |text: &str| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
    let mut found = Vec::new();
    for file in REBASED.iter().chain([&REBASED_TOO]) {
        // The last of them has ids between the names, which no branch has.
        let branches = names(&read(file)).into_iter().filter(|name| name.starts_with("refs/"));
        found.extend(branches.map(|name| (name, Occupation::Rebase)));
    }
    if git_dir.join("BISECT_LOG").exists() {
        let full = |name: String| match name.starts_with("refs/") {
            true => name,
            false => format!("refs/heads/{name}"),
        };
        let began = names(&read(BISECTED)).into_iter().map(full);
        found.extend(began.map(|name| (name, Occupation::Bisection)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files of a git directory with their content, and the branches that they name.
    type Case = (&'static [(&'static str, &'static str)], &'static [&'static str]);

    #[test]
    fn branches_are_known_from_the_files_that_git_keeps() {
        let cases: [Case; 6] = [
            (&[], &[]),
            (&[("rebase-merge/head-name", "refs/heads/agents/x\n")], &["refs/heads/agents/x"]),
            (&[("rebase-apply/head-name", "refs/heads/x\n")], &["refs/heads/x"]),
            (&[("rebase-merge/head-name", "detached HEAD\n")], &[]),
            (
                &[("rebase-merge/update-refs", "refs/heads/a\n12\n34\nrefs/heads/b\n56\n78\n")],
                &["refs/heads/a", "refs/heads/b"],
            ),
            (&[("BISECT_START", "agents/x\n"), ("BISECT_LOG", "")], &["refs/heads/agents/x"]),
        ];
        for (files, wanted) in cases {
            let dir = tempfile::tempdir().expect("a temporary folder");
            for (name, text) in files {
                let path = dir.path().join(name);
                std::fs::create_dir_all(path.parent().expect("inside")).expect("writable");
                std::fs::write(path, text).expect("writable");
            }
            let found = occupied_branches(dir.path());
            let found: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(found, wanted, "{files:?}");
        }
    }
}
