//! Pushing and fetching: branches, notes, the registry and libraries, through git.

mod fetch;
mod purged;
mod push;
mod push_purged;
mod refusal;

use crate::error::RemoteError;
use crate::worktree::{REWRITE_REF, name_notes_everywhere};
use crate::{Error, Result, Space};

pub use crate::sync::fetch::{FetchOutcome, TheirAgent, fetch, fetch_to_look_at, take_in};
pub use crate::sync::push::{FOLDED_AGENTS_MAX, PushOutcome, PushScope, push};
pub use crate::sync::push_purged::push_purged;
pub use crate::sync::refusal::PushRefusal;

/// What the pattern looks like to git that `init` once let amend and rebase carry along.
const REWRITE_PATTERN: &str = r"^refs/notes/agentic/\*$";

/// The sources of refspecs that bring the branches of agents.
const ALL_HEADS: [&str; 3] = ["refs/heads/*:", "refs/heads/agents/*:", "refs/*:"];

/// Writes the refspecs of fetch into the configuration of remotes, and lets git carry the notes of
/// an agent along when it rewrites commits in that agent's worktree; safe to repeat. Returns what
/// had to be written.
///
/// # Errors
/// Fails when a remote does not exist or the configuration cannot be written.
pub fn init(space: &Space, remotes: &[String]) -> Result<Vec<String>> {
    let mut changed = Vec::new();
    for remote in remotes {
        check_remote(space, remote)?;
        let key = format!("remote.{remote}.fetch");
        let known = ["config", "--get-all", &key];
        let known = space.repository().git(&known)?.stdout;
        let is_covered = known.lines().any(|line| ALL_HEADS.iter().any(|all| line.contains(all)));
        let heads = format!("+refs/heads/agents/*:refs/remotes/{remote}/agents/*");
        // A clone of a single branch fetches no other, and would see no agents.
        let heads = (!is_covered).then_some(heads);
        for refspec in heads.into_iter().chain(refspecs(remote)) {
            if !known.lines().any(|line| line == refspec) {
                let add = ["config", "--add", &key, &refspec];
                space.repository().configure(&add)?.checked(&add)?;
                changed.push(remote.clone());
            }
        }
    }
    changed.dedup();
    // An earlier release set this pattern, with which one agent's rebase rewrites the notes of others.
    let pattern = ["config", "--local", "--unset-all", REWRITE_REF, REWRITE_PATTERN];
    if space.repository().configure(&pattern)?.success {
        changed.push(REWRITE_REF.to_owned());
    }
    if name_notes_everywhere(space)? {
        changed.push("worktrees".to_owned());
    }
    Ok(changed)
}

fn refspecs(remote: &str) -> [String; 5] {
    [
        format!("+refs/notes/agentic/*:refs/agentic/remotes/{remote}/notes/*"),
        format!("+refs/agentic/registry*:refs/agentic/remotes/{remote}/registry*"),
        format!("+refs/agentic/archive*:refs/agentic/remotes/{remote}/archive*"),
        format!("+refs/agentic/behaviours*:refs/agentic/remotes/{remote}/behaviours*"),
        format!("+refs/agentic/rules*:refs/agentic/remotes/{remote}/rules*"),
    ]
}

fn check_remote(space: &Space, remote: &str) -> Result<()> {
    if space.repository().remotes().iter().any(|known| known == remote) {
        return Ok(());
    }
    Err(Error::Remote(RemoteError::Unknown { remote: remote.to_owned() }))
}
