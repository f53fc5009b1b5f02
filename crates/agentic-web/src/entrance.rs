//! Through which entrance a request came, and who stands there.

use std::path::Path;

use agentic_api::{is_below_conversation, is_in_worktree_of_agent};
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
