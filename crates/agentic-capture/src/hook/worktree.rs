//! Worktrees that a coding agent asks for: they are agents of that name, or there are none.

use agentic_model::{AgentName, Briefing};
use agentic_space::error::WorktreeError;
use agentic_space::spawn::{SpawnOrigin, spawn};
use agentic_space::worktree::{self, UncommittedWork};

use super::{HookAnswer, HookScene, REFUSED};
use crate::conversation::{BindReason, ConversationRecord};

/// How many files that stand in the way are named.
const FILES_MAX: usize = 20;

/// Makes an agent with a worktree, and prints the path.
pub(super) fn create(scene: &HookScene<'_>) -> HookAnswer {
    match create_named(scene) {
        Ok(path) => HookAnswer::printed(format!("{path}\n")),
        Err(why) => {
            scene.log.note("worktree-create");
            HookAnswer::failed(REFUSED, &why)
        }
    }
}

fn create_named(scene: &HookScene<'_>) -> Result<String, String> {
    let (space, event) = (scene.space, scene.event);
    let name = event.text(&["name", "worktree_name"]).unwrap_or_default();
    let agent = AgentName::parse(name).map_err(|error| error.to_string())?;
    let said = |error: agentic_space::Error| error.to_string();
    let path = worktree::default_path(space, &agent);
    worktree::check_place(space, &path).map_err(said)?;
    let briefing = match &event.conversation {
        Some(conversation) => format!("Worktree {name} of conversation {conversation}"),
        None => format!("Worktree {name}"),
    };
    let briefing = Briefing::of_text(&briefing).to_object().map_err(|error| error.to_string())?;
    let head = space.repository().head_commit().map_err(|error| error.to_string())?;
    let origin = head.map_or(SpawnOrigin::Root, SpawnOrigin::Commit);
    spawn(space, &agent, &briefing, &origin).map_err(said)?;
    let made = worktree::add(space, &agent, &path).map_err(said)?;
    if let Some(id) = &event.conversation {
        let layout = space.repository().layout();
        let known = ConversationRecord::load(layout, id);
        let mut record = known.unwrap_or_else(|| {
            ConversationRecord::new(id, &agent, BindReason::Created, space.now())
        });
        record.bind(&agent, BindReason::Created);
        record.branch = Some(agent.branch_ref());
        // The worktree is there; who works in it is found by its branch as well.
        let _found_again = record.save(layout);
    }
    Ok(made.path.display().to_string())
}

/// Removes the worktree of an agent, unless there is work in it. Branch and notes stay.
pub(super) fn remove(scene: &HookScene<'_>) -> HookAnswer {
    match remove_named(scene) {
        Ok(()) => HookAnswer::silent(),
        Err(why) => {
            scene.log.note("worktree-remove");
            HookAnswer::failed(REFUSED, &why)
        }
    }
}

fn remove_named(scene: &HookScene<'_>) -> Result<(), String> {
    let space = scene.space;
    let said = |error: agentic_space::Error| error.to_string();
    let wanted = scene.event.text(&["worktree_path", "path"]).map(std::path::PathBuf::from);
    let wanted = wanted.and_then(|path| path.canonicalize().ok());
    let is_wanted = |path: &std::path::Path| path.canonicalize().ok() == wanted;
    let worktrees = space.agent_worktrees().map_err(said)?;
    let found = worktrees.into_iter().find(|it| wanted.is_some() && is_wanted(&it.worktree.path));
    let Some(found) = found else { return Err("this is no worktree of an agent".to_owned()) };
    if found.worktree.git_dir == space.repository().common_dir() {
        return Err("this is the main worktree".to_owned());
    }
    match worktree::remove(space, &found.agent, UncommittedWork::Kept) {
        Ok(_) => Ok(()),
        Err(agentic_space::Error::Worktree(WorktreeError::UncommittedWork { path })) => {
            let arguments = ["status", "--porcelain", "--untracked-files=normal"];
            let listed = found.worktree.git(&arguments).map_err(|error| error.to_string())?;
            let files = listed.stdout.lines().filter_map(|line| line.get(3..)).take(FILES_MAX);
            let files: Vec<&str> = files.collect();
            Err(format!("{} has uncommitted work: {}", path.display(), files.join(", ")))
        }
        Err(error) => Err(error.to_string()),
    }
}
