//! Worktrees that a coding agent asks for where nothing is captured. Whoever wired us for all checkouts
//! has us asked there, too, and its vendor makes none then: so they are made as the vendor would.

use std::path::{Path, PathBuf};

use agentic_git::run_git;

use super::{HookAnswer, REFUSED};
use crate::event::HookEvent;
use crate::glance::git_folders;

/// The folder of a checkout in which Claude Code has its worktrees.
const FOLDER: &str = ".claude/worktrees";
/// What the names of their branches begin with.
const BRANCH: &str = "worktree-";
/// The longest name, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// Makes a worktree with a branch of its own, and prints the path. One that is there is taken again.
pub(super) fn create(event: &HookEvent) -> HookAnswer {
    match create_named(event) {
        Ok(path) => HookAnswer::printed(format!("{}\n", path.display())),
        Err(why) => HookAnswer::failed(REFUSED, &why),
    }
}

fn create_named(event: &HookEvent) -> Result<PathBuf, String> {
    let name = event.text(&["name", "worktree_name"]).unwrap_or_default();
    if !is_name(name) {
        return Err(format!("`{name}` is no name of a worktree"));
    }
    let folder = event.folder.as_deref().ok_or("the event names no folder")?;
    let top = git(folder, &["rev-parse", "--show-toplevel"])?;
    let top = Path::new(top.trim_end_matches('\n'));
    let path = top.join(FOLDER).join(name);
    if path.join(".git").is_file() {
        return Ok(path);
    }
    let place = path.to_str().ok_or("the path is no text")?;
    let branch = format!("{BRANCH}{name}");
    let is_there = git(top, &["rev-parse", "-q", "--verify", &format!("refs/heads/{branch}")]);
    match is_there {
        Ok(_) => git(top, &["worktree", "add", "--quiet", place, &branch])?,
        Err(_) => git(top, &["worktree", "add", "--quiet", "-b", &branch, place, "HEAD"])?,
    };
    Ok(path)
}

/// Removes a worktree, unless there is work in it. Its branch stays.
pub(super) fn remove(event: &HookEvent) -> HookAnswer {
    match remove_named(event) {
        Ok(()) => HookAnswer::silent(),
        Err(why) => HookAnswer::failed(REFUSED, &why),
    }
}

fn remove_named(event: &HookEvent) -> Result<(), String> {
    let path = event.text(&["worktree_path", "path"]).ok_or("the event names no worktree")?;
    let path = Path::new(path).canonicalize().map_err(|error| format!("{path}: {error}"))?;
    let place = path.to_str().ok_or("the path is no text")?;
    let folders = git_folders(&path).ok().flatten().ok_or("this is no worktree")?;
    let common = folders.common.to_str().ok_or("the path is no text")?;
    // Git does not remove the folder that it stands in.
    let above = path.parent().ok_or("this is no worktree")?;
    git(above, &["--git-dir", common, "worktree", "remove", place])?;
    Ok(())
}

/// Tells whether a name is one: parts of letters, digits, `.`, `_` and `-`.
fn is_name(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let is_part = |part: &str| {
        part.starts_with(|letter: char| letter.is_ascii_alphanumeric())
            && part.chars().all(is_plain)
    };
    name.len() <= NAME_BYTES_MAX && name.split('/').all(is_part)
}

fn git(folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let end = run_git(folder, arguments).map_err(|error| error.to_string())?;
    end.checked(arguments).map_err(|error| error.to_string())
}
