//! Persons: what only they may do, and what they are called.

use std::path::{Path, PathBuf};

use agentic_capture::live::{conversations_above, conversations_above_of};
use agentic_git::Repository;
use agentic_model::edge::Party;
use agentic_model::{AgentName, Person};
use agentic_providers::process::{AGENT_VARIABLE, REQUEST_VARIABLE};
use agentic_session::SessionSpace;
use agentic_store::Layout;

use crate::{Caller, Refusal, Surroundings};

/// Refuses agents, and whatever a session runs, what only a person may do; `doing` says what that is.
/// This stops mistakes; only signatures would stop a hostile process of the same user. Where there is
/// no repository there are no worktrees of agents either.
///
/// # Errors
/// Fails when an agent is at work: its name or its request is set, this is its worktree, or the program
/// of a conversation is above this one.
pub fn require_person(
    doing: &str,
    surroundings: &Surroundings,
    space: Option<&SessionSpace>,
) -> Result<(), Refusal> {
    let hint =
        format!("{doing} from your own checkout, without {AGENT_VARIABLE} and {REQUEST_VARIABLE}");
    let set = [(AGENT_VARIABLE, &surroundings.agent), (REQUEST_VARIABLE, &surroundings.request)];
    if let Some((variable, _)) = set.iter().find(|(_, value)| value.is_some()) {
        let message = format!("an agent may not {doing}: {variable} is set");
        return Err(Refusal::not_allowed(&message, &hint));
    }
    if let Some(whose) = space.and_then(worktree_of_agent) {
        let message = format!("this is the worktree of {whose}, and an agent may not {doing}");
        return Err(Refusal::not_allowed(&message, &hint));
    }
    // Whoever has logged in is known by more than where the process began.
    let watched = space.filter(|_| surroundings.person.is_none());
    match watched.and_then(conversation_above) {
        Some(conversation) => {
            let message = format!("{conversation} is at work here, and an agent may not {doing}");
            let hint = format!("{doing} from a terminal that no coding agent has opened");
            Err(Refusal::not_allowed(&message, &hint))
        }
        None => Ok(()),
    }
}

/// Names the conversation of a coding agent whose program is above this one. Not every coding agent
/// passes an environment on.
fn conversation_above(space: &SessionSpace) -> Option<String> {
    let above = conversations_above(space.repository().layout());
    let first = above.first()?;
    let conversation = first.id().map_or_else(String::new, |id| id.to_string());
    Some(format!("the conversation `{conversation}`"))
}

/// Tells whether a process runs below the program of a conversation that is captured in the repository of
/// this common git directory.
pub fn is_below_conversation(common_dir: &Path, pid: i32) -> bool {
    !conversations_above_of(&Layout::new(common_dir), pid).is_empty()
}

/// Says whose worktree this is: the one that a command works in, or that it was begun in; nothing where it
/// is no agent's.
fn worktree_of_agent(space: &SessionSpace) -> Option<String> {
    let (git_dir, common_dir) = (space.repository().git_dir(), space.repository().common_dir());
    let is_linked = git_dir != common_dir;
    if let Some(agent) = space.current_agent().filter(|_| is_linked) {
        return Some(format!("`{agent}`"));
    }
    let began = || std::env::current_dir().is_ok_and(|at| is_in_worktree_of_agent(&at, common_dir));
    (is_linked && says_agent(git_dir) || began()).then(|| "an agent".to_owned())
}

/// Tells whether a folder is inside a linked worktree of the repository of a common git directory, and that
/// worktree is an agent's, whatever is checked out there at this moment.
pub fn is_in_worktree_of_agent(folder: &Path, common_dir: &Path) -> bool {
    let Some(git_dir) = linked_git_dir(folder) else { return false };
    let worktrees = common_dir.join("worktrees").canonicalize();
    worktrees.is_ok_and(|worktrees| git_dir.starts_with(worktrees)) && says_agent(&git_dir)
}

/// Tells whether the git directory of a worktree says that it is an agent's: it was made for one, or is on
/// the branch of one, or will be again.
fn says_agent(git_dir: &Path) -> bool {
    let is_of_agent = |branch: &String| AgentName::from_branch_ref(branch).is_some();
    Repository::is_made_for_agent(git_dir)
        || Repository::branches_kept(git_dir).iter().any(is_of_agent)
}

/// Returns the git directory of the linked worktree that a folder is inside of: the nearest `.git` above it
/// is a file that leads there, by a path from the root or from itself.
fn linked_git_dir(folder: &Path) -> Option<PathBuf> {
    let link = folder.ancestors().map(|above| above.join(".git")).find(|link| link.exists())?;
    let text = link.is_file().then(|| std::fs::read_to_string(&link).ok())??;
    let target = text.strip_prefix("gitdir:")?.trim();
    link.parent()?.join(target).canonicalize().ok()
}

/// Returns who the person is whom git knows here: `user:` and the local part of the address.
///
/// # Errors
/// Fails when git knows nobody.
pub fn principal(space: &SessionSpace) -> Result<String, Refusal> {
    Ok(space.principal()?)
}

/// Says who changes a library, and who that is to git: the agent at work here, else the person whom git
/// knows.
///
/// # Errors
/// Fails when git knows nobody, and when nobody knows which agent is at work.
pub(crate) fn acting_party(
    caller: &Caller<'_>,
    doing: &str,
) -> Result<(Party, Option<Person>), Refusal> {
    if caller.require_person(doing).is_ok() {
        let name = principal(caller.space)?;
        let party = Party::parse(&name).map_err(|error| {
            Refusal::refused(&error.to_string(), "set `user.email` in git's configuration")
        });
        return Ok((party?, None));
    }
    match caller.known_agent(None)? {
        Some(agent) => Ok((Party::Agent(agent.clone()), Some(Person::of_agent(&agent)))),
        None => Err(Refusal::not_allowed(
            &format!("nobody knows which agent would {doing} here"),
            "set AGENTIC_AGENT to its name",
        )),
    }
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
        fs::remove_dir_all(own.join("rebase-merge")).expect("it is there");
        assert!(!is_agents());
        says("agentic-base", "");
        assert!(is_agents(), "it was made for one");
        let elsewhere = root.join("other/.git");
        fs::create_dir_all(elsewhere.join("worktrees")).expect("writable");
        assert!(!is_in_worktree_of_agent(&inside, &elsewhere), "of another repository");
    }
}
