//! Through which entrance a request came, and who stands there.

use std::path::{Path, PathBuf};

use agentic_api::is_below_conversation;
use agentic_providers::process::{AGENT_VARIABLE, REQUEST_VARIABLE, folder_of, variable_of};

/// How the branches of agents are named where git says which one a worktree is on, or will be again when
/// its rebase or bisection is over.
const AGENT_BRANCHES: &str = "agents/";
/// The files in the git directory of a worktree that say so.
const BRANCH_FILES: [&str; 5] = [
    "HEAD",
    "rebase-merge/head-name",
    "rebase-merge/update-refs",
    "rebase-apply/head-name",
    "BISECT_START",
];

/// Where a request came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestEntrance {
    /// By TCP: anybody on this machine, and any page in a browser.
    Tcp,
    /// By the socket: a process of this user.
    Socket(SocketPeer),
}

/// Who speaks through the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SocketPeer {
    /// A person's program.
    Person,
    /// A program that works for an agent or for a session: it may read.
    Agent,
}

impl SocketPeer {
    /// Looks at a process: one that works for an agent says so, stands in its worktree, or runs below the
    /// program of a conversation that is captured. This stops mistakes; a hostile process of the same user
    /// it does not.
    pub fn of(pid: Option<i32>, common_dir: &Path) -> SocketPeer {
        let Some(pid) = pid else { return SocketPeer::Person };
        let is_set = |name| variable_of(pid, name).is_some_and(|value| !value.is_empty());
        let is_agent = is_set(AGENT_VARIABLE)
            || is_set(REQUEST_VARIABLE)
            || folder_of(pid).is_some_and(|folder| is_in_worktree_of_agent(&folder, common_dir))
            || is_below_conversation(common_dir, pid);
        if is_agent { SocketPeer::Agent } else { SocketPeer::Person }
    }
}

/// Tells whether a folder is inside a linked worktree of a repository, and that worktree is on the branch
/// of an agent.
fn is_in_worktree_of_agent(folder: &Path, common_dir: &Path) -> bool {
    let Some(git_dir) = linked_git_dir(folder) else { return false };
    let worktrees = common_dir.join("worktrees").canonicalize();
    let says_agent = |name: &&str| {
        let said = std::fs::read_to_string(git_dir.join(name));
        said.is_ok_and(|said| said.contains(AGENT_BRANCHES))
    };
    worktrees.is_ok_and(|worktrees| git_dir.starts_with(worktrees))
        && BRANCH_FILES.iter().any(|name| says_agent(&name))
}

/// Returns the git directory of the linked worktree that a folder is inside of: the nearest `.git` above it
/// is a file that leads there, by a path from the root or from itself.
fn linked_git_dir(folder: &Path) -> Option<PathBuf> {
    let link = folder.ancestors().map(|above| above.join(".git")).find(|link| link.exists())?;
    let text = link.is_file().then(|| std::fs::read_to_string(&link).ok())??;
    let target = text.strip_prefix("gitdir:")?.trim();
    link.parent()?.join(target).canonicalize().ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use agentic_testkit::{Sandbox, Setup};

    use super::*;

    #[test]
    fn a_folder_is_an_agents_where_its_worktree_is_on_the_branch_of_one() {
        let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
        let root = sandbox.root();
        let common = root.join("of-agents/.git");
        let own = common.join("worktrees/w");
        let (folder, inside) = (root.join("w"), root.join("w/a/b"));
        for made in [&own, &inside] {
            fs::create_dir_all(made).expect("writable");
        }
        let link = |text: &str| fs::write(folder.join(".git"), text).expect("writable");
        let says = |name: &str, text: &str| {
            let file = own.join(name);
            fs::create_dir_all(file.parent().expect("inside")).expect("writable");
            fs::write(file, text).expect("writable");
        };
        let is_agents = || is_in_worktree_of_agent(&inside, &common);
        let agent = "ref: refs/heads/agents/x\n";
        says("HEAD", agent);
        assert!(!is_agents(), "no worktree");
        for target in [own.display().to_string(), "../of-agents/.git/worktrees/w".to_owned()] {
            link(&format!("gitdir: {target}\n"));
            says("HEAD", agent);
            assert!(is_agents(), "{target}");
            says("HEAD", "ref: refs/heads/feature\n");
            assert!(!is_agents(), "a person works on a branch there");
        }
        says("HEAD", "0123456789012345678901234567890123456789\n");
        assert!(!is_agents(), "a person looks at a commit there");
        says("rebase-merge/head-name", "refs/heads/agents/x\n");
        assert!(is_agents(), "it is being rebased");
        let elsewhere = root.join("other/.git");
        fs::create_dir_all(elsewhere.join("worktrees")).expect("writable");
        assert!(!is_in_worktree_of_agent(&inside, &elsewhere), "of another repository");
    }
}
