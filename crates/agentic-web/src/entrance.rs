//! Through which entrance a request came, and who stands there.

use std::path::Path;

use agentic_providers::process::{AGENT_VARIABLE, REQUEST_VARIABLE, folder_of, variable_of};

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
    /// Looks at a process: one that works for an agent says so, or stands in its worktree. This stops
    /// mistakes; a hostile process of the same user it does not.
    pub fn of(pid: Option<i32>, worktrees: &Path) -> SocketPeer {
        let Some(pid) = pid else { return SocketPeer::Person };
        let is_set = |name| variable_of(pid, name).is_some_and(|value| !value.is_empty());
        let is_agent = is_set(AGENT_VARIABLE)
            || is_set(REQUEST_VARIABLE)
            || folder_of(pid).is_some_and(|folder| is_in_worktree(&folder, worktrees));
        if is_agent { SocketPeer::Agent } else { SocketPeer::Person }
    }
}

/// Tells whether a folder is inside a linked worktree of the repository whose worktrees git keeps in
/// `worktrees`: the nearest `.git` above it is a file that leads there.
fn is_in_worktree(folder: &Path, worktrees: &Path) -> bool {
    let link = folder.ancestors().map(|above| above.join(".git")).find(|link| link.exists());
    let text =
        link.filter(|link| link.is_file()).and_then(|link| std::fs::read_to_string(link).ok());
    let target =
        text.and_then(|text| text.strip_prefix("gitdir:").map(|path| path.trim().to_owned()));
    target.is_some_and(|target| Path::new(&target).starts_with(worktrees))
}
